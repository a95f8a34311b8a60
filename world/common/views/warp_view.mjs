// The requests of a warp, one by one: which lanes take part, which sectors, banks or addresses they touch, and what
// that costs.
import { arrayKey, asOneTile, bankLayout, bankOf, layoutOf, mapOf, placeIn } from './array_map.mjs';
import { make } from './dom.mjs';
import { drawingLegend, mapDrawing, mapHeight, scaleOf } from './drawings.mjs';
import { laneButtons } from './lane_buttons.mjs';
import { number, percent, ranges } from './messages.mjs';
import { comparisonOf, costOf, countersOf } from './request.mjs';
import { runsOf } from './timeline.mjs';
import { linesWithRequests, requestsOf } from './trace.mjs';
import { traceView } from './trace_view.mjs';
/** @import { ArrayLayout, ArrayMap } from './array_map.mjs' */
/** @import { Around, Choice, Figure, ViewOptions } from './trace_view.mjs' */
/** @import { Launch, Request, TracedArray } from './trace.mjs' */
/** @import { RequestCost } from './request.mjs' */
/** @import { ViewMessages } from './messages.mjs' */

function tableOf(head, rows, attributes = {}) {
    const headCells = head.map((name) => (name === '' ? make('td') : make('th', { scope: 'col' }, name)));
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

const written = (counter, value) => {
    if (value === undefined) return '–';
    return counter === 'used' ? percent(value) : number(value);
};

/** What this request, those so far, and all of them cost. */
function countersTable(costs, index, { counters, countersHead }) {
    const parts = [costs.slice(index, index + 1), costs.slice(0, index + 1), costs].map(countersOf);
    const rows = Object.entries(parts[2])
        .filter(([, value]) => value !== undefined)
        .map(([counter]) => [counters[counter], ...parts.map((part) => written(counter, part[counter]))]);
    return tableOf(['', countersHead.now, countersHead.soFar, countersHead.all], rows, { class: 'ww-counters' });
}

/** Two launches in numbers: these requests, and all that are shown. */
function comparisonTable([left, right], names, text) {
    const all = comparisonOf(left.all(), right.all());
    const several = all.some(({ array }) => array !== undefined);
    const rowOf = ({ counter, array, values }, when) => {
        const whose = array ?? (several && !when ? text.allArrays : undefined);
        const name = whose ? `${whose}: ${text.counters[counter]}` : text.counters[counter];
        const difference = values.includes(undefined) ? '–' : text.difference(counter, values);
        return [when ? `${name}, ${when}` : name, ...values.map((value) => written(counter, value)), difference];
    };
    const now = comparisonOf(left.current(), right.current()).filter(
        ({ counter, values }) => ['sectors', 'wavefronts', 'constant'].includes(counter) && !values.includes(undefined),
    );
    const rows = [
        ...now.filter(({ array }) => array === undefined).map((row) => rowOf(row, text.countersHead.now)),
        ...all.map((row) => rowOf(row)),
    ];
    // Names may break after each underscore.
    const heads = names.map((name) => make('span', {}, ...name.split(/(?<=_)/).flatMap((part) => [part, make('wbr')])));
    const table = tableOf(['', ...heads, text.differenceHead], rows, { class: 'ww-comparison' });
    return make('div', { role: 'group', 'aria-label': text.compared }, make('b', {}, text.compared), table);
}

/** Where a lane goes: byte and element of the array, its row and column, and sector, bank and pass, or pass. */
function placeOfLane(lane, request, cost, layout) {
    const offset = request.offsets[request.lanes.indexOf(lane)];
    const listed = (values) => [...new Set(values)].join(', ');
    const placesOf = {
        global: () => ({ sector: 1 + cost.fetched.findLastIndex((sector) => sector <= offset) }),
        shared: () => {
            const words = cost.passes.flatMap((pass, row) =>
                pass.filter(({ lanes }) => lanes.includes(lane)).map(({ bank }) => ({ bank, pass: row + 1 })),
            );
            return { bank: listed(words.map(({ bank }) => bank)), pass: listed(words.map(({ pass }) => pass)) };
        },
        constant: () => ({ pass: 1 + cost.addresses.findIndex(({ lanes }) => lanes.includes(lane)) }),
    };
    return { offset, ...placeIn(offset, layout), ...placesOf[cost.space]() };
}

function lanesTable(request, cost, layout, { tableHead }) {
    const places = { global: ['sector'], shared: ['bank', 'pass'], constant: ['pass'] }[cost.space];
    const columns = ['offset', 'row', 'column', ...places];
    const rows = request.lanes.map((lane) => {
        const place = placeOfLane(lane, request, cost, layout);
        return [lane, ...columns.map((column) => place[column])];
    });
    return tableOf(
        ['lane', ...columns].map((name) => tableHead[name]),
        rows,
    );
}

/** Elements in a row of an array, which the reader can change; an empty field asks for what is worked out. */
function rowLengthField(text, changed) {
    const input = make('input', {
        type: 'number',
        min: 1,
        step: 1,
        change: () => changed(input.value === '' ? undefined : Math.max(1, Math.round(Number(input.value)))),
    });
    const unit = make('span');
    const element = make('label', { class: 'ww-row-length' }, text.rowLength, ' ', input, ' ', unit);
    return {
        element,
        show({ cell, row }, { name, bytes }) {
            input.max = String(Math.max(1, Math.floor(bytes / cell)));
            input.value = String(Math.round(row / cell));
            input.setAttribute('aria-label', text.rowLengthOf(name));
            unit.textContent = text.elementsOf(cell);
            element.hidden = bytes <= cell;
        },
    };
}

/**
 * What the figures of a view share: how arrays are laid out, and what the reader points at: lanes in all figures, or a
 * source line in one of them.
 *
 * @typedef {{ lanes: number[], figure?: object, line?: number }} Mark
 */
function createTogether() {
    const figures = [];
    const lengths = new Map(); // elements per row, as readers want them
    let layouts = new Map(); // as worked out
    let hovered, pinned;

    /** @returns {ArrayLayout} */
    function layoutFor(array) {
        const key = arrayKey(array);
        if (!layouts.has(key)) {
            const warps = figures.flatMap((figure) => figure.warpsWith(key));
            layouts.set(key, layoutOf(array, warps));
        }
        const layout = layouts.get(key);
        return lengths.has(key) ? { ...layout, row: lengths.get(key) * layout.cell } : layout;
    }
    /** What was worked out, and marks that may not be there any more. */
    function forget() {
        layouts = new Map();
        hovered = pinned = undefined;
        figures.forEach((figure) => figure.forget());
    }
    function light() {
        figures.forEach((figure) => {
            const [pointed, stays] = [hovered, pinned].map((mark) =>
                mark && (!mark.figure || mark.figure === figure) ? mark : undefined,
            );
            figure.light(pointed ?? stays, stays);
        });
    }
    const isSame = (one, other) =>
        one && other && one.line === other.line && one.figure === other.figure && String(one.lanes) === String(other.lanes);
    return {
        figures,
        layoutFor,
        forget,
        setLength(array, length) {
            if (length === undefined) lengths.delete(arrayKey(array));
            else lengths.set(arrayKey(array), length);
            forget();
        },
        point(mark) {
            hovered = mark;
            light();
        },
        /** What is clicked stays marked until it is clicked again. */
        stay(mark) {
            pinned = isSame(mark, pinned) ? undefined : mark;
            if (!pinned) hovered = undefined;
            light();
        },
        light,
    };
}

/**
 * @param {ViewMessages} text
 * @param {ReturnType<typeof createTogether>} together
 * @param {Around} around
 * @returns {Figure}
 */
function warpFigure(text, together, around) {
    let launch, warp, requests, costs;
    let index = 0; // of the request that is shown
    let maps; // of each request: the array, and of shared memory the banks

    const readout = make('p', { class: 'ww-small ww-readout' });
    const buttons = laneButtons(text.lanesOfWarp, {
        point: (lane) => together.point(lane === undefined ? undefined : { lanes: [lane] }),
        stay: (lane) => together.stay({ lanes: [lane] }),
    });
    const title = make('div', { class: 'ww-drawing-title' });
    const rowLength = rowLengthField(text, (length) => {
        together.setLength(requests[index].array, length);
        around.redraw();
    });
    const pieceAt = (target) => target.closest('[data-lanes]');
    const lanesAt = (piece) => ({ lanes: piece.dataset.lanes.split(' ').map(Number) });
    const drawing = make('div', {
        class: 'ww-maps',
        pointerover: ({ target }) => together.point(pieceAt(target) ? lanesAt(pieceAt(target)) : undefined),
        pointerleave: () => together.point(undefined),
        click: ({ target }) => pieceAt(target) && together.stay(lanesAt(pieceAt(target))),
    });
    const below = make('div');
    const counters = make('div');
    const cut = make('p', { class: 'ww-small' }, text.cut);
    const lanes = make('div');
    const details = make('details', {}, make('summary', {}, text.tableOfLanes), lanes);
    const element = make(
        'div',
        { keydown: ({ key }) => key === 'Escape' && together.stay(undefined) },
        ...[buttons.element, readout, title, rowLength.element, drawing, below, counters, cut, details],
    );

    function choose(chosen, { part: place, warp: number, array }) {
        launch = chosen;
        warp = launch.warps.find((one) => one.warp === number) ?? launch.warps[0];
        const lines = linesWithRequests(warp);
        const part = lines.some((line) => line.place === place) ? place : '';
        requests = requestsOf(warp, launch, { place: part, array });
        costs = requests.map(costOf);
        together.forget();
        const parts = lines.map((line) => [line.place, text.lineWithRequests(line.line, line.requests)]);
        return { count: requests.length, parts: parts.length > 1 ? [['', text.allLines], ...parts] : [], part };
    }

    /** Maps of all requests: so the drawing keeps scale and height from one to the next. */
    function allMaps() {
        if (maps) return maps;
        const made = (layoutFor) => requests.map((request, i) => mapOf(request, costs[i], layoutFor(request.array)));
        const arrays = made(together.layoutFor);
        const banks = made(bankLayout);
        const isShared = (i) => costs[i].space === 'shared';
        for (const list of [arrays, banks]) {
            const keys = requests.map(({ array }) => arrayKey(array));
            for (const key of new Set(keys)) {
                const same = [...keys.keys()].filter((i) => keys[i] === key && isShared(i));
                asOneTile(same.map((i) => list[i])).forEach((map, rank) => (list[same[rank]] = map));
            }
        }
        maps = requests.map((_, i) => ({
            space: costs[i].space,
            array: arrays[i],
            banks: isShared(i) ? banks[i] : undefined,
        }));
        return maps;
    }

    function mapsDrawn(width) {
        const [request, cost] = [requests[index], costs[index]];
        const { array } = request;
        const now = allMaps()[index];
        const ofAll = together.figures.flatMap((figure) => figure.allMaps()).filter(({ space }) => space === cost.space);
        // Where rows have 32 words, array and banks are one map.
        const isBanks = ({ array: map, banks }) => map.layout.row === banks.layout.row && banks.layout.shift === 0;
        const kinds = cost.space !== 'shared' ? ['array'] : ofAll.every(isBanks) ? ['banks'] : ['array', 'banks'];
        const beside = kinds.length > 1 && width >= 520;
        const room = beside ? (width - 16) / 2 : width;
        const scaleFor = (kind) => Math.min(...ofAll.map((one) => scaleOf(one[kind], room)));
        const titleOf = (some) => some.map((lane) => words(lane)).join('\n');
        const inConflict = cost.space === 'shared' ? cost.passes.flat().filter(({ turns }) => turns > 1) : [];
        return kinds.map((kind) => {
            const own = allMaps().filter(({ space }) => space === cost.space);
            const height = Math.max(...own.map((one) => mapHeight(one[kind], kinds.length > 1)));
            const svg = mapDrawing({
                map: now[kind],
                scale: scaleFor(kind),
                text,
                titleOf,
                dense: kinds.length > 1,
                size: array.bytes,
                hint: text.hints[kind === 'banks' ? 'banks' : cost.space],
                bank: cost.space === 'shared' ? (offset) => bankOf(array.begin + offset) : undefined,
                crowded: new Set(kind === 'banks' ? inConflict.map(({ bank }) => bank) : []),
            });
            const wide = Number(svg.getAttribute('width')) > width;
            const scrolls = wide ? { tabindex: 0, role: 'group', 'aria-label': text.mapOf(array.name), 'data-scrolls': '' } : {};
            const style = `min-height: ${height}px`;
            return make(
                'figure',
                {},
                make('figcaption', {}, kinds.length > 1 ? text.maps[kind] : text.mapLayout(now[kind].layout, array.bytes)),
                make('div', { class: 'ww-scroll', style, ...scrolls }, svg),
            );
        });
    }

    const layoutNow = () => together.layoutFor(requests[index].array);
    /** What one lane does in this request. */
    function words(lane) {
        const request = requests[index];
        if (!request.lanes.includes(lane)) return text.laneInactive(lane);
        const place = placeOfLane(lane, request, costs[index], layoutNow());
        return text.laneGoes({ lane, place, request, cost: costs[index] });
    }
    /** The request of a line that is shown, or comes next, or came last. */
    function requestOfLine(line) {
        const { file } = requests[index].event;
        const isIt = ({ event }) => event.line === line && event.file === file;
        if (isIt(requests[index])) return index;
        const next = requests.findIndex((request, i) => i > index && isIt(request));
        return next >= 0 ? next : requests.findLastIndex(isIt);
    }
    function point(line, stay) {
        const mark = line === undefined ? undefined : { line, lanes: requests[requestOfLine(line)].lanes, figure };
        if (stay) together.stay(mark);
        else together.point(mark);
    }
    /** What is marked: of these lanes their buttons, cells, and source line. */
    function light(mark, stays) {
        const request = requests[index];
        if (!request) return;
        const { line } = request.event;
        const here = !mark || mark.line === undefined || mark.line === line;
        for (const piece of drawing.querySelectorAll('[data-lanes]')) {
            const on = !mark || (here && lanesAt(piece).lanes.some((lane) => mark.lanes.includes(lane)));
            piece.setAttribute('opacity', on ? 1 : 0.2);
        }
        buttons.light(mark?.lanes, stays?.lanes);
        around.light(mark?.line ?? (mark?.lanes.some((lane) => request.lanes.includes(lane)) ? line : undefined));
        if (!mark) readout.textContent = text.pointHint;
        else if (mark.line !== undefined) readout.textContent = wordsOfLine(mark.line);
        else if (mark.lanes.length === 1) readout.textContent = words(mark.lanes[0]);
        else readout.textContent = text.lanesTogether(ranges(runsOf(mark.lanes)), words(mark.lanes[0]));
    }
    function wordsOfLine(line) {
        const i = requestOfLine(line);
        return text.lineTouches(line, ranges(runsOf(requests[i].lanes)), requests[i].array.name, i + 1, requests.length);
    }

    function show(position, width) {
        element.hidden = requests.length === 0;
        if (element.hidden) return { file: 0, lines: [], words: text.noRequests };
        index = Math.min(position, requests.length - 1);
        const [request, cost] = [requests[index], costs[index]];
        const { array, event } = request;
        const { threads } = warp;
        buttons.show(request.lanes, threads, words);
        title.replaceChildren(
            make('b', {}, text.spaces[cost.space]),
            make('span', {}, text.arrayOf(array.name, array.bytes)),
        );
        rowLength.show(layoutNow(), array);
        drawing.replaceChildren(...mapsDrawn(width));
        const conflicts = cost.space === 'shared' ? [make('p', { class: 'ww-small' }, text.conflictsInWords(cost))] : [];
        below.replaceChildren(
            ...conflicts,
            drawingLegend(cost, text),
            make('p', { class: 'ww-small' }, text.hints[cost.space]),
        );
        counters.replaceChildren(countersTable(costs, index, text));
        cut.hidden = !warp.cut;
        lanes.replaceChildren(lanesTable(request, cost, layoutNow(), text));
        together.light();
        const inFile = requests.filter((one) => one.event.file === event.file).map((one) => one.event.line);
        return {
            file: event.file,
            lines: [event.line],
            words: text.requestInWords({ request, cost, index, count: requests.length, threads }),
            told: new Map([...new Set(inFile)].map((line) => [line, wordsOfLine(line)])),
        };
    }
    const figure = {
        element,
        choose,
        show,
        point,
        light,
        allMaps,
        forget: () => (maps = undefined),
        /** Requests of each warp to an array. */
        warpsWith: (key) =>
            launch.warps
                .map((one) => requestsOf(one, launch).filter(({ array }) => arrayKey(array) === key))
                .filter((list) => list.length > 0),
        current: () => ({ requests: requests.slice(index, index + 1), costs: costs.slice(index, index + 1) }),
        all: () => ({ requests, costs }),
    };
    together.figures.push(figure);
    return figure;
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
    const together = createTogether();
    return traceView(element, options, (text) => ({
        name: 'warp-view',
        title: text.warpView,
        partLabel: text.line,
        finished: text.finished,
        hints: [text.keys],
        oneWarp: true,
        firstPart: (launch) => placeOfLine(launch, options.line),
        figure: (around) => warpFigure(text, together, around),
        comparison: (names) => comparisonTable(together.figures, names, text),
    }));
}
