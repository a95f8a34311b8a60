#!/bin/sh
# Every lesson asks for a prediction whose answer it knows (lesson.predict): predictions.sh [ROOT]
set -eu
root=${1:-$(dirname "$0")/../..}
without=0
lessons=0
for list in "$root"/chapters/*/chapter.json; do
    chapter=$(dirname "$list")
    for lesson in $(sed -n 's/.*{"lesson": "\([a-z0-9_]*\)".*/\1/p' "$list"); do
        lessons=$((lessons + 1))
        if ! cat "$chapter/$lesson"/*.cu "$chapter/$lesson.cu" 2>/dev/null | grep -q 'lesson\.predict('; then
            echo "$chapter/$lesson asks for no prediction: call lesson.predict (common/lesson/prediction.h)"
            without=1
        fi
    done
done
[ "$lessons" -gt 0 ] || { echo "no lessons found in $root/chapters"; exit 1; }
[ "$without" -eq 0 ] || exit 1
echo "all $lessons lessons ask for a prediction"
