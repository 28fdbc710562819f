"""Decodes the VINs of rows.json through gov and prints what differs from what the schedule states, in JSON.

With rows.csv instead (unit_no, year, make, model, body_type, gvw, vin), makes rows.json of it first.
"""
import csv
import json
import os
import subprocess
import sys

SHOWN = 120


def number(text):
    try:
        return int(float(text))
    except ValueError:
        return None


def rows_of_csv():
    rows, without = [], 0
    with open("rows.csv", encoding="utf-8", newline="") as f:
        for i, line in enumerate(csv.DictReader(f), 1):
            if not line["vin"].strip():
                without += 1
                continue
            row = {"ref": "unit " + line["unit_no"] if line["unit_no"] else f"row {i}", "vin": line["vin"].strip()}
            for key in ("make", "model", "body_type"):
                if line[key]:
                    row[key] = line[key]
            for key in ("year", "gvw"):
                if number(line[key]) is not None:
                    row[key] = number(line[key])
            rows.append(row)
    return rows, without


def main():
    without = 0
    if os.path.exists("rows.csv"):
        rows, without = rows_of_csv()
        with open("rows.json", "w", encoding="utf-8") as f:
            json.dump(rows, f)
    else:
        with open("rows.json", encoding="utf-8") as f:
            rows = json.load(f)
    head = {}
    if os.path.exists("rows.csv.json"):
        with open("rows.csv.json", encoding="utf-8") as f:
            head = json.load(f)
    out = {"asked": len(rows), "without_vin": without, "audit_id": head.get("audit_id", ""), "generation": head.get("generation", ""), "results": []}
    if rows:
        done = subprocess.run(["gov", "vin", "--json", "-f", "rows.json"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.stderr.write(done.stderr or done.stdout)
            sys.exit(done.returncode)
        answer = json.loads(done.stdout)
        out["data_date"] = answer.get("data_date", "")
        keep = ("ref", "vin", "Make", "Model", "ModelYear", "VehicleType", "ErrorText", "conclusive")
        results = [{**{k: r.get(k) for k in keep}, "checks": [c for c in r.get("checks") or [] if c.get("verdict") not in ("agrees", "variant")]}
                   for r in answer["results"]]
        for r in results:
            if not r["checks"] or r["Make"]:
                r["ErrorText"] = (r["ErrorText"] or "")[:200] if not r["Make"] else ""
        results.sort(key=lambda r: not r["checks"])  # what differs comes first; sorting is stable
        out["differ"] = sum(1 for r in results if r["checks"])
        out["results"] = results[:SHOWN]
    print(json.dumps({"vins": out}, separators=(",", ":")))


main()
