#!/bin/sh
# Compares the time model with what was measured: runs the kernels of common/tests/model on the CPU device, once each,
# and joins the estimates with the times of h200.json and h100.json. machine_code.json: what nvcc made of the kernels
# (common/code/record.sh). Without this file, their instructions are estimated, too: WITHOUT_MACHINE_CODE=1.
#
#     common/tests/time_model/validate.sh [BUILD] [OPTIONS OF validate_model]      # BUILD: build
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=${1:-$root/build}
[ $# -eq 0 ] || shift
kernels=$build/bin/cpu/tests/model_kernels
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=$root/common/tests/model/machine_code.json
[ -z "${WITHOUT_MACHINE_CODE:-}" ] || code=
"$kernels" --list > "$folder/list.txt" 2> /dev/null
WARPWISE_MACHINE_CODE=$code \
    WARPWISE_TRY=launches,each-launch WARPWISE_TRY_GPU=H200 CPU_DEVICE_INSTRUMENT=counters \
    WARPWISE_TRY_REPORT=$folder/report.json "$kernels" --once > "$folder/once.txt" 2>&1 ||
    { tail -n 5 "$folder/once.txt"; exit 1; }
for gpu in H200 H100; do
    measured=$root/common/tests/model/$(echo $gpu | tr H h).json
    [ -f "$measured" ] || continue
    for time in seconds hot; do
        echo "$gpu, $time:"
        "$build/bin/cpu/tests/validate_model" --gpu $gpu --measured "$measured" --report "$folder/report.json" \
            --list "$folder/list.txt" --time $time "$@"
    done
done
