#!/usr/bin/env bash
# Compiles every header of common/ by itself, as the only thing a program includes.
#
#     common/tests/headers_alone.sh [TURN]
#
#     TURN     K/N: only every N-th header, beginning with number K, counted from 0
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
turn=${1:-0/1}

compile_alone() {
    "${CXX:-g++}" -std=gnu++20 -Wall -Wextra -Werror -fsyntax-only -x c++ -D__CPU_DEVICE__ -D__CUDACC__ \
        -I. -Icommon/cpu_device/include -include "$1" /dev/null || { echo "does not compile alone: $1"; return 1; }
}
export -f compile_alone

# Not the one for clang alone: common/tests/editor.sh compiles that. Those in front of Thrust's need Thrust.
mapfile -t headers < <(git ls-files 'common/*.h' ':!common/cpu_device/editor' ':!common/cpu_device/include/thrust' ':!common/cpu_device/include/cuda/std' |
    awk -v k="${turn%/*}" -v n="${turn#*/}" '(NR - 1) % n == k')
printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'compile_alone "$PWD/{}"'
echo "${#headers[@]} headers compile alone"
