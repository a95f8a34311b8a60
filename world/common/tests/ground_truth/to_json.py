#!/usr/bin/env python3
"""Makes a JSON file of what `ncu --csv --page raw --print-metric-instances details` printed; see measure.sh.

    {"machine": ..., "driver": ..., "cuda": ..., "ncu": ..., "date": ..., "command": ...,
     "metrics": [names of all that was measured],
     "kernels": {kernel: {metric: value}}}

Values of 0 are left out. Metrics that come apart by instruction get one entry for each: "metric{LDG}".
"""

import argparse
import csv
import datetime
import json
import re
import sys

BY_INSTRUCTION = re.compile(r"^sass__.*_per_opcode$")
VALUE = re.compile(r"^(-?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)\s*(?:\((.*)\))?$", re.DOTALL)


def number(text):
    value = float(text.replace(",", ""))
    return int(value) if value == int(value) else value


def entries(metric, text):
    """Yields (name, value) of one cell of the table."""
    found = VALUE.match(text.strip())
    if not found:
        raise ValueError(f"{metric}: cannot read {text[:200]!r}")
    yield metric, number(found.group(1))
    if not BY_INSTRUCTION.match(metric):
        return
    for instance in (found.group(2) or "").split(";"):
        name, separator, value = instance.strip().rpartition(":")
        if separator:
            yield f"{metric}{{{name.strip()}}}", number(value.strip())


def read_kernels(path, metrics):
    """Returns {kernel: {metric: value}} and the metrics that could be read for all kernels."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("==")]
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    kernels = {}
    unreadable = set()
    csv.field_size_limit(sys.maxsize)
    for row in csv.DictReader(lines[start:]):
        if not row["ID"]:  # units
            continue
        kernel = re.match(r"(?:.*::)?(\w+)", row["Kernel Name"]).group(1)
        if kernel in kernels:
            sys.exit(f"{kernel} was launched more than once")
        values = kernels[kernel] = {}
        for metric in metrics:
            try:
                values.update(entries(metric, row.get(metric) or ""))
            except ValueError as error:
                print(f"{kernel}: {error}; left out", file=sys.stderr)
                unreadable.add(metric)
    return kernels, [metric for metric in metrics if metric not in unreadable]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--raw", required=True)
    parser.add_argument("--cases", required=True, help="file with the names of all kernels")
    parser.add_argument("--metrics", required=True, help="file with the names of all metrics")
    for about in ("machine", "driver", "cuda", "ncu", "command"):
        parser.add_argument("--" + about, required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()

    with open(arguments.cases, encoding="utf-8") as file:
        cases = file.read().split()
    with open(arguments.metrics, encoding="utf-8") as file:
        asked_for = file.read().split()
    kernels, metrics = read_kernels(arguments.raw, asked_for)
    if set(cases) != set(kernels):
        print("not measured:", sorted(set(cases) - set(kernels)), file=sys.stderr)
        print("not a case:", sorted(set(kernels) - set(cases)), file=sys.stderr)

    about = {
        "machine": arguments.machine,
        "driver": arguments.driver,
        "cuda": arguments.cuda,
        "ncu": arguments.ncu,
        "date": datetime.date.today().isoformat(),
        "command": arguments.command,
        "metrics": metrics,
    }
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("{\n")
        for key, value in about.items():
            file.write(f" {json.dumps(key)}: {json.dumps(value)},\n")
        rows = []
        for kernel, measured in kernels.items():
            values = {name: value for name, value in measured.items() if value != 0 and name.split("{")[0] in metrics}
            rows.append(f"  {json.dumps(kernel)}: {json.dumps(values)}")
        file.write(' "kernels": {\n' + ",\n".join(rows) + "\n }\n}\n")
    print(f"{arguments.output}: {len(kernels)} kernels, {len(metrics)} metrics")


if __name__ == "__main__":
    main()
