#!/bin/bash
# A chapter's lessons under compute-sanitizer: each step once, with all four tools, at the CPU device's usual size and at
# a small one that is a multiple of nothing.
#
#     common/tests/sanitize_lessons.sh PROGRAM FOLDER [LESSON..]
#
# PROGRAM: a chapter's name, such as memory_model; needs build/bin/cuda/PROGRAM, build/bin/cpu/PROGRAM (or FOLDER with the
# LESSON.json of `steps_beside_ncu/measure.sh --count`), a GPU, compute-sanitizer and python3. Several run at a time.
# Writes into FOLDER a file for each run, and sanitizer.md, a table of them. Exit status 1 when some run reported an
# error (lessons with wrong kernels on purpose do).
set -euo pipefail

if [ $# -lt 2 ]; then
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 2
fi
program=$1
folder=$2
shift 2
mkdir -p "$folder"
if [ $# -eq 0 ]; then
    "build/bin/cuda/$program" --list --json "$folder/list.json" > /dev/null
    mapfile -t lessons < <(python3 -c 'import json, sys
for lesson in json.load(open(sys.argv[1]))["lessons"]: print(lesson["name"])' "$folder/list.json")
else
    lessons=("$@")
fi

# one LESSON SIZE TOOL: leaves "LESSON SIZE TOOL STATUS errors" in a file.
one() {
    local lesson=$1 size=$2 tool=$3 log="$folder/$1.${2:-usual}.$3.txt" status=0
    timeout "${LIMIT:-120}" compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "build/bin/cuda/$program" "$lesson" --device cuda --once ${size:+--size "$size"} > "$log" 2>&1 || status=$?
    local said
    said=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -1 | sed 's/^=* *//') || true
    [ "$status" != 124 ] || said="not ended after ${LIMIT:-120} s"
    echo "| $lesson | ${size:-usual} | $tool | $status | ${said:-no summary} |" > "$log.row"
}

jobs_at_a_time=${JOBS:-4}
for lesson in "${lessons[@]}"; do
    [ -s "$folder/$lesson.json" ] || "build/bin/cpu/$program" "$lesson" --device cpu --once --no-counters --json "$folder/$lesson.json" > /dev/null || true
    mapfile -t sizes < <(python3 -c 'import json, sys
size = json.load(open(sys.argv[1]))["lessons"][0]["size"]
if size is None: print("")
else:
    print("x".join(map(str, size)))
    print("x".join(["1009", "67", "33"][:len(size)]) if len(size) > 1 else "1009")' "$folder/$lesson.json")
    for size in "${sizes[@]}"; do
        for tool in memcheck racecheck initcheck synccheck; do
            while (($(jobs -rp | wc -l) >= jobs_at_a_time)); do wait -n || true; done
            one "$lesson" "$size" "$tool" &
        done
    done
done
wait
{
    echo "| lesson | size | tool | status | |"
    echo "|---|---|---|---:|---|"
    cat "$folder"/*.row
} > "$folder/sanitizer.md"
rm -f "$folder"/*.row
cat "$folder/sanitizer.md"
! grep -vE '\| (0|status|---:) \|' "$folder/sanitizer.md" | grep -q .
