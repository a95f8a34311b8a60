// Drawings of one request: the lanes of its warp, and what they touch of each kind of memory. What belongs to lanes
// names them in `data-lanes`, so that a view can point them out.
import { make } from './dom.mjs';
import { laneColor, laneInk } from './colors.mjs';
import { ranges } from './messages.mjs';
import { runsOf } from './timeline.mjs';
/** @import { ConstantCost, GlobalCost, RequestCost, SharedCost } from './request.mjs' */
/** @import { Request } from './trace.mjs' */
/** @import { ViewMessages } from './messages.mjs' */

const labelWidth = 46; // left of every row
const sectorGap = 3;
const headHeight = 14; // numbers of the banks

/** Rows of a drawing, each with a label on the left. They are lower where there are many. */
function rowsOf(count) {
    const height = count <= 8 ? 21 : count <= 16 ? 17 : count <= 32 ? 13 : 8;
    const boxHeight = height - (height > 10 ? 3 : 1);
    const fontSize = Math.min(10, boxHeight - 1);
    const baseline = (boxHeight + fontSize) / 2 - 1;
    const label = (words, bad) =>
        make('text', { ...endingAt(labelWidth - 5, baseline, fontSize), class: bad && 'ww-bad' }, words);
    const besides = (words, x) => make('text', { x, y: baseline, 'font-size': fontSize, class: 'ww-strong' }, words);
    /** Words on the color of a lane. */
    const name = (words, middle, lane) =>
        make('text', { ...centeredAt(middle, baseline, fontSize), ...inkOn(lane) }, words);
    const box = (x, width, border, more) => {
        const size = { width: Math.max(0.8, width - 1), height: boxHeight - 2 * border };
        return make('rect', { x: x + 0.5, y: border, rx: 1, ...size, ...more });
    };
    return { height, boxHeight, fontSize, legible: fontSize >= 7, label, besides, name, box };
}

const endingAt = (x, y, size) => ({ x, y, 'font-size': size, 'text-anchor': 'end' });
const centeredAt = (x, y, size) => ({ x, y, 'font-size': size, 'text-anchor': 'middle' });
const inkOn = (lane) => ({ style: `fill: ${laneInk(lane)}`, 'letter-spacing': -0.4 });
const movedDown = (y) => ({ transform: `translate(0, ${y})` });
const ofLanes = (lanes) => ({ 'data-lanes': lanes.join(' '), opacity: 1 });

/**
 * The lanes of a warp: those that take part in their color, the others as outlines. `gaps`: between every eight of
 * them, as between sectors.
 *
 * @param {{ active: number[], threads: number, width: number, gaps: boolean, text: ViewMessages }} what
 */
export function laneRow({ active, threads, width, gaps, text }) {
    const gap = gaps ? sectorGap : 0;
    const cell = (width - labelWidth - 3 * gap - 1) / 32;
    const roomy = cell >= 10;
    const fontSize = cell >= 12 ? 9 : roomy ? 8.5 : 7.5;
    const lanes = Array.from({ length: threads }, (_, lane) => {
        const on = active.includes(lane);
        const x = labelWidth + lane * cell + Math.floor(lane / 8) * gap;
        const named = roomy || (on && lane % 4 === 0);
        return make(
            'g',
            { ...ofLanes([lane]), class: !on && 'ww-off' },
            on ? undefined : make('title', {}, text.laneInactive(lane)),
            make('rect', {
                x: x + 0.5,
                y: 1.5,
                width: Math.max(1, cell - 1),
                height: 16,
                rx: 2,
                fill: on ? laneColor(lane) : 'none',
            }),
            named
                ? make('text', { ...centeredAt(x + cell / 2, 13, fontSize), ...(on && inkOn(lane)) }, lane)
                : undefined,
        );
    });
    const label = make('text', endingAt(labelWidth - 5, 14, 10), text.lanes);
    return make('svg', { width, height: 20, 'aria-hidden': 'true' }, label, ...lanes);
}

/** Lines of 128 bytes, their sectors, and which bytes which lane uses. */
function sectorDrawing({ cost, most, width, text }) {
    const rows = rowsOf(most);
    const byte = (width - labelWidth - 3 * sectorGap - 1) / 128;
    const xOf = (place) => labelWidth + place * byte + Math.floor(Math.min(place, 127) / 32) * sectorGap;

    function pieceOf({ from, to, lanes }, line) {
        const x = xOf(from);
        const room = xOf(to - 1) + byte - x; // it ends in the sector of its last byte
        const several = lanes.length > 1;
        const shown = several ? `×${lanes.length}` : lanes[0];
        // Two digits have to fit: all lanes or none.
        const fits = rows.legible && room >= (several ? 18 : rows.fontSize * 1.02);
        const beside = several && !fits && line.pieces.length === 1 && to <= 112;
        const told = lanes.map((lane) => text.laneAt(lane, line.offset + from, to - from));
        return make(
            'g',
            { ...ofLanes(lanes), class: 'ww-piece' },
            make('title', {}, told.join('\n')),
            rows.box(x, room, 1, { fill: laneColor(lanes[0]) }),
            fits ? rows.name(shown, x + room / 2, lanes[0]) : undefined,
            beside ? rows.besides(shown, x + room + 4) : undefined,
        );
    }
    const lines = cost.lines.map((line, row) =>
        make(
            'g',
            movedDown(row * rows.height + 1),
            rows.label(line.offset),
            ...line.fetched.map((fetched, sector) =>
                make('rect', {
                    x: xOf(sector * 32),
                    y: 0,
                    width: 32 * byte,
                    height: rows.boxHeight,
                    rx: 2,
                    class: fetched ? 'ww-fetched' : 'ww-untouched',
                }),
            ),
            ...line.pieces.map((piece) => pieceOf(piece, line)),
        ),
    );
    const height = most * rows.height + 2;
    return make('svg', { width, height, role: 'img', 'aria-label': text.hints.global }, ...lines);
}

/**
 * Rows of 32 columns, in which lanes are served: passes of the banks, or addresses of constant memory.
 *
 * @param {{ rows: { label: string | number, title?: string, bad: boolean,
 *      cells: { column: number, lanes: number[], title?: string }[] }[], most: number, width: number, hint: string,
 *      banks?: string }} what `banks`: the word before their numbers
 */
function gridDrawing({ rows, most, width, hint, banks }) {
    const { height, boxHeight, fontSize, legible, label, name, box } = rowsOf(most);
    const cell = (width - labelWidth - 1) / 32;
    const xOf = (column) => labelWidth + column * cell;
    const top = banks ? headHeight : 0;
    const columns = Array.from({ length: 32 }, (_, column) => column);
    const fits = (letters) => legible && cell - 1 >= fontSize * 0.52 * letters - 0.5;
    const shownOf = (lanes) => {
        if (lanes.length === 1) return fits(2) ? lanes[0] : '';
        return fits(3) ? `${lanes[0]}+` : cell > 6 ? '+' : '';
    };
    const head = banks
        ? [
              make('text', endingAt(labelWidth - 5, top - 4, 9), banks),
              ...columns
                  .filter((column) => cell >= 14 || column % 4 === 0 || column === 31)
                  .map((column) => make('text', centeredAt(xOf(column + 0.5), top - 4, 9), column)),
          ]
        : [];
    const middle = boxHeight / 2;
    const lines = rows.map((row, index) =>
        make(
            'g',
            movedDown(top + index * height),
            row.title === undefined ? undefined : make('title', {}, row.title),
            row.bad ? make('rect', { width, height: height - 1, class: 'ww-conflict' }) : undefined,
            label(row.label, row.bad),
            ...(banks
                ? columns.map((column) => box(xOf(column), cell, 0, { class: 'ww-untouched' }))
                : [make('line', { x1: labelWidth, x2: width, y1: middle, y2: middle, class: 'ww-untouched' })]),
            ...row.cells.map(({ column, lanes, title }) =>
                make(
                    'g',
                    ofLanes(lanes),
                    title === undefined ? undefined : make('title', {}, title),
                    box(xOf(column), cell, 0, { fill: laneColor(lanes[0]) }),
                    name(shownOf(lanes), xOf(column + 0.5), lanes[0]),
                ),
            ),
        ),
    );
    return make('svg', { width, height: top + most * height + 2, role: 'img', 'aria-label': hint }, ...head, ...lines);
}

/** The banks from left to right, the passes from top to bottom. */
function bankDrawing({ cost, most, width, text }) {
    const { bank } = text.tableHead;
    const rows = cost.passes.map((words, pass) => ({
        label: pass + 1,
        bad: pass >= cost.least,
        cells: words.map((word) => ({
            column: word.bank,
            lanes: word.lanes,
            title: `${bank} ${word.bank}: lane ${ranges(runsOf(word.lanes))}`,
        })),
    }));
    return gridDrawing({ rows, most, width, hint: text.hints.shared, banks: bank });
}

/** The lanes from left to right, a row for each address. */
function constantDrawing({ cost, most, width, text }) {
    const rows = cost.addresses.map(({ offset, lanes }, row) => ({
        label: offset,
        title: `${offset}: lane ${ranges(runsOf(lanes))}`,
        bad: row >= 1,
        cells: lanes.map((lane) => ({ column: lane, lanes: [lane] })),
    }));
    return gridDrawing({ rows, most, width, hint: text.hints.constant });
}

const drawingOf = { global: sectorDrawing, shared: bankDrawing, constant: constantDrawing };

/**
 * What a request touches. `most`: rows of the drawing that has the most, so that all keep their height.
 *
 * @param {{ cost: RequestCost, most: number, width: number, text: ViewMessages }} what
 */
export const requestDrawing = (what) => drawingOf[what.cost.space](what);

/**
 * Rows of a drawing.
 *
 * @param {RequestCost} cost
 */
export const rowCount = (cost) => (cost.lines ?? cost.passes ?? cost.addresses).length;

/**
 * What the colors of a drawing mean.
 *
 * @param {RequestCost} cost
 * @param {ViewMessages} text
 */
export function drawingLegend(cost, { legend }) {
    const swatch = (background, border) => make('i', { style: `background: ${background}; border-color: ${border}` });
    const lanes = [8, 24].map((lane) => swatch(laneColor(lane), 'transparent'));
    const free = swatch('none', 'var(--ww-border)');
    const bad = swatch('var(--ww-bad-soft)', 'var(--ww-bad)');
    const entries = {
        global: [
            [...lanes, legend.used],
            [swatch('var(--ww-waste)', 'var(--ww-waste-line)'), legend.fetched],
            [free, legend.untouched],
        ],
        shared: [[...lanes, legend.delivered], [free, legend.idle], [bad, legend.conflict], [legend.several]],
        constant: [[...lanes, legend.used], ...(cost.wavefronts > 1 ? [[bad, legend.further]] : [])],
    };
    const shown = entries[cost.space].map((parts) => make('span', {}, ...parts));
    return make('div', { class: 'ww-legend', 'aria-hidden': 'true' }, ...shown);
}
