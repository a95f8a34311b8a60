#!/bin/sh
# Keeps what a GPU answers to the cases of the corpus: common/tests/api_corpus/record.sh, in the project's folder, after
#     cmake --preset cuda && cmake --build --preset cuda --target api_corpus_cuda
# Writes common/tests/api_corpus/h200.jsonl. The program is run twice, because what differs from run to run is no result.
set -eu
folder=common/tests/api_corpus
program=build/bin/cuda/tests/api_corpus
[ -x "$program" ] || { echo "$program is missing: build the target api_corpus_cuda first" >&2; exit 1; }
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
case $name in
    *H200*) ;;
    *) echo "this is a $name; the record is that of an H200" >&2; exit 1 ;;
esac
first=$(mktemp)
second=$(mktemp)
trap 'rm -f "$first" "$second"' EXIT
"$program" > "$first"
"$program" > "$second"
if ! cmp -s "$first" "$second"; then
    echo "two runs differ:" >&2
    diff "$first" "$second" >&2 || true
    exit 1
fi
cp "$first" "$folder/h200.jsonl"
wc -l "$folder/h200.jsonl"
