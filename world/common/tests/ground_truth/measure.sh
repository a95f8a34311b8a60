#!/bin/bash
# Measures the kernels of the ground truth with Nsight Compute.
#
#     common/tests/ground_truth/measure.sh build/bin/cuda/tests/ground_truth FOLDER
#
# Needs a GPU whose counters may be read, ncu, cuobjdump, nvidia-smi and python3. Writes into FOLDER:
#
#     h200.json            the figures, named after the GPU; what tests compare with
#     raw.csv              the same as ncu prints it
#     left_out.txt         metrics of metrics.txt that this ncu does not know for this GPU
#     other_metrics.txt    names of metrics on conflicts, wavefronts, atomic operations and constants that it does know
#     instructions.txt     for each kernel the memory instructions in its machine code
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 PROGRAM FOLDER" >&2
    exit 2
fi
program=$(realpath "$1")
folder=$2
here=$(dirname "$(realpath "$0")")
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Nsight Compute refuses to run at all when it does not know a metric. Some that it knows it does not list:
# those are tried.
for collection in profiling source launch; do
    ncu --query-metrics --query-metrics-collection $collection || true
done > "$scratch/query.txt" 2>&1
awk '$1 ~ /__|^memory_/ { print $1 }' "$scratch/query.txt" | sort -u > "$scratch/known.txt"
grep -E 'idc|const|conflict|wavefront|atom|red' "$scratch/query.txt" | sort -u > "$folder/other_metrics.txt" || true

works() {
    timeout 60 ncu --clock-control none --metrics "$1" "$program" copy_4_bytes < /dev/null > "$scratch/try.txt" 2>&1 &&
        ! grep -qE '==ERROR==|n/a' "$scratch/try.txt"
}
: > "$folder/left_out.txt"
metrics=()
while read -r metric; do
    case "$metric" in '' | '#'*) continue ;; esac
    if grep -qxF -e "$metric" -e "${metric%%.*}" "$scratch/known.txt" || works "$metric"; then
        metrics+=("$metric")
    else
        echo "$metric" >> "$folder/left_out.txt"
    fi
done < "$here/metrics.txt"
echo "${#metrics[@]} metrics, $(wc -l < "$folder/left_out.txt") left out"

# The machine code: does each kernel do what its source says?
cuobjdump -sass "$program" | c++filt | awk '
    /Function :/ { kernel = $0; sub(/.*Function : /, "", kernel); sub(/\(.*/, "", kernel); sub(/.*::/, "", kernel) }
    kernel != "" && match($0, /(LDG|STG|LDS|STS|LDC|ULDC|LDCU|ATOM|ATOMG|ATOMS|RED|REDG|BAR)(\.[A-Z0-9_.]+)? /) {
        ++count[kernel " " substr($0, RSTART, RLENGTH)]
    }
    END { for (one in count) print one count[one] }' | sort > "$folder/instructions.txt"

options=(--clock-control none --cache-control none)
# Some of those that it lists it then does not find for this GPU: it names one at a time.
until
    list=$(IFS=,; echo "${metrics[*]}")
    ncu "${options[@]}" --metrics "$list" -f -o "$scratch/report" "$program" > "$scratch/run.txt" 2>&1
do
    missing=$(sed -nE 's/.*Failed to find metric (regex:\^)?([a-z0-9_]+).*/\2/p' "$scratch/run.txt" | head -1)
    if [ -z "$missing" ]; then
        tail -20 "$scratch/run.txt" >&2
        exit 1
    fi
    echo "$missing" >> "$folder/left_out.txt"
    kept=()
    for metric in "${metrics[@]}"; do
        case "$metric" in "$missing" | "$missing".*) ;; *) kept+=("$metric") ;; esac
    done
    if [ ${#kept[@]} -eq ${#metrics[@]} ]; then
        tail -20 "$scratch/run.txt" >&2
        exit 1
    fi
    metrics=("${kept[@]}")
done
grep -E 'WRONG|wrong$|WARNING|ERROR' "$scratch/run.txt" || true
ncu --import "$scratch/report.ncu-rep" --csv --page raw --print-units base --print-kernel-base function \
    --print-metric-instances details > "$folder/raw.csv"

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
file=$(echo "${gpu##* }" | tr '[:upper:]' '[:lower:]').json
"$program" --list | sed 's/  #.*//' > "$scratch/cases.txt"
printf '%s\n' "${metrics[@]}" > "$scratch/metrics.txt"
python3 "$here/to_json.py" --raw "$folder/raw.csv" --cases "$scratch/cases.txt" --metrics "$scratch/metrics.txt" \
    --machine "$gpu" \
    --driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)" \
    --cuda "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')" \
    --ncu "$(ncu --version | sed -n 's/^Version //p')" \
    --command "ncu ${options[*]} --metrics (metrics.txt) ground_truth" \
    --output "$folder/$file"
