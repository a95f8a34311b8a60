#!/bin/sh
# Records the machine code that nvcc makes of kernels, for machines without nvcc. Needs no GPU.
#
#     common/code/record.sh PROGRAM                          all kernels of the lessons: common/code/recorded/*.json
#     common/code/record.sh PROGRAM FILE.json SOURCE.cu ...  these sources' kernels, in one file
#
# PROGRAM: facts_of_code, as CMake built it (build/bin/cpu/tests/facts_of_code). To be repeated when a kernel changes:
# until then the time model estimates its instructions, as it does for kernels that nobody recorded.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
program=$1
shift
compiler="nvcc $(nvcc --version | sed -n 's/.*release .*, V\(.*\)/\1/p'), sm_90"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# record FILE.json SOURCE...: sources that this nvcc cannot compile stay unrecorded.
record() {
    output=$1
    shift
    rm -f "$scratch"/*.cubin
    for source; do
        nvcc -std=c++20 -O3 -arch=sm_90 -lineinfo -cubin -I "$root" -I "$(dirname "$source")" \
            -o "$scratch/$(echo "$source" | tr / _).cubin" -x cu "$source" 2> "$scratch/errors.txt" ||
            echo "not recorded: $source: $(grep -m 1 error "$scratch/errors.txt")"
    done
    "$program" "$scratch"/*.cubin --record "$output" --root "$root" --compiler "$compiler"
    echo "$output: $(grep -c '^  {' "$output") kernels, $(wc -c < "$output") bytes"
}

if [ $# -gt 0 ]; then
    record "$@"
    exit
fi
mkdir -p "$root/common/code/recorded"
for chapter in "$root"/chapters/*/; do
    set --
    for source in "$chapter"*/*.cu; do
        if grep -qr __global__ "$(dirname "$source")"; then set -- "$@" "$source"; fi
    done
    [ $# -eq 0 ] || record "$root/common/code/recorded/$(basename "$chapter").json" "$@"
done
