#!/bin/bash
# What the warps of each step of a lesson wait for, by Nsight Compute, as a Markdown table.
#
#     common/benchmarks/causes/what_warps_wait_for.sh PROGRAM LESSON SIZE OPERATIONS
#     common/benchmarks/causes/what_warps_wait_for.sh build/bin/cuda/examples matrix_multiply 4096x4096x4096 4096**3
#
# OPERATIONS: how many operations of one thread a step has to do, as a number of Python: for a matrix product its
# multiply-adds. Instructions and wavefronts are those of a warp, for 32 of them. Needs a GPU whose counters may be read,
# ncu and python3.
#
#     instructions, wavefronts    per 32 operations: all executed instructions; wavefronts of global and shared memory
#     of peak                     wavefronts per cycle; one per SM is the most
#     issue                       cycles in which a scheduler issued an instruction
#     long .. not selected        cycles that a warp waits between two of its instructions, by reason: data from global
#                                 memory; data from shared memory; a full queue of memory instructions; a barrier; nothing,
#                                 but another warp was chosen
set -euo pipefail
[ $# = 4 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }
program=$1 lesson=$2 size=$3 operations=$4
metrics=gpu__time_duration.sum,smsp__inst_executed.sum,l1tex__data_pipe_lsu_wavefronts.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active,sm__warps_active.avg.pct_of_peak_sustained_active
for reason in long_scoreboard short_scoreboard mio_throttle barrier not_selected; do
    metrics+=,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio
done
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
ncu --profile-from-start off --clock-control none --metrics "$metrics" -f -o "$report/steps" \
    "$program" "$lesson" --device cuda --once --size "$size" >"$report/log" 2>&1 || { tail -n 20 "$report/log"; exit 1; }
ncu --import "$report/steps.ncu-rep" --csv --page raw --print-units base --print-kernel-base function >"$report/steps.csv"
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), $(date -u +%F): $0 $*"
python3 - "$report/steps.csv" "$operations" <<'END'
import csv
import sys

lines = open(sys.argv[1], newline="", encoding="utf-8").read().split("\n")
start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
base, _, power = sys.argv[2].partition("**")
per = int(base) ** int(power or 1) / 32
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
print("| kernel | ms | instructions | wavefronts | of peak | issue | resident warps | long | short | queue | barrier | not selected |")
print("| --- |" + " ---: |" * 11)
for row in csv.DictReader(lines[start:]):
    if not row["ID"]:  # units
        continue
    value = lambda metric: float(row[metric].replace(",", ""))
    print(
        f"| `{row['Kernel Name']}` | {value('gpu__time_duration.sum') / 1e6:.2f} | {value('smsp__inst_executed.sum') / per:.2f} "
        f"| {value('l1tex__data_pipe_lsu_wavefronts.sum') / per:.3f} "
        f"| {value('l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed'):.0f} % "
        f"| {value('smsp__issue_active.avg.pct_of_peak_sustained_active'):.0f} % "
        f"| {value('sm__warps_active.avg.pct_of_peak_sustained_active'):.0f} % | "
        + " | ".join(f"{value(STALL.format(r)):.2f}" for r in
                     ("long_scoreboard", "short_scoreboard", "mio_throttle", "barrier", "not_selected")) + " |")
END
