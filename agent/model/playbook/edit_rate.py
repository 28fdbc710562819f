"""Share of extracted fields that a human edited, by field and UTC day: a workbook, a picture and a short summary in JSON.

Reads edit-rate.json (title, workflow, from, to, sql), rows.csv (field_name, day, fields, edited) and rows.csv.json (audit id,
generation). Text from the data goes into cells as text, never as a formula.
"""
import json
import os
import re
import sys

os.environ.setdefault("MPLCONFIGDIR", "/tmp/matplotlib")

import pandas as pd
from openpyxl import Workbook
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

OUT = "../../artifacts"  # the script runs in /workspace/work/NAME
ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
HEAD = Font(bold=True, color="FFFFFF")
FILL = PatternFill("solid", fgColor="1F3A5F")


def text(cell, value):
    """Puts a value from the data into a cell as text, whatever it begins with."""
    cell.value = ILLEGAL.sub("", str(value))[:32000]
    cell.data_type = "s"
    return cell


def header(sheet, names, widths):
    for i, name in enumerate(names, 1):
        cell = sheet.cell(1, i)
        if isinstance(name, str):
            text(cell, name)
        else:
            cell.value, cell.number_format = name, "yyyy-mm-dd"
        cell.font, cell.fill = HEAD, FILL
        cell.alignment = Alignment(horizontal="left" if i == 1 else "center", vertical="center")
    for i, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(i)].width = width


def rate(edited, fields):
    return edited / fields if fields else None


def workbook(path, ask, head, rows, fields, edited, days):
    book = Workbook()
    sheet = book.active
    sheet.title = "Edit rate"
    header(sheet, ["Field", "Whole period"] + [d.to_pydatetime() for d in days], [30, 14] + [11.5] * len(days))
    lines = [("All fields", fields.sum(), edited.sum())] + [(name, fields.loc[name], edited.loc[name]) for name in fields.index]
    for r, (name, n, e) in enumerate(lines, 2):
        text(sheet.cell(r, 1), name).font = Font(bold=r == 2)
        values = [rate(int(e.sum()), int(n.sum()))] + [rate(int(e[d]), int(n[d])) for d in days]
        for c, value in enumerate(values, 2):
            if value is None:
                continue  # nothing was extracted that day: blank, not zero
            cell = sheet.cell(r, c, value)
            cell.number_format = "0.0%"
            if r == 2 or c == 2:
                cell.font = Font(bold=True)
    sheet.freeze_panes = "C3"
    last = f"{get_column_letter(len(days) + 2)}{len(lines) + 1}"
    sheet.conditional_formatting.add(f"B2:{last}", ColorScaleRule(
        start_type="num", start_value=0, start_color="FFFFFF", mid_type="percentile", mid_value=75, mid_color="FFE699",
        end_type="max", end_color="F4B183"))

    detail = book.create_sheet("Detail")
    header(detail, ["Field", "Day (UTC)", "Extracted fields", "Edited by a human", "Edit rate"], [30, 12, 16, 18, 11])
    for r, row in enumerate(rows.itertuples(index=False), 2):
        text(detail.cell(r, 1), row.field_name)
        detail.cell(r, 2, row.day.to_pydatetime()).number_format = "yyyy-mm-dd"
        detail.cell(r, 3, int(row.fields)).number_format = "#,##0"
        detail.cell(r, 4, int(row.edited)).number_format = "#,##0"
        detail.cell(r, 5, rate(int(row.edited), int(row.fields))).number_format = "0.0%"
    detail.freeze_panes = "A2"
    detail.auto_filter.ref = f"A1:E{max(len(rows) + 1, 2)}"

    sql = book.create_sheet("SQL")
    header(sql, ["What", "Value"], [22, 120])
    facts = [
        ("Question", ask["title"]), ("Workflow", ask["workflow"] or "all"), ("Period (UTC days)", f"{ask['from']} to {ask['to']}"),
        ("Denominator", "extracted fields of that name and that UTC day of extracted_at"),
        ("Numerator", "those of them with at least one edit by a person"),
        ("Blank", "nothing was extracted that day"),
        ("Audit id", head.get("audit_id", "")), ("Data generation", head.get("generation", "")),
        ("Rows read", len(rows)), ("SQL", ask["sql"]),
    ]
    for r, (what, value) in enumerate(facts, 2):
        text(sql.cell(r, 1), what)
        cell = sql.cell(r, 2)
        if isinstance(value, int):
            cell.value, cell.number_format = value, "#,##0"
        else:
            text(cell, value)
        cell.alignment = Alignment(wrap_text=True, vertical="top", horizontal="left")
    sql.freeze_panes = "A2"
    book.save(path)


def picture(path, ask, fields, edited, days):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    share = (edited / fields.where(fields > 0)).mul(100)
    most = edited.sum(axis=1).sort_values(ascending=False, kind="stable").index[:40]
    shown = (edited.sum(axis=1) / fields.sum(axis=1)).loc[most].sort_values(ascending=False, kind="stable").index
    grid = share.loc[shown, days]
    width = min(max(7.5, 0.19 * len(days) + 4), 22)
    fig, ax = plt.subplots(figsize=(width, 2.2 + 0.26 * len(shown)), dpi=110, layout="constrained")
    colours = plt.get_cmap("YlOrRd").copy()
    colours.set_bad("#e8e8e8")
    # A day with one field edited of one is 100 %: the scale ends where most days are, and says that more is beyond it.
    some = grid.to_numpy(dtype=float)
    some = some[some > 0]
    top = min(100.0, max(5.0, -(-float(pd.Series(some).quantile(0.9)) // 5) * 5)) if len(some) else 5.0
    beyond = bool(len(some)) and float(some.max()) > top
    mesh = ax.pcolormesh(range(len(days) + 1), range(len(shown) + 1), grid.to_numpy(dtype=float), cmap=colours, vmin=0, vmax=top)
    ax.set_facecolor("#e8e8e8")
    names = [str(n) if len(str(n)) <= 32 else str(n)[:31] + "…" for n in shown]
    ax.set_yticks([i + 0.5 for i in range(len(shown))], [n.replace("$", r"\$") for n in names], fontsize=8)
    ax.invert_yaxis()
    step = max(1, -(-len(days) // 16))
    ticks = list(range(0, len(days), step))
    ax.set_xticks([i + 0.5 for i in ticks], [days[i].strftime("%d %b") for i in ticks], rotation=45, ha="right", fontsize=8)
    more = "" if len(share) <= len(shown) else f" (the {len(shown)} of {len(share)} fields with most edits)"
    ax.set_title(f"Extracted fields edited by a human: {ask['workflow'] or 'all workflows'}\n{ask['from']} to {ask['to']}{more}".replace("$", r"\$"), fontsize=11)
    ax.set_xlabel("Day of extraction (UTC)")
    ax.set_ylabel("Field")
    bar = fig.colorbar(mesh, ax=ax, shrink=0.9, extend="max" if beyond else "neither")
    bar.set_label("Edited by a human (%); grey: nothing extracted")
    fig.savefig(path)


def summary(ask, head, fields, edited, days):
    def pair(e, n):
        return [int(e), int(n)]

    months = sorted({d.strftime("%Y-%m") for d in days})
    by_day = len(days) <= 8
    keys = [d.strftime("%Y-%m-%d") for d in days] if by_day else months
    group = (lambda d: d.strftime("%Y-%m-%d")) if by_day else (lambda d: d.strftime("%Y-%m"))

    def line(name, e, n):
        parts = [pair(sum(e[d] for d in days if group(d) == k), sum(n[d] for d in days if group(d) == k)) for k in keys]
        worst = max((d for d in days if n[d] > 0), key=lambda d: (e[d] / n[d], n[d]), default=None)
        peak = None if worst is None or e[worst] == 0 else [worst.strftime("%Y-%m-%d")] + pair(e[worst], n[worst])
        return {"field": str(name)[:60], "total": pair(e.sum(), n.sum()), "parts": parts, "peak": peak}

    order = (edited.sum(axis=1) / fields.sum(axis=1)).sort_values(ascending=False, kind="stable").index
    print(json.dumps({"edit_rate": {
        "workflow": ask["workflow"], "from": ask["from"], "to": ask["to"], "days": len(days), "parts": keys,
        "audit_id": head.get("audit_id", ""), "generation": head.get("generation", ""), "fields": len(order), "cut": bool(head.get("truncated")),
        "all": line("All fields", edited.sum(), fields.sum()),
        "lines": [line(n, edited.loc[n], fields.loc[n]) for n in order[:60]],
        "files": sorted(f for f in os.listdir(OUT) if f.startswith("edit-rate.")),
    }}, separators=(",", ":")))


def main():
    with open("edit-rate.json", encoding="utf-8") as f:
        ask = json.load(f)
    head = {}
    if os.path.exists("rows.csv.json"):
        with open("rows.csv.json", encoding="utf-8") as f:
            head = json.load(f)
    rows = pd.read_csv("rows.csv", dtype={"field_name": str}, keep_default_na=False)
    if len(rows) == 0:
        print(json.dumps({"edit_rate": {"workflow": ask["workflow"], "from": ask["from"], "to": ask["to"], "fields": 0,
                                        "audit_id": head.get("audit_id", ""), "generation": head.get("generation", "")}}))
        return
    rows["day"] = pd.to_datetime(rows["day"])
    rows["fields"], rows["edited"] = rows["fields"].astype(int), rows["edited"].astype(int)
    rows = rows.sort_values(["field_name", "day"])
    days = [d for a, b in ask["spans"] for d in pd.date_range(a, b, freq="D")]
    if len(days) > 16000:
        sys.exit("the period is too long for a sheet: at most 16,000 days")
    fields = rows.pivot_table(index="field_name", columns="day", values="fields", aggfunc="sum", fill_value=0).reindex(columns=days, fill_value=0)
    edited = rows.pivot_table(index="field_name", columns="day", values="edited", aggfunc="sum", fill_value=0).reindex(columns=days, fill_value=0)
    os.makedirs(OUT, exist_ok=True)
    workbook(OUT + "/edit-rate.xlsx", ask, head, rows, fields, edited, days)
    picture(OUT + "/edit-rate.png", ask, fields, edited, days)
    summary(ask, head, fields, edited, days)


main()
