#!/bin/bash
# Tries answers against the grader of an exercise, without CMake knowing about them:
#
#     common/grading/try_answer.sh EXERCISE                  all of its wrong and correct answers, and its solution
#     common/grading/try_answer.sh EXERCISE answer.cu ...    these files
#     common/grading/try_answer.sh --stub EXERCISE           its stub as it was handed out: it has to compile and to fail
#     common/grading/try_answer.sh --improvement PROGRAM EXERCISE
#                                                            what the guide shows of the stub beside the solution, by
#                                                            the program improvement_between: it has to show something
#
#     -j N             so many at a time (2)
#     -b FOLDER        the build's folder (build/cpu)
#     -q               says nothing about answers that are judged as they should be
#     --stored         without the solution, which ctest runs in a test of its own
#     --no-build       takes the grader as it is
#     --nvcc           compiles each answer with nvcc as well, so that none leans on what only the CPU device has
#
# Answers are stored as answers.sh says, as a patch or as a whole file. One that begins with `// Wrong answer: ...` has to be
# rejected by the test case in its line `// Rejected by: ...` with the text in its line `// Message: ...`; one that begins
# with `// Correct answer: ...` has to be accepted. Of any other file the grader's own output is shown. Status 0 when all
# were judged as they should be.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/cpu
jobs=2
quiet=
make_grader=1
nvcc=
stub=
improvement=
stored=
exercise=
answers=()

refuse() {
    echo "try_answer.sh: $*" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        -j) jobs=$2; shift ;;
        -b) build=$(cd "$2" && pwd) || refuse "no folder $2"; shift ;;
        -q) quiet=1 ;;
        --no-build) make_grader= ;;
        --stub) stub=1 ;;
        --improvement) improvement=$(realpath "$2"); stub=1; shift ;;
        --nvcc) nvcc=1 ;;
        --stored) stored=1 ;;
        -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
        -*) refuse "no option $1" ;;
        *) if [ -z "$exercise" ]; then exercise=$1; else answers+=("$(realpath "$1")"); fi ;;
    esac
    shift
done
[ -n "$exercise" ] || refuse "which exercise? For help: -h"
tools=$build/answers/$exercise/tools.sh
[ -f "$tools" ] || refuse "there is no exercise '$exercise' in $build (run: cmake --preset cpu)"
# shellcheck source=/dev/null
. "$tools"
if [ -n "$make_grader" ]; then
    cmake --build "$build" -j "$jobs" --target "${exercise}_judge" >"$build/answers/$exercise/build.txt" 2>&1 ||
        { cat "$build/answers/$exercise/build.txt"; exit 2; }
fi
if [ ${#answers[@]} -eq 0 ]; then
    for answer in "$folder"/wrong_answers/*.{patch,cu} "$folder"/correct_answers/*.{patch,cu}; do
        [ -f "$answer" ] && answers+=("$answer")
    done
    [ -n "$stored" ] || answers+=("$solution")
fi

# The whole file of an answer that is stored as a patch; it keeps its time as long as it is the same.
whole_file() {
    local stored=$1 whole
    whole=$work/$(basename "$(dirname "$stored")")/$(basename "$stored" .patch).cu
    mkdir -p "$(dirname "$whole")"
    "$root/common/grading/answers.sh" show "$stored" >"$whole.new" || return 1
    if cmp -s "$whole.new" "$whole"; then rm "$whole.new"; else mv "$whole.new" "$whole"; fi
    echo "$whole"
}

# Makes the program of one answer, unless it is newer than all that it is made of.
make_program() {
    local answer=$1 program=$2 part newest=
    for part in "$answer" "$rewriter" "$header" "${objects[@]}" "${libraries[@]}" "$folder"/*.h; do
        [ -e "$part" ] && [ "$part" -nt "$program" ] && newest=$part
    done
    [ -x "$program" ] && [ -z "$newest" ] && return 0
    rm -f "$program"
    "$rewriter" "$answer" -o "$program.cpp" -I "$root" &&
        "$compiler" "${options[@]}" -w -I"$root" -I"$folder" -c "$program.cpp" -o "$program.o" &&
        "$compiler" "${link_options[@]}" "${objects[@]}" "$program.o" -o "$program" "${libraries[@]}" &&
        rm -f "$program.o"
}

judge() {
    local answer=$1 name kind program output status
    name=$(basename "${answer%.*}")
    kind=$(basename "$(dirname "$answer")")
    if [[ $answer == *.patch ]] && ! answer=$(whole_file "$answer" 2>&1); then
        echo "DOES NOT APPLY  $name"
        printf '%s\n' "$answer" | sed 's/^/    /'
        return 1
    fi
    program=$work/$kind.$name
    if ! output=$(make_program "$answer" "$program" 2>&1); then
        echo "NOT BUILT  $name"
        printf '%s\n' "$output" | sed 's/^/    /'
        return 1
    fi
    if [ -n "$nvcc" ] && ! output=$(nvcc -std=c++20 -arch=sm_90 -I "$root" -I "$folder" -c "$answer" -o /dev/null 2>&1); then
        echo "NOT BUILT  $name (by nvcc)"
        printf '%s\n' "$output" | sed 's/^/    /'
        return 1
    fi
    if head -n 5 "$answer" | grep -q '^// Wrong answer: '; then
        if output=$(cmake "-DPROGRAM=$program" "-DANSWER=$answer" -P "$root/common/grading/check_rejection.cmake" 2>&1); then
            [ -n "$quiet" ] || echo "rejected   $name"
            return 0
        fi
        echo "NOT REJECTED AS IT SHOULD BE  $name"
        printf '%s\n' "$output" | sed 's/^/    /'
        return 1
    fi
    output=$(cd "$root" && timeout 300 "$program" 2>&1)
    status=$?
    if head -n 5 "$answer" | grep -q '^// Correct answer: ' || [ "$answer" = "$solution" ]; then
        if [ $status -eq 0 ]; then
            [ -n "$quiet" ] || echo "accepted   $name"
            return 0
        fi
        echo "NOT ACCEPTED  $name (status $status)"
        printf '%s\n' "$output" | sed 's/^/    /'
        return 1
    fi
    echo "status $status   $name"
    printf '%s\n' "$output" | sed 's/^/    /'
    return 0
}

work=$build/answers/$exercise

# Learners may edit the stub in place: git knows what it was. A new exercise, and a copy without git, have only the file.
if [ -n "$stub" ]; then
    mkdir -p "$work/stub"
    answer=$work/stub/$exercise.cu
    if git -C "$folder" show "HEAD:./$exercise.cu" >"$answer.new" 2>/dev/null; then
        cmp -s "$answer.new" "$folder/$exercise.cu" ||
            echo "$folder/$exercise.cu was edited: tried is what git has handed out"
    else
        cp "$folder/$exercise.cu" "$answer.new"
    fi
    cmp -s "$answer.new" "$answer" && rm "$answer.new" || mv "$answer.new" "$answer"
    if ! output=$(make_program "$answer" "$work/stub.$exercise" 2>&1); then
        printf 'NOT BUILT  the stub of %s\n%s\n' "$exercise" "$output"
        exit 1
    fi
    if [ -n "$improvement" ]; then
        if ! output=$(make_program "$solution" "$work/solution.$exercise" 2>&1); then
            printf 'NOT BUILT  the solution of %s\n%s\n' "$exercise" "$output"
            exit 1
        fi
        for program in stub solution; do
            rm -f "$work/$program.json"
            (cd "$root" && WARPWISE_GRADING_FACTS=$work/$program.json timeout 300 "$work/$program.$exercise") \
                >"$work/$program.txt" 2>&1
        done
        "$improvement" "$work/stub.json" "$work/solution.json"
        exit
    fi
    cmake "-DPROGRAM=$work/stub.$exercise" -P "$root/common/grading/check_stub_fails.cmake"
    exit
fi

# Several at a time, each with its output in a file of its own.
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
number=0
for answer in "${answers[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    (judge "$answer" >"$results/$(printf %04d $number).txt" 2>&1 || touch "$results/failed.$number") &
    number=$((number + 1))
done
wait
cat "$results"/*.txt
failed=$(find "$results" -name 'failed.*' | wc -l)
wrong=$(grep -l '^// Wrong answer: ' "${answers[@]}" | wc -l)
if [ "$failed" -gt 0 ]; then
    echo "$exercise: $failed of $number answers were not judged as they should be"
    exit 1
fi
[ "$number" -gt 1 ] && echo "$exercise: $wrong wrong answers rejected, $((number - wrong)) others accepted or shown"
exit 0
