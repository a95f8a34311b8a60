// The views of a report. Each is made when its <details data-view data-trace> is opened, from the trace with this id.
import { blockView } from '../views/block_view.mjs';
import { checkTrace } from '../views/trace.mjs';
import { warpView } from '../views/warp_view.mjs';

/** Undoes what report_traces.cpp did to the events of a trace. */
function unpackEvents(trace) {
    for (const launch of trace.launches) {
        for (const warp of launch.warps) {
            const packed = warp.events;
            warp.events = [];
            for (let i = 0; i < packed.length; i += 2) {
                const event = { ...launch.shapes[packed[i]] };
                const place = packed[i + 1];
                if (event.at) event.at = event.at.map((offset) => offset + place);
                else if ('first' in event) event.first = place;
                warp.events.push(event);
            }
        }
    }
    return trace;
}

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
        const trace = checkTrace(unpackEvents(JSON.parse(textContent)));
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
