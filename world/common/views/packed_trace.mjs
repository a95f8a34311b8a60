// A trace as a report holds it: what its launches have in common stands there once (common/guide/report_traces.cpp).

/**
 * Beside what every trace has:
 *
 * `keys`: names of what shapes hold. `shapes`: an index of `keys`, then a value for each name: an event without its
 * place. Of uneven offsets a shape has the distances from each one to the next. `sequences`: indices of shapes.
 * `sources`: for each path its lines, each list the number of the first one and then their texts.
 * In launches, `lines` of a file is their number, and the `events` of a warp are an index of `sequences`, then the place
 * of each access among them.
 *
 * @typedef {{ keys: string[][], shapes: unknown[][], sequences: number[][],
 *      sources: Record<string, [number, ...string[]][]> }} Tables
 */

function eventOf([names, ...values], { keys }, nextPlace) {
    const event = Object.fromEntries(keys[names].map((name, index) => [name, values[index]]));
    if (event.at) {
        let place = nextPlace();
        event.at = [place, ...event.at.map((distance) => (place += distance))];
    } else if ('first' in event) {
        event.first = nextPlace();
    }
    return event;
}

function linesOf({ path, first, lines }, sources) {
    const region = sources[path].findLast(([number]) => number <= first);
    const begin = 1 + first - region[0];
    return region.slice(begin, begin + lines);
}

/**
 * The trace as the chapter's program wrote it; the tables are gone.
 *
 * @param {import('./trace.mjs').Trace & Tables} packed
 * @returns {import('./trace.mjs').Trace}
 */
export function unpackTrace({ keys, shapes, sequences, sources, ...trace }) {
    for (const launch of trace.launches) {
        for (const file of launch.files) file.lines = file.lines > 0 ? linesOf(file, sources) : [];
        for (const warp of launch.warps) {
            const [sequence, ...places] = warp.events;
            let next = 0;
            warp.events = sequences[sequence].map((shape) => eventOf(shapes[shape], { keys }, () => places[next++]));
        }
    }
    return trace;
}
