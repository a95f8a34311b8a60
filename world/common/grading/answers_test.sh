#!/bin/bash
# Tests answers.sh, and what try_answer.sh makes of stored answers, in a project of one exercise that exists only for that.
set -u

here=$(cd "$(dirname "$0")" && pwd)
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
failures=0

# check WHAT COMMAND..: the command has to succeed.
check() {
    local what=$1
    shift
    if ! "$@"; then
        echo "FAILED: $what"
        failures=$((failures + 1))
    fi
}

# says TEXT COMMAND..: the command fails, and says so.
says() {
    local text=$1 output
    shift
    output=$("$@" 2>&1) && { echo "it succeeds and says: $output"; return 1; }
    [[ $output == *"$text"* ]] || { echo "expected '$text', but it says: $output"; return 1; }
}

answers() { "$project/common/grading/answers.sh" "$@"; }
lines() { printf '%s\n' "$@"; }

folder=$project/exercises/1_first/add
solution=$project/solutions/1_first/add/add.cu
wrong=$folder/wrong_answers
whole=$project/whole
mkdir -p "$project/common/grading" "$folder" "$(dirname "$solution")" "$whole"/{wrong,correct}_answers
cp "$here"/{answers.sh,try_answer.sh,check_rejection.cmake,check_question.cmake} "$project/common/grading"

body() {
    lines '#include "add.h"' '' '__global__ void add(int* a, const int* b) {' "    // $1" '    const int i = threadIdx.x;' \
        '' '    if (i < 100) a[i] += b[i];  // in bounds' '    __syncthreads();' '    a[i] *= 2;' '    __syncthreads();' \
        '    a[i] -= 1;' '    __syncthreads();' '}' '' 'void add(int* d_a, const int* d_b) {' '    add<<<1, 128>>>(d_a, d_b);' \
        '    cudaGetLastError();' '    cudaDeviceSynchronize();' '}'
}
{ lines '// Solution: adds.'; body 'of the block'; } >"$solution"
bare() { sed '/^ *\/\//d' "$1"; }

header=('// Wrong answer: adds twice' '// Rejected by: adds' '// Message: FAILED')
{ lines "${header[@]}"; bare "$solution" | sed 's/+= b\[i\]/+= 2 * b[i]/'; } >"$whole/wrong_answers/twice.cu"
{ lines "${header[@]}"; bare "$solution" | sed 's/<<<1, 128>>>/<<<1, 127>>>/'; } >"$whole/wrong_answers/off_by_one.cu"
{ lines "${header[@]}" '// And a fourth line.' ''; lines 'int x;' '// kept' 'int y;'; } >"$whole/wrong_answers/rewrite.cu"
{ lines "${header[@]}"; bare "$solution" | sed 's/+= b\[i\]/+= 3 * b[i]/'; printf '// end'; } >"$whole/wrong_answers/open_end.cu"
{ lines '// Correct answer: the other way round'; bare "$solution" | sed 's/i < 100/100 > i/'; } >"$whole/correct_answers/other.cu"
{ lines "${header[@]}"; bare "$solution" | sed '$d'; lines '    __syncthreads();' '}' '' '' '// after'; } >"$whole/wrong_answers/end.cu"

check "folds" answers fold add "$whole" >/dev/null
for stored in wrong_answers/{twice.patch,off_by_one.patch,rewrite.cu,open_end.cu,end.patch} correct_answers/other.patch; do
    check "$stored is stored" test -f "$folder/$stored"
done
check "the header comes first" test "$(head -n 3 "$wrong/twice.patch")" = "$(lines "${header[@]}")"
check "only lines that differ are stored" test "$(grep -c '^[-+][^-+]' "$wrong/twice.patch")" -eq 2
check "unfolds" answers unfold add "$project/again"
check "unfolded files are as they were" diff -r "$whole" "$project/again"
touch -d '2001-01-01' "$project/again/wrong_answers/twice.cu"
check "unfolds again" answers unfold add "$project/again"
check "a file that is the same keeps its time" test "$project/again/wrong_answers/twice.cu" -ot "$solution"
check "shows" diff "$whole/wrong_answers/twice.cu" <(answers show "$wrong/twice.patch")
check "stores nothing again that is the same" test -z "$(answers fold add "$project/again")"

# An edit of the solution somewhere else reaches the answer; comments do not matter.
cp "$solution" "$project/solution"
sed -i 's/-= 1/-= 7/; s/^__global__/\/\/ More.\nconst int more = 1;\n\n&/' "$solution"
check "an edit elsewhere reaches the answer" grep -q -- '-= 7' <(answers show "$wrong/twice.patch")
check "the answer keeps its own lines" grep -q '2 \* b' <(answers show "$wrong/twice.patch")
check "folds answers that the edit must not reach" answers fold add "$project/again" >/dev/null
check "so they stay" diff "$whole/wrong_answers/twice.cu" <(answers show "$wrong/twice.patch")
cp "$project/solution" "$solution"
check "folds against the old solution" answers fold add "$whole" >/dev/null

# What does not apply is an error.
sed -i 's/a\[i\] += b\[i\]/a[i] = a[i] + b[i]/' "$solution"
check "a line of a hunk that is gone" says "wrong_answers/twice.patch does not apply: the lines of @@" answers show "$wrong/twice.patch"
check "unfolding fails with it" says "wrong_answers/twice.patch does not apply" answers unfold add "$project/again"
check "and leaves no old file" test ! -e "$project/again/wrong_answers/twice.cu"
check "the others are unfolded" test -f "$project/again/wrong_answers/off_by_one.cu"
mkdir -p "$project/build/answers/add"
lines '#!/bin/sh' 'echo FAILED' \
    'echo "{\"failure\": {\"observation\": \"wrong\", \"question\": \"Why?\"}}" >"$WARPWISE_GRADING_FACTS"' 'exit 1' >"$project/grader"
lines '#!/bin/sh' 'while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done' \
    'cp "$(dirname "$0")/grader" "$out"' 'chmod +x "$out"' >"$project/compiler"
chmod +x "$project/compiler"
lines "folder='$folder'" "solution='$solution'" "compiler='$project/compiler'" "rewriter=true" "header=" "options=()" \
    "link_options=()" "objects=()" "libraries=()" >"$project/build/answers/add/tools.sh"
try() { "$project/common/grading/try_answer.sh" -b "$project/build" --no-build add "$@"; }
check "trying it fails" says "DOES NOT APPLY  twice" try
check "and names the file" says "wrong_answers/twice.patch does not apply" try "$wrong/twice.patch"
check "others are judged" grep -q 'rejected   off_by_one' <(try "$wrong"/*.patch)
cp "$project/solution" "$solution"
all_but() { try "$@" | grep -c '^rejected\|^NOT '; }
check "the solution is the last of them" says "NOT ACCEPTED  add" try
check "no solution with --stored" test "$(all_but)" -eq $(($(all_but --stored) + 1))
check "an answer that applies is judged by its whole file" try "$wrong/twice.patch" >/dev/null
check "which is the answer" diff "$whole/wrong_answers/twice.cu" "$project/build/answers/add/wrong_answers/twice.cu"

check "a git commit has the old solution" git -C "$project" -c init.defaultBranch=main init -q
git -C "$project" add "$solution"
git -C "$project" -c user.name=n -c user.email=e -c commit.gpgsign=false commit -q -m old
sed -i 's/a\[i\] += b\[i\]/a[i] = a[i] + b[i]/' "$solution"
rm -r "$project/again"
check "unfolds with the solution of a commit" answers unfold add "$project/again" HEAD
check "as they were before the edit" diff -r "$whole" "$project/again"
cp "$project/solution" "$solution"

lines "${header[@]}" '--- solution' '+++ answer' '@@ -7,1 +7,2 @@' '     __syncthreads();' '+    more();' >"$wrong/twice.patch"
check "finds its place where the hunk says" diff <(answers show "$wrong/twice.patch" | sed -n 11p) <(echo "    more();")
sed -i 's/-7,1 +7,2/-2,1 +2,2/' "$wrong/twice.patch"
check "two places are one too many" says "in more than one place" answers show "$wrong/twice.patch"
sed -i '$d' "$wrong/twice.patch"
check "a patch that is cut off" says "has other numbers of lines" answers show "$wrong/twice.patch"
sed -i '$d' "$wrong/twice.patch"
check "a hunk without lines" says "has other numbers of lines" answers show "$wrong/twice.patch"
sed -i '$d' "$wrong/twice.patch"
check "a patch without hunks" says "it has no hunk" answers show "$wrong/twice.patch"
rm "$solution"
check "no solution" says "wrong_answers/twice.patch does not apply" answers show "$wrong/twice.patch"
cp "$whole/wrong_answers/twice.cu" "$wrong"
check "two forms of one answer" says "both" answers unfold add "$project/again"
check "no such exercise" says "there is no exercise 'sub'" answers unfold sub "$project/again"

[ "$failures" -eq 0 ] && echo "all passed"
exit "$failures"
