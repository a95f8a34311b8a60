#!/usr/bin/env bash
# What clangd makes of .cu files: clang parses lessons and stubs with the options that .clangd names, without the CUDA Toolkit, and
# finds the errors that are there.
#
#     common/tests/editor.sh [FILE..]      # by default the lessons and stubs of chapter 1; 2: there is no clang
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
clang=$(command -v clang++-14 || command -v clang++) || { echo "editor.sh needs clang++"; exit 2; }
project=$PWD
files=("$@")
[[ $# -gt 0 ]] || files=(chapters/1_basics_and_pi/*/lesson.cu exercises/1_basics_and_pi/*/*.cu chapters/1_basics_and_pi/first_program/complete/square.cu)
folder=$(sed -n 's/^ *CompilationDatabase: \(common.*\)$/\1/p' .clangd)
mapfile -t flags <"$folder/compile_flags.txt"

# parse FILE: with the options as clangd takes them, in their folder.
parse() { (cd "$folder" && "$clang" -fsyntax-only -nocudalib "${flags[@]}" "$1"); }

broken=$(mktemp --suffix=.cu)
trap 'rm -f "$broken"' EXIT
printf '__global__ void kernel(float* x) { x[threadIdx.x] = y; }\nvoid start(float* x) { kernel<<<1, 32>>>(x, 1); }\n' >"$broken"
errors=$(parse "$broken" 2>&1 || true)
for wanted in "undeclared identifier 'y'" "too many arguments to function call"; do
    [[ "$errors" == *"$wanted"* ]] || { echo "FAILED: no \"$wanted\" in what clang says of a wrong program:"; echo "$errors"; exit 1; }
done
for file in "${files[@]}"; do
    parse "$project/$file" || { echo "FAILED: $file"; exit 1; }
done
echo "${#files[@]} files are understood"
