#!/usr/bin/env bash
# Records the traces that the book shows: docs/public/traces/*.json.
#
#     docs/scripts/record_traces.sh [NAME..]      # all, or those with these names; the chapters have to be built
#
# Chapter programs write traces with --trace. Of that, pages need little: some launches, one or two warps, and their first
# requests, or the first ones of each line. What is left out is said in the file ("trimmed"), and each warp that did more
# is marked ("cut"). A trace of a small size is as good as one of a large size: only the first block is traced.
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
#   launches   [{step | kernel, stride, offset}]: the first launch of this step, or of this kernel and step; `stride`: of
#              which lanes load with this stride, in elements, the first one at `offset`
#   warps      so many of each launch
#   requests   of each warp the first so many, barriers included; steps are dropped then
#   each_line  of each line and kind of request, the first so many; steps are dropped then
# Of the source it keeps the functions that events name, each as a file of its own: pages show one at a time.
trim() {
    node - "$@" "$PWD/" <<'END'
const fs = require('node:fs');
const [from, to, text, here] = process.argv.slice(2);
const rules = JSON.parse(text);
const trace = JSON.parse(fs.readFileSync(from, 'utf8').replaceAll(here, ''));
trace.command = trace.command.map((word) => (word === from ? to.split('/').pop() : word));

const isIn = (piece, { file, line }) =>
    file === piece.index && line >= piece.first && line < piece.first + piece.lines.length;

// The functions of a file, without the comments above them. What begins in the first column ends the one before.
function functionsOf({ lines, first, ...file }) {
    const pieces = [];
    let begin = 0;
    lines.forEach((line, i) => {
        const ends = line.startsWith('}') || (line === '' && /^[^\s#}]/.test(lines[i + 1] ?? '')) || i + 1 === lines.length;
        if (!ends) return;
        while (begin < i && /^(\/\/.*)?$/.test(lines[begin])) ++begin;
        pieces.push({ ...file, first: first + begin, lines: lines.slice(begin, i + 1) });
        begin = i + 1;
    });
    return pieces;
}

const loads = (launch) => launch.warps[0].events.find((event) => event.kind.endsWith('_load'));
const launches = rules.launches.map((rule) => {
    const found = trace.launches.find((launch) =>
        (rule.step === undefined || launch.step === rule.step) &&
        (rule.kernel === undefined || launch.kernel === rule.kernel) &&
        (rule.stride === undefined || loads(launch).stride === rule.stride * loads(launch).bytes) &&
        (rule.offset === undefined || loads(launch).first === rule.offset * loads(launch).bytes));
    if (!found) throw new Error(`there is no launch ${JSON.stringify(rule)}`);
    const launch = structuredClone(found);
    if (rule.offset !== undefined) {
        launch.label = { en: `${launch.kernel}, offset ${rule.offset}`, zh: `${launch.kernel}，错开 ${rule.offset}` };
    } else if (rule.stride !== undefined) {
        launch.label = { en: `${launch.kernel}, stride ${rule.stride}`, zh: `${launch.kernel}，步长 ${rule.stride}` };
    }
    launch.warps.length = Math.min(launch.warps.length, rules.warps ?? Infinity);
    for (const warp of launch.warps) {
        if (!rules.requests && !rules.each_line) continue;
        warp.events = warp.events.filter((event) => event.kind !== 'step');
        if (rules.requests && warp.events.length > rules.requests) {
            warp.events.length = rules.requests;
            warp.cut = true;
        }
        if (!rules.each_line) continue;
        const seen = {};
        const kept = warp.events.filter((event) => {
            const key = `${event.kind} ${event.line}`;
            seen[key] = (seen[key] ?? 0) + 1;
            return event.kind === 'barrier' || seen[key] <= rules.each_line;
        });
        warp.cut ||= Object.values(seen).some((count) => count > rules.each_line);
        warp.events = kept;
    }
    const events = launch.warps.flatMap((warp) => warp.events);
    launch.files.forEach((file, index) => { file.index = index; });
    launch.files = launch.files.flatMap(functionsOf).filter((piece) => events.some((event) => isIn(piece, event)));
    for (const event of events) event.file = launch.files.findIndex((piece) => isIn(piece, event));
    for (const file of launch.files) delete file.index;
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
if (rules.requests) {
    left.en.push(`the first ${rules.requests} requests of each warp`);
    left.zh.push(`每个线程束的前 ${rules.requests} 次请求`);
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

record vector_add basics_and_pi vector_add 64Ki '{"warps": 2, "launches": [
    {"step": "add_one_per_thread"}, {"step": "add_grid_stride"}, {"step": "add_float4"}]}'
record matrix_add basics_and_pi matrix_add 512x384 '{"warps": 2, "launches": [
    {"step": "add_x_down_rows"}, {"step": "add_x_along_rows"}]}'
record pi basics_and_pi pi 64Ki '{"launches": [{"step": "sum_by_tree"}]}'

record coalescing memory_model coalescing 64Ki '{"warps": 2, "launches": [
    {"kernel": "copy_with_gaps", "stride": 1}, {"kernel": "copy_with_gaps", "stride": 2},
    {"kernel": "copy_with_gaps", "stride": 8}, {"kernel": "copy_with_gaps", "stride": 32},
    {"kernel": "copy_with_gaps", "stride": 1, "offset": 1},
    {"step": "energy_from_structures"}, {"step": "energy_from_structures_float4"},
    {"step": "energy_from_arrays"}, {"step": "energy_from_arrays_float4"}]}'
record shared_memory memory_model shared_memory 64Ki '{"warps": 2, "launches": [
    {"step": "smooth_from_global"}, {"step": "smooth_from_tile"}]}'
record bank_conflicts memory_model bank_conflicts 64Ki '{"warps": 1, "each_line": 16, "launches": [
    {"step": "sums_in_tile"}, {"step": "sums_in_padded_tile"}, {"step": "sums_in_swizzled_tile"}]}'
record constant_memory memory_model constant_memory 64Ki '{"warps": 1, "launches": [
    {"step": "coefficients_in_global"}, {"step": "coefficients_by_lane"}, {"step": "coefficients_in_turn"}]}'
record texture_laplace memory_model texture_laplace 64Ki '{"warps": 2, "launches": [
    {"step": "laplace_naive"}, {"step": "laplace_tile"}, {"step": "laplace_float4"}]}'
record histogram memory_model histogram 64Ki '{"warps": 1, "each_line": 16, "launches": [
    {"step": "count_shared_uint4"}, {"step": "count_warp_copies"}, {"step": "count_lane_copies"}]}'
# A grid of one block: only the last block adds up, and only the first one is traced.
record last_block memory_model fences_and_last_block 1Ki '{"launches": [
    {"kernel": "sum_blocks"}, {"step": "sum_by_last_block"}]}'
record pitched_memory memory_model pitched_memory 100x1001 '{"warps": 2, "launches": [
    {"step": "flip_tight"}, {"step": "flip_pitched"}, {"step": "flip_pitched_float4"}]}'
record warp_tails memory_model warp_synchronous_code 2Ki '{"launches": [
    {"step": "tree_with_barriers"}, {"step": "tail_with_shuffles"}, {"step": "warps_first"}]}'

record dot_modulo optimization dot_product 4Ki '{"launches": [{"step": "dot_modulo"}]}'
record dot_halves optimization dot_product 4Ki '{"launches": [{"step": "dot_strided_index"}, {"step": "dot_halves"}]}'
record transpose optimization transpose 256x192 '{"warps": 1, "launches": [
    {"step": "transpose_naive"}, {"step": "transpose_tile"}, {"step": "transpose_padded_tile"},
    {"step": "transpose_swizzled_tile"}]}'
record divergence optimization divergence 4Ki '{"launches": [
    {"step": "branch_by_lane"}, {"step": "both_and_choose"}, {"step": "one_formula"}, {"kernel": "branch_sorted"}]}'

record sort examples sort 4Ki '{"warps": 1, "each_line": 4, "launches": [
    {"step": "scatter_by_match", "kernel": "scatter_by_match"}, {"step": "scatter_in_runs", "kernel": "scatter_in_runs"}]}'
record matrix_vector examples matrix_vector 256x256 '{"warps": 1, "requests": 32, "launches": [
    {"step": "thread_per_row"}, {"step": "block_per_row"}, {"step": "warp_per_row"}, {"step": "lanes_per_row"}]}'
record narrow_rows examples matrix_vector 256x16 '{"launches": [{"step": "block_per_row"}, {"step": "lanes_per_row"}]}'
record matrix_multiply examples matrix_multiply 128x128x32 '{"warps": 1, "requests": 75, "launches": [
    {"step": "product_row_per_block"}, {"step": "product_tile"}]}'
record register_tiles examples matrix_multiply 128x128x32 '{"warps": 1, "requests": 60, "launches": [
    {"step": "product_square_per_thread"}, {"step": "product_float4_shared"}, {"step": "product_warp_tiles"}]}'
record linear_solver examples linear_solver 127 '{"warps": 2, "launches": [
    {"step": "four_launches", "kernel": "eliminate"}, {"step": "aligned_rows", "kernel": "eliminate_aligned"}]}'
record nearest_neighbour examples nearest_neighbour 512 '{"warps": 1, "requests": 32, "launches": [
    {"step": "nearest_global"}, {"step": "nearest_shared"}, {"step": "nearest_float4"}]}'
record convolution examples convolution 64x512 '{"warps": 1, "each_line": 12, "launches": [
    {"step": "naive"}, {"step": "shared_halo"}, {"step": "register_window"}, {"step": "window_float4"}]}'
record sparse_matrix_vector examples sparse_matrix_vector 512x512 '{"warps": 1, "each_line": 12, "launches": [
    {"step": "thread_per_row"}, {"step": "warp_per_row"}, {"step": "sliced_ell", "kernel": "sliced_ell"}]}'
