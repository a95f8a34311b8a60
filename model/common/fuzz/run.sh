#!/bin/sh
# Builds both fuzzers with clang++ in build/fuzz and runs each for a while (default: 30 seconds).
#
#     common/fuzz/run.sh [SECONDS]
#
# Prints one line for each; ends with status 1 if one found something, and names the input that shows it, which is kept.
# To see it again: build/fuzz/bin/fuzz/rewriter_fuzzer INPUT. What earlier runs learned is kept in build/fuzz/corpus.
set -u

seconds=${1:-30}
case $seconds in
    '' | *[!0-9]* | 0) echo "usage: common/fuzz/run.sh [SECONDS]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
build=$root/build/fuzz
mkdir -p "$build" || exit 2

if ! { cmake -S "$root" -B "$build" -DCMAKE_CXX_COMPILER="${CXX:-clang++}" -DWARPWISE_DEVICE=cpu -DWARPWISE_FUZZ=ON \
       -DWARPWISE_BIN_DIR="$build/bin" &&
       cmake --build "$build" --parallel "$(nproc)" --target rewriter_fuzzer runtime_fuzzer; } \
    > "$build/build.log" 2>&1; then
    tail -n 30 "$build/build.log" >&2
    echo "the fuzzers cannot be built; all of it: $build/build.log" >&2
    exit 2
fi

failed=0

# run NAME ARGUMENTS...: one fuzzer. Its own corpus grows; the folders in ARGUMENTS are only read.
run() {
    name=$1
    shift
    corpus=$build/corpus/$name
    inputs=$build/diagnostics/$name
    log=$build/$name.log
    mkdir -p "$corpus" "$inputs"
    ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
        "$build/bin/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -artifact_prefix="$inputs/" \
        -print_final_stats=1 "$corpus" "$@" > "$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" -eq 0 ]; then
        echo "$name: nothing found in ${runs:-?} inputs, $seconds seconds"
        return
    fi
    failed=1
    what=$(grep -m 1 -E '^(SUMMARY|runtime_fuzzer:|rewriter_fuzzer:)|runtime error:' "$log")
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "$name: FAILED after ${runs:-?} inputs: ${what:-status $status}; input: ${input:-none}; log: $log"
}

run rewriter_fuzzer -max_len=4096 -dict="$root/common/fuzz/cuda.dict" \
    "$root/chapters" "$root/exercises" "$root/solutions" "$root/common/tests"
run runtime_fuzzer -max_len=1024
exit $failed
