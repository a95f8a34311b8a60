#!/usr/bin/env bash
# The first start of ./warpwise in a terminal: the first lesson is shown while the rest is built. CMake, ninja and the
# programs are stand-ins here, which wait for each other: nothing is compiled.
#
#     common/tests/guide/first_start.sh
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
command -v script >/dev/null || { echo "first_start.sh needs script (bsdutils), which makes a terminal"; exit 4; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "FAILED: $*"
    echo "---- the screen:"
    cat "$folder/screen"
    exit 1
}

# ---- a copy with stand-ins ------------------------------------------------------------------------------------------
fresh_copy() {
    rm -rf "$folder/copy"
    mkdir -p "$folder/copy/chapters/1_first" "$folder/copy/tools" "$folder/copy/common"
    cp "$project/warpwise" "$folder/copy/"
    cat >"$folder/copy/chapters/1_first/chapter.json" <<END
{
    "title": "First",
    "program": "the_first_chapter",
    "path": [
        {"lesson": "hello", "about": "the first"},
        {"lesson": "again", "about": "the second"}
    ]
}
END
    mkfifo "$folder/copy/lesson_was_shown"
    # Configures, or builds the first lesson, which says that it was shown.
    cat >"$folder/copy/tools/cmake" <<'END'
#!/usr/bin/env bash
mkdir -p build/cpu build/bin/cpu
touch build/cpu/build.ninja
echo "cmake $*" >>calls
[[ "$*" == *"--target"* ]] || exit 0
printf '#!/usr/bin/env bash\n%s\n' "$PROGRAM" >build/bin/cpu/first_lesson
chmod +x build/bin/cpu/first_lesson
END
    # Builds the guide, after the lesson was shown.
    cat >"$folder/copy/tools/ninja" <<'END'
#!/usr/bin/env bash
echo "ninja $* by $$" >>calls
echo "[1/2] Building a part"
read -r _ <lesson_was_shown
[[ -z "${BROKEN:-}" ]] || { echo "[2/2] Linking"; echo "the_rest.cpp:1: error: it is broken"; exit 1; }
printf '#!/usr/bin/env bash\necho "the guide is asked for <$*>, shown before: <${WARPWISE_SHOWN_LESSON:-}>"\n' >build/bin/cpu/guide
chmod +x build/bin/cpu/guide
END
    chmod +x "$folder/copy/tools/"*
}
# start COMMAND..: in a terminal; what it shows is in screen, its status in status.
start() {
    status=0
    (cd "$folder/copy" && PATH="$folder/copy/tools:$PATH" script -qec "$*" /dev/null) </dev/null >"$folder/screen" 2>&1 || status=$?
}
screen_has() { grep -qF -- "$1" "$folder/screen" || fail "no '$1'"; }
screen_has_not() { ! grep -qF -- "$1" "$folder/screen" || fail "there is '$1'"; }
shown_before() {
    local one other
    one=$(grep -nF -- "$1" "$folder/screen" | head -n 1 | cut -d: -f1)
    other=$(grep -nF -- "$2" "$folder/screen" | head -n 1 | cut -d: -f1)
    [[ -n "$one" && -n "$other" && "$one" -lt "$other" ]] || fail "'$1' does not stand before '$2'"
}
export PROGRAM='echo "lesson 1.1 with $*"; echo shown >lesson_was_shown'

fresh_copy
start ./warpwise --device cpu
[[ $status == 0 ]] || fail "status $status"
shown_before "lesson 1.1 with --device cpu" "the guide is asked for <--device cpu>, shown before: <hello>"
[[ "$(grep -c 'target first_lesson_cpu' "$folder/copy/calls")" == 1 ]] || fail "the first lesson was not built alone"
grep -q 'ninja -C build/cpu -j [0-9]* guide_program the_first_chapter_programs' "$folder/copy/calls" || fail "the rest was not built"
echo "ok: the first lesson is shown before the guide is built"

start ./warpwise --device cpu
screen_has_not "lesson 1.1"
screen_has "shown before: <>"
echo "ok: only the first start shows it"

fresh_copy
start ./warpwise run 1 --device cpu --no-color
shown_before "lesson 1.1 with --device cpu --no-color" "the guide is asked for <--device cpu --no-color>, shown before: <hello>"
echo "ok: so does 'run 1', wherever its options stand, and then the guide leads on"

for words in "run hello" "run 1 hello"; do
    fresh_copy
    start ./warpwise --device cpu $words
    shown_before "lesson 1.1 with --device cpu" "the guide is asked for <--device cpu>, shown before: <hello>"
done
echo "ok: so do 'run LESSON' and 'run 1 LESSON' with the name of the first lesson"

fresh_copy
BROKEN=1 start ./warpwise --device cpu
[[ $status == 2 ]] || fail "status $status of a build that failed"
shown_before "lesson 1.1" "the_rest.cpp:1: error: it is broken"
screen_has "could not be built"
screen_has_not "the guide is asked"
echo "ok: an error of the build is told after the lesson"

fresh_copy
PROGRAM='echo "lesson 1.1"; until grep -q ^ninja calls; do sleep 0.02; done; kill -INT 0; exit 130' start ./warpwise --device cpu
[[ $status == 130 ]] || fail "status $status after Ctrl-C"
builder=$(sed -n 's/^ninja .* by //p' "$folder/copy/calls")
[[ -n "$builder" ]] || fail "the rest was not being built"
! kill -0 "$builder" 2>/dev/null || fail "a build is left behind"
echo "ok: Ctrl-C ends the build, too"

fresh_copy
cat >"$folder/copy/tools/cmake" <<'END'
#!/usr/bin/env bash
mkdir -p build/cpu build/bin/cpu
touch build/cpu/build.ninja
echo "cmake $*" >>calls
[[ "$*" != *"guide_program"* ]] || { printf '#!/bin/sh\necho "the guide: $*"\n' >build/bin/cpu/guide; chmod +x build/bin/cpu/guide; }
END
(cd "$folder/copy" && PATH="$folder/copy/tools:$PATH" ./warpwise run 1 --device cpu </dev/null >"$folder/screen" 2>&1) || fail "status $?"
screen_has "the guide: run 1 --device cpu"
! grep -q "first_lesson\|^ninja" "$folder/copy/calls" || fail "without a terminal the first lesson was built alone"
echo "ok: without a terminal, everything is built and run in order"
