#!/usr/bin/env bash
# What `warpwise new` creates has to be complete: in a copy of the repository, with a chapter of its own, one new lesson
# and one new exercise of each kind are created, configured, built and tested.
#
#     common/tests/guide/new_files_test.sh GUIDE      # the guide's program
#
# Everything is built without optimization, which is most of the time otherwise.
set -euo pipefail
unset WARPWISE_TURN  # of the CI that runs this: everything of the new exercises is tried
guide=$(readlink -f "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

fail() {
    echo "new_files_test.sh: $*" >&2
    exit 1
}

mkdir -p "$copy/chapters/9_new" "$copy/docs" "$copy/common"
cp "$root"/{CMakeLists.txt,CMakePresets.json,warpwise} "$copy"
for part in "$root"/common/*; do
    case ${part##*/} in benchmarks | tests) ;; *) cp -r "$part" "$copy/common" ;; esac
done
sed -i '/^add_subdirectory(\(benchmarks\|tests\|fuzz\))/d' "$copy/common/CMakeLists.txt"
echo '# A page' >"$copy/docs/first_page.md"
echo 'add_chapter()' >"$copy/chapters/9_new/CMakeLists.txt"
echo '{"title": "New", "program": "brand_new", "path": [{"page": "first_page"}]}' >"$copy/chapters/9_new/chapter.json"

create() { WARPWISE_ROOT=$copy WARPWISE_DEVICE=cpu "$guide" new "$@"; }
create lesson first_steps --about 'one; "two"' >/dev/null
for kind in speed fix fill; do create exercise "${kind}_it" --kind $kind --after first_steps >/dev/null; done
create lesson next_steps >/dev/null

cmake -S "$copy" -B "$copy/build/cpu" -G Ninja -DWARPWISE_DEVICE=cpu -DWARPWISE_BIN_DIR="$copy/build/bin" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DWARPWISE_WERROR=ON >"$copy/log" 2>&1 ||
    { cat "$copy/log"; fail "the copy cannot be configured"; }
cmake --build "$copy/build/cpu" --target brand_new_cpu brand_new_plain answers >"$copy/log" 2>&1 ||
    { cat "$copy/log"; fail "the copy does not build"; }
mv "$copy/docs/first_page.md" "$copy/docs/other_page.md"
if cmake -S "$copy" -B "$copy/build/cpu" >"$copy/log" 2>&1; then fail "a page of the path may be missing"; fi
grep -q "page 'first_page' has no docs/first_page.md" "$copy/log" || { cat "$copy/log"; fail "the missing page is not named"; }
mv "$copy/docs/other_page.md" "$copy/docs/first_page.md"

"$copy/build/bin/cpu/brand_new" --list | tee "$copy/listed"
grep -q '9\.1  first_steps  one; "two"$' "$copy/listed" || fail "the first lesson is not listed"
grep -q '9\.2  next_steps ' "$copy/listed" || fail "the second lesson is not listed"
grep -o '"name": "[a-z_]*"' "$copy/build/cpu/catalog.json" | tr '\n' ' ' |
    grep -q '"fill_it" "name": "fix_it" "name": "speed_it"' || fail "the exercises are not listed in their order"
path=$(grep -o '"kind": "[a-z]*", "name": "[a-z_]*", "idea"' "$copy/build/cpu/catalog.json" | cut -d'"' -f4,8 | tr '\n' ' ')
[[ "$path" == 'page"first_page lesson"first_steps exercise"fill_it exercise"fix_it exercise"speed_it lesson"next_steps ' ]] ||
    fail "the path is not listed in its order: $path"

# Its tests: both lessons at every step, of each exercise that the stub fails and the solution passes, and of the one about
# speed that the guide shows what the solution improves. Wrong and correct answers are the same files for all kinds, so those
# of one exercise have to do.
tests=$(ctest --test-dir "$copy/build/cpu" -N | grep -c ': \(lesson\|[a-z]*_it:\)')
[[ "$tests" == 12 ]] || fail "12 tests were expected, not $tests"
ctest --test-dir "$copy/build/cpu" --output-on-failure -j 2 -R ': (lesson|[a-z]*_it:)' -E '(fix|speed)_it: wrong' -FA answers
"$copy/build/bin/cpu/brand_new" --diagnose --device cpu >"$copy/log" 2>&1 || { cat "$copy/log"; fail "--diagnose finds an error"; }
grep -q 'No errors found\|Examined all' "$copy/log" || { cat "$copy/log"; fail "--diagnose looked at nothing"; }
