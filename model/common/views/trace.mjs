// Traces of the CPU device: what they hold (common/lesson/trace_file.h) and how they are read. No drawing here.

/** @typedef {'global_load' | 'global_store' | 'global_atomic' | 'shared_load' | 'shared_store' | 'shared_atomic' |
 *      'constant_load'} AccessKind */

/**
 * `lanes`: 8 hex digits, lane 0 the lowest bit. Places in the array, in bytes, are evenly spaced (`first`, `stride`) or
 * listed (`at`), one for each lane that took part. `bytes` are those of each lane.
 *
 * @typedef {{ kind: 'step' | 'barrier' | AccessKind, file: number, line: number, lanes: string, array?: number,
 *      bytes?: number, sectors?: number, wavefronts?: number, least_wavefronts?: number, same_address?: number,
 *      first?: number, stride?: number, at?: number[] }} TraceEvent
 */

/**
 * `begin`: its address modulo 128; of shared memory, its place in that of the block.
 *
 * @typedef {{ name: string, space: 'global' | 'shared' | 'constant', bytes: number, begin: number }} TracedArray
 */

/**
 * `first`: the number of the first line.
 *
 * @typedef {{ path: string, first: number, lines: string[] }} SourceFile
 */

/**
 * `cut`: it did more than the trace holds.
 *
 * @typedef {{ block: [number, number, number], warp: number, threads: number, cut: boolean,
 *      events: TraceEvent[] }} TracedWarp
 */

/**
 * `label`: of recorded traces that the book shows.
 *
 * @typedef {{ step: string | null, label?: { en: string, zh: string }, kernel: string, file: string, line: number,
 *      grid: [number, number, number], block: [number, number, number], shared_bytes: number, blocks: number,
 *      arrays: TracedArray[], files: SourceFile[], warps: TracedWarp[] }} Launch
 */

/**
 * `trimmed`: what was left out of it.
 *
 * @typedef {{ warpwise_trace: number, date: string, command: string[], trimmed?: { en: string, zh: string },
 *      launches: Launch[] }} Trace
 */

/** @typedef {'not_json' | 'not_a_trace' | 'newer_version' | 'no_launches' | 'damaged'} TraceProblem */

/** Why something is no trace. */
export class TraceError extends Error {
    /**
     * @param {TraceProblem} problem
     * @param {string} [detail] where
     */
    constructor(problem, detail = '') {
        super(`${problem} ${detail}`.trim());
        this.problem = problem;
        this.detail = detail;
    }
}

const traceVersion = 1;
const accessKinds = [
    'global_load',
    'global_store',
    'global_atomic',
    'shared_load',
    'shared_store',
    'shared_atomic',
    'constant_load',
];

const isAccess = (event) => event.kind !== 'step' && event.kind !== 'barrier';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value, below = Number.MAX_SAFE_INTEGER) => Number.isInteger(value) && value >= 0 && value < below;
const isList = (value, good) => Array.isArray(value) && value.every(good);
const isOffset = (value) => Number.isSafeInteger(value);
const isDim3 = (value) => isList(value, (item) => isCount(item)) && value.length === 3;

function isEvent(event, launch) {
    if (!isObject(event)) return false;
    if (typeof event.lanes !== 'string' || !/^[0-9a-f]{8}$/.test(event.lanes)) return false;
    if (!isCount(event.file, launch.files.length) || !isCount(event.line)) return false;
    if (!isAccess(event)) return true;
    if (!accessKinds.includes(event.kind)) return false;
    if (!isCount(event.array, launch.arrays.length) || !isCount(event.bytes, 65)) return false;
    const ofGlobal = event.kind.startsWith('global');
    if (!isCount(event[ofGlobal ? 'sectors' : 'wavefronts'])) return false;
    if (!ofGlobal && !isCount(event.least_wavefronts)) return false;
    if (event.at === undefined) return isOffset(event.first) && isOffset(event.stride);
    return isList(event.at, isOffset) && event.at.length === lanesOf(event.lanes).length;
}

function checkLaunch(launch, here) {
    const damaged = (where) => new TraceError('damaged', where);
    if (!isObject(launch) || typeof launch.kernel !== 'string') throw damaged(here);
    for (const key of ['grid', 'block']) if (!isDim3(launch[key])) throw damaged(`${here}.${key}`);
    const isArray = (array) =>
        isObject(array) &&
        typeof array.name === 'string' &&
        ['global', 'shared', 'constant'].includes(array.space) &&
        isCount(array.bytes) &&
        isCount(array.begin);
    if (!isList(launch.arrays, isArray)) throw damaged(`${here}.arrays`);
    const isFile = (file) =>
        isObject(file) &&
        typeof file.path === 'string' &&
        isCount(file.first) &&
        isList(file.lines, (line) => typeof line === 'string');
    if (!isList(launch.files, isFile)) throw damaged(`${here}.files`);
    if (!Array.isArray(launch.warps) || launch.warps.length === 0) throw damaged(`${here}.warps`);
    launch.warps.forEach((warp, index) => {
        const good =
            isObject(warp) &&
            isDim3(warp.block) &&
            isCount(warp.warp) &&
            isCount(warp.threads, 33) &&
            Array.isArray(warp.events);
        if (!good) throw damaged(`${here}.warps[${index}]`);
        const wrong = warp.events.findIndex((event) => !isEvent(event, launch));
        if (wrong >= 0) throw damaged(`${here}.warps[${index}].events[${wrong}]`);
    });
}

/**
 * A trace, from its text or from what the text holds. Throws TraceError when something is missing on which the views
 * rely.
 *
 * @param {unknown} source
 * @returns {Trace}
 */
export function checkTrace(source) {
    let trace = source;
    if (typeof source === 'string') {
        try {
            trace = JSON.parse(source);
        } catch {
            throw new TraceError('not_json');
        }
    }
    if (!isObject(trace) || !('warpwise_trace' in trace)) throw new TraceError('not_a_trace');
    if (trace.warpwise_trace !== traceVersion) throw new TraceError('newer_version', String(trace.warpwise_trace));
    if (!Array.isArray(trace.launches)) throw new TraceError('damaged', 'launches');
    if (trace.launches.length === 0) throw new TraceError('no_launches');
    if (typeof trace.date !== 'string') throw new TraceError('damaged', 'date');
    if (!isList(trace.command, (word) => typeof word === 'string')) throw new TraceError('damaged', 'command');
    trace.launches.forEach((launch, index) => checkLaunch(launch, `launches[${index}]`));
    return trace;
}

/**
 * Numbers of the lanes that take part, ascending.
 *
 * @param {string} mask
 */
export function lanesOf(mask) {
    const bits = parseInt(mask, 16);
    return Array.from({ length: 32 }, (_, lane) => lane).filter((lane) => (bits >>> lane) & 1);
}

/**
 * What to call launches; where one step or kernel is launched more than once, all of them get different names.
 *
 * @param {Launch[]} launches
 * @param {'en' | 'zh'} language
 */
export function namesOf(launches, language) {
    const short = launches.map((launch) => launch.label?.[language] ?? launch.step ?? launch.kernel);
    const shared = (names, index) => names.filter((name) => name === names[index]).length > 1;
    const long = short.map((name, index) =>
        shared(short, index) && launches[index].step ? `${name} · ${launches[index].kernel}` : name,
    );
    return long.map((name, index) => {
        if (!shared(long, index)) return name;
        return `${name} #${long.slice(0, index + 1).filter((other) => other === name).length}`;
    });
}

/**
 * The launch that `which` names: a number, a name in either language, a step, or a kernel. -1: none.
 *
 * @param {Launch[]} launches
 * @param {string | number} which
 */
export function findLaunch(launches, which) {
    if (typeof which === 'number') return which in launches ? which : -1;
    const ways = [
        namesOf(launches, 'en'),
        namesOf(launches, 'zh'),
        launches.map(({ step }) => step),
        launches.map(({ kernel }) => kernel),
    ];
    return ways.map((names) => names.indexOf(which)).find((found) => found >= 0) ?? -1;
}

/**
 * Names of the arrays that launches access, each once.
 *
 * @param {Launch[]} launches
 */
export const namesOfArrays = (launches) => [...new Set(launches.flatMap(({ arrays }) => arrays.map(({ name }) => name)))];

/**
 * Of `candidates`, numbers of launches, the one to compare the first launch with: one that has an array in common with
 * it; and from another run the same kernel, from the same run another one.
 *
 * @param {Launch[]} launches
 * @param {number[]} candidates
 * @param {boolean} sameRun
 */
export function partnerOf(launches, candidates, sameRun) {
    const [{ kernel, arrays }] = launches;
    const names = arrays.map(({ name }) => name);
    const scoreOf = (index) => {
        const shares = launches[index].arrays.some(({ name }) => names.includes(name));
        return 2 * Number(shares) + Number((launches[index].kernel === kernel) !== sameRun);
    };
    return candidates.reduce((best, index) => (scoreOf(index) > scoreOf(best) ? index : best), candidates[0]);
}

/**
 * One load, store or atomic operation of a warp: `offsets` are places in the array, one for each of `lanes`.
 *
 * @typedef {{ event: TraceEvent, array: TracedArray, kind: AccessKind, lanes: number[], offsets: number[],
 *      bytes: number }} Request
 */

/** @returns {Request} */
function requestOf(event, launch) {
    const lanes = lanesOf(event.lanes);
    const offsets = event.at ?? lanes.map((_, rank) => event.first + rank * event.stride);
    return { event, array: launch.arrays[event.array], kind: event.kind, lanes, offsets, bytes: event.bytes };
}

const placeOf = (event) => `${event.file}:${event.line}`;

/**
 * The requests of a warp, of one source line if its place is given, to one array if its name is given.
 *
 * @param {TracedWarp} warp
 * @param {Launch} launch
 * @param {{ place?: string, array?: string }} [only]
 */
export function requestsOf(warp, launch, { place, array } = {}) {
    return warp.events
        .filter((event) => isAccess(event) && (!place || place === placeOf(event)))
        .map((event) => requestOf(event, launch))
        .filter((request) => !array || request.array.name === array);
}

/**
 * Lines with requests, in the order of the source.
 *
 * @param {TracedWarp} warp
 * @returns {{ place: string, file: number, line: number, requests: number }[]}
 */
export function linesWithRequests(warp) {
    const lines = new Map();
    for (const event of warp.events) {
        if (!isAccess(event)) continue;
        const place = placeOf(event);
        const line = lines.get(place) ?? { place, file: event.file, line: event.line, requests: 0 };
        line.requests += 1;
        lines.set(place, line);
    }
    return [...lines.values()].sort((a, b) => a.file - b.file || a.line - b.line);
}
