// Going through steps 0 to count - 1: by buttons, a slider, keys, or by itself.
import { make } from './dom.mjs';
/** @import { ViewMessages } from './messages.mjs' */

const playerIcons = {
    back: 'M10 2v10L3.5 7zM2 2h1.6v10H2z',
    play: 'M3 1.5v11L12 7z',
    pause: 'M3 2h3v10H3zM8 2h3v10H8z',
    forward: 'M4 2v10l6.5-5zM10.4 2H12v10h-1.6z',
};

/**
 * A button without effect keeps the focus, and with it the keys: no `disabled`.
 *
 * @returns {{ element: HTMLElement, show: (label: string, icon: string, works: boolean) => void }}
 */
function playerButton(click) {
    const path = make('path', { fill: 'currentColor' });
    const icon = make('svg', { width: 14, height: 14, viewBox: '0 0 14 14', 'aria-hidden': 'true' }, path);
    const element = make('button', { type: 'button', class: 'ww-button', click }, icon);
    const show = (label, shape, works) => {
        element.title = label;
        element.setAttribute('aria-label', label);
        element.setAttribute('aria-disabled', String(!works));
        path.setAttribute('d', shape);
    };
    return { element, show };
}

/**
 * @param {ViewMessages} text
 * @param {(position: number, playing: boolean) => void} changed
 */
export function createPlayer(text, changed) {
    let count = 0;
    let position = 0;
    let timer; // while it plays

    const last = () => Math.max(0, count - 1);
    const pauseAfterStep = () => (count > 100 ? 250 : 700); // milliseconds

    const back = playerButton(() => goTo(position - 1));
    const toggle = playerButton(playOrPause);
    const forward = playerButton(() => goTo(position + 1));
    const slider = make('input', {
        type: 'range',
        min: 1,
        step: 1,
        'aria-label': text.position,
        input: () => goTo(Number(slider.value) - 1),
    });
    const place = make('output', { 'aria-hidden': 'true' });
    const element = make('div', { class: 'ww-player' }, back.element, toggle.element, forward.element, slider, place);

    function show() {
        back.show(text.stepBack, playerIcons.back, position > 0);
        toggle.show(timer ? text.pause : text.play, timer ? playerIcons.pause : playerIcons.play, count > 1);
        forward.show(text.stepForward, playerIcons.forward, position < last());
        slider.max = String(Math.max(1, count));
        slider.value = String(position + 1);
        slider.disabled = count < 2;
        place.textContent = `${count === 0 ? 0 : position + 1} / ${count}`;
        changed(position, timer !== undefined);
    }
    function stop() {
        clearTimeout(timer);
        timer = undefined;
    }
    function tick() {
        position += 1;
        timer = position < last() ? setTimeout(tick, pauseAfterStep()) : undefined;
        show();
    }
    function playOrPause() {
        if (timer) return goTo(position);
        if (count < 2) return;
        if (position === last()) position = 0;
        timer = setTimeout(tick, pauseAfterStep());
        show();
    }
    /** Steps by hand stop the play. */
    function goTo(target) {
        stop();
        position = Math.min(last(), Math.max(0, Math.round(target)));
        show();
    }
    /** With so many steps, from the start or from one of them. */
    function restart(steps, first = 0) {
        count = steps;
        goTo(first);
    }

    /** Keys anywhere in the view, except where they mean something else. */
    function onKeydown(event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const { target, key } = event;
        if (target.closest('select, input[type=number]')) return;
        const scrolls = target.hasAttribute('data-scrolls');
        const presses = target.closest('button, summary, a') !== null;
        if (key === ' ' && !presses) playOrPause();
        else if (key === 'ArrowLeft' && !scrolls) goTo(position - 1);
        else if (key === 'ArrowRight' && !scrolls) goTo(position + 1);
        else if (key === 'Home' && !scrolls) goTo(0);
        else if (key === 'End' && !scrolls) goTo(last());
        else return;
        event.preventDefault();
    }

    return { element, show, goTo, restart, stop, onKeydown, position: () => position };
}
