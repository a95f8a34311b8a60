// Drawings of one request: what its lanes touch of an array, drawn as rows and columns. What belongs to lanes names them
// in `data-lanes`, so that a view can point them out.
import { shownBytes } from './array_map.mjs';
import { make } from './dom.mjs';
import { laneColor, laneInk } from './colors.mjs';
/** @import { ArrayMap } from './array_map.mjs' */
/** @import { RequestCost } from './request.mjs' */
/** @import { ViewMessages } from './messages.mjs' */

const labelSize = 11; // pixels: the smallest that can be read
const digit = 7; // width of a digit of that size, in the widest of usual fonts
const headHeight = 16; // numbers of the columns
const foldWidth = 16; // between runs of columns
const foldHeight = 5; // between rows that are no neighbors
const mostRows = 64;

/** Room for row numbers on the left, and for lanes on the right. */
const marginsOf = ({ rows }) => ({
    left: Math.max(24, digit * String(rows.at(-1)).length + 8),
    right: 6 * digit + 5,
});

/** Rows are lower where there are many, and lower still where two maps are shown. */
const rowHeight = (count, dense) => (count <= 8 ? 22 : count <= 16 ? 17 : dense ? 9 : 13);

/**
 * How many pixels a byte can have.
 *
 * @param {ArrayMap} map
 * @param {number} width
 */
export function scaleOf(map, width) {
    const { left, right } = marginsOf(map);
    const room = width - left - right - (map.runs.length - 1) * foldWidth;
    return Math.min(5, Math.max(0.25, room / shownBytes(map)));
}

const foldsBelow = (rows) => rows.filter((row, index) => index > 0 && row !== rows[index - 1] + 1).length;

/**
 * @param {ArrayMap} map
 * @param {boolean} dense
 */
export function mapHeight({ rows }, dense) {
    const shown = rows.slice(0, mostRows);
    const more = rows.length > mostRows ? 18 : 0;
    return headHeight + shown.length * rowHeight(shown.length, dense) + foldsBelow(shown) * foldHeight + more + 2;
}

/** "7", "0–31", or "0…30" where some between them are missing. */
function spanOf(lanes) {
    const sorted = [...new Set(lanes)].sort((a, b) => a - b);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (sorted.length === 1) return String(first);
    return `${first}${last - first + 1 === sorted.length ? '–' : '…'}${last}`;
}

const inkOn = (lane) => ({ 'text-anchor': 'middle', style: `fill: ${laneInk(lane)}` });

/** A pale color for each bank, in a circle. */
const bankColor = (bank) => `light-dark(oklch(0.92 0.06 ${bank * 11.25}), oklch(0.34 0.06 ${bank * 11.25}))`;

/**
 * A map of an array: rows and columns with what lanes touch of them. Left are the numbers of rows, right the lanes.
 * `scale`: pixels of a byte. `bank`: the bank of a byte, where cells have its color. `crowded`: banks with a conflict.
 *
 * @param {{ map: ArrayMap, scale: number, dense: boolean, hint: string, text: ViewMessages,
 *      bank?: (offset: number) => number, crowded?: Set<number>, size: number, titleOf: (lanes: number[]) => string }} what
 * @returns {SVGElement}
 */
export function mapDrawing({ map, scale, dense, hint, text, bank, crowded = new Set(), size, titleOf }) {
    const { layout, runs } = map;
    const rows = map.rows.slice(0, mostRows);
    const { left, right } = marginsOf(map);
    const height = rowHeight(rows.length, dense);
    const box = height - (height > 10 ? 3 : 1);
    const cell = layout.cell * scale;

    const starts = []; // of runs, in pixels
    let end = left;
    for (const { from, to } of runs) {
        starts.push(end);
        end += (to - from) * scale + foldWidth;
    }
    end -= foldWidth;
    const width = end + right;
    const xOf = (byte) => {
        const run = runs.findIndex(({ to }) => byte < to);
        const index = run < 0 ? runs.length - 1 : run;
        return starts[index] + (byte - runs[index].from) * scale;
    };
    const tops = new Map();
    let top = headHeight;
    rows.forEach((row, index) => {
        if (index > 0 && row !== rows[index - 1] + 1) top += foldHeight;
        tops.set(row, top);
        top += height;
    });
    const inSight = ({ row }) => tops.has(row);
    const gapOf = (room) => (room > 3 ? 1 : 0.2);
    const roomOf = ({ from, to }) => xOf(to - 1) + scale - xOf(from);
    /** `frame`: so much is seen of what is below it. */
    const boxOf = (stretch, frame, more) => {
        const room = roomOf(stretch);
        const x = xOf(stretch.from) + gapOf(room) / 2;
        const y = tops.get(stretch.row) + frame;
        return make('rect', { x, y, width: Math.max(0.8, room - gapOf(room)), height: box - 2 * frame, ...more });
    };
    const label = (x, y, words, more) => make('text', { x, y, 'font-size': labelSize, ...more }, words);

    // Numbers of the columns, as many as there is room for.
    const head = [];
    let free = left;
    const every = Math.max(1, 2 ** Math.ceil(Math.log2((3 * digit) / cell)));
    runs.forEach(({ from, to }) => {
        for (let column = from / layout.cell; column * layout.cell < to; column += 1) {
            if (column % every !== 0 && column !== from / layout.cell) continue;
            const middle = xOf(column * layout.cell) + cell / 2;
            const half = (digit * String(column).length) / 2;
            const x = Math.max(middle, left + half);
            if (x - half < free || x + half > width) continue;
            head.push(label(x, 11, column, { 'text-anchor': 'middle' }));
            free = x + half + digit;
        }
    });

    // The array itself: a path for each color.
    const grounds = new Map();
    for (const row of rows) {
        for (const { from, to } of runs) {
            for (let at = from; at < to; at += layout.cell) {
                const offset = row * layout.row + at - layout.shift;
                if (offset < 0 || offset >= size) continue;
                const key = bank ? bank(offset) : '';
                const [x, wide] = [xOf(at) + gapOf(cell) / 2, cell - gapOf(cell)].map((pixels) => pixels.toFixed(1));
                const d = `M${x} ${tops.get(row)}h${wide}v${box}h-${wide}z`;
                grounds.set(key, (grounds.get(key) ?? '') + d);
            }
        }
    }
    const ground = [...grounds].map(([key, d]) =>
        make('path', { d, class: 'ww-element', style: bank && `fill: ${bankColor(key)}` }),
    );

    const step = Math.ceil((labelSize + 1) / height); // rows per label
    const lanesOf = (row) => map.pieces.filter((piece) => piece.row === row).flatMap(({ lanes }) => lanes);
    const labels = rows.flatMap((row, index) => {
        if (index % step !== 0) return [];
        const y = tops.get(row) + box / 2 + 4;
        const lanes = rows.slice(index, index + step).flatMap(lanesOf);
        return [
            label(left - 5, y, row, { 'text-anchor': 'end' }),
            lanes.length > 0 ? label(end + 5, y, spanOf(lanes), { class: 'ww-strong' }) : undefined,
        ];
    });

    const pieces = map.pieces.filter(inSight).map((piece) => {
        const { row, from, lanes, bad } = piece;
        const room = roomOf(piece);
        const shown = lanes.length > 1 ? `×${lanes.length}` : String(lanes[0]);
        const fits = box >= 12 && room >= digit * Math.max(2, shown.length) + 2;
        return make(
            'g',
            { 'data-lanes': lanes.join(' '), opacity: 1, class: bad ? 'ww-piece ww-conflict' : 'ww-piece' },
            make('title', {}, titleOf(lanes)),
            boxOf(piece, map.fetched.length > 0 ? 1.5 : 0, { rx: 1, fill: laneColor(lanes[0]) }),
            fits ? label(xOf(from) + room / 2, tops.get(row) + box / 2 + 4, shown, inkOn(lanes[0])) : undefined,
        );
    });
    const columnsInConflict = [...crowded].map((column) =>
        make('rect', {
            x: xOf(column * layout.cell),
            y: headHeight - 2,
            width: cell,
            height: top - headHeight + 1,
            class: 'ww-crowded',
        }),
    );
    const more = map.rows.length - rows.length;
    return make(
        'svg',
        { width, height: top + 2 + (more > 0 ? 18 : 0), role: 'img', 'aria-label': hint },
        ...head,
        ...ground,
        ...columnsInConflict,
        ...map.fetched.filter(inSight).map((stretch) => boxOf(stretch, 0, { rx: 2, class: 'ww-fetched' })),
        ...labels,
        ...pieces,
        more > 0 ? label(left, top + 13, text.moreRows(more)) : undefined,
    );
}

/**
 * What the colors of a drawing mean.
 *
 * @param {RequestCost} cost
 * @param {ViewMessages} text
 */
export function drawingLegend(cost, { legend }) {
    const swatch = (background, border) => make('i', { style: `background: ${background}; border-color: ${border}` });
    const lanes = [8, 24].map((lane) => swatch(laneColor(lane), 'transparent'));
    const free = swatch('var(--ww-soft)', 'var(--ww-border)');
    const banks = [0, 11, 22].map((bank) => swatch(bankColor(bank), 'transparent'));
    const bad = swatch('none', 'var(--ww-bad)');
    const entries = {
        global: [
            [...lanes, legend.used],
            [swatch('var(--ww-waste)', 'var(--ww-waste-line)'), legend.fetched],
            [free, legend.untouched],
        ],
        shared: [
            [...lanes, legend.used],
            [...banks, legend.banks],
            ...(cost.conflicts > 0 ? [[bad, legend.conflict]] : []),
        ],
        constant: [
            [...lanes, legend.used],
            [free, legend.idle],
            ...(cost.wavefronts > 1 ? [[bad, legend.further]] : []),
        ],
    };
    const shown = entries[cost.space].map((parts) => make('span', {}, ...parts));
    return make('div', { class: 'ww-legend', 'aria-hidden': 'true' }, ...shown);
}
