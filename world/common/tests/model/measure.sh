#!/bin/bash
# Measures the kernels that validate the time model: times by events, everything else by Nsight Compute.
#
#     common/tests/model/measure.sh PROGRAM FOLDER
#
# Needs a GPU whose counters may be read, ncu, nvidia-smi and python3. Writes into FOLDER:
#
#     h200.json         all figures, one line per kernel, named after the GPU
#     times.json        times as PROGRAM wrote them
#     raw_*.csv         figures of Nsight Compute as it printed them, for groups of families
#     raw_*.cases       the cases of each group, in the order of their launches
#     log.txt           metrics that were left out, and the output of the programs
#
# Stops to profile after LIMIT seconds (environment, default 230); figures of Nsight Compute are then missing for some
# families.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 PROGRAM FOLDER" >&2
    exit 2
fi
program=$(realpath "$1")
folder=$2
here=$(dirname "$(realpath "$0")")
mkdir -p "$folder"
log=$folder/log.txt
limit=${LIMIT:-230}
: > "$log"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

query() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>> "$log" | head -1 || true; }
clocks() { query clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.draw,temperature.gpu; }

"$program" --list > "$scratch/cases.txt"
echo "$(wc -l < "$scratch/cases.txt") cases"

# ---- times, without a profiler ----------------------------------------------------------------------------------------
before=$(clocks)
status=0
timeout 150 "$program" --json "$folder/times.json" > "$scratch/times.txt" 2>&1 || status=$?
after=$(clocks)
cat "$scratch/times.txt" >> "$log"
grep -E 'WRONG|stopped' "$scratch/times.txt" || true
tail -1 "$scratch/times.txt"
echo "times: status $status, $SECONDS s so far"
if [ $status -ne 0 ] && [ ! -s "$folder/times.json" ]; then exit 1; fi

# ---- the metrics that this ncu knows for this GPU ---------------------------------------------------------------------
for collection in profiling source launch; do
    ncu --query-metrics --query-metrics-collection $collection 2>&1 || true
done | awk '$1 ~ /__/ { print $1 }' | sort -u > "$scratch/known.txt"
metrics=()
while read -r metric; do
    case "$metric" in '' | '#'*) continue ;; esac
    case "$metric" in launch__*) metrics+=("$metric"); continue ;; esac
    # A list without entries means that it could not be read: then all are tried.
    if [ ! -s "$scratch/known.txt" ] || grep -qxF -e "$metric" -e "${metric%%.*}" "$scratch/known.txt"; then
        metrics+=("$metric")
    else
        echo "left out (not listed by ncu): $metric" >> "$log"
    fi
done < "$here/metrics.txt"

# Nsight Compute refuses to run at all when it does not find a metric, and it names one at a time. One small kernel is
# enough to find out; a probe takes about a second.
options=(--clock-control none --cache-control all)
probe() {
    local list
    list=$(IFS=,; echo "${metrics[*]}")
    timeout 60 ncu "${options[@]}" --metrics "$list" "$program" --once store_1_block_of_32 > "$scratch/probe.txt" 2>&1
}
probes=0
until probe; do
    probes=$((probes + 1))
    missing=$(sed -nE 's/.*[Ff]ailed to find metric (regex:\^)?([A-Za-z0-9_.]+).*/\2/p' "$scratch/probe.txt" | head -1)
    kept=()
    for metric in "${metrics[@]}"; do
        case "$metric" in "$missing" | "$missing".*) ;; *) kept+=("$metric") ;; esac
    done
    if [ -z "$missing" ] || [ ${#kept[@]} -eq ${#metrics[@]} ] || [ $probes -gt 30 ]; then
        echo "ncu does not run:" >&2
        tail -20 "$scratch/probe.txt" | tee -a "$log" >&2
        exit 1
    fi
    echo "left out (not found): $missing" >> "$log"
    metrics=("${kept[@]}")
done
echo "${#metrics[@]} metrics, $(grep -c '^left out' "$log" || true) left out, $SECONDS s so far"

# ---- Nsight Compute over one launch per case --------------------------------------------------------------------------
# In groups of families: if the time is over, the groups so far are kept.
list=$(IFS=,; echo "${metrics[*]}")
groups=5
cut -f2 "$scratch/cases.txt" | uniq > "$scratch/families.txt"
raw=()
for ((group = 0; group < groups; ++group)); do
    left=$((limit - SECONDS))
    if [ $left -lt 15 ]; then
        echo "no time left for group $((group + 1)) of $groups"
        continue
    fi
    chosen=()
    while read -r family; do chosen+=(--family "$family"); done < <(awk -v n=$groups -v k=$group 'NR % n == k' "$scratch/families.txt")
    "$program" --list "${chosen[@]}" > "$folder/raw_$group.cases"
    status=0
    timeout $((left + 20)) ncu "${options[@]}" --metrics "$list" -f -o "$scratch/report_$group" "$program" --once "${chosen[@]}" \
        > "$scratch/run.txt" 2>&1 || status=$?
    grep -E 'WRONG|==ERROR==|==WARNING==|stopped' "$scratch/run.txt" | head -20 || true
    grep -v '==PROF==' "$scratch/run.txt" >> "$log" || true
    echo "ncu: group $((group + 1)) of $groups, status $status, $SECONDS s so far"
    if ncu --import "$scratch/report_$group.ncu-rep" --csv --page raw --print-units base --print-kernel-base function \
        > "$folder/raw_$group.csv" 2>> "$log"; then
        raw+=("$folder/raw_$group.csv")
    else
        rm -f "$folder/raw_$group.csv"
    fi
done

gpu=$(query name)
short=$(echo "$gpu" | grep -oE '[A-Z]+[0-9]+' | head -1 | tr '[:upper:]' '[:lower:]')
printf '%s\n' "${metrics[@]}" > "$scratch/metrics.txt"
python3 "$here/to_json.py" --raw "${raw[@]}" --cases "$scratch/cases.txt" --metrics "$scratch/metrics.txt" \
    --times "$folder/times.json" \
    --gpu "$gpu" \
    --driver "$(query driver_version)" \
    --cuda "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" \
    --ncu "$(ncu --version | sed -n 's/^Version //p')" \
    --clocks-before "$before" --clocks-after "$after" \
    --command "ncu ${options[*]} --metrics (metrics.txt) model_kernels --once" \
    --output "$folder/${short:-gpu}.json"
