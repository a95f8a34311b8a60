// What Nsight Compute has printed of a lesson's kernels, as a lesson of a recorded run; see scripts/record_ncu.mjs.

/// The rows of CSV with quotes, as objects by the names in the first row. Lines before that ("==PROF== ..") are skipped.
export function rowsOfCsv(text) {
    const lines = text.split('\n').map((line) => line.trim()).filter((line) => line.startsWith('"'));
    const cellsOf = (line) => [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map((match) => match[1].replaceAll('""', '"'));
    const [header, ...rows] = lines.map(cellsOf);
    if (!header?.includes('Kernel Name')) throw new Error('the CSV of ncu has no column "Kernel Name"');
    return rows.map((cells) => Object.fromEntries(header.map((name, column) => [name, cells[column] ?? ''])))
        .filter((row) => row.ID !== ''); // the second line has the units
}

const numberOf = (text) => {
    const value = Number((text ?? '').replaceAll(',', ''));
    return text === undefined || text === '' || Number.isNaN(value) ? undefined : value;
};
const kernelOf = (row) => /(?:.*::)?(\w+)/.exec(row['Kernel Name'])[1];

const stall = /^smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio$/;
// Each has a column, with or without cycles; of the others those with more than a tenth of a kernel's cycles.
const always = ['long_scoreboard', 'mio_throttle', 'short_scoreboard', 'barrier'];
const isWorthAColumn = 0.1;

const percent = (value) => (value === undefined ? '-' : `${value.toFixed(0)} %`);
const figures = [
    ['us', 'gpu__time_duration.sum', (value) => (value / 1000).toFixed(1)],
    ['device memory', 'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed', percent],
    ['L2', 'lts__throughput.avg.pct_of_peak_sustained_elapsed', percent],
    ['shared memory', 'l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed', percent],
    ['FMA units', 'sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active', percent],
    ['issue slots', 'smsp__issue_active.avg.pct_of_peak_sustained_active', percent],
    ['occupancy', 'sm__warps_active.avg.pct_of_peak_sustained_active', percent],
    ['registers', 'launch__registers_per_thread', (value) => value.toFixed(0)],
];

function stallTable(rows) {
    const all = (row) => numberOf(row['smsp__average_warp_latency_per_inst_issued.ratio']);
    const reasons = Object.keys(rows[0]).map((metric) => stall.exec(metric)?.[1]).filter((reason) => reason && reason !== 'selected');
    const cycles = (row, reason) => numberOf(row[`smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio`]) ?? 0;
    const shown = [...always, ...reasons.filter((reason) => !always.includes(reason) && rows.some((row) => cycles(row, reason) > isWorthAColumn * (all(row) ?? Infinity)))];
    return {
        name: 'stalls', title: 'What warps wait for, in cycles per issued instruction',
        header: ['kernel', ...shown, 'all'],
        rows: rows.map((row) => [kernelOf(row), ...shown.map((reason) => cycles(row, reason).toFixed(1)), all(row)?.toFixed(1) ?? '-']),
    };
}

const figureTable = (rows) => ({
    name: 'figures', title: 'What is busy, as a share of its peak',
    header: ['kernel', ...figures.map(([head]) => head)],
    rows: rows.map((row) => [kernelOf(row), ...figures.map(([, metric, text]) => {
        const value = numberOf(row[metric]);
        return value === undefined ? '-' : text(value);
    })]),
});

/// The section on warps of each kernel, as ncu prints it.
export function reportsOf(text) {
    const reports = [];
    let kernel, lines;
    for (const line of text.split('\n')) {
        const head = /^ {2}(?:.*::)?(\w+)(?:<.*>)? ?\(.*\)x\(.*\), Context/.exec(line) ?? /^ {2}(?:.*::)?(\w+)[(<].*Context \d+/.exec(line);
        if (head) kernel = head[1];
        if (head || /^ {4}Section: /.test(line)) {
            if (lines) reports.push(lines);
            lines = /Section: Warp State Statistics/.test(line) ? { name: `report_${kernel}`, text: [] } : undefined;
        }
        lines?.text.push(line);
    }
    if (lines) reports.push(lines);
    return reports.map(({ name, text: kept }) => ({ name, text: kept.join('\n').trimEnd() }));
}

/// The lesson. `run`: as the program has written it with --json, without times. Throws when a kernel failed its check, or
/// when nothing was profiled.
export function ncuLesson(name, { csv, report, run, ncu }) {
    if (run.device?.kind !== 'cuda') throw new Error('this run is not one of a GPU');
    const lesson = run.lessons.find((each) => each.name === name);
    if (!lesson) throw new Error(`the run has no lesson '${name}'`);
    if (!lesson.passed) throw new Error(`${name}: not recorded, because a check failed`);
    const rows = rowsOfCsv(csv);
    if (rows.length === 0) throw new Error('no kernel was profiled');
    const twice = rows.map(kernelOf).find((kernel, index, all) => all.indexOf(kernel) !== index);
    if (twice) throw new Error(`${twice} was launched more than once: its rows cannot be told apart`);
    const [version, command] = ncu.trim().split('\n');
    return {
        name, device: run.device, date: run.date, command: command.split(' '), ncu: version, passed: true,
        drawings: reportsOf(report), steps: [], tables: [stallTable(rows), figureTable(rows)],
    };
}

/// The stored file with this lesson in it. Without one, the lesson's machine is the file's.
export function ncuRun(stored, lesson) {
    const others = (stored?.lessons ?? []).filter((each) => each.name !== lesson.name);
    return { warpwise: 1, date: lesson.date, device: lesson.device, command: lesson.command, ...stored, lessons: [...others, lesson] };
}
