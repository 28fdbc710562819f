"""Figures of one governed query as a workbook, a picture and a short summary in JSON.

Reads measure.json (asked: file, title, sql, columns, notes, across, series, height, period, scope), rows.csv and rows.csv.json
(audit id, generation). Text from the data goes into cells as text, never as a formula.
"""
import json
import os
import re

os.environ.setdefault("MPLCONFIGDIR", "/tmp/matplotlib")

import pandas as pd
from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

OUT = "../../artifacts"  # the script runs in /workspace/work/NAME
SHOWN = 60
ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
FORMATS = {"count": "#,##0", "percent": "0.0%", "hours": "#,##0.0", "day": "yyyy-mm-dd"}


def text(cell, value):
    cell.value = ILLEGAL.sub("", str(value))[:32000]
    cell.data_type = "s"
    return cell


def header(sheet, names, widths):
    for i, (name, width) in enumerate(zip(names, widths), 1):
        cell = text(sheet.cell(1, i), name)
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="1F3A5F")
        cell.alignment = Alignment(wrap_text=True, vertical="center")
        sheet.column_dimensions[get_column_letter(i)].width = width
    sheet.freeze_panes = "A2"


def value(kind, raw):
    """A cell's value; None where the query had none."""
    if raw == "":
        return None
    if kind == "count":
        return int(float(raw))
    if kind in ("percent", "hours"):
        return float(raw)
    return pd.Timestamp(raw).to_pydatetime() if kind == "day" else raw


def words(kind, v):
    if v is None:
        return ""
    if kind == "count":
        return f"{v:,}"
    if kind == "percent":
        return f"{100 * v:.1f} %"
    if kind == "hours":
        return f"{v:,.1f}"
    return v.strftime("%Y-%m-%d") if kind == "day" else str(v)[:60]


def workbook(path, ask, head, rows):
    book = Workbook()
    sheet = book.active
    sheet.title = "Figures"
    columns = ask["columns"]
    header(sheet, [c["title"] for c in columns], [30 if c["kind"] == "text" else 18 for c in columns])
    for r, row in enumerate(rows, 2):
        for c, (column, v) in enumerate(zip(columns, row), 1):
            if v is None:
                continue
            if column["kind"] == "text":
                text(sheet.cell(r, c), v)
            else:
                sheet.cell(r, c, v).number_format = FORMATS[column["kind"]]
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(rows) + 1}"
    sql = book.create_sheet("SQL")
    header(sql, ["What", "Value"], [28, 120])
    facts = [("Question", ask["title"]), ("Scope", ask["scope"]), ("Period (UTC days)", ask["period"])] + sorted(ask["notes"].items()) + [
        ("Audit id", head.get("audit_id", "")), ("Data generation", head.get("generation", "")), ("Rows read", str(len(rows))), ("SQL", ask["sql"])]
    for r, (what, said) in enumerate(facts, 2):
        text(sql.cell(r, 1), what)
        text(sql.cell(r, 2), said).alignment = Alignment(wrap_text=True, vertical="top")
    book.save(path)


def picture(path, ask, rows):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    at = {c["name"]: i for i, c in enumerate(ask["columns"])}
    kinds = {c["name"]: c["kind"] for c in ask["columns"]}
    titles = {c["name"]: c["title"] for c in ask["columns"]}
    frame = pd.DataFrame([(words(kinds[ask["across"]], r[at[ask["across"]]]), str(r[at[ask["series"]]]), r[at[ask["height"]]]) for r in rows],
                         columns=["across", "series", "height"])
    grid = frame.pivot_table(index="across", columns="series", values="height", aggfunc="sum")
    percent = kinds[ask["height"]] == "percent"
    if percent:
        grid = grid.mul(100).loc[grid.min(axis=1).sort_values(kind="stable").index[:40]]
    grid.index = [str(n)[:32].replace("$", r"\$") for n in grid.index]
    grid.columns = [str(n)[:40].replace("$", r"\$") for n in grid.columns]
    if percent:  # many names: lines of bars from the left, the worst first
        ax = grid.iloc[::-1].plot.barh(figsize=(11, 2 + 0.28 * len(grid) * max(1, len(grid.columns) / 2)), width=0.8)
        low = float(grid.min().min())
        ax.set_xlim(max(0.0, low - 5), 100)
        ax.set_xlabel(f"{titles[ask['height']]} (%, from {max(0.0, low - 5):.0f} on)")
        ax.grid(axis="x", alpha=0.3)
    else:
        ax = grid.plot.bar(figsize=(11, 5.5), width=0.8)
        ax.set_ylabel(titles[ask["height"]])
        ax.set_xlabel(titles[ask["across"]])
        ax.grid(axis="y", alpha=0.3)
        ax.tick_params(axis="x", rotation=45)
    ax.set_title(f"{ask['title']}\n{ask['scope']}, {ask['period']}".replace("$", r"\$"))
    ax.legend(title=titles[ask["series"]], fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    ax.figure.tight_layout()
    ax.figure.savefig(path, dpi=110)
    plt.close(ax.figure)


def main():
    with open("measure.json", encoding="utf-8") as f:
        ask = json.load(f)["asked"]
    head = {}
    if os.path.exists("rows.csv.json"):
        with open("rows.csv.json", encoding="utf-8") as f:
            head = json.load(f)
    table = pd.read_csv("rows.csv", dtype=str, keep_default_na=False)
    rows = [[value(c["kind"], row[c["name"]]) for c in ask["columns"]] for row in table.to_dict("records")]
    out = {"rows": len(rows), "audit_id": head.get("audit_id", ""), "generation": head.get("generation", ""), "cut": bool(head.get("truncated")), "shown": [], "files": []}
    if rows:
        os.makedirs(OUT, exist_ok=True)
        workbook(f"{OUT}/{ask['file']}.xlsx", ask, head, rows)
        picture(f"{OUT}/{ask['file']}.png", ask, rows)
        out["shown"] = [[words(c["kind"], v) for c, v in zip(ask["columns"], row)] for row in rows[:SHOWN]]
        out["files"] = sorted(f for f in os.listdir(OUT) if f.startswith(ask["file"] + "."))
    print(json.dumps({"measure": out}, separators=(",", ":")))


main()
