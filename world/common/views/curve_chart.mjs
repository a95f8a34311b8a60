// Lines through points, over linear or logarithmic axes.
import { axesParts, axisOf, axisWidth, keyParts, keyRow, lineSample, seriesColor, seriesDashes, seriesMarker, svgDrawing, svgLine, svgPath, svgTag } from './chart_parts.mjs';
import { number } from './messages.mjs';

/**
 * Series with `steps` go level from point to point; with `plain` they have no markers, because their points are worked
 * out; `faint` ones are there to compare with. `limit` is a line across all, `marker` a place on a curve.
 *
 * @typedef {{ kind: 'curves', title: string, description?: string, x: import('./chart_parts.mjs').AxisWish,
 *      y: import('./chart_parts.mjs').AxisWish, height?: number, marker?: [number, number],
 *      limit?: { name: string, value: number },
 *      series: { name?: string, points: [number, number][], steps?: boolean, plain?: boolean,
 *          faint?: boolean }[] }} CurveChart
 */

const inWords = (series) =>
    series
        .map(({ name, points }) => {
            const [[x0, y0], [x1, y1]] = [points[0], points.at(-1)];
            return `${name}: ${number(y0)} at ${number(x0)} to ${number(y1)} at ${number(x1)}`;
        })
        .join('; ');

/**
 * @param {CurveChart} chart
 * @param {number} width
 * @param {string} id
 */
export function curveChart(chart, width, id) {
    const { title, marker, limit, height = 230 } = chart;
    const series = chart.series.filter(({ points }) => points.length > 0);
    const all = series.flatMap(({ points }) => points);
    const y = axisOf(all.map(([, value]) => value), chart.y, { fromZero: true, most: Math.floor(height / 40) });
    const points = all.filter(([, value]) => !y.leavesZerosOut || value > 0);
    const x = axisOf(points.map(([value]) => value), chart.x, { most: Math.floor(width / 70) });
    const yTitle = chart.y.title && y.leavesZerosOut ? `${chart.y.title} (without zeros)` : chart.y.title;
    const top = yTitle ? 30 : 10;
    const box = { left: axisWidth(y), right: width - 12, top, bottom: top + height };
    const xAt = (value) => box.left + x.place(value) * (box.right - box.left);
    const yAt = (value) => box.bottom - y.place(value) * (box.bottom - box.top);

    const parts = axesParts(box, { ...x, title: chart.x.title }, { ...y, title: yTitle }, width);
    const entries = [];
    series.forEach(({ name, points: own, steps, plain, faint }, index) => {
        const shown = own.filter(([, value]) => !y.leavesZerosOut || value > 0);
        const line = shown.map(([px, py], i) => {
            const place = `${xAt(px).toFixed(1)} ${yAt(py).toFixed(1)}`;
            if (i === 0) return `M${place}`;
            return steps ? `H${xAt(px).toFixed(1)}V${yAt(py).toFixed(1)}` : `L${place}`;
        });
        const color = faint ? 'host' : seriesColor(index);
        const dashes = faint ? '2 4' : seriesDashes(index);
        parts.push(svgPath(line.join(''), color, { dashes }));
        if (!plain) parts.push(...shown.map(([px, py]) => seriesMarker(index, xAt(px), yAt(py))));
        const sample = lineSample(color, { dashes });
        const marked = (sx, sy) => [...sample(sx, sy), seriesMarker(index, sx + 15, sy)];
        if (name) entries.push({ name, sample: plain ? sample : marked });
    });
    if (limit) {
        parts.push(svgLine(box.left, yAt(limit.value), box.right, yAt(limit.value), 'roof', { dashes: '6 4', wide: 2 }));
        entries.push({ name: limit.name, sample: lineSample('roof', { dashes: '6 4' }) });
    }
    if (marker) {
        const [cx, cy] = [xAt(marker[0]), yAt(marker[1])];
        parts.push(svgTag('circle', { cx, cy, r: 5, fill: 'var(--plot-text)', class: 'ww-marker' }));
    }
    const bottom = box.bottom + (chart.x.title ? 44 : 24);
    parts.push(...keyParts(entries, bottom, width));
    const description = chart.description ?? `${inWords(series)}.`;
    return svgDrawing({ title, description, width, height: bottom + entries.length * keyRow, id }, parts);
}
