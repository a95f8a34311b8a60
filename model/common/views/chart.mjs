// Charts from small descriptions, which can stand in a page as JSON.
import { barChart } from './bar_chart.mjs';
import { curveChart } from './curve_chart.mjs';
import { rooflineChart } from './roofline_chart.mjs';
/** @import { BarChart } from './bar_chart.mjs' */
/** @import { CurveChart } from './curve_chart.mjs' */
/** @import { RooflineChart } from './roofline_chart.mjs' */

/** @typedef {BarChart | CurveChart | RooflineChart} Chart */

const chartKinds = { bars: barChart, curves: curveChart, roofline: rooflineChart };

/**
 * The chart as an <svg> for this width in pixels. `id`: one that nothing else on the page begins with.
 *
 * @param {Chart} chart
 * @param {number} width
 * @param {string} id
 */
export const drawChart = (chart, width, id) => chartKinds[chart.kind](chart, width, id);

/**
 * Draws charts in their elements, anew whenever those get another width. All widths are read before anything is drawn,
 * because a browser lays out the page once for each width that is read after a change.
 *
 * @param {{ element: Element, chart: Chart, id: string }[]} charts
 */
export function showCharts(charts) {
    const widths = new Map(charts.map(({ element }) => [element, element.clientWidth]));
    const draw = ({ element, chart, id }) => (element.innerHTML = drawChart(chart, widths.get(element), id));
    charts.filter(({ element }) => widths.get(element) > 0).forEach(draw);
    const observer = new ResizeObserver((entries) => {
        for (const { target, contentRect } of entries) {
            const width = Math.round(contentRect.width);
            if (width === 0 || width === widths.get(target)) continue;
            widths.set(target, width);
            draw(charts.find(({ element }) => element === target));
        }
    });
    for (const { element } of charts) observer.observe(element);
}
