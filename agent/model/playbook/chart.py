"""Draws one figure over time from rows.csv (x, series, y) as said in chart.json, and prints a short summary in JSON."""
import json
import os

os.environ.setdefault("MPLCONFIGDIR", "/tmp/matplotlib")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

OUT = "../../artifacts"  # the script runs in /workspace/work/NAME


def main():
    with open("chart.json", encoding="utf-8") as f:
        ask = json.load(f)
    head = {}
    if os.path.exists("rows.csv.json"):
        with open("rows.csv.json", encoding="utf-8") as f:
            head = json.load(f)
    rows = pd.read_csv("rows.csv", dtype={"series": str}, keep_default_na=False)
    out = {"rows": len(rows), "audit_id": head.get("audit_id", ""), "generation": head.get("generation", ""), "file": ask["file"]}
    if len(rows):
        rows["x"] = pd.to_datetime(rows["x"])
        grid = rows.pivot_table(index="x", columns="series", values="y", aggfunc="sum", fill_value=0).sort_index()
        steps = pd.date_range(ask["from"], ask["to"], freq={"day": "D", "week": "W-MON", "month": "MS"}[ask["unit"]])
        grid = grid.reindex(grid.index.union(steps), fill_value=0)
        os.makedirs(OUT, exist_ok=True)
        fig, ax = plt.subplots(figsize=(11, 5.5), dpi=110, layout="constrained")
        bottom = pd.Series(0, index=grid.index)
        width = {"day": 0.8, "week": 5.6, "month": 22}[ask["unit"]]
        for name in grid.columns:
            ax.bar(grid.index, grid[name], bottom=bottom, width=width, label=str(name).replace("$", r"\$")[:40])
            bottom = bottom + grid[name]
        ax.set_title(f"{ask['title']}\n{ask['from']} to {ask['to']}".replace("$", r"\$"))
        ax.set_xlabel({"day": "Day", "week": "Week from Monday", "month": "Month"}[ask["unit"]] + " (UTC)")
        ax.set_ylabel(ask["label"])
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.margins(x=0.01)
        ax.grid(axis="y", alpha=0.3)
        ax.legend(title=ask["by"], fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        fig.autofmt_xdate()
        fig.savefig(OUT + "/" + ask["file"])
        totals = grid.sum().sort_values(ascending=False)
        peak = grid.sum(axis=1)
        out.update(total=int(totals.sum()), series=[[str(n)[:60], int(v)] for n, v in totals.head(20).items()],
                   peak=[str(peak.idxmax().date()), int(peak.max())], steps=len(grid))
    print(json.dumps({"chart": out}, separators=(",", ":")))


main()
