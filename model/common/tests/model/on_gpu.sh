#!/bin/bash
# Compiles model_kernels on a machine with a GPU, without CMake, and measures it; see measure.sh.
#
#     OUT=FOLDER common/tests/model/on_gpu.sh
#
# Needs nvcc, ncu, nvidia-smi and python3, and nothing of this repository but common/helpers and common/tests/model. The
# program is built in /tmp. The files in $OUT: h200.json (named after the GPU), times.json, raw.tar.gz, log.txt,
# summary.txt, build.txt, memcheck.txt. compute-sanitizer runs for at most MEMCHECK seconds
# (default 120; 0: not at all).
set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../../.." || exit 1
out=${OUT:?set OUT to a folder}
mkdir -p "$out"
build=$(mktemp -d)
started=$SECONDS

sources=(common/helpers/check.cpp common/helpers/parallel_for.cpp common/tests/model/*.cpp common/tests/model/*.cu)
flags=(-std=c++20 -O3 -arch=native -lineinfo -I. -Xcompiler -pthread)
printf '%s\n' "${sources[@]}" |
    xargs -P "$(nproc)" -I{} sh -c 'nvcc -x cu "$@" -c {} -o "$0/$(echo {} | tr / _).o" || { echo "FAILED: {}"; exit 255; }' \
        "$build" "${flags[@]}" > "$out/build.txt" 2>&1
built=$?
if [ $built -ne 0 ]; then
    grep -E 'error|FAILED' "$out/build.txt" | head -40
    exit 1
fi
nvcc -arch=native "$build"/*.o -o "$build/model_kernels" >> "$out/build.txt" 2>&1 || { tail "$out/build.txt"; exit 1; }
echo "built in $((SECONDS - started)) s, $(grep -c warning "$out/build.txt") warnings"

timeout 420 common/tests/model/measure.sh "$build/model_kernels" "$build/measured" > "$out/summary.txt" 2>&1
status=$?
(cd "$build/measured" && tar czf "$out/raw.tar.gz" raw_* 2> /dev/null; mv ./*.json log.txt "$out")
echo "measured in $((SECONDS - started)) s in all, status $status"

# Memory errors of the kernels, if there is time left of ten minutes.
left=$((540 - (SECONDS - started)))
memcheck=${MEMCHECK:-120}
if [ "$memcheck" -gt "$left" ]; then memcheck=$left; fi
if [ "$memcheck" -gt 10 ] && command -v compute-sanitizer > /dev/null; then
    timeout $memcheck compute-sanitizer --tool memcheck --error-exitcode 9 --print-limit 20 "$build/model_kernels" --once \
        > "$out/memcheck.txt" 2>&1
    echo "memcheck: status $? (124: not finished)"
    grep -E 'ERROR SUMMARY|Invalid|WRONG' "$out/memcheck.txt" | head -20
fi
ls -l "$out"
tail -n 130 "$out/summary.txt" | cut -c1-130
rm -rf "$build"
exit $status
