// The views of a report. Each is made when its <details data-view data-trace> is opened, from the trace with this id.
import { blockView } from '../views/block_view.mjs';
import { unpackTrace } from '../views/packed_trace.mjs';
import { checkTrace } from '../views/trace.mjs';
import { warpView } from '../views/warp_view.mjs';

/** Of the launches that have such events: the first one, and the first one of the last step. */
function firstAndLast({ launches }, isShown) {
    const shown = [...launches.keys()].filter((index) =>
        launches[index].warps.some(({ events }) => events.some(isShown)),
    );
    const inSteps = shown.filter((index) => launches[index].step !== null);
    const choice = inSteps.length > 0 ? inSteps : shown;
    const last = launches[choice.at(-1)]?.step;
    const right = last ? choice.find((index) => launches[index].step === last) : choice.at(-1);
    return { left: choice[0], right: right === choice[0] ? undefined : right };
}

const reportViews = {
    warp: { create: warpView, isShown: ({ kind }) => kind !== 'step' && kind !== 'barrier' },
    block: { create: blockView, isShown: ({ kind }) => kind === 'barrier' },
};

function openView(details) {
    const place = details.appendChild(document.createElement('div'));
    try {
        const { textContent } = document.getElementById(details.dataset.trace);
        const trace = checkTrace(unpackTrace(JSON.parse(textContent)));
        const { create, isShown } = reportViews[details.dataset.view];
        create(place, { trace, language: 'en', ...firstAndLast(trace, isShown) });
    } catch (error) {
        place.textContent = `This view cannot be shown: ${error.message}`;
    }
}

for (const views of document.querySelectorAll('.views')) {
    views.hidden = false;
    for (const details of views.querySelectorAll('[data-view]')) {
        details.addEventListener('toggle', () => openView(details), { once: true });
    }
}
