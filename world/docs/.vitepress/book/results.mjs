// Recorded runs (docs/results/*.json, as chapter programs write them with --json) as tables, bars and provenance.
import fs from 'node:fs';
import path from 'node:path';
import { countedOf } from './counted.mjs';
import { root } from './repository.mjs';
import { strings } from './strings.mjs';

const folder = path.join(root, 'docs', 'results');
const cache = new Map();

/// Names of all recorded runs: "h200_chapter_1" ..., and "ncu_h200", those of Nsight Compute.
export const recordedRuns = () =>
    fs.readdirSync(folder).filter((name) => /_chapter_\d+\.json$|^ncu_\w+\.json$/.test(name)).map((name) => name.slice(0, -5)).sort();

/// {compiler, date, kernels: {name: {registers, shared_bytes}}}, as scripts/record_registers.mjs writes it.
export const recordedRegisters = () => JSON.parse(fs.readFileSync(path.join(folder, 'registers_sm_90.json'), 'utf8'));

/// The run of that name; throws when there is none.
export function recordedRun(name) {
    const file = path.join(folder, `${name}.json`);
    if (!fs.existsSync(file)) throw new Error(`no recorded run '${name}'; there are ${recordedRuns().join(', ')}`);
    const changed = fs.statSync(file).mtimeMs;
    if (cache.get(name)?.changed !== changed) cache.set(name, { changed, run: JSON.parse(fs.readFileSync(file, 'utf8')) });
    return cache.get(name).run;
}

/// One lesson of a run; throws when the run has none of that name.
export function recordedLesson(run, name) {
    const lesson = run.lessons.find((candidate) => candidate.name === name);
    if (!lesson) throw new Error(`no lesson '${name}' in that run; there are ${run.lessons.map((each) => each.name).join(', ')}`);
    return lesson;
}

/// {machine, command, date}, as text; of a lesson that was recorded later than the others, those of its own. `lesson` stands
/// where the recorded command names one lesson after the other; `say` translates what is said of the machine.
export function provenance(run, lesson, say = (text) => text) {
    const own = lesson && run.lessons?.find((each) => each.name === lesson);
    const { device, date, command } = own?.date ? own : run;
    const details = [`compute capability ${device.compute_capability}`, `${device.processors} SMs`];
    if (device.clock_mhz) details.push(`${device.clock_mhz} MHz`);
    if (device.kind === 'cuda') details.push(`CUDA ${Math.floor(device.runtime_version / 1000)}.${(device.runtime_version % 1000) / 10}`);
    if (run.compiler) details.push(run.compiler);
    if (run.host) details.push(run.host);
    const words = command.map((word) => word.replaceAll('LESSON', lesson ?? 'LESSON'));
    const json = words.indexOf('--json');
    if (json >= 0) words.splice(json, 2);
    return { machine: `${say(device.name)} (${details.map(say).join(', ')})`, command: words.join(' '), date: date.slice(0, 10) };
}

// ---- numbers as the programs print them ---------------------------------------------------------------------------

function threeDigits(value) {
    const size = Math.abs(value);
    if (!Number.isFinite(value) || size === 0) return String(value);
    if (size < 0.001 || size >= 1e7) return value.toExponential(1).replace(/e([+-])(\d)$/, 'e$10$2');
    if (size < 0.9995) return value.toFixed(3);
    if (size < 9.995) return value.toFixed(2);
    if (size < 99.95) return value.toFixed(1);
    return value.toFixed(0);
}

function timeText(seconds) {
    if (seconds >= 0.9995) return `${threeDigits(seconds)} s`;
    if (seconds >= 0.9995e-3) return `${threeDigits(seconds * 1e3)} ms`;
    return `${threeDigits(seconds * 1e6)} us`;
}

function withPrefix(value, unit) {
    let prefix = '';
    for (const next of ['k', 'M', 'G', 'T', 'P']) {
        if (value < 999.5) break;
        value /= 1000;
        prefix = next;
    }
    const whole = prefix === '' && Number.isInteger(value);
    return `${value.toFixed(whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${prefix}${unit}`.trim();
}

const countText = (count) => (count >= 999999.5 ? withPrefix(count, '') : count.toFixed(0));
const ratioText = (ratio) => ratio.toFixed(2).replace(/\.?0+$/, '');

// ---- counters, as common/lesson/counter_columns.cpp has them -------------------------------------------------------

/// A count; none of an operation is no entry.
const of = (counts, operation, figure) => counts[operation]?.[figure] ?? 0;
const ratio = (a, b) => (b > 0 ? a / b : undefined);
const added = (counts, names, figure) => names.reduce((sum, name) => sum + of(counts, name, figure), 0);
const globalAccesses = ['global_load', 'global_store'];
const sharedAccesses = ['shared_load', 'shared_store', 'shared_atomic'];
/// "32 of 4": sectors that a request touches, and those that its bytes need.
const sectorsText = (operation) => (touched, counts) => {
    const needed = ratio(of(counts, operation, 'needed_sectors'), of(counts, operation, 'requests'));
    return needed ? `${ratioText(touched)} of ${ratioText(needed)}` : ratioText(touched);
};
const always = () => true;
const notZero = (least, most) => most > 0;
const different = (least, most) => most > 1.05 * least;
const full = 0.995; // of an SM's warps, as it is printed

/// What stands in a column, when it is worth its place, and where counters_and_reports.md explains it.
const counters = [
    { header: 'sectors/ld', anchor: 'sectors-per-request', worth: always, text: sectorsText('global_load'),
      value: (counts) => ratio(of(counts, 'global_load', 'sectors'), of(counts, 'global_load', 'requests')) },
    { header: 'sectors/st', anchor: 'sectors-per-request', worth: always, text: sectorsText('global_store'),
      value: (counts) => ratio(of(counts, 'global_store', 'sectors'), of(counts, 'global_store', 'requests')) },
    { header: 'requests', anchor: 'requests', worth: different, text: countText,
      value: (counts) => added(counts, globalAccesses, 'requests') || undefined },
    { header: 'moved', anchor: 'bytes-asked-for-and-bytes-moved', worth: notZero, text: (bytes) => withPrefix(bytes, 'B'),
      value: (counts) => (added(counts, globalAccesses, 'requests') ? 32 * added(counts, globalAccesses, 'sectors') : undefined) },
    { header: 'conflicts', anchor: 'wavefronts-and-conflicts', worth: notZero, text: countText,
      value: (counts) => added(counts, sharedAccesses, 'wavefronts') - added(counts, sharedAccesses, 'least_wavefronts') },
    { header: 'const rd', anchor: 'constant-reads', worth: (least, most) => most > 1.005, text: ratioText,
      value: (counts) => ratio(of(counts, 'constant_load', 'wavefronts'), of(counts, 'constant_load', 'requests')) },
    { header: 'serialized', anchor: 'serialized-atomics', worth: notZero, text: countText,
      value: (counts) => added(counts, ['global_atomic', 'shared_atomic'], 'same_address') },
    { header: 'remote', anchor: 'remote-accesses', worth: notZero, text: countText,
      value: (counts) => added(counts, sharedAccesses, 'remote_lanes') },
    { header: 'lanes', anchor: 'active-lanes', worth: (least) => least < 31.95, text: (lanes) => lanes.toFixed(1),
      value: (counts) => ratio(counts.active_lanes, counts.steps) },
    { header: 'barriers', anchor: 'barriers', worth: notZero, text: ratioText, value: (counts) => counts.barriers_per_warp },
    { header: 'launches', worth: different, text: countText, value: (counts) => counts.launches },
    { header: 'occupancy', anchor: 'theoretical-occupancy', worth: different, text: (share) => `${(100 * share).toFixed(0)} %`,
      value: (counts) => (counts.registers ? counts.occupancy : undefined) },
    { header: 'max occupancy', anchor: 'theoretical-occupancy', worth: (least, most) => least <= full && different(least, most),
      text: (share) => (share > full ? '-' : `${(100 * share).toFixed(0)} %`),
      value: (counts) => (counts.registers ? undefined : counts.occupancy) },
];

/// Of each step; undefined where nothing was counted.
const countsOf = (steps) => steps.map((step) => step.counted ?? (step.launches?.length ? countedOf(step.launches) : undefined));

function counterColumns(steps) {
    const counted = countsOf(steps);
    const columns = [];
    for (const counter of counters) {
        const values = counted.map((counts) => counts && counter.value(counts));
        const known = values.filter((value) => value !== undefined);
        if (known.length === 0 || !counter.worth(Math.min(...known), Math.max(...known))) continue;
        const header = counter.anchor ? { text: counter.header, page: 'counters_and_reports.md', anchor: counter.anchor } : counter.header;
        columns.push({ header, cells: values.map((value, step) => (value === undefined ? '-' : counter.text(value, counted[step]))) });
    }
    return columns;
}

function figureColumns(steps) {
    const names = [...new Set(steps.flatMap((step) => (step.figures ?? []).map((figure) => figure.column)))];
    return names.map((name) => ({
        header: name,
        cells: steps.map((step) => {
            const figure = step.figures?.find((candidate) => candidate.column === name);
            if (!figure) return '-';
            const text = Number.isInteger(figure.value) && Math.abs(figure.value) < 1e7 ? String(figure.value) : threeDigits(figure.value);
            return figure.unit ? `${text} ${figure.unit}` : text;
        }),
    }));
}

const resultText = (comparison) =>
    !comparison ? 'not run' : !comparison.passed ? 'WRONG'
        : comparison.largest_error ? `ok, ${threeDigits(comparison.largest_error)}` : 'ok, exact';

const nameOf = (step, words) =>
    step.number ? `${step.number} ${step.name}` : step.name === 'vendor' ? words.vendor : `${step.name} (${words.vendor})`;

/// The index of the first step of each ladder: the numbers of each begin anew.
export function laddersOf(steps) {
    const begins = [0];
    let last = 0;
    for (const [index, { number }] of steps.entries()) {
        if (number && number <= last) begins.push(index);
        last = number ?? last;
    }
    return begins;
}

/// {header, left, rows, note, title, steps, ladders}: the table of a lesson's steps, as the program prints it. On a GPU times and rates, on the CPU
/// device counts; times of host code only with a GPU, where the machine is known.
export function stepTable(run, lesson, language = 'en') {
    const words = strings[language];
    const { steps, roof } = lesson;
    if (steps.length === 0) throw new Error(`lesson '${lesson.name}' has no steps`);
    const timed = run.device.kind === 'cuda' && steps.some((step) => step.seconds);
    const columns = [
        { header: words.step, left: true, cells: steps.map((step) => nameOf(step, words)) },
        { header: words.change, left: true, cells: steps.map((step) => step.change) },
    ];
    const outcomes = { header: words.result, left: true, cells: steps.map((step) => resultText(step.comparison)) };
    if (timed || !steps.every((step) => step.comparison?.passed)) columns.push(outcomes);
    if (timed) {
        const column = (header, value, text, ofRoof) => {
            if (!steps.some((step) => value(step) != null)) return;
            columns.push({ header, cells: steps.map((step) => (value(step) == null ? '-' : text(value(step)))), ofRoof });
        };
        const spread = (seconds) => `${((100 * (seconds.p90 - seconds.p10)) / seconds.median).toFixed(1)} %`;
        column(words.time, (step) => step.seconds?.median, timeText, roof && timeText(roof.seconds.median));
        column(words.spread, (step) => step.seconds, spread, roof && spread(roof.seconds));
        column('GB/s', (step) => step.gb_per_s, threeDigits, roof && threeDigits(roof.gb_per_s));
        if (roof) column(words.ofRoof, (step) => step.share_of_roof, (share) => share.toFixed(2), '1.00');
        column('Gop/s', (step) => step.gop_per_s, threeDigits);
        column(words.ofVendor, (step) => step.share_of_vendor, (share) => share.toFixed(2));
        column(words.speedUp, (step) => step.speed_up, (value) => `${threeDigits(value)}x`);
    } else {
        columns.push(...counterColumns(steps));
    }
    columns.push(...figureColumns(steps));
    const rows = steps.map((step, row) => columns.map((column) => column.cells[row]));
    if (timed && roof && steps.some((step) => step.gb_per_s)) {
        rows.push([roof.name, 'device-to-device cudaMemcpy', '', ...columns.slice(3).map((column) => column.ofRoof ?? '')]);
    }
    const sampled = countsOf(steps).map((counts) => counts?.sampled).filter(Boolean).sort((a, b) => b.of_blocks - a.of_blocks)[0];
    return {
        header: columns.map((column) => column.header),
        left: columns.map((column) => column.left === true),
        rows,
        note: sampled && !timed ? words.sampled(sampled.blocks, sampled.of_blocks) : undefined,
        title: lesson.size ? `${words.size} ${lesson.size.join(' x ')}` : undefined,
        steps: steps.map((step) => step.name),
        ladders: laddersOf(steps),
    };
}

/// A table that the lesson printed, by its name: {header, left, rows, name, title, note}.
export function lessonTable(lesson, name) {
    const table = lesson.tables.find((candidate) => candidate.name === name);
    if (!table) throw new Error(`lesson '${lesson.name}' has no table '${name}'; it has ${lesson.tables.map((each) => each.name).join(', ') || 'none'}`);
    const numeric = (column) => table.rows.every((row) => /^(?:-?[\d.,]+(?:e[+-]?\d+)?(?: ?(?:%|x|[kMGT]?i?B|[num]?s))?|-|)$/.test(row[column] ?? ''));
    return { header: table.header, left: table.header.map((_, column) => !numeric(column)), rows: table.rows, name, title: table.title, note: table.note };
}

/// A drawing of what the lesson measured, by its name, or undefined: {text, lines}, a sentence and the lines below it, which are to
/// be shown as they are.
export function lessonDrawing(lesson, name) {
    const found = lesson.drawings?.find((drawing) => drawing.name === name);
    if (!found) return undefined;
    const lines = found.text.split('\n');
    const begin = lines.findIndex((line) => line.startsWith('    '));
    const end = lines.findLastIndex((line) => line.startsWith('    ')) + 1;
    return { text: [...lines.slice(0, begin), ...lines.slice(end)].join(' ').trim(), lines: lines.slice(begin, end).map((line) => line.slice(4)) };
}

/// {kind, bars: [{label, value, text, role}], roof}: what to draw of a lesson timed on a GPU.
export function stepBars(run, lesson, language = 'en') {
    const words = strings[language];
    const steps = lesson.steps.filter((step) => step.seconds);
    if (run.device.kind !== 'cuda' || steps.length === 0) throw new Error(`lesson '${lesson.name}' of that run has no times`);
    const kind = steps.some((step) => step.gb_per_s) ? 'gb' : steps.some((step) => step.gop_per_s) ? 'gop' : 'time';
    const value = { gb: (step) => step.gb_per_s, gop: (step) => step.gop_per_s, time: (step) => step.seconds.median }[kind];
    const text = { gb: (x) => `${threeDigits(x)} GB/s`, gop: (x) => `${x.toFixed(0)} Gop/s`, time: timeText }[kind];
    const bars = steps.filter((step) => value(step) != null).map((step) => ({
        label: step.name === 'vendor' ? `${step.change} (${words.vendor})` : nameOf(step, words),
        value: value(step),
        text: text(value(step)),
        role: step.kind,
    }));
    const roof = kind === 'gb' && lesson.roof ? { label: lesson.roof.name, value: lesson.roof.gb_per_s, text: text(lesson.roof.gb_per_s) } : undefined;
    return { kind, bars, roof };
}

// ---- which figures a run holds ------------------------------------------------------------------------------------

/// All figures that a page may quote from a lesson of a run: {plain, gigabytes, seconds}. Plain ones are those of its
/// tables, whatever their unit.
export function figuresOf(run, lesson) {
    const tables = [...lesson.tables];
    if (lesson.steps.length > 0) tables.push(stepTable(run, lesson));
    const cells = tables.flatMap((table) => [table.title ?? '', table.note ?? '', ...table.rows.flat()]);
    const plain = cells.flatMap((cell) => [...String(cell).matchAll(/\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?/g)].map((match) => Number(match[0].replaceAll(',', ''))));
    const timings = [...lesson.steps, ...(lesson.roof ? [lesson.roof] : [])];
    return {
        plain,
        gigabytes: [...timings.map((step) => step.gb_per_s), ...timings.map((step) => step.gop_per_s)].filter((value) => value != null),
        seconds: timings.map((step) => step.seconds?.median).filter((value) => value != null),
    };
}
