#!/usr/bin/env bash
# Finds lines of more than 92 columns in chapters, exercises, and solutions: the book would cut them. Answers that are
# stored as patches are not shown there.
#
#     common/tests/columns.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

wide=$(git ls-files chapters exercises solutions | grep -E '\.(cu|cuh|h|cpp)$' |
    LC_ALL=C.UTF-8 xargs awk 'length > 92 { print FILENAME ":" FNR ": " length " columns" }')
if [[ -n $wide ]]; then
    echo "$wide"
    echo "columns.sh: these lines have more than 92 columns" >&2
    exit 1
fi
echo "no line of chapters, exercises, and solutions has more than 92 columns"
