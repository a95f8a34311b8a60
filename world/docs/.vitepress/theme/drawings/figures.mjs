// The measured figures that drawings show, by name: run, lesson, and the place in its results (book/addresses.mjs), or a cell of a
// table of experiments (docs/results/causes_h200.md). They are looked up when the book is built (figures.data.ts); no drawing has a
// measured figure in its source. `npm run check` fails where a place does not exist, or where a source of a drawing has a figure with a
// unit of time or bandwidth.
import fs from 'node:fs';
import path from 'node:path';
import { figureAt, figuresIn } from '../../book/addresses.mjs';
import { root } from '../../book/repository.mjs';
import { recordedLesson, recordedRun } from '../../book/results.mjs';
import { drawingWords } from './words.mjs';

const latency = (place) => ['h200_chapter_2', 'memory_spaces', `latency / ${place} / ns`];
const cycles = (place) => ['h200_chapter_2', 'memory_spaces', `latency / ${place} / cycles`];
const query = (place) => ['h200_chapter_1', 'device_query', place];
const copies = (kind, way) => ['h200_chapter_2', 'host_memory_and_streams', `copies / ${kind} / ${way}`];
const part = (name) => ['h200_chapter_2', 'host_memory_and_streams', `parts / ${name} / ms`];
const mistake = (work, clock) => ['h200_chapter_3', 'timers', `mistake / ${work} x / ${clock}`];
const stride = (of) => ['h200_chapter_2', 'coalescing', `stride / ${of} / useful GB/s`];

/// TB/s that a memory delivers to all SMs: from a table of experiments. {page, section, row, column}.
const delivers = (memory) => ({ page: 'causes_h200.md', section: 'How fast each memory delivers', row: memory, column: 'TB/s' });

/// Of one NVIDIA H200.
export const places = {
    registerCycles: cycles('register (multiply and add)'),
    registerNs: latency('register (multiply and add)'),
    sharedCycles: cycles('shared'),
    sharedNs: latency('shared'),
    l1Cycles: cycles('global, in the L1 cache'),
    l1Ns: latency('global, in the L1 cache'),
    l2Cycles: cycles('global, in the L2 cache'),
    l2Ns: latency('global, in the L2 cache'),
    memoryCycles: cycles('global, in no cache'),
    memoryNs: latency('global, in no cache'),
    hostCycles: cycles('mapped host'),
    hostNs: latency('mapped host'),
    processors: query('processors / multiprocessors (SM) / value'),
    clock: query('processors / SM clock / value'),
    registers: query('processors / registers per SM (32 bit) / value'),
    threads: query('processors / threads per SM / value'),
    blocks: query('processors / blocks per SM / value'),
    memory: query('memories / global memory / value'),
    l2: query('memories / L2 cache / value'),
    shared: query('memories / shared memory per SM / value'),
    peak: query('derived / peak bandwidth / value'),
    copy: ['h200_chapter_1', 'vector_add', 'copy / GB/s'],
    sharedRate: delivers('shared memory'),
    l1Rate: delivers('L1 cache'),
    l2Rate: delivers('L2 cache'),
    pinnedIn: copies('pinned', 'to the device'),
    pinnedOut: copies('pinned', 'to the host'),
    pageableIn: copies('pageable', 'to the device'),
    pageableOut: copies('pageable', 'to the host'),
    copyIn: part('copy in'),
    compute: part('compute'),
    copyOut: part('copy out'),
    hostThread: ['h200_chapter_1', 'fork_join', 'serial / time'],
    deviceThread: ['h200_chapter_1', 'fork_join', 'one_thread / time'],
    ...Object.fromEntries([1, 8, 64, 512].flatMap((work) => [[`atOnce${work}`, mistake(work, 'stopped at once, us')], [`waited${work}`, mistake(work, 'after waiting, us')]])),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32].map((of) => [`stride${of}`, stride(of)])),
};

/// {value, date} of a cell in a table of docs/results; throws where there is none.
export function figureInPage({ page, section, row, column }) {
    const text = fs.readFileSync(path.join(root, 'docs/results', page), 'utf8').split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
    const cells = text.split('\n').filter((line) => line.startsWith('| ')).map((line) => line.slice(2, -2).split(' | '));
    const value = Number(cells.find(([first]) => first === row)?.[cells[0]?.indexOf(column)]);
    const date = /\b20\d\d-\d\d-\d\d\b/.exec(text)?.[0];
    if (!(value > 0) || !date) throw new Error(`drawings/figures.mjs: docs/results/${page}, "${section}" has no ${column} of ${row}`);
    return { value, date };
}

/// {figures: {name: number}, machine, dates, tableDate}; throws where a figure is not recorded. `dates` are those of lessons, `tableDate`
/// that of the table of experiments.
export function recordedFigures() {
    const figures = {};
    const dates = new Set();
    let tableDate;
    for (const [name, place] of Object.entries(places)) {
        if (!Array.isArray(place)) {
            const found = figureInPage(place);
            figures[name] = found.value;
            tableDate = found.date;
            continue;
        }
        const [runName, lessonName, address] = place;
        const run = recordedRun(runName);
        const lesson = recordedLesson(run, lessonName);
        const found = figureAt(lesson, address) ?? (() => { throw new Error(`drawings/figures.mjs: ${runName} ${lessonName} has no figure at "${address}"`); })();
        figures[name] = found.value;
        if (run.device.kind === 'cuda') dates.add((lesson.date ?? run.date).slice(0, 10));
    }
    return { figures, machine: recordedRun('h200_chapter_1').device.name, dates: [...dates].sort(), tableDate };
}

const folder = path.join(root, 'docs/.vitepress/theme/drawings');

/// Names of all drawings: those of the components that words.mjs has words for.
export const drawingNames = () => fs.readdirSync(folder).filter((file) => /^[a-z_]+\.vue$/.test(file)).map((file) => file.slice(0, -4)).sort();

/// ["FILE: ..."]: what is wrong with the drawings themselves.
export function problemsOfDrawings() {
    const problems = [];
    try {
        recordedFigures();
    } catch (error) {
        problems.push(error.message);
    }
    for (const file of fs.readdirSync(folder).filter((name) => /\.(vue|mjs|ts)$/.test(name))) {
        for (const { text } of figuresIn(fs.readFileSync(path.join(folder, file), 'utf8'))) {
            problems.push(`docs/.vitepress/theme/drawings/${file}: "${text}" is typed by hand: give it a place in figures.mjs`);
        }
    }
    for (const name of drawingNames()) {
        for (const language of ['en', 'zh']) if (!drawingWords[language][name]) problems.push(`docs/.vitepress/theme/drawings/words.mjs: no ${language} words for ${name}`);
    }
    return problems;
}

/// [{line, message}] of a page that shows drawings which do not exist.
export function problemsOfShownDrawings(text) {
    const names = drawingNames();
    return text.split('\n').flatMap((row, index) =>
        [...row.matchAll(/<Drawing\b([^>]*)>/g)].flatMap(([, words]) => {
            const name = /\bname="([^"]*)"/.exec(words)?.[1];
            return names.includes(name) ? [] : [{ line: index + 1, message: `there is no drawing "${name}"; there are ${names.join(', ')}` }];
        }),
    );
}
