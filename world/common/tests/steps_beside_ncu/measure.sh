#!/bin/bash
# The counters of a chapter's steps: Nsight Compute's on this machine's GPU beside the CPU device's.
#
#     common/tests/steps_beside_ncu/measure.sh PROGRAM FOLDER LESSON[=SIZE]..
#
# PROGRAM: a chapter's name, such as memory_model; needs build/bin/cuda/PROGRAM, build/bin/cpu/PROGRAM, a GPU whose
# counters may be read, ncu and python3. Every lesson is run once with each of its steps, at the CPU device's usual size
# or at SIZE, and on the CPU device with all blocks counted, unless FOLDER has that already (from another machine, where
# only `measure.sh --count PROGRAM FOLDER LESSON..` was run). Writes into FOLDER:
#
#     LESSON.json, LESSON.csv    what each of the two counted
#     steps.md                   a table of all, with the differences
set -euo pipefail

count_only=
if [ "${1:-}" = --count ]; then
    count_only=yes
    shift
fi
if [ $# -lt 3 ]; then
    sed -n '2,13s/^# \{0,1\}//p' "$0"
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
program=$1
folder=$2
shift 2
mkdir -p "$folder"
metrics=$(sed -n '/^[a-z]/p' "$here/metrics.txt" | paste -sd,)
lessons=()
for lesson in "$@"; do
    size=${lesson#*=}
    name=${lesson%%=*}
    [ "$size" != "$lesson" ] || size=
    [ -s "$folder/$name.json" ] || "build/bin/cpu/$program" "$name" --device cpu --once --all-blocks --json "$folder/$name.json" ${size:+--size "$size"} \
        > "$folder/$name.cpu.txt" || echo "$name: status $? on the CPU device" >&2
    [ -z "$count_only" ] || continue
    # The size that the CPU device took is the GPU's, too.
    size=$(python3 -c 'import json, sys
size = json.load(open(sys.argv[1]))["lessons"][0]["size"]
print("x".join(map(str, size)) if size else "")' "$folder/$name.json")
    [ -n "$size" ] || { echo "$name has no steps"; continue; }
    timeout 150 ncu --profile-from-start off --clock-control none --cache-control none --metrics "$metrics" \
        -f -o "$folder/$name" "build/bin/cuda/$program" "$name" --device cuda --once --size "$size" \
        > "$folder/$name.gpu.txt" 2>&1 || { echo "$name: ncu ended with status $?"; tail -n 3 "$folder/$name.gpu.txt"; }
    ncu --import "$folder/$name.ncu-rep" --csv --page raw --print-units base --print-kernel-base function \
        > "$folder/$name.csv" || continue
    rm -f "$folder/$name.ncu-rep"
    lessons+=("$name")
done
[ -z "$count_only" ] || exit 0
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
ncu=$(ncu --version | sed -n 's/^Version //p')
python3 "$here/table.py" --folder "$folder" --provenance "$gpu, Nsight Compute $ncu, $(date -u +%F): $0 $program" \
    "${lessons[@]}" > "$folder/steps.md"
tail -n 3 "$folder/steps.md"
