#!/usr/bin/env bash
# clang-tidy, with the checks of .clang-tidy, over the host code of common/: the guide, what lessons and graders are built
# with, and the rewriter.
#
#     common/tests/tidy.sh [TURN]
#
#     TURN     K/N: only every N-th file, beginning with number K, counted from 0
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

turn=${1:-0/1}
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "tidy.sh: clang-tidy is not installed" >&2; exit 2; }
commands=$(mktemp -d)
trap 'rm -r "$commands"' EXIT
# Every file alone, also those that are usually compiled several as one. Nothing is built.
cmake --preset cpu -G Ninja -B "$commands/build" -DWARPWISE_UNITY=OFF \
    -DWARPWISE_BIN_DIR="$commands/bin" >"$commands/log" 2>&1 || { cat "$commands/log"; exit 1; }
# g++'s precompiled headers are nothing that clang could read.
sed -E 's/(-Winvalid-pch )?-include [^ ]*cmake_pch\.hxx//' "$commands/build/compile_commands.json" >"$commands/compile_commands.json"

mapfile -t files < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$commands/compile_commands.json" | sort -u |
    grep -E "^$PWD/common/(guide/[^/]*|lesson/[^/]*|grading/[^/]*|helpers/[^/]*|cpu_device/rewriter/[^/]*)\.cpp$" | awk -v k="${turn%/*}" -v n="${turn#*/}" '(NR - 1) % n == k')
if ! printf '%s\n' "${files[@]}" | xargs -n 4 -P "$(nproc)" "$tidy" -p "$commands" --quiet >"$commands/log" 2>&1; then
    grep -vE '^[0-9]+ (warnings?|errors?) |^Suppressed|^Use -header-filter' "$commands/log"
    echo "tidy.sh: .clang-tidy says why these checks are there" >&2
    exit 1
fi
echo "clang-tidy: nothing to report in ${#files[@]} files"
