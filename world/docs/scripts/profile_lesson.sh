#!/usr/bin/env bash
# Profiles the steps of a lesson with Nsight Compute, for record_ncu.mjs: needs a GPU whose counters may be read, and ncu.
#
#     docs/scripts/profile_lesson.sh PROGRAM LESSON FOLDER [OPTION..]
#
# PROGRAM: build/bin/cuda/modern_cuda, for example. OPTIONs go to it; --step chooses steps. Each step runs once, at the
# size for a GPU. Writes into FOLDER:
#
#     LESSON.csv     all figures, a row for each launch
#     LESSON.txt     the report in words, as ncu prints it
#     LESSON.json    what the program itself writes: the GPU, the date, the steps
#     ncu.txt        the version of ncu, and the options that it was given
set -euo pipefail
if [[ $# -lt 3 ]]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
program=$1 lesson=$2 folder=$3
shift 3
mkdir -p "$folder"

metrics=(
    gpu__time_duration.sum launch__registers_per_thread
    dram__bytes_read.sum dram__bytes_write.sum
    gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed lts__throughput.avg.pct_of_peak_sustained_elapsed
    l1tex__throughput.avg.pct_of_peak_sustained_active sm__throughput.avg.pct_of_peak_sustained_elapsed
    l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed
    l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
    l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
    sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active
    smsp__issue_active.avg.pct_of_peak_sustained_active sm__warps_active.avg.pct_of_peak_sustained_active
    smsp__average_warp_latency_per_inst_issued.ratio
)
for reason in barrier branch_resolve dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard math_pipe_throttle \
    membar mio_throttle misc no_instruction not_selected selected short_scoreboard sleeping tex_throttle wait; do
    metrics+=("smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio")
done
options=(--profile-from-start off --clock-control none --cache-control all --section SpeedOfLight --section WarpStateStats
    --section MemoryWorkloadAnalysis --section Occupancy --metrics "$(IFS=,; echo "${metrics[*]}")")
ncu "${options[@]}" -f -o "$folder/$lesson" "$program" "$lesson" --device cuda --once --no-input --json "$folder/$lesson.json" "$@" \
    > "$folder/$lesson.log" 2>&1 || { status=$?; tail -n 20 "$folder/$lesson.log" >&2; exit $status; }
read_report() { ncu --import "$folder/$lesson.ncu-rep" --print-kernel-base function "$@"; }
read_report --csv --page raw --print-units base > "$folder/$lesson.csv"
read_report --page details > "$folder/$lesson.txt"
{
    ncu --version | sed -n 's/^Version //p'
    echo "ncu --profile-from-start off --clock-control none $program $lesson --once"
} > "$folder/ncu.txt"
rm -f "$folder/$lesson.ncu-rep"
