#!/bin/sh
# A lesson asks for at least as many predictions whose answers it knows (lesson.predict) as it has questions
# (lesson.question), and the ideas that predictions name are ideas of the path: predictions.sh [ROOT]
set -eu
root=${1:-$(dirname "$0")/../..}
without=0
lessons=0
ideas=$(sed -n 's/.*"idea": "\([^"]*\)".*/\1/p' "$root"/chapters/*/chapter.json)
for list in "$root"/chapters/*/chapter.json; do
    chapter=$(dirname "$list")
    for lesson in $(sed -n 's/.*{"lesson": "\([a-z0-9_]*\)".*/\1/p' "$list"); do
        lessons=$((lessons + 1))
        source=$(cat "$chapter/$lesson"/*.cu "$chapter/$lesson.cu" 2>/dev/null) || true
        questions=$(printf '%s\n' "$source" | grep -c 'lesson\.question(') || true
        predictions=$(printf '%s\n' "$source" | grep -c 'lesson\.predict(') || true
        if [ "$predictions" -eq 0 ] || [ "$predictions" -lt "$questions" ]; then
            echo "$chapter/$lesson has $questions questions, but asks for $predictions predictions:" \
                "call lesson.predict for each question (common/lesson/prediction.h)"
            without=1
        fi
        named=$(printf '%s\n' "$source" | sed -n 's/.*\.idea = "\([^"]*\)".*/\1/p')
        unknown=$(printf '%s\n' "$named" | grep -vxF "$ideas") || true
        if [ -n "$unknown" ]; then
            echo "$chapter/$lesson: a prediction names an idea that no chapter.json has: $unknown"
            without=1
        fi
    done
done
[ "$lessons" -gt 0 ] || { echo "no lessons found in $root/chapters"; exit 1; }
[ "$without" -eq 0 ] || exit 1
echo "all $lessons lessons ask for a prediction per question"
