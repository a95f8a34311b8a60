// What the warp view and the block view have in common: up to two launches side by side, stepped together, with the
// source lines, what happens in words, and where the trace is from.
import { make, watchWidth } from './dom.mjs';
import { viewMessages } from './messages.mjs';
import { createPlayer } from './player.mjs';
import { findLaunch, namesOf, namesOfArrays } from './trace.mjs';
/** @import { Launch, Trace } from './trace.mjs' */
/** @import { ViewMessages } from './messages.mjs' */

/**
 * `trace`: one, or several of which the launches are shown together. `left` and `right`, or `steps`, name launches, by
 * step, kernel, label or number; without them there is one panel, and readers choose. `step`: the only one. `line`
 * (warp view): one source line only, by number or by a part of its text. `warp` (warp view): the first that is shown.
 * `fixed`: no choice of launches.
 *
 * @typedef {{ trace: Trace | Trace[], language: 'en' | 'zh', left?: string | number, right?: string | number,
 *      step?: string | number, steps?: (string | number)[], line?: string | number, warp?: string | number,
 *      fixed?: boolean }} ViewOptions
 */

/**
 * What is chosen of a launch: a part (a line, a block), a warp, an array, where the view has that.
 *
 * @typedef {{ part: string, warp: number, array: string }} Choice
 */

/**
 * What a view shows of one launch. `choose` says how many steps the choice makes, which parts there are, and which is
 * shown. `show` draws one step, and says where it is in the source, and what happens; `told`: of lines that can be
 * pointed at, what is said of them. `point` is told which line that is, and whether it is to stay marked.
 *
 * @typedef {{ element: HTMLElement,
 *      choose: (launch: Launch, choice: Choice) =>
 *          { count: number, parts: [value: string, name: string][], part: string },
 *      show: (position: number, width: number) =>
 *          { file: number, lines: number[], words: string, told?: Map<number, string> },
 *      point?: (line: number | undefined, stay?: boolean) => void }} Figure
 */

/**
 * What a figure can do to the view around it: go to a position, draw all anew, mark a line of the source.
 *
 * @typedef {{ goTo: (position: number) => void, redraw: () => void, light: (line: number | undefined) => void }} Around
 */

/**
 * What one view is made of. `partLabel` names the choice of parts; `finished` is said of a launch that has fewer steps
 * than the other; `oneWarp`: it shows one warp at a time, and the requests to all arrays or to one. `comparison`: two
 * launches in numbers.
 *
 * @typedef {{ name: string, title: string, partLabel: string, finished: (count: number) => string, hints: string[],
 *      oneWarp: boolean, firstPart: (launch: Launch) => string, figure: (around: Around) => Figure,
 *      comparison?: (names: string[]) => HTMLElement }} ViewKind
 */

/** A choice, there while there is more than one thing to choose from. Returns what sets these, and the chosen one. */
function choiceField(place, label, changed) {
    const select = make('select', { change: () => changed(select.value) });
    const field = make('label', {}, label, ' ', select);
    return (choices, value) => {
        select.replaceChildren(...choices.map(([name, shown]) => make('option', { value: name }, shown)));
        select.value = value;
        if (choices.length < 2) field.remove();
        else if (field.parentNode !== place) place.append(field);
    };
}

/**
 * Lines of source with the current ones marked, and scrolled into sight. The number of a line that can be pointed at is a
 * button; `point` is told of it.
 */
function sourceLines(text, point) {
    const list = make('ol');
    const pointAt = ({ target }) => point(lineOf(target.closest('li')));
    const element = make(
        'div',
        {
            class: 'ww-source',
            tabindex: 0,
            role: 'group',
            'data-scrolls': '',
            pointerover: pointAt,
            pointerleave: () => point(undefined),
            focusin: ({ target }) => target.matches('button:focus-visible') && point(lineOf(target.closest('li'))),
            focusout: ({ target }) => target.matches('button') && point(undefined),
            click: ({ target }) => target.closest('button') && point(lineOf(target.closest('li')), true),
        },
        list,
    );
    let shown, lines;

    const lineOf = (item) => (item?.querySelector('button') ? shown.first + [...list.children].indexOf(item) : undefined);

    function show(file, marked, told = new Map()) {
        element.hidden = !file || file.lines.length === 0;
        if (element.hidden) return;
        const pointed = [...told.keys()].join(' ');
        if (file !== shown || pointed !== lines) {
            [shown, lines] = [file, pointed];
            element.setAttribute('aria-label', text.source(`${file.path}:${file.first}`));
            const items = file.lines.map((line, index) => {
                const number = file.first + index;
                const more = told.has(number) ? { type: 'button' } : {};
                const place = make(told.has(number) ? 'button' : 'span', { class: 'ww-line-number', ...more }, number);
                return make('li', {}, place, make('span', { class: 'ww-code' }, line));
            });
            list.replaceChildren(...items);
        }
        for (const [line, words] of told) {
            list.children[line - file.first]?.querySelector('button').setAttribute('aria-label', words);
        }
        list.querySelectorAll('[aria-current]').forEach((line) => line.removeAttribute('aria-current'));
        const current = marked.map((line) => list.children[line - file.first]).filter(Boolean);
        current.forEach((line) => line.setAttribute('aria-current', 'true'));
        if (current.length > 0) scrollTo(current[0]);
    }
    function scrollTo(line) {
        const top = line.offsetTop - element.offsetTop;
        const height = line.offsetHeight;
        const above = top - 2 * height;
        const below = top + 3 * height - element.clientHeight;
        if (element.scrollTop > above) element.scrollTop = above;
        else if (element.scrollTop < below) element.scrollTop = below;
    }
    /** Marks the line that belongs to what the reader points at. */
    function light(line) {
        list.querySelector('.ww-lit')?.classList.remove('ww-lit');
        if (line !== undefined && shown) list.children[line - shown.first]?.classList.add('ww-lit');
    }
    return { element, show, light };
}

/** Where a trace is from: command and date, and what was left out. */
function provenance({ command, date, trimmed }, text, language) {
    const words = command.map((word) => make('span', {}, `${word} `));
    const rest = trimmed ? `, ${date.slice(0, 10)}. ${text.trimmed(trimmed[language])}` : `, ${date.slice(0, 10)}.`;
    return make('p', { class: 'ww-small ww-provenance' }, `${text.cpuDevice}, `, make('code', {}, ...words), rest);
}

/** The numbers of the launches that are shown first. */
function wantedLaunches(launches, { step, left, right, steps = [step, left, right] }) {
    const named = steps.filter((which) => which !== undefined);
    return (named.length > 0 ? named : [0]).slice(0, 2).map((which) => Math.max(0, findLaunch(launches, which)));
}

/**
 * A view in an empty element. `destroy` takes it away again. `update` shows another trace of as many launches of the same kernels, and
 * stays at the step that is shown, as far as there still is one.
 *
 * @param {HTMLElement} element
 * @param {ViewOptions} options
 * @param {(text: ViewMessages) => ViewKind} kindOf
 */
export function traceView(element, options, kindOf) {
    const { language, fixed } = options;
    const text = viewMessages[language];
    const kind = kindOf(text);
    const traces = [options.trace].flat();
    let launches = traces.flatMap((trace) => trace.launches);
    const names = namesOf(launches, language);
    const player = createPlayer(text, (position, playing) => {
        panels.forEach((panel) => panel.show(position, playing));
        if (panels.length < 2 || !kind.comparison) return;
        comparison.replaceChildren(kind.comparison(panels.map(({ launch }) => names[launch])));
    });

    const wanted = wantedLaunches(launches, options);
    let warp = Number(options.warp ?? launches[wanted[0]].warps[0].warp);
    let array = '';
    const panels = wanted.map(createPanel);
    const comparison = make('div');

    const shared = make('div', { class: 'ww-fields' });
    const showWarps = choiceField(shared, text.warp, (chosen) => {
        warp = Number(chosen);
        restart();
    });
    const showArrays = choiceField(shared, text.array, (chosen) => {
        array = chosen;
        restart();
    });
    const section = make(
        'section',
        { class: `ww ww-${kind.name}`, lang: language === 'zh' ? 'zh-CN' : 'en', keydown: player.onKeydown },
        shared,
        player.element,
        make('div', { class: 'ww-panels' }, ...panels.map((panel) => panel.element)),
        comparison,
        ...kind.hints.map((hint) => make('p', { class: 'ww-small' }, hint)),
        ...traces.filter(({ command }) => command.length > 0).map((trace) => provenance(trace, text, language)),
    );

    function createPanel(first) {
        const panel = { launch: first, count: 0 };
        let part = kind.firstPart(launches[first]);

        const fields = make('div', { class: 'ww-fields' });
        const source = sourceLines(text, (line, stay) => figure.point?.(line, stay));
        const say = make('p', { class: 'ww-say', 'aria-atomic': 'true' });
        const figure = kind.figure({
            goTo: (position) => player.goTo(position),
            redraw: () => player.show(),
            light: source.light,
        });
        panel.element = make('div', { class: 'ww-panel' }, fields, source.element, say, figure.element);

        if (fixed || names.length < 2) {
            fields.append(make('b', {}, names[first]));
        } else {
            const showLaunches = choiceField(fields, text.launch, (chosen) => {
                panel.launch = Number(chosen);
                part = '';
                restart();
            });
            showLaunches(
                names.map((name, index) => [index, name]),
                first,
            );
        }
        const showParts = choiceField(fields, kind.partLabel, (chosen) => {
            part = chosen;
            restart();
        });

        panel.choose = () => {
            const { count, parts, part: shown } = figure.choose(launches[panel.launch], { part, warp, array });
            panel.count = count;
            showParts(parts, shown);
        };
        panel.show = (position, playing) => {
            const { files } = launches[panel.launch];
            const width = panel.element.clientWidth || 400; // as long as it is not on the page: any
            const { file, lines, words, told } = figure.show(position, width);
            source.show(files[file], lines, told);
            say.setAttribute('aria-live', playing ? 'off' : 'polite');
            const finished = panel.count > 0 && position >= panel.count;
            const said = finished ? `${words} ${kind.finished(panel.count)}` : words;
            if (say.textContent !== said) say.textContent = said; // what is put anew is read aloud anew
        };
        panel.stop = watchWidth(panel.element, () => player.show());
        return panel;
    }

    function restart(first = 0) {
        if (kind.oneWarp) {
            const numbers = panels.flatMap((panel) => launches[panel.launch].warps.map((one) => one.warp));
            const warps = [...new Set(numbers)].sort((a, b) => a - b);
            if (!warps.includes(warp)) warp = warps[0];
            showWarps(
                warps.map((one) => [one, one]),
                warp,
            );
            const arrays = namesOfArrays(panels.map((panel) => launches[panel.launch]));
            if (!arrays.includes(array)) array = '';
            showArrays(arrays.length > 1 ? [['', text.allArrays], ...arrays.map((name) => [name, name])] : [], array);
        }
        panels.forEach((panel) => panel.choose());
        section.setAttribute('aria-label', `${kind.title}: ${panels.map(({ launch }) => names[launch]).join(' | ')}`);
        player.restart(Math.max(...panels.map((panel) => panel.count)), first);
    }

    element.append(section);
    restart();
    return {
        /** @param {Trace} trace */
        update(trace) {
            launches = trace.launches;
            restart(player.position());
        },
        destroy() {
            player.stop();
            panels.forEach((panel) => panel.stop());
            section.remove();
        },
    };
}
