#!/usr/bin/env bash
# Records what the CPU device counts, for the book: docs/results/cpu_chapter_N.json.
#
#     docs/scripts/record_cpu.sh [CHAPTER..]      # all chapters, or those with these numbers; they have to be built
#
# The program writes the file. What would differ from run to run (times of host code) and this machine's paths are taken
# out, the compiler is added, and minimize_results.mjs leaves out what pages do not show.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

caches=(build/CMakeCache.txt build/*/CMakeCache.txt)
compiler=$(cat "${caches[@]}" 2>/dev/null | sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' | head -n 1) || true
compiler=${compiler:-g++}
name=g++
if "$compiler" --version | grep -q clang; then name=clang++; fi

for list in chapters/*/chapter.json; do
    chapter=$(basename "$(dirname "$list")")
    number=${chapter%%_*}
    [[ $# -eq 0 || " $* " == *" $number "* ]] || continue
    program=build/bin/cpu/$(node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")).program' "$list")
    if [[ ! -x "$program" ]]; then
        echo "record_cpu.sh: $program is not built: ./warpwise --device cpu run $number" >&2
        exit 1
    fi
    file=docs/results/cpu_chapter_$number.json
    devices=1
    [[ $number != 6 ]] || devices=4 # the chapter about several of them
    CPU_DEVICE_COUNT=$devices "$program" --device cpu --json "$file" >/dev/null
    COMPILER="$name $("$compiler" -dumpfullversion -dumpversion)" node - "$file" "$PWD/" <<'END'
const fs = require('node:fs');
const [file, here] = process.argv.slice(2);
const run = JSON.parse(fs.readFileSync(file, 'utf8').replaceAll(here, ''));
run.compiler = process.env.COMPILER;
const cores = require('node:os').cpus();
run.host = `${cores[0].model}, ${cores.length} cores`;  // of which the tables of host code speak
for (const lesson of run.lessons) {
    for (const step of lesson.steps) {
        for (const time of ['seconds', 'gb_per_s', 'gop_per_s', 'speed_up']) delete step[time];
    }
}
fs.writeFileSync(file, JSON.stringify(run));
END
    node docs/scripts/minimize_results.mjs "$file"
    echo "$file"
done
