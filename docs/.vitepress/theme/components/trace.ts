// Traces of the CPU device: what they hold (common/lesson/trace_file.h) and how they are read. No drawing here.

export const traceVersion = 1;

export type AccessKind =
    | 'global_load'
    | 'global_store'
    | 'global_atomic'
    | 'shared_load'
    | 'shared_store'
    | 'shared_atomic'
    | 'constant_load';

export interface TraceEvent {
    kind: 'step' | 'barrier' | AccessKind;
    file: number;
    line: number;
    lanes: string; // 8 hex digits, lane 0 the lowest bit
    array?: number;
    bytes?: number; // of each lane
    sectors?: number;
    wavefronts?: number;
    least_wavefronts?: number;
    same_address?: number;
    first?: number; // offsets in the array: evenly spaced ..
    stride?: number;
    at?: number[]; // .. or one for each lane that took part
}

export interface TracedArray {
    name: string;
    space: 'global' | 'shared' | 'constant';
    bytes: number;
    begin: number; // address modulo 128; shared memory: its place in that of the block
}

export interface SourceFile {
    path: string;
    first: number; // number of the first line
    lines: string[];
}

export interface TracedWarp {
    block: [number, number, number];
    warp: number;
    threads: number;
    cut: boolean; // it did more than the trace holds
    events: TraceEvent[];
}

export interface Launch {
    step: string | null;
    label?: { en: string; zh: string }; // of recorded traces that the book shows
    kernel: string;
    file: string;
    line: number;
    grid: [number, number, number];
    block: [number, number, number];
    shared_bytes: number;
    blocks: number;
    arrays: TracedArray[];
    files: SourceFile[];
    warps: TracedWarp[];
}

export interface Trace {
    warpwise_trace: number;
    date: string;
    command: string[];
    trimmed?: { en: string; zh: string }; // what docs/scripts/record_traces.sh left out
    launches: Launch[];
}

export type TraceProblem = 'not_json' | 'not_a_trace' | 'newer_version' | 'no_launches' | 'damaged';

/// Why a file is no trace; `detail` says where.
export class TraceError extends Error {
    constructor(
        readonly problem: TraceProblem,
        readonly detail = '',
    ) {
        super(`${problem} ${detail}`.trim());
    }
}

const accessKinds = [
    'global_load',
    'global_store',
    'global_atomic',
    'shared_load',
    'shared_store',
    'shared_atomic',
    'constant_load',
];

export const isAccess = (event: TraceEvent) => event.kind !== 'step' && event.kind !== 'barrier';

const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown, below = Number.MAX_SAFE_INTEGER) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < below;
const isList = (value: unknown, good: (item: unknown) => boolean) => Array.isArray(value) && value.every(good);
const isOffset = (value: unknown) => Number.isSafeInteger(value);
const isDim3 = (value: unknown) => isList(value, (item) => isCount(item)) && (value as unknown[]).length === 3;

function checkEvent(event: unknown, launch: Launch): boolean {
    if (!isObject(event)) return false;
    if (typeof event.lanes !== 'string' || !/^[0-9a-f]{8}$/.test(event.lanes)) return false;
    if (!isCount(event.file, launch.files.length) || !isCount(event.line)) return false;
    if (event.kind === 'step' || event.kind === 'barrier') return true;
    if (!accessKinds.includes(event.kind as string)) return false;
    if (!isCount(event.array, launch.arrays.length) || !isCount(event.bytes, 65)) return false;
    const of_global = (event.kind as string).startsWith('global');
    if (!isCount(event[of_global ? 'sectors' : 'wavefronts'])) return false;
    if (!of_global && !isCount(event.least_wavefronts)) return false;
    const lanes = lanesOf(event.lanes).length;
    if (event.at !== undefined) return isList(event.at, isOffset) && (event.at as number[]).length === lanes;
    return isOffset(event.first) && isOffset(event.stride);
}

/// Throws TraceError when something is missing on which the views rely.
export function checkTrace(document: unknown): Trace {
    if (!isObject(document) || !('warpwise_trace' in document)) throw new TraceError('not_a_trace');
    if (document.warpwise_trace !== traceVersion) {
        throw new TraceError('newer_version', String(document.warpwise_trace));
    }
    if (!Array.isArray(document.launches)) throw new TraceError('damaged', 'launches');
    if (document.launches.length === 0) throw new TraceError('no_launches');
    const damaged = (where: string) => new TraceError('damaged', where);
    if (typeof document.date !== 'string') throw damaged('date');
    if (!isList(document.command, (word) => typeof word === 'string')) throw damaged('command');
    document.launches.forEach((launch: unknown, index) => {
        const here = `launches[${index}]`;
        if (!isObject(launch) || typeof launch.kernel !== 'string') throw damaged(here);
        for (const key of ['grid', 'block']) if (!isDim3(launch[key])) throw damaged(`${here}.${key}`);
        const arrays = (array: unknown) =>
            isObject(array) &&
            typeof array.name === 'string' &&
            ['global', 'shared', 'constant'].includes(array.space as string) &&
            isCount(array.bytes) &&
            isCount(array.begin);
        if (!isList(launch.arrays, arrays)) throw damaged(`${here}.arrays`);
        const files = (file: unknown) =>
            isObject(file) &&
            typeof file.path === 'string' &&
            isCount(file.first) &&
            isList(file.lines, (line) => typeof line === 'string');
        if (!isList(launch.files, files)) throw damaged(`${here}.files`);
        if (!Array.isArray(launch.warps) || launch.warps.length === 0) throw damaged(`${here}.warps`);
        launch.warps.forEach((warp: unknown, w) => {
            const good =
                isObject(warp) &&
                isDim3(warp.block) &&
                isCount(warp.warp) &&
                isCount(warp.threads, 33) &&
                Array.isArray(warp.events);
            if (!good) throw damaged(`${here}.warps[${w}]`);
            const wrong = (warp as unknown as TracedWarp).events.findIndex(
                (event) => !checkEvent(event, launch as unknown as Launch),
            );
            if (wrong >= 0) throw damaged(`${here}.warps[${w}].events[${wrong}]`);
        });
    });
    return document as unknown as Trace;
}

export function parseTrace(text: string): Trace {
    let document: unknown;
    try {
        document = JSON.parse(text);
    } catch {
        throw new TraceError('not_json');
    }
    return checkTrace(document);
}

/// Numbers of the lanes that take part, ascending.
export function lanesOf(mask: string): number[] {
    const bits = parseInt(mask, 16);
    const lanes = [];
    for (let lane = 0; lane < 32; ++lane) if ((bits >>> lane) & 1) lanes.push(lane);
    return lanes;
}

/// Places in the array, in bytes, one for each lane that takes part.
export function offsetsOf(event: TraceEvent): number[] {
    if (event.at) return event.at;
    return lanesOf(event.lanes).map((_, rank) => (event.first ?? 0) + rank * (event.stride ?? 0));
}

/// What to call a launch; where one step or kernel is launched more than once, all of them get different names.
export function namesOf(launches: Launch[], language: 'en' | 'zh'): string[] {
    const short = launches.map((launch) => launch.label?.[language] ?? launch.step ?? launch.kernel);
    const shared = (names: string[], index: number) => names.filter((name) => name === names[index]).length > 1;
    const long = short.map((name, index) =>
        shared(short, index) && launches[index].step ? `${name} · ${launches[index].kernel}` : name,
    );
    return long.map((name, index) => {
        if (!shared(long, index)) return name;
        return `${name} #${long.slice(0, index + 1).filter((other) => other === name).length}`;
    });
}

/// The launch that `which` names: a number, a name in either language, a step, or a kernel. -1: none.
export function findLaunch(launches: Launch[], which: string | number | undefined): number {
    if (which === undefined) return -1;
    if (typeof which === 'number') return which in launches ? which : -1;
    const ways: ((launch: Launch, index: number) => string | null | undefined)[] = [
        (_, index) => namesOf(launches, 'en')[index],
        (_, index) => namesOf(launches, 'zh')[index],
        (launch) => launch.step,
        (launch) => launch.kernel,
    ];
    for (const way of ways) {
        const found = launches.findIndex((launch, index) => way(launch, index) === which);
        if (found >= 0) return found;
    }
    return -1;
}

/// One load, store or atomic operation of a warp.
export interface Request {
    event: TraceEvent;
    array: TracedArray;
    kind: AccessKind;
    lanes: number[];
    offsets: number[]; // one for each of `lanes`
    bytes: number;
}

export function requestOf(event: TraceEvent, launch: Launch): Request {
    return {
        event,
        array: launch.arrays[event.array ?? 0],
        kind: event.kind as AccessKind,
        lanes: lanesOf(event.lanes),
        offsets: offsetsOf(event),
        bytes: event.bytes ?? 0,
    };
}

/// The requests of a warp, of one source line if that is given ("file:line").
export function requestsOf(warp: TracedWarp, launch: Launch, place?: string): Request[] {
    return warp.events
        .filter((event) => isAccess(event) && (!place || place === placeOf(event)))
        .map((event) => requestOf(event, launch));
}

export const placeOf = (event: TraceEvent) => `${event.file}:${event.line}`;

/// Lines with requests, in the order of the source: {place, line, requests}.
export function linesWithRequests(
    warp: TracedWarp,
): { place: string; file: number; line: number; requests: number }[] {
    const lines = new Map<string, { place: string; file: number; line: number; requests: number }>();
    for (const event of warp.events) {
        if (!isAccess(event)) continue;
        const place = placeOf(event);
        const line = lines.get(place) ?? { place, file: event.file, line: event.line, requests: 0 };
        ++line.requests;
        lines.set(place, line);
    }
    return [...lines.values()].sort((a, b) => a.file - b.file || a.line - b.line);
}
