// An array as rows and columns, and what one request touches of it. A trace knows how many bytes an array has, but not
// its shape, so the length of a row is worked out from how lanes and warps go through it; readers can change it. The
// same layout, with rows of 32 words, shows shared memory by bank. No drawing here.
/** @import { RequestCost } from './request.mjs' */
/** @import { Launch, Request, TracedArray } from './trace.mjs' */

const bankBytes = 4;
const bankRow = 32 * bankBytes;
const usualRow = 128; // bytes: of arrays without rows that can be told
const wholeRow = 256; // bytes: rows up to this length are shown as a whole, of longer ones what is touched
const wholeTile = 40; // rows: so many of a tile stay in sight all the time

/**
 * `cell`: bytes of an element. `row`: bytes of a row. `shift`: where the array begins in the first row.
 *
 * @typedef {{ cell: number, row: number, shift: number }} ArrayLayout
 */

/**
 * What names an array: two launches have the same one where the name, the memory, and the size are the same.
 *
 * @param {TracedArray} array
 */
export const arrayKey = ({ name, space, bytes }) => `${space} ${name} ${bytes}`;

/** The number that at least half of them are: others come about where accesses have no order. */
function usual(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    const [[value, count]] = [...counts, [undefined, 0]].sort(([a, m], [b, n]) => n - m || b - a);
    return 2 * count >= values.length ? value : undefined;
}

/** Distances between the starts of what lanes touch without gaps. */
function jumpsOf({ offsets, bytes }) {
    const sorted = [...new Set(offsets)].sort((a, b) => a - b);
    const starts = sorted.filter((offset, rank) => rank === 0 || offset - sorted[rank - 1] !== bytes);
    return starts.slice(1).map((start, rank) => start - starts[rank]);
}

/**
 * From one warp to the next on the same line, and in global memory from one request to the next: jumps that leave a gap.
 * In shared memory a loop often goes on by the threads of the block, which says nothing of rows.
 */
function stepsOf(warps, { space }) {
    const firsts = new Map(); // by line: of each warp, where its requests begin
    warps.forEach((requests, warp) => {
        for (const { event, offsets, bytes, lanes } of requests) {
            const lists = firsts.get(event.line) ?? firsts.set(event.line, []).get(event.line);
            (lists[warp] ??= []).push({ first: offsets[0], length: bytes * lanes.length });
        }
    });
    const steps = [];
    const compare = (one, other) => {
        const step = one && other ? Math.abs(other.first - one.first) : 0;
        if (step > one?.length) steps.push(step);
    };
    for (const lists of firsts.values()) {
        lists.forEach((list, warp) => {
            if (space !== 'shared') list.forEach((one, index) => compare(one, list[index + 1]));
            compare(list[0], lists[warp + 1]?.[0]);
        });
    }
    return steps;
}

/**
 * Element and row of an array, from the requests to it of several warps: a list for each warp. The distance of lanes
 * tells the row, or else that of requests. Where both tell nothing, a row has 128 bytes.
 *
 * @param {TracedArray} array
 * @param {Request[][]} warps
 * @returns {ArrayLayout}
 */
export function layoutOf(array, warps) {
    const cell = Math.min(...warps.flat().map(({ bytes }) => bytes));
    const isRow = (length) => length > cell && length % cell === 0 && length < array.bytes;
    const row = usual(warps.flat().flatMap(jumpsOf).filter(isRow)) ?? usual(stepsOf(warps, array).filter(isRow));
    return { cell, row: row ?? Math.max(cell, Math.floor(usualRow / cell) * cell), shift: 0 };
}

/**
 * Shared memory by bank: 32 words per row.
 *
 * @param {TracedArray} array
 * @returns {ArrayLayout}
 */
export const bankLayout = ({ begin }) => ({ cell: bankBytes, row: bankRow, shift: begin % bankRow });

/** @param {number} address */
export const bankOf = (address) => Math.floor(address / bankBytes) % 32;

/**
 * Row and column of a byte, and the number of its element.
 *
 * @param {number} offset
 * @param {ArrayLayout} layout
 */
export function placeIn(offset, { cell, row, shift }) {
    const inRow = (((offset + shift) % row) + row) % row;
    const element = Math.floor(offset / cell);
    return { row: Math.floor((offset + shift) / row), column: Math.floor(inRow / cell), element };
}

/**
 * A part of one row, from byte `from` of the row up to and without `to`.
 *
 * @typedef {{ row: number, from: number, to: number }} Stretch
 */

/** @returns {Stretch[]} */
function stretchesOf(begin, end, { row, shift }) {
    const stretches = [];
    for (let at = begin + shift; at < end + shift;) {
        const number = Math.floor(at / row);
        const to = Math.min(end + shift, (number + 1) * row);
        stretches.push({ row: number, from: at - number * row, to: to - number * row });
        at = to;
    }
    return stretches;
}

/** Bytes that lanes touch, together where they are the same, and whether they cost more than they have to. */
function piecesOf(request, cost) {
    const pieces = new Map();
    request.offsets.forEach((offset, rank) => {
        const piece = pieces.get(offset) ?? { offset, lanes: [], bad: false };
        piece.lanes.push(request.lanes[rank]);
        pieces.set(offset, piece);
    });
    const list = [...pieces.values()];
    const inConflict = new Set(
        cost.space === 'shared' ? cost.passes.flat().flatMap((word) => (word.turns > 1 ? word.lanes : [])) : [],
    );
    list.forEach((piece, index) => {
        if (cost.space === 'shared') piece.bad = piece.lanes.some((lane) => inConflict.has(lane));
        if (cost.space === 'constant') piece.bad = index > 0;
    });
    return list;
}

/** Runs of columns, without those between them that nobody touches; short gaps are shown. */
function runsOfColumns(stretches, { cell, row }) {
    if (row <= wholeRow) return [{ from: 0, to: row }];
    const sorted = [...stretches].sort((a, b) => a.from - b.from);
    const runs = [];
    for (const { from, to } of sorted) {
        const begin = Math.floor(from / cell) * cell;
        const end = Math.min(row, Math.ceil(to / cell) * cell);
        const last = runs.at(-1);
        if (last && begin - last.to <= 32) last.to = Math.max(last.to, end);
        else runs.push({ from: begin, to: end });
    }
    return runs;
}

/**
 * `pieces`: what lanes touch, `fetched`: sectors of it, both within rows. `rows`: numbers of the rows that are shown.
 * `runs`: columns that are shown, as bytes of a row.
 *
 * @typedef {{ layout: ArrayLayout, rows: number[], runs: { from: number, to: number }[],
 *      fetched: Stretch[], pieces: (Stretch & { offset: number, lanes: number[], bad: boolean })[] }} ArrayMap
 */

/**
 * @param {Request} request
 * @param {RequestCost} cost
 * @param {ArrayLayout} layout
 * @returns {ArrayMap}
 */
export function mapOf(request, cost, layout) {
    const { bytes } = request.array;
    const within = (begin, end) => stretchesOf(Math.max(0, begin), Math.min(bytes, end), layout);
    const fetched = cost.space === 'global' ? cost.fetched.flatMap((offset) => within(offset, offset + 32)) : [];
    const pieces = piecesOf(request, cost).flatMap((piece) =>
        stretchesOf(piece.offset, piece.offset + request.bytes, layout).map((stretch) => ({ ...stretch, ...piece })),
    );
    const touched = [...fetched, ...pieces];
    const rows = [...new Set(touched.map(({ row }) => row))].sort((a, b) => a - b);
    return { layout, rows, runs: runsOfColumns(touched, layout), fetched, pieces };
}

/**
 * Maps of requests to one tile of shared memory, with the rows of all of them, so that the tile stays the same.
 *
 * @param {ArrayMap[]} maps
 * @returns {ArrayMap[]}
 */
export function asOneTile(maps) {
    const rows = [...new Set(maps.flatMap((map) => map.rows))].sort((a, b) => a - b);
    return rows.length > wholeTile ? maps : maps.map((map) => ({ ...map, rows }));
}

/**
 * Bytes of all columns that are shown.
 *
 * @param {ArrayMap} map
 */
export const shownBytes = ({ runs }) => runs.reduce((sum, { from, to }) => sum + to - from, 0);
