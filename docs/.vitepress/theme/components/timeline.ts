// What the warps of a block do, side by side. Within a warp the order is that of the trace; between two barriers warps do
// not wait for each other, so that what stands in one column need not happen at one time.
import { isAccess, lanesOf, type Launch, type TraceEvent, type TracedWarp } from './trace';

export type CellKind = 'step' | 'global' | 'shared' | 'constant';

export interface Cell {
    event: TraceEvent;
    kind: CellKind;
    lanes: number[];
}

export interface Column {
    barrier?: { file: number; line: number };
    cells: (Cell | undefined)[]; // one for each warp; undefined: it waits, or is done
}

export interface Timeline {
    warps: TracedWarp[];
    columns: Column[];
    lastColumn: number[]; // of each warp: after it, it is done (or cut off)
    threads: number;
}

export const blocksOf = (launch: Launch) => [...new Set(launch.warps.map((warp) => warp.block.join(', ')))];

function cellOf(event: TraceEvent): Cell {
    const kind = isAccess(event) ? (event.kind.split('_')[0] as CellKind) : 'step';
    return { event, kind, lanes: lanesOf(event.lanes) };
}

const sameEvent = (a: TraceEvent, b: TraceEvent) => a.kind === b.kind && a.line === b.line && a.file === b.file;

/// Columns in which the same event of different sequences stands in the same column wherever the order allows it.
function aligned(sequences: TraceEvent[][]): (TraceEvent | undefined)[][] {
    type Row = { like: TraceEvent; events: (TraceEvent | undefined)[] };
    const nobody = () => sequences.map((): TraceEvent | undefined => undefined);
    let rows: Row[] = [];
    const byLength = sequences.map((_, index) => index).sort((a, b) => sequences[b].length - sequences[a].length);
    for (const index of byLength) {
        const events = sequences[index];
        // common[i][j]: length of the longest common subsequence of rows from i on and events from j on.
        const common = Array.from({ length: rows.length + 1 }, () => new Uint16Array(events.length + 1));
        for (let i = rows.length - 1; i >= 0; --i) {
            for (let j = events.length - 1; j >= 0; --j) {
                common[i][j] = sameEvent(rows[i].like, events[j])
                    ? common[i + 1][j + 1] + 1
                    : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        const merged: Row[] = [];
        let i = 0;
        for (let j = 0; j < events.length;) {
            if (i < rows.length && sameEvent(rows[i].like, events[j])) {
                rows[i].events[index] = events[j++];
                merged.push(rows[i++]);
            } else if (i < rows.length && common[i + 1][j] >= common[i][j + 1]) {
                merged.push(rows[i++]);
            } else {
                const row = { like: events[j], events: nobody() };
                row.events[index] = events[j++];
                merged.push(row);
            }
        }
        rows = [...merged, ...rows.slice(i)];
    }
    return rows.map((row) => row.events);
}

/// The timeline of one block, "0, 0, 0" or another of blocksOf.
export function timelineOf(launch: Launch, block: string): Timeline {
    const warps = launch.warps.filter((warp) => warp.block.join(', ') === block);
    // What each warp does between barriers.
    const phases = warps.map((warp) => {
        const parts: { events: TraceEvent[]; barrier?: TraceEvent }[] = [{ events: [] }];
        for (const event of warp.events) {
            if (event.kind === 'barrier') {
                parts[parts.length - 1].barrier = event;
                parts.push({ events: [] });
            } else {
                parts[parts.length - 1].events.push(event);
            }
        }
        return parts;
    });
    const columns: Column[] = [];
    const lastColumn = warps.map(() => -1);
    const put = (events: (TraceEvent | undefined)[], barrier?: TraceEvent) => {
        const cells = events.map((event, warp) => {
            if (!event) return undefined;
            lastColumn[warp] = columns.length;
            return cellOf(event);
        });
        columns.push(barrier ? { barrier: { file: barrier.file, line: barrier.line }, cells } : { cells });
    };
    const count = Math.max(0, ...phases.map((parts) => parts.length));
    for (let phase = 0; phase < count; ++phase) {
        for (const events of aligned(phases.map((parts) => parts[phase]?.events ?? []))) put(events);
        const barrier = phases.map((parts) => parts[phase]?.barrier).find(Boolean);
        if (barrier)
            put(
                phases.map((parts) => parts[phase]?.barrier),
                barrier,
            );
    }
    return { warps, columns, lastColumn, threads: warps.reduce((sum, warp) => sum + warp.threads, 0) };
}

/// Neighboring lanes together: [first, count].
export function runsOf(lanes: number[]): [number, number][] {
    const runs: [number, number][] = [];
    for (const lane of lanes) {
        const last = runs[runs.length - 1];
        if (last && last[0] + last[1] === lane) last[1] += 1;
        else runs.push([lane, 1]);
    }
    return runs;
}

/// `waits`: at the next barrier; `skips`: has nothing to do here, and goes on at once.
export type WarpState = 'runs' | 'waits' | 'skips' | 'done';

export function stateOf(timeline: Timeline, column: number, warp: number): WarpState {
    if (timeline.columns[column]?.cells[warp]) return 'runs';
    if (timeline.lastColumn[warp] <= column) return 'done';
    const next = timeline.columns.slice(column + 1).find(({ cells }) => cells[warp]);
    return next?.barrier ? 'waits' : 'skips';
}

/// Threads that are active in a column, and warps by state.
export function summaryOf(timeline: Timeline, column: number) {
    const summary = { active: 0, runs: 0, waits: 0, skips: 0, done: 0 };
    timeline.warps.forEach((_, warp) => {
        summary[stateOf(timeline, column, warp)] += 1;
        summary.active += timeline.columns[column]?.cells[warp]?.lanes.length ?? 0;
    });
    return summary;
}
