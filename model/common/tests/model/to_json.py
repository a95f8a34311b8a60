#!/usr/bin/env python3
"""Joins the times of model_kernels with the figures of Nsight Compute; see measure.sh.

    {"gpu": ..., "driver": ..., "cuda": ..., "ncu": ..., "date": ..., "clocks": ..., "command": ...,
     "metrics": [names of Nsight Compute],
     "kernels": [{"name": ..., "family": ..., "part": ..., "kernel": ..., "grid": [x, y, z], "block": [x, y, z],
                  "shared_bytes": ..., "seconds": ..., ..., "limiter": ..., "limiter_percent": ..., "busy": {unit: percent},
                  "top_stall": ..., "ncu": [one value per metric, null if there is none]}, ...]}

Times are in seconds: "seconds" after the L2 cache was filled with unmodified lines of another buffer, "after_writes" after
it was filled with modified lines, "hot" right after another launch of the same kernel, "ncu_seconds" as Nsight Compute
measured it with invalidated caches. Figures that are no integers have four digits.

How the limiter is chosen: see limiter_of.
"""

import argparse
import collections
import csv
import datetime
import json
import re
import sys

STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")

TIME_UNITS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "s": 1, "second": 1}

# A unit that is busy at least so much (percent of its peak) limits the kernel. Nsight Compute's guide says that above
# 80 % a kernel is bound by this unit, and that below 60 % it is likely to be bound by latency.
BUSY = 60

# Parts of the speed of light. The most busy one names the limiter. Those of the SM are percent of peak while the SM
# is active, multiplied by the share of time in which SMs are active.
UNITS = {
    "dram": ["dram__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"],
    "l2": ["lts__throughput.avg.pct_of_peak_sustained_elapsed"],
    "l1": ["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"],
}
SM_UNITS = {
    "issue": ["sm__inst_issued.avg.pct_of_peak_sustained_elapsed"],
}
PIPES = {
    "fp32": ["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
             "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"],
    "fp64": ["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
             "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"],
    "integer": ["sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
                "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"],
    "special": ["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"],
    "lsu": ["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"],
}
SHARED = ["l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"]
L1_DATA = ["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"]
CONSTANT = ["idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed"]


def number(text):
    text = (text or "").replace(",", "").strip()
    value = float(text)
    return int(value) if value == int(value) else value


def rounded(value):
    return value if isinstance(value, int) else float(f"{value:.4g}")


def first_of(values, metrics):
    return next((values[metric] for metric in metrics if metric in values), 0)


def busy_units(values):
    """{unit: percent of its peak over the whole duration of the kernel}."""
    units = {unit: first_of(values, metrics) for unit, metrics in {**UNITS, **SM_UNITS}.items()}
    elapsed = values.get("sm__cycles_elapsed.max", 0)
    active = values.get("sm__cycles_active.avg", 0)
    share = active / elapsed if elapsed else 1
    for unit, metrics in PIPES.items():
        units[unit] = first_of(values, metrics) * min(share, 1)
    units["constant"] = first_of(values, CONSTANT)
    # Shared memory uses the data stage of L1. If most wavefronts are of shared memory, the L1 unit is called "shared".
    shared, data = first_of(values, SHARED), first_of(values, L1_DATA)
    if shared > 0 and shared >= 0.5 * max(data, shared):
        units["shared"] = max(shared, units["l1"])
        units["l1"] = 0
    return units


# What a stall reason says if no unit is busy.
STALL_LIMITER = {
    "long_scoreboard": "memory latency",
    "lg_throttle": "l1",
    "tex_throttle": "l1",
    "short_scoreboard": "shared memory latency",
    "mio_throttle": "shared",
    "barrier": "barrier",
    "membar": "memory latency",
    "math_pipe_throttle": "pipe",
    "wait": "arithmetic latency",
    "dispatch_stall": "arithmetic latency",
    "imc_miss": "constant",
    "no_instruction": "instruction fetch",
    "branch_resolve": "branches",
    "drain": "memory latency",
    "not_selected": "issue",
    "selected": "issue",
}


def top_stalls(values):
    """Stall reasons, largest first, without "selected", which is the issued instruction itself."""
    found = [(value, STALL.fullmatch(metric).group(1)) for metric, value in values.items() if STALL.fullmatch(metric)]
    return [(name, value) for value, name in sorted(found, reverse=True) if name != "selected" and value > 0]


def limiter_of(values):
    """(limiter, its percentage or None).

    1. A kernel that does nothing for most of its time is limited by "launch": SMs are active for less than half of the
       duration, and no unit is busy for 30 % or more.
    2. If the busiest unit reaches BUSY percent of its peak, it is the limiter. "l2" becomes "atomics" if at least half
       of the L2 cache's sectors are of atomic operations.
    3. Otherwise the kernel is limited by latency, and the largest stall reason says by which (STALL_LIMITER). With
       long_scoreboard it is "memory latency", or "atomics" as in 2 if atomic operations return values.
    """
    units = busy_units(values)
    unit = max(units, key=units.get)
    percent = units[unit]
    sectors = values.get("lts__t_sectors.sum", 0)
    atomic = values.get("lts__t_sectors_op_atom.sum", 0) + values.get("lts__t_sectors_op_red.sum", 0)
    mostly_atomic = sectors > 0 and atomic >= 0.5 * sectors
    elapsed, active = values.get("sm__cycles_elapsed.max", 0), values.get("sm__cycles_active.avg", 0)
    if percent < 30 and elapsed and values.get("sm__cycles_active.max", active) < 0.5 * elapsed:
        return "launch", None
    if percent >= BUSY:
        return ("atomics" if unit == "l2" and mostly_atomic else unit), round(percent, 1)
    stalls = top_stalls(values)
    if not stalls:
        return "launch", None
    limiter = STALL_LIMITER.get(stalls[0][0], stalls[0][0])
    if mostly_atomic and limiter in ("memory latency", "l1", "shared"):
        limiter = "atomics"
    return limiter, None


def read_launches(path, metrics):
    """Returns [(kernel, {metric: value})] in the order of the launches. Durations are in seconds."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    csv.field_size_limit(sys.maxsize)
    launches = []
    unreadable = {}
    time_unit = 1e-9
    for row in csv.DictReader(lines[start:]):
        if not row["ID"]:
            time_unit = TIME_UNITS.get((row.get("gpu__time_duration.sum") or "").strip(), time_unit)
            continue
        values = {}
        for metric in metrics:
            try:
                values[metric] = number(row.get(metric))
            except ValueError:
                unreadable[metric] = unreadable.get(metric, 0) + 1
        if "gpu__time_duration.sum" in values:
            values["gpu__time_duration.sum"] *= time_unit
        launches.append((int(row["ID"]), re.match(r"(?:.*::)?(\w+)", row["Kernel Name"]).group(1), values))
    for metric, count in unreadable.items():
        print(f"{metric}: no number for {count} launches", file=sys.stderr)
    return [(kernel, values) for _, kernel, values in sorted(launches, key=lambda launch: launch[0])]


def read_times(path):
    """The file that the program wrote. If the program was stopped, the cases with complete lines count."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        print(f"{path} is incomplete", file=sys.stderr)
        return json.loads(text[: text.rfind(",\n")] + "]}")


def print_families(rows):
    """A summary that is short enough to be read on a screen."""
    print(f"\n{'family':18} {'cases':>5} {'us':>17} {'> 10 % spread':>13}  limiters")
    for family in dict.fromkeys(row["family"] for row in rows):
        cases = [row for row in rows if row["family"] == family]
        seconds = [row["seconds"] for row in cases if row.get("seconds")]
        wide = sum(row["seconds_p90"] - row["seconds_p10"] > 0.1 * row["seconds"] for row in cases if row.get("seconds"))
        limiters = collections.Counter(row.get("limiter", "-") for row in cases)
        span = f"{1e6 * min(seconds):.1f} to {1e6 * max(seconds):.1f}" if seconds else "-"
        print(f"{family:18} {len(cases):5} {span:>17} {wide:13}  " +
              ", ".join(f"{name} {count}" for name, count in limiters.most_common()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--raw", nargs="*", required=True, help="X.csv of groups; X.cases lists the cases of the group")
    parser.add_argument("--cases", required=True, help="what model_kernels --list printed")
    parser.add_argument("--metrics", required=True, help="file with the names of all metrics")
    parser.add_argument("--times", required=True, help="what model_kernels --json wrote")
    for about in ("gpu", "driver", "cuda", "ncu", "clocks-before", "clocks-after", "command"):
        parser.add_argument("--" + about, required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()

    with open(arguments.cases, encoding="utf-8") as file:
        cases = [line.rstrip("\n").split("\t") for line in file]
    with open(arguments.metrics, encoding="utf-8") as file:
        metrics = file.read().split()
    times = read_times(arguments.times)
    timed = {kernel["name"]: kernel for kernel in times.pop("kernels")}
    profiled = {}
    for path in arguments.raw:
        with open(path.removesuffix(".csv") + ".cases", encoding="utf-8") as file:
            group = [line.split("\t")[0] for line in file]
        launches = read_launches(path, metrics)
        if len(launches) != len(group):
            # A case that was not launched would shift all later ones: better no figures than wrong ones.
            print(f"{path}: {len(launches)} launches of {len(group)} cases were profiled; this group is left out",
                  file=sys.stderr)
            continue
        profiled.update(zip(group, launches))

    rows = []
    for name, family, part in cases:
        row = dict(timed.get(name, {"name": name, "family": family, "part": part}))
        if name in profiled:
            kernel, values = profiled[name]
            limiter, percent = limiter_of(values)
            row["kernel"] = kernel
            row["ncu_seconds"] = rounded(values.get("gpu__time_duration.sum", 0.0))
            row["limiter"] = limiter
            if percent is not None:
                row["limiter_percent"] = percent
            row["busy"] = {unit: round(value, 1) for unit, value in sorted(busy_units(values).items(), key=lambda u: -u[1])
                           if value >= 10}
            stalls = top_stalls(values)
            if stalls:
                row["top_stall"] = stalls[0][0]
            row["ncu"] = [rounded(values[metric]) if metric in values else None for metric in metrics]
        rows.append(row)

    about = {
        "gpu": arguments.gpu,
        "driver": arguments.driver,
        "cuda": arguments.cuda,
        "ncu_version": arguments.ncu,
        "date": datetime.date.today().isoformat(),
        "clocks": {
            "columns": "SM now, memory now, SM maximum, memory maximum, power, temperature",
            "before": arguments.clocks_before,
            "after": arguments.clocks_after,
        },
        "command": arguments.command,
        "timing": {key: value for key, value in times.items() if key not in ("gpu", "date")},
        "metrics": metrics,
    }
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("{\n")
        for key, value in about.items():
            file.write(f" {json.dumps(key)}: {json.dumps(value)},\n")
        file.write(' "kernels": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n")

    print(f"{'case':44} {'part':5} {'us':>9} {'spread':>6} {'hot':>9} {'ncu':>9}  limiter")
    for row in rows:
        median = row.get("seconds", 0)
        spread = (row.get("seconds_p90", 0) - row.get("seconds_p10", 0)) / median if median else 0
        print(f"{row['name']:44} {row['part']:5} {1e6 * median:9.2f} {100 * spread:5.0f}% {1e6 * row.get('hot', 0):9.2f} "
              f"{1e6 * row.get('ncu_seconds', 0):9.2f}  {row.get('limiter', '-')} {row.get('limiter_percent', '')} "
              f"{row.get('top_stall', '')}")
    print_families(rows)
    print(f"{arguments.output}: {len(rows)} cases, {len(timed)} with times, {len(profiled)} profiled, "
          f"{len(metrics)} metrics")


if __name__ == "__main__":
    main()
