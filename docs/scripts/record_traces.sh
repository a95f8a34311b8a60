#!/usr/bin/env bash
# Records the traces that the book shows: docs/public/traces/*.json.
#
#     docs/scripts/record_traces.sh [NAME..]      # all, or those with these names; the chapters have to be built
#
# Chapter programs write traces with --trace. Of that, pages need little: some launches, one or two warps, and of a line
# that is run again and again the first requests. What is left out is said in the file ("trimmed"), and each warp that
# did more is marked ("cut"). A trace of a small size is as good as one of a large size: only the first block is traced.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

folder=docs/public/traces
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$folder"
chosen=("$@")

# record NAME PROGRAM LESSON SIZE RULES: see trim below for the rules.
record() {
    local name=$1 program=build/bin/cpu/$2 lesson=$3 size=$4 rules=$5
    if [[ ${#chosen[@]} -gt 0 && " ${chosen[*]} " != *" $name "* ]]; then return; fi
    if [[ ! -x "$program" ]]; then
        echo "record_traces.sh: $program is not built: ./warpwise --device cpu run $lesson" >&2
        exit 1
    fi
    "$program" "$lesson" --device cpu --size "$size" --trace "$scratch/$name.json" >/dev/null
    trim "$scratch/$name.json" "$folder/$name.json" "$rules"
    echo "$folder/$name.json: $(wc -c <"$folder/$name.json") bytes"
}

# trim FROM TO RULES, where RULES are
#   launches   [{step | kernel, stride}]: the first launch of this step, or of this kernel and step; `stride`: of which
#              lanes load with this stride, in elements
#   warps      so many of each launch
#   each_line  of each line and kind of request, the first so many; steps are dropped then
trim() {
    node - "$@" "$PWD/" <<'END'
const fs = require('node:fs');
const [from, to, text, here] = process.argv.slice(2);
const rules = JSON.parse(text);
const trace = JSON.parse(fs.readFileSync(from, 'utf8').replaceAll(here, ''));
trace.command = trace.command.map((word) => (word === from ? to.split('/').pop() : word));

const loads = (launch) => launch.warps[0].events.find((event) => event.kind.endsWith('_load'));
const launches = rules.launches.map((rule) => {
    const found = trace.launches.find((launch) =>
        (rule.step === undefined || launch.step === rule.step) &&
        (rule.kernel === undefined || launch.kernel === rule.kernel) &&
        (rule.stride === undefined || loads(launch).stride === rule.stride * loads(launch).bytes));
    if (!found) throw new Error(`there is no launch ${JSON.stringify(rule)}`);
    const launch = structuredClone(found);
    if (rule.stride !== undefined) {
        launch.label = { en: `${launch.kernel}, stride ${rule.stride}`, zh: `${launch.kernel}，步长 ${rule.stride}` };
    }
    launch.warps.length = Math.min(launch.warps.length, rules.warps ?? Infinity);
    for (const warp of launch.warps) {
        if (!rules.each_line) continue;
        const seen = {};
        const kept = warp.events.filter((event) => {
            if (event.kind === 'step') return false;
            const key = `${event.kind} ${event.line}`;
            seen[key] = (seen[key] ?? 0) + 1;
            return event.kind === 'barrier' || seen[key] <= rules.each_line;
        });
        warp.cut ||= Object.values(seen).some((count) => count > rules.each_line);
        warp.events = kept;
    }
    return launch;
});
const left = { en: [], zh: [] };
if (trace.launches.length > launches.length) {
    left.en.push(`${launches.length} of ${trace.launches.length} launches`);
    left.zh.push(`${trace.launches.length} 次启动中的 ${launches.length} 次`);
}
if (rules.warps) {
    left.en.push(rules.warps === 1 ? 'the first warp' : `the first ${rules.warps} warps`);
    left.zh.push(`前 ${rules.warps} 个线程束`);
}
if (rules.each_line) {
    left.en.push(`the first ${rules.each_line} requests of each line`);
    left.zh.push(`每行代码的前 ${rules.each_line} 次请求`);
}
if (left.en.length > 0) trace.trimmed = { en: left.en.join(', '), zh: left.zh.join('，') };

// One event a line: short, and still readable when it changes.
const lines = [];
const { launches: _, ...head } = trace;
lines.push(`${JSON.stringify(head).slice(0, -1)},"launches":[`);
launches.forEach((launch, index) => {
    const { warps, ...rest } = launch;
    lines.push(`${JSON.stringify(rest).slice(0, -1)},"warps":[`);
    warps.forEach((warp, w) => {
        const { events, ...about } = warp;
        lines.push(`${JSON.stringify(about).slice(0, -1)},"events":[`);
        lines.push(events.map((event) => JSON.stringify(event)).join(',\n'));
        lines.push(w + 1 < warps.length ? ']},' : ']}');
    });
    lines.push(index + 1 < launches.length ? ']},' : ']}');
});
lines.push(']}');
const result = `${lines.join('\n')}\n`;
JSON.parse(result);
if (result.length > 60000) throw new Error(`${to}: ${result.length} bytes; keep less`);
fs.writeFileSync(to, result);
END
}

record coalescing memory_model coalescing 64Ki '{"warps": 2, "launches": [
    {"kernel": "copy_with_gaps", "stride": 1}, {"kernel": "copy_with_gaps", "stride": 2},
    {"kernel": "copy_with_gaps", "stride": 8}, {"kernel": "copy_with_gaps", "stride": 32},
    {"step": "energy_from_structures"}, {"step": "energy_from_structures_float4"},
    {"step": "energy_from_arrays"}, {"step": "energy_from_arrays_float4"}]}'
record bank_conflicts memory_model bank_conflicts 64Ki '{"warps": 1, "each_line": 16, "launches": [
    {"step": "sums_in_tile"}, {"step": "sums_in_padded_tile"}, {"step": "sums_in_swizzled_tile"}]}'
record constant_memory memory_model constant_memory 64Ki '{"warps": 1, "launches": [
    {"step": "coefficients_in_global"}, {"step": "coefficients_by_lane"}, {"step": "coefficients_in_turn"}]}'
record matrix_add basics_and_pi matrix_add 512x384 '{"warps": 2, "launches": [
    {"step": "add_x_down_rows"}, {"step": "add_x_along_rows"}]}'
record pi basics_and_pi pi 64Ki '{"launches": [{"step": "sum_by_tree"}, {"step": "sum_by_shuffles"}]}'
record dot_modulo optimization dot_product 4Ki '{"launches": [{"step": "dot_modulo"}]}'
record dot_halves optimization dot_product 4Ki '{"launches": [{"step": "dot_strided_index"}, {"step": "dot_halves"}]}'
