// The requests of a warp, one by one: which lanes take part, which sectors, banks or addresses they touch, and what
// that costs.
import { make } from './dom.mjs';
import { drawingLegend, laneRow, requestDrawing, rowCount } from './drawings.mjs';
import { number, percent } from './messages.mjs';
import { costOf, efficiency, totalsOf } from './request.mjs';
import { linesWithRequests, requestsOf } from './trace.mjs';
import { traceView } from './trace_view.mjs';
/** @import { ViewOptions } from './trace_view.mjs' */

function tableOf(head, rows, attributes = {}) {
    const headCells = head.map((name) => make('th', { scope: 'col' }, name));
    const bodyRows = rows.map(([first, ...values]) =>
        make('tr', {}, make('th', { scope: 'row' }, first), ...values.map((value) => make('td', {}, value))),
    );
    const table = make(
        'table',
        attributes,
        make('thead', {}, make('tr', {}, ...headCells)),
        make('tbody', {}, ...bodyRows),
    );
    return make('div', { class: 'ww-scroll' }, table);
}

/** What this request, those so far, and all of them cost. */
function countersTable(costs, index, text) {
    const parts = [costs.slice(index, index + 1), costs.slice(0, index + 1), costs].map(totalsOf);
    const { counters, countersHead } = text;
    const all = parts[2];
    const row = (space, name, value) => [
        counters[name],
        ...parts.map((part) => (part[space].requests === 0 ? '–' : value(part[space]))),
    ];
    const average = (key) => (sums) => number(sums[key] / sums.requests);
    const rows = [];
    if (all.global.requests > 0) {
        rows.push(row('global', 'sectors', average('sectors')));
        rows.push(row('global', 'moved', ({ moved }) => number(moved)));
        rows.push(row('global', 'used', (sums) => percent(efficiency(sums))));
    }
    if (all.shared.requests > 0) {
        rows.push(row('shared', 'wavefronts', average('wavefronts')));
        rows.push(row('shared', 'conflicts', ({ conflicts }) => number(conflicts)));
    }
    if (all.constant.requests > 0) rows.push(row('constant', 'constant', average('wavefronts')));
    return tableOf(['', countersHead.now, countersHead.soFar, countersHead.all], rows, { class: 'ww-counters' });
}

/** Where each lane goes: line and sector, bank and pass, or pass. */
function lanesTable(request, cost, { tableHead }) {
    const listed = (values) => [...new Set(values)].join(', ');
    const placesOf = {
        global(lane, address) {
            const line = Math.floor(address / 128) * 128;
            return [`${line - request.array.begin}, ${Math.floor((address - line) / 32)}`];
        },
        shared(lane) {
            const words = cost.passes.flatMap((pass, row) =>
                pass.filter(({ lanes }) => lanes.includes(lane)).map(({ bank }) => ({ bank, pass: row + 1 })),
            );
            return [listed(words.map(({ bank }) => bank)), listed(words.map(({ pass }) => pass))];
        },
        constant: (lane) => [1 + cost.addresses.findIndex(({ lanes }) => lanes.includes(lane))],
    }[cost.space];
    const rows = request.lanes.map((lane, rank) => {
        const offset = request.offsets[rank];
        return [lane, offset, ...placesOf(lane, request.array.begin + offset)];
    });
    const places = { global: ['sector'], shared: ['bank', 'pass'], constant: ['pass'] }[cost.space];
    return tableOf(
        ['lane', 'offset', ...places].map((name) => tableHead[name]),
        rows,
    );
}

function warpFigure(text) {
    let warp, requests, costs;
    let most; // rows of the drawing that has the most, of each memory
    let lit; // the lane under the pointer

    const drawing = make('div', { pointerover: pointAt, pointerleave: pointAt });
    const counters = make('div');
    const cut = make('p', { class: 'ww-small' }, text.cut);
    const lanes = make('div');
    const details = make('details', {}, make('summary', {}, text.tableOfLanes), lanes);
    const element = make('div', {}, drawing, counters, cut, details);

    function pointAt({ type, target }) {
        const part = type === 'pointerleave' ? null : target.closest('[data-lanes]:not(.ww-off)');
        lit = part?.dataset.lanes.split(' ')[0];
        pointOut();
    }
    function pointOut() {
        for (const part of drawing.querySelectorAll('[data-lanes]')) {
            const on = lit === undefined || part.dataset.lanes.split(' ').includes(lit);
            part.setAttribute('opacity', on ? 1 : 0.2);
        }
    }

    function choose(launch, place, number) {
        warp = launch.warps.find((one) => one.warp === number) ?? launch.warps[0];
        const lines = linesWithRequests(warp);
        const part = lines.some((line) => line.place === place) ? place : '';
        requests = requestsOf(warp, launch, part);
        costs = requests.map(costOf);
        most = { global: 1, shared: 1, constant: 1 };
        for (const cost of costs) most[cost.space] = Math.max(most[cost.space], rowCount(cost));
        const parts = lines.map((line) => [line.place, text.lineWithRequests(line.line, line.requests)]);
        return { count: requests.length, parts: parts.length > 1 ? [['', text.allLines], ...parts] : [], part };
    }

    function show(position, width) {
        element.hidden = requests.length === 0;
        if (element.hidden) return { file: 0, lines: [], words: text.noRequests };
        const index = Math.min(position, requests.length - 1);
        const [request, cost] = [requests[index], costs[index]];
        const { array, event } = request;
        const { threads } = warp;
        const title = make('b', {}, text.spaces[cost.space]);
        drawing.replaceChildren(
            make('div', { class: 'ww-drawing-title' }, title, make('span', {}, text.arrayOf(array.name, array.bytes))),
            laneRow({ active: request.lanes, threads, width, gaps: cost.space === 'global', text }),
            requestDrawing({ cost, most: most[cost.space], width, text }),
            drawingLegend(cost, text),
            make('p', { class: 'ww-small' }, text.hints[cost.space]),
        );
        pointOut();
        counters.replaceChildren(countersTable(costs, index, text));
        cut.hidden = !warp.cut;
        lanes.replaceChildren(lanesTable(request, cost, text));
        const words = text.requestInWords({ request, cost, index, count: requests.length, threads });
        return { file: event.file, lines: [event.line], words };
    }
    return { element, choose, show };
}

/** The place of the wanted line in a launch, if it makes requests there. */
function placeOfLine(launch, wanted) {
    if (wanted === undefined) return '';
    const isWanted = ({ file, line }) => {
        const { first, lines } = launch.files[file];
        return line === Number(wanted) || lines[line - first]?.includes(String(wanted));
    };
    return launch.warps.flatMap(linesWithRequests).find(isWanted)?.place ?? '';
}

/**
 * The warp view in an empty element.
 *
 * @param {HTMLElement} element
 * @param {ViewOptions} options
 */
export function warpView(element, options) {
    return traceView(element, options, (text) => ({
        name: 'warp-view',
        title: text.warpView,
        partLabel: text.line,
        finished: text.finished,
        hints: [text.keys],
        oneWarp: true,
        firstPart: (launch) => placeOfLine(launch, options.line),
        figure: () => warpFigure(text),
    }));
}
