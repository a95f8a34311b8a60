// What the warps of a block do, side by side. Within a warp the order is that of the trace; between two barriers warps
// do not wait for each other, so that what stands in one column need not happen at one time.
import { lanesOf } from './trace.mjs';
/** @import { Launch, TraceEvent, TracedWarp } from './trace.mjs' */

/** @typedef {'step' | 'barrier' | 'global' | 'shared' | 'constant'} CellKind */

/** @typedef {{ event: TraceEvent, kind: CellKind, lanes: number[] }} Cell */

/**
 * `cells`: one for each warp, undefined where it waits, skips or is done. `barrier`: its line.
 *
 * @typedef {{ barrier?: number, cells: (Cell | undefined)[] }} Column
 */

/**
 * `lastColumn` of each warp: after it, it is done (or cut off).
 *
 * @typedef {{ warps: TracedWarp[], columns: Column[], lastColumn: number[], threads: number }} Timeline
 */

/** @param {Launch} launch */
export const blocksOf = (launch) => [...new Set(launch.warps.map((warp) => warp.block.join(', ')))];

const sameEvent = (a, b) => a.kind === b.kind && a.line === b.line && a.file === b.file;

/** Columns in which the same event of different sequences stands in the same column wherever the order allows it. */
function aligned(sequences) {
    let rows = [];
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
        const merged = [];
        let i = 0;
        for (let j = 0; j < events.length;) {
            if (i < rows.length && sameEvent(rows[i].like, events[j])) {
                rows[i].events[index] = events[j++];
                merged.push(rows[i++]);
            } else if (i < rows.length && common[i + 1][j] >= common[i][j + 1]) {
                merged.push(rows[i++]);
            } else {
                const row = { like: events[j], events: sequences.map(() => undefined) };
                row.events[index] = events[j++];
                merged.push(row);
            }
        }
        rows = [...merged, ...rows.slice(i)];
    }
    return rows.map((row) => row.events);
}

/** What a warp does between barriers, and the barrier after each part. */
function phasesOf(warp) {
    const phases = [{ events: [] }];
    for (const event of warp.events) {
        if (event.kind === 'barrier') {
            phases[phases.length - 1].barrier = event;
            phases.push({ events: [] });
        } else {
            phases[phases.length - 1].events.push(event);
        }
    }
    return phases;
}

/**
 * The timeline of one block, "0, 0, 0" or another of blocksOf.
 *
 * @param {Launch} launch
 * @param {string} block
 * @returns {Timeline}
 */
export function timelineOf(launch, block) {
    const warps = launch.warps.filter((warp) => warp.block.join(', ') === block);
    const phases = warps.map(phasesOf);
    const columns = [];
    const lastColumn = warps.map(() => -1);
    const put = (events, barrier) => {
        const cells = events.map((event, warp) => {
            if (!event) return undefined;
            lastColumn[warp] = columns.length;
            return { event, kind: event.kind.split('_')[0], lanes: lanesOf(event.lanes) };
        });
        columns.push({ barrier: barrier?.line, cells });
    };
    const count = Math.max(0, ...phases.map((parts) => parts.length));
    for (let phase = 0; phase < count; ++phase) {
        for (const events of aligned(phases.map((parts) => parts[phase]?.events ?? []))) put(events);
        const barriers = phases.map((parts) => parts[phase]?.barrier);
        const barrier = barriers.find(Boolean);
        if (barrier) put(barriers, barrier);
    }
    return { warps, columns, lastColumn, threads: warps.reduce((sum, warp) => sum + warp.threads, 0) };
}

/**
 * Neighboring lanes together: [first, count].
 *
 * @param {number[]} lanes ascending
 * @returns {[number, number][]}
 */
export function runsOf(lanes) {
    const runs = [];
    for (const lane of lanes) {
        const last = runs[runs.length - 1];
        if (last && last[0] + last[1] === lane) last[1] += 1;
        else runs.push([lane, 1]);
    }
    return runs;
}

/**
 * `waits`: at the next barrier; `skips`: has nothing to do here, and goes on at once.
 *
 * @param {Timeline} timeline
 * @param {number} column
 * @param {number} warp
 * @returns {'runs' | 'waits' | 'skips' | 'done'}
 */
export function stateOf(timeline, column, warp) {
    if (timeline.columns[column]?.cells[warp]) return 'runs';
    if (timeline.lastColumn[warp] <= column) return 'done';
    const next = timeline.columns.slice(column + 1).find(({ cells }) => cells[warp]);
    return next.barrier === undefined ? 'skips' : 'waits';
}

/**
 * Threads that are active in a column, and warps by state.
 *
 * @param {Timeline} timeline
 * @param {number} column
 */
export function summaryOf(timeline, column) {
    const summary = { active: 0, runs: 0, waits: 0, skips: 0, done: 0 };
    timeline.warps.forEach((_, warp) => {
        summary[stateOf(timeline, column, warp)] += 1;
        summary.active += timeline.columns[column]?.cells[warp]?.lanes.length ?? 0;
    });
    return summary;
}
