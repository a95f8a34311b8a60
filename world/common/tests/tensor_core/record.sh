#!/bin/sh
# Keeps what an H200's tensor cores compute: common/tests/tensor_core/record.sh, in the project's folder, after
#     cmake --preset cuda && cmake --build --preset cuda --target tensor_core_bits_cuda
# Writes common/tests/tensor_core/h200.txt.
set -eu
program=build/bin/cuda/tests/tensor_core_bits
[ -x "$program" ] || { echo "$program is missing: build the target tensor_core_bits_cuda first" >&2; exit 1; }
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
case $name in
    *H200*) ;;
    *) echo "this is a $name; the record is that of an H200" >&2; exit 1 ;;
esac
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
first=$(mktemp)
second=$(mktemp)
trap 'rm -f "$first" "$second"' EXIT
"$program" > "$first"
"$program" > "$second"
cmp "$first" "$second"
{
    echo "# Recorded by record.sh on an $name (driver $driver), $(date +%Y-%m-%d)."
    cat "$first"
} > common/tests/tensor_core/h200.txt
