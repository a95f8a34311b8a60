// Points under a roof of bandwidth and, where it is known, a ceiling of arithmetic; both axes are logarithmic.
import { axesParts, axisOf, axisWidth, chartFont, keyParts, keyRow, lineSample, seriesColor, seriesMarker, svgDrawing, svgLine, svgTag, svgText, textWidth } from './chart_parts.mjs';
import { number } from './messages.mjs';

/**
 * Points are operations per byte, and 1e9 operations per second; work without bytes has no place on the axis, and whoever shows the
 * chart names it below. The highest point of each series has its name beside it, or on narrow drawings a number that the key explains.
 * `more_ceilings`: those of other units, such as tensor cores; a series with `ceiling` is limited by the one with this index.
 * `said`: what a series is in words; points can then be reached with the tab key. `shown`: the index of one that is
 * emphasized.
 *
 * @typedef {{ kind: 'roofline', title: string, description?: string, gb_per_s: number, bandwidth_name: string, gop_per_s?: number,
 *      ceiling_name?: string, more_ceilings?: { name: string, gop_per_s: number }[], x_title: string, y_title: string,
 *      shown?: number, series: { name: string, points: [number, number][], said?: string, ceiling?: number }[] }} RooflineChart
 */

const plotHeight = 300;
const wide = 540; // drawings from here on have names beside their points
const pointSize = 5;

const overlap = (a, b) =>
    a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
const squareAround = ({ x, y }) => ({
    left: x - pointSize,
    top: y - pointSize,
    width: 2 * pointSize,
    height: 2 * pointSize,
});

// Where a label can stand, nearest first: right or left of its point, further and further away.
const spots = Array.from({ length: 12 * 60 }, (_, i) => ({ shift: 9 + 14 * (i % 12), drop: Math.floor(i / 12) * 7 }))
    .flatMap(({ shift, drop }) =>
        [1, -1].flatMap((side) => [drop, -drop].map((down) => ({ shift, side, down, far: Math.hypot(shift, drop) }))),
    )
    .sort((a, b) => a.far - b.far);

/**
 * Places for the labels of points, so that none covers another one, a point, or a level line at one of the heights. Labels for which
 * there is no place are left out.
 *
 * @param {{ x: number, y: number, text: string }[]} labels
 * @param {{ x: number, y: number }[]} points
 * @param {{ left: number, right: number, top: number, bottom: number }} box
 * @param {number[]} heights
 */
export function placeLabels(labels, points, box, heights = []) {
    const lines = heights.map((height) => ({ left: box.left, top: height - 2, width: box.right - box.left, height: 4 }));
    const taken = [...points.map(squareAround), ...lines];
    return labels.flatMap((label) => {
        const width = textWidth(label.text);
        for (const { shift, side, down } of spots) {
            const left = side > 0 ? label.x + shift : label.x - shift - width;
            const here = { left, top: label.y + down - chartFont / 2, width, height: chartFont + 1 };
            if (left < box.left || left + width > box.right) continue;
            if (here.top < box.top || here.top + here.height > box.bottom) continue;
            if (taken.some((other) => overlap(here, other))) continue;
            taken.push(here);
            return [{ ...label, ...here, side }];
        }
        return [];
    });
}

function rooflineInWords({ bandwidth_name, gop_per_s, ceiling_name, more_ceilings = [], series }) {
    const place = ([x, y]) => `${number(y)} at ${number(x)} operations per byte`;
    const words = series.map(({ name, points }) => `${name}: ${points.map(place).join(', ')}`);
    return `${[bandwidth_name, ...(gop_per_s ? [ceiling_name] : []), ...more_ceilings.map(({ name }) => name), ...words].join('; ')}.`;
}

/**
 * @param {RooflineChart} chart
 * @param {number} width
 * @param {string} id
 */
export function rooflineChart(chart, width, id) {
    const { gb_per_s: bandwidth, gop_per_s: peak, series } = chart;
    const all = series.flatMap(({ points }) => points);
    const others = chart.more_ceilings ?? [];
    const highestPeak = peak ? Math.max(peak, ...others.map(({ gop_per_s }) => gop_per_s)) : undefined;
    const ridge = peak ? highestPeak / bandwidth : undefined;
    const inside = [...all.map(([intensity]) => intensity), ...(ridge ? [ridge] : [])];
    const [from, to] = [Math.min(...inside) / 3, Math.max(...inside) * 3];
    const attainable = (x, limit = highestPeak) => Math.min(limit ?? Infinity, x * bandwidth);
    const limitOf = ({ ceiling }) => (ceiling === undefined ? peak : others[ceiling].gop_per_s);
    const x = axisOf([], { from, to, log: true }, { most: Math.floor(width / 60) });
    const rates = [...all.map(([, rate]) => rate), attainable(from), attainable(to)];
    const y = axisOf([], { from: Math.min(...rates) / 1.5, to: Math.max(...rates) * 2, log: true }, { most: 7 });

    const box = { left: axisWidth(y), right: width - 8, top: 30, bottom: 30 + plotHeight };
    const xAt = (value) => box.left + x.place(value) * (box.right - box.left);
    const yAt = (value) => box.bottom - y.place(value) * (box.bottom - box.top);
    const parts = axesParts(box, { ...x, title: chart.x_title }, { ...y, title: chart.y_title }, width);
    const entries = [];
    const roof = ([x1, y1], [x2, y2], color, dashes) =>
        parts.push(svgLine(x1, yAt(y1), x2, yAt(y2), color, { dashes, wide: 2 }));
    const meeting = ridge ?? to;
    roof([xAt(from), attainable(from)], [xAt(meeting), meeting * bandwidth], 'roof', '6 4');
    entries.push({ name: chart.bandwidth_name, sample: lineSample('roof', { dashes: '6 4' }) });
    if (peak) {
        roof([xAt(peak / bandwidth), peak], [box.right, peak], 'mark', '2 4');
        entries.push({ name: chart.ceiling_name, sample: lineSample('mark', { dashes: '2 4' }) });
    }
    for (const [index, { name, gop_per_s: height }] of others.entries()) {
        const color = ['vendor', 'wrong'][index % 2];
        roof([xAt(height / bandwidth), height], [box.right, height], color, '8 3 2 3');
        entries.push({ name, sample: lineSample(color, { dashes: '8 3 2 3' }) });
    }

    const named = width >= wide;
    const highest = series.map(({ points }) => points.reduce((best, point) => (point[1] > best[1] ? point : best)));
    const pixels = ([px, py]) => ({ x: xAt(px), y: yAt(py) });
    const wanted = highest.map((point, index) => ({
        ...pixels(point),
        index,
        text: named ? series[index].name : String(index + 1),
    }));
    const levels = [...(peak ? [peak] : []), ...others.map(({ gop_per_s }) => gop_per_s)].map(yAt);
    const labels = placeLabels(wanted, all.map(pixels), { left: box.left + 2, right: width, top: 18, bottom: box.bottom }, levels);
    const labelOf = (index) => {
        const label = labels.find((one) => one.index === index);
        if (!label) return [];
        const near = label.side > 0 ? label.left : label.left + label.width;
        const middle = label.top + label.height / 2;
        const isFar = Math.hypot(near - label.x, middle - label.y) > 3 * pointSize;
        const leader = svgLine(label.x, label.y, near, middle, 'host', { wide: 0.7 });
        const anchor = label.side > 0 ? 'start' : 'end';
        return [...(isFar ? [leader] : []), svgText(near, middle + 4.5, label.text, { 'text-anchor': anchor, class: 'ww-label' })];
    };
    const isSingle = series.every(({ points }) => points.length === 1);
    series.forEach(({ name, points, said }, index) => {
        const drawn = points.map((point) => {
            const { x: cx, y: cy } = pixels(point);
            if (!isSingle) return seriesMarker(index, cx, cy);
            const { ceiling } = series[index];
            if (ceiling !== undefined) return svgTag('rect', { x: cx - pointSize, y: cy - pointSize, width: 2 * pointSize, height: 2 * pointSize, fill: `var(--plot-${['vendor', 'wrong'][ceiling % 2]})` });
            return svgTag('circle', { cx, cy, r: pointSize, fill: `var(--plot-${seriesColor(0)})` });
        });
        if (said) {
            const { x: cx, y: cy } = pixels(highest[index]);
            const above = yAt(attainable(highest[index][0], limitOf(series[index])));
            drawn.unshift(svgLine(cx, cy, cx, above, 'text', { dashes: '3 3', class: 'ww-gap' }));
            const reached = { class: index === chart.shown ? 'ww-point ww-point-shown' : 'ww-point', tabindex: 0, role: 'img', 'aria-label': said, 'data-point': index };
            parts.push(svgTag('g', reached, ...drawn, ...labelOf(index)));
        } else {
            parts.push(...drawn, ...labelOf(index));
        }
        if (named) return;
        const sample = (sx, sy) => [
            ...(isSingle ? [] : [seriesMarker(index, sx + 5, sy)]),
            svgText(sx + 30, sy + 4, index + 1, { 'text-anchor': 'end' }),
        ];
        entries.push({ name, sample });
    });
    const bottom = box.bottom + 44;
    parts.push(...keyParts(entries, bottom, width));
    const size = { width, height: bottom + entries.length * keyRow };
    const role = series.some(({ said }) => said) ? 'group' : 'img';
    return svgDrawing({ title: chart.title, description: chart.description ?? rooflineInWords(chart), ...size, id, role }, parts);
}
