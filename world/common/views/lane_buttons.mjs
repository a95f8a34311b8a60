// The lanes of a warp as buttons, each in its color.
import { laneColor, laneInk } from './colors.mjs';
import { make } from './dom.mjs';

/**
 * 32 buttons, of which one can be reached with the tab key and the others from there with the arrow keys. `point` is told
 * which lane the reader points at, with the pointer or by focus, and `stay` which one was clicked.
 *
 * @param {string} name of them all
 * @param {{ point: (lane: number | undefined) => void, stay: (lane: number) => void }} told
 */
export function laneButtons(name, { point, stay }) {
    const buttons = Array.from({ length: 32 }, (_, lane) =>
        make(
            'button',
            {
                type: 'button',
                tabindex: lane === 0 ? 0 : -1,
                pointerenter: () => point(lane),
                focus: ({ target }) => target.matches(':focus-visible') && point(lane),
                blur: () => point(undefined),
                click: () => stay(lane),
            },
            lane,
        ),
    );
    const element = make(
        'div',
        { class: 'ww-lanes', role: 'group', 'aria-label': name, pointerleave: () => point(undefined), keydown: move },
        ...buttons,
    );
    let threads = 32;

    function move(event) {
        const lane = buttons.indexOf(event.target);
        const to = { ArrowLeft: lane - 1, ArrowRight: lane + 1, Home: 0, End: threads - 1 }[event.key];
        if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        event.stopPropagation(); // these keys step elsewhere
        reach(Math.max(0, Math.min(threads - 1, to)));
        buttons.find((button) => button.tabIndex === 0).focus();
    }
    function reach(lane) {
        buttons.forEach((button, index) => (button.tabIndex = index === lane ? 0 : -1));
    }
    /** `labelOf`: what each lane does. */
    function show(active, count, labelOf) {
        threads = count;
        buttons.forEach((button, lane) => {
            const on = active.includes(lane);
            button.hidden = lane >= threads;
            button.className = on ? '' : 'ww-off';
            button.style.cssText = on ? `background: ${laneColor(lane)}; color: ${laneInk(lane)}` : '';
            button.setAttribute('aria-label', labelOf(lane));
        });
        if (buttons.findIndex((button) => button.tabIndex === 0) >= threads) reach(0);
    }
    /** Marks lanes, all where none is given; `staying`: those that stay marked until the reader takes the mark away. */
    function light(lanes, staying = []) {
        buttons.forEach((button, lane) => {
            button.classList.toggle('ww-dim', lanes !== undefined && !lanes.includes(lane));
            button.classList.toggle('ww-lit', lanes?.includes(lane) ?? false);
            button.setAttribute('aria-pressed', String(staying.includes(lane)));
        });
    }
    return { element, show, light };
}
