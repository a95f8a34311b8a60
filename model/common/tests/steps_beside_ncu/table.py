#!/usr/bin/env python3
"""Prints a table of what Nsight Compute and the CPU device counted for the steps of lessons; see measure.sh.

Launches of a step are added up. A row is "equal", "within 2 %", or "differs" with the ratio.
"""

import argparse
import csv
import json
import re
import sys

GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
# name, the CPU device's operation and member, Nsight Compute's metric
COUNTERS = [
    ("requests/ld", "global_load", "requests", GLOBAL.format("requests", "ld")),
    ("sectors/ld", "global_load", "sectors", GLOBAL.format("sectors", "ld")),
    ("requests/st", "global_store", "requests", GLOBAL.format("requests", "st")),
    ("sectors/st", "global_store", "sectors", GLOBAL.format("sectors", "st")),
    ("shared ld", "shared_load", "requests", "smsp__inst_executed_op_shared_ld.sum"),
    ("wavefronts ld", "shared_load", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    ("shared st", "shared_store", "requests", "smsp__inst_executed_op_shared_st.sum"),
    ("wavefronts st", "shared_store", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
]


def number(text):
    return float((text or "0").replace(",", "") or 0)


def launches_of_ncu(path):
    """[{"kernel": name, metric: value ..}] in the order of the launches."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    launches = []
    for row in csv.DictReader(lines[start:]):
        if not row["ID"]:  # units
            continue
        launch = {"kernel": re.match(r"(?:.*::)?(\w+)", row["Kernel Name"]).group(1)}
        for metric, text in row.items():
            if metric.startswith(("l1tex", "smsp", "sm__", "launch__")):
                try:
                    launch[metric] = number(text)
                except ValueError:
                    pass
        launches.append(launch)
    return launches


def verdict(gpu, cpu):
    if gpu == cpu:
        return "equal"
    if gpu and abs(cpu / gpu - 1) <= 0.02:
        return f"within 2 % ({cpu / gpu - 1:+.2%})"
    return f"differs ({cpu / gpu:.3g}x)" if gpu else "differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--provenance", required=True)
    parser.add_argument("lessons", nargs="*")
    arguments = parser.parse_args()
    tally = {"equal": 0, "within": 0, "differs": 0}
    print(f"# The counters of each step, measured and counted\n\n{arguments.provenance}\n")
    for lesson in arguments.lessons:
        with open(f"{arguments.folder}/{lesson}.json", encoding="utf-8") as file:
            result = json.load(file)["lessons"][0]
        measured = launches_of_ncu(f"{arguments.folder}/{lesson}.csv")
        print(f"## {lesson}, size {' x '.join(map(str, result['size']))}\n")
        print("| step | counter | Nsight Compute | CPU device | |\n|---|---|---:|---:|---|")
        at = 0
        for step in result["steps"]:
            if step["kind"] != "device" or step["launches"] is None:
                continue
            counted = step["launches"]
            mine = measured[at : at + len(counted)]
            at += len(counted)
            if len(mine) < len(counted):
                print(f"| {step['name']} | | not measured | | |")
                continue
            for name, operation, member, metric in COUNTERS:
                cpu = sum(launch["counters"].get(operation, {}).get(member, 0) for launch in counted)
                gpu = sum(launch.get(metric, 0) for launch in mine)
                if cpu == 0 and gpu == 0:
                    continue
                said = verdict(gpu, cpu)
                tally[said.split()[0]] += 1
                print(f"| {step['name']} | {name} | {gpu:.0f} | {cpu:.0f} | {said} |")
        if at != len(measured):
            print(f"\n{len(measured)} launches were measured, and {at} counted: steps may be mixed up.", file=sys.stderr)
        print()
    total = sum(tally.values())
    print(f"Of {total} counters {tally['equal']} are equal, {tally['within']} within 2 %, {tally['differs']} differ.")


if __name__ == "__main__":
    main()
