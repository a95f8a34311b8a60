#!/usr/bin/env bash
# The guide as a person uses it: in a terminal (tmux), with the real compiler, grader and chapters.
#
#     common/tests/guide/sessions.sh
#
# Works on the copy that it lies in: needs a build for the CPU device there, no answer to the first exercise, and no
# progress so far. Puts everything back. Exit status 0 when every session went as it should.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

command -v tmux >/dev/null || { echo "sessions.sh needs tmux"; exit 2; }
[[ ! -e .warpwise.json ]] || { echo "there is progress in this copy (.warpwise.json): not touched"; exit 2; }
mapfile -t exercises < <(sed -n 's/.*"exercise": "\([a-z0-9_]*\)".*/\1/p' chapters/1_basics_and_pi/chapter.json)
mapfile -t lessons < <(sed -n 's/.*"lesson": "\([a-z0-9_]*\)".*/\1/p' chapters/1_basics_and_pi/chapter.json)
lesson=${lessons[0]}
next_lesson=${lessons[1]}
exercise=${exercises[0]}
next=${exercises[1]}
first=answers/1_basics_and_pi/$exercise
answer=$first/$exercise.cu
stub=exercises/1_basics_and_pi/$exercise/$exercise.cu
solution=solutions/1_basics_and_pi/$exercise/$exercise.cu
git diff --quiet HEAD -- "$stub" || { echo "$stub has been edited: not touched"; exit 2; }
[[ ! -e "$answer" ]] || cmp -s "$answer" "$stub" || { echo "$answer has been edited: not touched"; exit 2; }
rm -rf "$first"

total=$(grep -c '"formerly"' build/cpu/catalog.json)
session=warpwise_sessions_$$
folder=$(mktemp -d)
# A server of its own, which goes on when a session ends: a new one would meet it as it exits.
tmux() { command tmux -L $session "$@"; }
tmux new-session -d -s keeper
put_back() {
    tmux kill-server 2>/dev/null || true
    git checkout --quiet -- "$stub"
    rm -rf .warpwise.json .warpwise.json.broken* "$first" "$stub".before_reset* "$folder"
}
trap put_back EXIT

screen() { tmux capture-pane -p -t $session; }
with_scrollback() { tmux capture-pane -p -S - -t $session; }
keys() { tmux send-keys -t $session "$@"; }
# start COLUMNS LINES COMMAND: in a shell, so that what it leaves behind can be seen.
start() {
    tmux kill-session -t $session 2>/dev/null || true
    tmux new-session -d -s $session -x "$1" -y "$2" "exec bash --norc --noprofile"
    keys "PS1='prompt> '; clear; $3; echo status=\$?" Enter
}
fail() {
    echo "FAILED: $*"
    echo "---- the screen:"
    with_scrollback
    exit 1
}
# expect TEXT [SECONDS]: that it appears in the window.
expect() {
    local waited=0
    until screen | grep -qF -- "$1"; do
        sleep 0.1
        ((++waited < ${2:-20} * 10)) || fail "'$1' did not appear"
    done
}
# expect_gone TEXT [SECONDS]: that it disappears from the window.
expect_gone() {
    local waited=0
    while screen | grep -qF -- "$1"; do
        sleep 0.1
        ((++waited < ${2:-20} * 10)) || fail "'$1' is still in the window"
    done
}
# expect_not TEXT: that it is not in the window now.
expect_not() { ! screen | grep -qF -- "$1" || fail "'$1' is in the window"; }
passed() { echo "ok: $*"; }
# go_through TEXT [SECONDS]: Enter whenever the screen stands still, as at a question of a lesson, until the text appears.
go_through() {
    local waited=0 before='' now
    while true; do
        now=$(screen)
        grep -qF -- "$1" <<<"$now" && return
        [[ "$now" != "$before" ]] || keys Enter
        before=$now
        sleep 1
        ((++waited < ${2:-60})) || fail "'$1' did not appear"
    done
}

# ---- first start ----------------------------------------------------------------------------------------------------
start 100 45 "./warpwise --device cpu"
expect "Welcome" 60
expect "Next: lesson 1.1, $lesson"
grep -q '"started"' .warpwise.json || fail "the first start was not noted"
cmp -s "$answer" "$stub" || fail "the first start made no answer from the stub"
[[ -z "$(git status --porcelain -- answers exercises)" ]] || fail "git sees the answers"
keys q
expect "status=0"
passed "first start welcomes, and q leaves"

start 100 45 "./warpwise --device cpu"
expect "Next: lesson 1.1, $lesson"
expect_not "Welcome"
keys m
expect "# done   > here"
keys b
expect "This is the first stop of the path."
keys q
expect "status=0"
passed "the second start welcomes nobody, and m shows the map"

# ---- lesson, exercise ----------------------------------------------------------------------------------------------
./warpwise --device cpu run "$next_lesson" >"$folder/chapter.txt" || fail "run $next_lesson: status $?"
grep -q $'\033' "$folder/chapter.txt" && fail "colors where there is no terminal"
passed "a lesson runs by its name, without colors in a file"

start 100 60 "./warpwise --device cpu run vector_add"
expect "k (kernels) or q (leave), then Enter" 60
keys k Enter
expect "// chapters/1_basics_and_pi/vector_add/kernels.cuh"
go_through "k (kernels) or q (leave), then Enter"
keys q Enter
expect "status=" 60
passed "a reader sees the kernels before a guess"

start 100 60 "./warpwise --device cpu"
expect "Next: lesson 1.1, $lesson"
keys Enter
go_through "Next: exercise $exercise" 600
keys b
expect "Lesson 1.1, $lesson"
keys n
expect "Enter opens it"
keys Enter
expect "$answer" 60
expect "0/$total"
keys q
expect "status=0"
passed "the guide leads from the first lesson to its exercise, and back"

# ---- watch mode: failing, a compiler error, hints, passing, next -------------------------------------------------
start 100 60 "./warpwise --device cpu watch"
expect "does not count as an attempt" 60
expect "$answer"
expect "0/$total"
keys n
expect "Go on without it?"
keys n
expect "goes on with this exercise"
expect_not "$next.cu"
passed "watch mode grades at once, and asks before it leaves an exercise that is not done"

keys h
expect "Hint 1 of 3"
expect_not "Hint 2 of 3"
keys h
expect "Hint 2 of 3"
passed "hints come one at a time"

echo "this is no C++" >>"$answer"
expect "It could not be built" 30
with_scrollback | grep -q "$exercise.cu:.*error" || fail "the compiler's message is not shown"
passed "a compiler error is shown with file and line"

started=$(date +%s%N)
cp "$solution" "$answer"
expect "Passed: $exercise" 30
took=$((($(date +%s%N) - started) / 1000000))
expect "1/$total"
passed "passing is noticed ($took ms from save to result)"
sleep 1
expect "$answer"
keys n
sleep 1
if screen | grep -qF "It explains what the next stops need"; then # a page of the book stands between them
    keys Enter
    expect "Enter goes on, a shows all, q leaves"
    go_through "Enter goes on, r shows the page again" 60
    keys Enter
fi
expect "answers/1_basics_and_pi/$next/$next.cu" 30
passed "n goes on, and only n"

keys b
expect "Lesson 1.2, $next_lesson"
keys Enter
go_through "$next_lesson, is run. Enter goes on with exercise $next." 600
keys m
expect "mastered"
keys Escape
expect "answers/1_basics_and_pi/$next/$next.cu" 30
passed "b goes back to the lesson, which runs, and m shows what is mastered"

# ---- list, resize, reset, solution -------------------------------------------------------------------------------
keys l
expect "type to search"
keys pi_bl
expect_gone "launch_shape_2d"
expect "pi_block_sum"
keys Escape
sleep 0.3
tmux resize-window -t $session -x 50 -y 16
sleep 0.5
expect "$next"
tmux resize-window -t $session -x 100 -y 60
passed "the list is searched, and the window may change its size"

keys l
expect "type to search"
keys "$exercise"
expect_gone "launch_shape_2d"
keys Enter
expect "Passed: $exercise" 30
keys x
expect "y/n"
keys y
expect "Every save is graded." 30
cmp -s "$answer" "$stub" || fail "reset did not put back what was handed out"
cmp -s "$answer.before_reset" "$solution" || fail "reset did not keep the answer"
expect "1/$total"
passed "reset asks, keeps the answer beside it, and the mark"

# ---- edited in place ---------------------------------------------------------------------------------------------
cp "$solution" "$stub"
expect "Passed: $exercise" 60
expect "$stub"
passed "a stub that is edited in place is graded, and named"
echo "// saved last" >>"$answer"
expect "Every save is graded." 30
expect "$answer"
passed "of two answers the one saved last is graded"
git checkout --quiet -- "$stub"
expect "$answer" 30

tmux resize-window -t $session -x 100 -y 120
sleep 0.5
keys s
expect "From your answer" 10
keys q
expect "status=0"
keys "stty -a | grep -c -- '-icanon'" Enter
sleep 0.5
screen | grep -qx 1 && fail "the terminal is still in raw mode"
passed "q leaves a sane terminal"

# ---- a kernel that never ends; Ctrl-C ----------------------------------------------------------------------------
sed 's/^__global__.*{$/&\n    while (true) {}/' "$solution" >"$answer"
start 100 60 "CPU_DEVICE_TIMEOUT=3 ./warpwise --device cpu watch $exercise"
expect "Not yet" 90
with_scrollback | grep -qi "did not end\|never end\|endless\|watchdog" || fail "the endless kernel is not told"
passed "a kernel that never ends is stopped and reported"
keys C-c
expect "status=130"
pgrep -f "bin/cpu/exercises/$exercise" >/dev/null && fail "a grader is left behind"
passed "Ctrl-C ends everything"
cp "$stub" "$answer"

# ---- another day ---------------------------------------------------------------------------------------------------
sed -i 's/"last_start": "[^"]*"/"last_start": "2020-01-01"/' .warpwise.json
prediction='"lesson": "vector_add", "question": "How many sectors?", "unit": "sectors", "answer": "4", "date": "2020-01-01"'
sed -i "1a \"predictions\": {\"vector_add/1\": {$prediction, \"right\": false}}," .warpwise.json
start 100 45 "./warpwise --device cpu"
expect "Last time ("
expect "due again: ./warpwise --device cpu review"
keys q
expect "status=0"
start 100 45 "./warpwise --device cpu review"
expect "How many sectors?"
keys 4 Enter
expect "Right. The answer is 4 sectors."
expect "status=0"
passed "a new day begins with one line, and a review keeps the answer"
printf '8\n' | ./warpwise --device cpu review --all >"$folder/review.txt" || fail "review with answers: status $?"
grep -q "No. The answer is 4 sectors." "$folder/review.txt" || fail "review does not read answers from standard input"
status=0
./warpwise --device cpu review --all </dev/null >/dev/null 2>"$folder/errors.txt" || status=$?
[[ $status == 2 ]] || fail "review without answers: status $status"
grep -q "standard input" "$folder/errors.txt" || fail "review does not say what it needs"
./warpwise map --device cpu >"$folder/map.txt" || fail "map: status $?"
grep -q "is shaky: 0 of 1 prediction right" "$folder/map.txt" || fail "the map does not say what is shaky"
passed "review and map work without a terminal"

# ---- broken state, no terminal -----------------------------------------------------------------------------------
echo '{ this is not JSON' >.warpwise.json
./warpwise --device cpu list >"$folder/list.txt" 2>"$folder/errors.txt" || fail "list with a broken state: status $?"
grep -q "moved" "$folder/errors.txt" "$folder/list.txt" || fail "the broken state was not told"
ls .warpwise.json.broken* >/dev/null || fail "the broken state was not kept"
passed "a broken state is moved aside"

status=0
./warpwise --device cpu grade "$exercise" </dev/null >"$folder/grade.txt" 2>&1 || status=$?
[[ $status == 1 ]] || fail "grade of a stub: status $status"
grep -q $'\033' "$folder/grade.txt" && fail "colors where there is no terminal"
NO_COLOR=1 ./warpwise --device cpu list >"$folder/list.txt"
grep -q $'\033' "$folder/list.txt" && fail "colors in spite of NO_COLOR"
./warpwise --device cpu grade "$exercise" --json >"$folder/grade.json" 2>/dev/null || true
grep -q '"outcome": *"failed"' "$folder/grade.json" || fail "grade --json"
status=0
./warpwise --device cpu grade no_such_exercise >/dev/null 2>"$folder/errors.txt" || status=$?
[[ $status == 2 ]] || fail "an unknown exercise: status $status"
passed "without a terminal: no colors, statuses, JSON"
echo "all sessions went as they should"
