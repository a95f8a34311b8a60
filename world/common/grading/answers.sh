#!/bin/bash
# How the wrong and correct answers of an exercise are stored: what differs from the solution.
#
#     common/grading/answers.sh show exercises/CHAPTER/EXERCISE/wrong_answers/NAME.patch    prints the whole answer
#     common/grading/answers.sh unfold EXERCISE FOLDER [COMMIT]    writes all of them into FOLDER, as whole files
#     common/grading/answers.sh fold EXERCISE FOLDER               stores those files of FOLDER that have changed
#
# NAME.patch is the answer's first comment lines, and then a unified diff against the solution without the lines that are
# only a comment: answers have none. An answer that is shorter than its patch is stored whole, as NAME.cu. The stub is no
# base, because learners may edit it in place.
#
# Edits of a solution reach the answers as well, wherever the answers do not differ from it. An answer to which they no
# longer apply is an error, which names the file. To bring such answers along, or to keep all of them as they are, unfold
# them with the solution of a COMMIT before the edit, change what has to be changed, and fold them:
#
#     common/grading/answers.sh unfold grid_stride /tmp/answers HEAD
#     common/grading/answers.sh fold grid_stride /tmp/answers
set -u -o pipefail

scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
commit=

refuse() {
    echo "answers.sh: $*" >&2
    exit 2
}

# The solution of an exercise's folder, without comment lines.
print_base() {
    local folder=$1 file
    file=solutions/${folder#"$root"/exercises/}/$(basename "$folder").cu
    if [ -n "$commit" ]; then git -C "$root" show "$commit:$file"; else cat "$root/$file"; fi |
        sed '/^[[:space:]]*\/\//d'
}

# Applies a patch, read second, to the lines read first. The lines of a hunk have to be where the hunk says, or in exactly
# one other place behind the hunk before.
# shellcheck disable=SC2016
apply='
function fail(text) {
    print "answers.sh: " name " does not apply: " text > "/dev/stderr"
    failed = 1
    exit 1
}
function lies_at(place,    i) {
    if (place <= taken || place + olds - 1 > lines) return 0
    for (i = 0; i < olds; i++) if (base[place + i] != old[i]) return 0
    return 1
}
function place_of_hunk(    place, found) {
    if (lies_at(stated + moved)) return stated + moved
    for (place = taken + 1; place + olds - 1 <= lines; place++) {
        if (lies_at(place)) {
            if (found) fail("the lines of " hunk " are in more than one place")
            found = place
        }
    }
    if (!found) fail("the lines of " hunk " are not there")
    return found
}
function finish_hunk(    place, i) {
    if (hunk == "") return
    if (olds != old_count || news != new_count || !olds) fail(hunk " has other numbers of lines")
    place = place_of_hunk()
    moved = place - stated
    while (taken < place - 1) print base[++taken]
    for (i = 0; i < news; i++) print new[i]
    taken += olds
    hunk = ""
}
function count_of(range,    parts) { return split(range, parts, ",") == 2 ? parts[2] + 0 : 1 }
NR == FNR { base[++lines] = $0; next }
/^\/\// && !begun { print; next }
/^(---|\+\+\+) / && !begun { next }
/^@@ / {
    finish_hunk()
    begun = 1
    hunk = $1 " " $2 " " $3 " " $4
    stated = substr($2, 2) + 0
    old_count = count_of($2)
    new_count = count_of($3)
    olds = news = 0
    next
}
!begun { fail("line " FNR " belongs to no hunk") }
/^-/ { old[olds++] = substr($0, 2); next }
/^\+/ { new[news++] = substr($0, 2); next }
/^( |$)/ { old[olds++] = new[news++] = substr($0, 2); next }
{ fail("line " FNR " begins with neither of + - and a blank") }
END {
    if (failed) exit 1
    if (!begun) fail("it has no hunk")
    finish_hunk()
    if (failed) exit 1
    while (taken < lines) print base[++taken]
}'

# apply_patch FILE FOLDER: prints the answer of an exercise's folder that the patch stands for.
apply_patch() {
    local file=$1 folder=$2
    if ! print_base "$folder" >"$scratch/base"; then
        echo "answers.sh: ${file#"$root"/} does not apply" >&2
        return 1
    fi
    awk -v name="${file#"$root"/}" "$apply" "$scratch/base" "$file"
}

show() {
    if [[ $1 == *.patch ]]; then apply_patch "$1" "$(cd "$(dirname "$1")/.." && pwd)"; else cat "$1"; fi
}

# make_patch ANSWER FOLDER: prints the answer as it differs from the solution; status 1 if it cannot be stored that way.
make_patch() {
    local answer=$1 folder=$2
    print_base "$folder" >"$scratch/base" || return 1
    sed -n '/^\/\//d; :rest; p; n; b rest' "$answer" >"$scratch/body"
    diff -U1 --suppress-blank-empty --show-function-line='^[_A-Za-z].*(' --label "solution, without comment lines" \
        --label answer "$scratch/base" "$scratch/body" >"$scratch/differences"
    [ $? -eq 1 ] && ! grep -q '^[\]' "$scratch/differences" || return 1
    awk '!/^\/\// { exit } { print }' "$answer"
    cat "$scratch/differences"
}

# The stored form of an answer, NAME.patch or NAME.cu; nothing if there is none.
stored_form() {
    local forms=() form
    for form in "$1.patch" "$1.cu"; do
        [ -f "$form" ] && forms+=("$form")
    done
    [ ${#forms[@]} -lt 2 ] || refuse "both $1.patch and $1.cu are there"
    printf '%s' "${forms[*]-}"
}

# For an exercise's folder, and one of its folders of answers: writes whole files into `target`. Those that are the same
# there already keep their time.
unfold() {
    local folder=$1 kind=$2 target=$3 stored answer status=0
    mkdir -p "$target/$kind"
    for stored in "$folder/$kind"/*.patch "$folder/$kind"/*.cu; do
        [ -f "$stored" ] || continue
        answer=$target/$kind/$(basename "${stored%.*}").cu
        stored_form "${stored%.*}" >/dev/null || exit 2
        if show "$stored" >"$answer.new"; then
            if cmp -s "$answer.new" "$answer"; then rm "$answer.new"; else mv "$answer.new" "$answer"; fi
        else
            rm -f "$answer.new" "$answer"
            status=1
        fi
    done
    return $status
}

fold() {
    local folder=$1 kind=$2 target=$3 answer name stored form
    mkdir -p "$folder/$kind"
    for answer in "$target/$kind"/*.cu; do
        [ -f "$answer" ] || continue
        name=$folder/$kind/$(basename "$answer" .cu)
        stored=$(stored_form "$name") || exit 2
        if [[ $stored == *.patch ]] && show "$stored" 2>/dev/null | cmp -s - "$answer"; then continue; fi
        cp "$answer" "$scratch/shortest"
        form=cu
        if make_patch "$answer" "$folder" >"$scratch/patch" &&
            [ "$(wc -l <"$scratch/patch")" -le "$(wc -l <"$answer")" ]; then
            apply_patch "$scratch/patch" "$folder" | cmp -s - "$answer" || refuse "the patch for $answer gives another file"
            cp "$scratch/patch" "$scratch/shortest"
            form="patch"
        fi
        if [ "$stored" = "$name.$form" ] && cmp -s "$scratch/shortest" "$stored"; then continue; fi
        rm -f "$name.cu" "$name.patch"
        cp "$scratch/shortest" "$name.$form"
        echo "stored ${name#"$root"/}.$form"
    done
}

case ${1-} in
    show)
        [ $# -eq 2 ] || refuse "show takes one file"
        show "$2"
        ;;
    unfold | fold)
        [ $# -eq 3 ] || [ "$1 $#" = "unfold 4" ] || refuse "$1 takes an exercise and a folder"
        folders=("$root"/exercises/*/"$2")
        [ -d "${folders[0]}" ] || refuse "there is no exercise '$2'"
        commit=${4-}
        status=0
        for kind in wrong_answers correct_answers; do
            "$1" "${folders[0]}" "$kind" "$3" || status=1
        done
        exit $status
        ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" ;;
    *) refuse "show, unfold or fold? For help: -h" ;;
esac
