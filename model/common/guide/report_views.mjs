// The plots and the views of a report. Each plot is drawn into its <div data-chart>, from the description with this id.
// Each view is made when its <details data-view data-trace> is opened, from the trace with this id.
import { blockView } from '../views/block_view.mjs';
import { showCharts } from '../views/chart.mjs';
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

const dataOf = (id) => JSON.parse(document.getElementById(id).textContent);

function openView(details) {
    const place = details.appendChild(document.createElement('div'));
    try {
        const trace = checkTrace(unpackTrace(dataOf(details.dataset.trace)));
        const { create, isShown } = reportViews[details.dataset.view];
        create(place, { trace, language: 'en', ...firstAndLast(trace, isShown) });
    } catch (error) {
        place.textContent = `This view cannot be shown: ${error.message}`;
    }
}

showCharts(
    [...document.querySelectorAll('[data-chart]')].map((element) => {
        const id = element.dataset.chart;
        return { element, chart: dataOf(id), id };
    }),
);
for (const views of document.querySelectorAll('.views')) {
    views.hidden = false;
    for (const details of views.querySelectorAll('[data-view]')) {
        details.addEventListener('toggle', () => openView(details), { once: true });
    }
}

/** Opens what is folded around the place that the address names: not all browsers do. */
function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest('.fold'); fold; fold = fold.parentElement.closest('.fold')) fold.open = true;
    target?.scrollIntoView();
}
addEventListener('hashchange', openTarget);
openTarget();
addEventListener('beforeprint', () => {
    for (const fold of document.querySelectorAll('.fold')) fold.open = true;
});
