// Which threads of a block are active at each step, and where its barriers are.
import { make } from './dom.mjs';
import { blocksOf, runsOf, stateOf, summaryOf, timelineOf } from './timeline.mjs';
import { traceView } from './trace_view.mjs';
/** @import { ViewOptions } from './trace_view.mjs' */

const notesWidth = 62; // right of the threads
const colorOfKind = (kind) => (kind === 'barrier' ? 'var(--ww-text-2)' : `var(--ww-${kind})`);

/** The threads of a block at one step: a row for each warp, with what it does beside it. */
function threadsDrawing({ timeline, column, width, left, text, label }) {
    const { warps, columns } = timeline;
    const height = warps.length <= 8 ? 17 : 13; // of letters that can be read
    const cellWidth = (width - left - notesWidth) / 32;
    const words = { y: height - 3.5, 'font-size': 11 };
    const rows = warps.map(({ warp, threads }, index) => {
        const cell = columns[column].cells[index];
        const state = stateOf(timeline, column, index);
        const doing = cell?.kind === 'barrier' ? text.cellKinds.barrier : cell && text.lineShort(cell.event.line);
        const off = state === 'runs' ? 'ww-lane-off' : 'ww-lane-idle';
        const lanes = Array.from({ length: threads }, (_, lane) => {
            const on = cell?.lanes.includes(lane);
            return make('rect', {
                x: left + lane * cellWidth + 0.5,
                y: 1.5,
                width: Math.max(1, cellWidth - 1.5),
                height: height - 4,
                rx: 1.5,
                fill: on ? colorOfKind(cell.kind) : 'none',
                class: on ? undefined : off,
            });
        });
        return make(
            'g',
            { transform: `translate(0, ${index * height + 1})` },
            make('text', { x: left - 6, 'text-anchor': 'end', ...words }, warpLabel(warp, left, text)),
            ...lanes,
            make(
                'text',
                { x: width - notesWidth + 6, ...words, class: state === 'runs' && 'ww-strong' },
                doing ?? text.states[state],
            ),
        );
    });
    return make('svg', { width, height: warps.length * height + 2, role: 'img', 'aria-label': label }, ...rows);
}

const warpLabel = (warp, left, text) => (left < 50 ? warp : text.warpNumber(warp));

function blockLegend({ columns }, { cellKinds, inactive }) {
    const found = new Set(columns.flatMap(({ cells }) => cells.map((cell) => cell?.kind)));
    const entry = (style, words) => make('span', {}, make('i', { style }), words);
    const entries = ['step', 'shared', 'constant', 'global']
        .filter((kind) => found.has(kind))
        .map((kind) => entry(`background: ${colorOfKind(kind)}`, cellKinds[kind]));
    entries.push(entry('border: 1px dashed var(--ww-text-3)', inactive));
    if (found.has('barrier')) entries.push(entry('width: 3px; background: var(--ww-bad)', cellKinds.barrier));
    return make('div', { class: 'ww-legend', 'aria-hidden': 'true' }, ...entries);
}

/** All steps from left to right, and a cursor that `move` puts on one of them. */
function timelineDrawing({ timeline, width, left, text, goTo }) {
    const { warps, columns } = timeline;
    const laneHeight = Math.min(2, Math.max(0.5, 260 / (32 * warps.length)));
    const warpHeight = 32 * laneHeight + 3;
    const height = warps.length * warpHeight;
    const step = Math.min(16, (width - left - 2) / columns.length);
    const xOf = (column) => left + column * step;
    const right = xOf(columns.length);

    const parts = columns.flatMap(({ cells, barrier }, column) => {
        if (barrier !== undefined) {
            const x = xOf(column + 0.5);
            return make('line', { x1: x, x2: x, y1: 0, y2: height - 3, class: 'ww-barrier' });
        }
        return cells.flatMap((cell, warp) =>
            runsOf(cell?.lanes ?? []).map(([first, count]) =>
                make('rect', {
                    x: xOf(column),
                    y: warp * warpHeight + first * laneHeight,
                    width: Math.max(0.6, step - 0.6),
                    height: count * laneHeight,
                    fill: colorOfKind(cell.kind),
                }),
            ),
        );
    });
    const borders = warps.slice(1).map((_, index) => {
        const y = (index + 1) * warpHeight - 1.5;
        return make('line', { x1: left, x2: right, y1: y, y2: y, class: 'ww-between' });
    });
    const labeled = warps.filter((_, index) => index % Math.ceil(13 / warpHeight) === 0);
    const labels = labeled.map((warp) => {
        const y = warps.indexOf(warp) * warpHeight + 16 * laneHeight + 4;
        return make('text', { x: left - 6, y, 'text-anchor': 'end', 'font-size': 11 }, warpLabel(warp.warp, left, text));
    });
    const cursor = make('rect', {
        y: -2,
        width: Math.max(3, step + 1.4),
        height: height + 1,
        rx: 2,
        class: 'ww-cursor',
    });
    const go = (event) => {
        if (event.type === 'pointermove' && event.buttons !== 1) return;
        goTo(Math.floor((event.clientX - element.getBoundingClientRect().left - left) / step));
    };
    const element = make(
        'svg',
        { class: 'ww-timeline', width, height: height + 2, 'aria-hidden': 'true', pointerdown: go, pointermove: go },
        make('rect', { x: left, width: right - left, height: height - 3, class: 'ww-ground' }),
        ...parts,
        ...borders,
        ...labels,
        cursor,
    );
    return { element, move: (column) => cursor.setAttribute('x', xOf(column) - 1) };
}

function blockFigure(text, goTo) {
    let timeline;
    let drawn; // the timeline's drawing, which stays while only the position changes
    let drawnWidth;

    const now = make('div');
    const all = make('div');
    const element = make('div', {}, now, all);

    function choose(launch, choice) {
        const blocks = blocksOf(launch);
        const part = blocks.includes(choice.part) ? choice.part : blocks[0];
        timeline = timelineOf(launch, part);
        drawn = undefined;
        return { count: timeline.columns.length, parts: blocks.map((one) => [one, one]), part };
    }

    function show(position, width) {
        const { columns, threads } = timeline;
        element.hidden = columns.length === 0;
        if (element.hidden) return { file: 0, lines: [], words: text.noEvents };
        const left = width < 380 ? 24 : 62;
        if (!drawn || width !== drawnWidth) {
            drawn = timelineDrawing({ timeline, width, left, text, goTo });
            drawnWidth = width;
            all.replaceChildren(blockLegend(timeline, text), drawn.element);
        }
        const column = Math.min(position, columns.length - 1);
        const { cells, barrier } = columns[column];
        const events = cells.filter(Boolean).map(({ event }) => event);
        const lines = [...new Set(events.map(({ line }) => line))].sort((a, b) => a - b);
        const words = text.blockInWords({
            column,
            columns: columns.length,
            threads,
            lines,
            barrier,
            ...summaryOf(timeline, column),
        });
        drawn.move(column);
        now.replaceChildren(threadsDrawing({ timeline, column, width, left, text, label: words }));
        return { file: events[0].file, lines, words };
    }
    return { element, choose, show };
}

/**
 * The block view in an empty element.
 *
 * @param {HTMLElement} element
 * @param {ViewOptions} options
 */
export function blockView(element, options) {
    return traceView(element, options, (text) => ({
        name: 'block-view',
        title: text.blockView,
        partLabel: text.block,
        finished: text.finishedSteps,
        hints: [text.blockHint, text.keys],
        oneWarp: false,
        firstPart: () => '',
        figure: ({ goTo }) => blockFigure(text, goTo),
    }));
}
