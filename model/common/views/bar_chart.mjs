// Horizontal bars from zero, each below its label.
import { axisOf, shortened, svgDrawing, svgLine, svgTag, svgText, textWidth } from './chart_parts.mjs';

/**
 * `kind` of a bar: 'device', 'host', 'vendor', or 'wrong', which is hollow. A mark is a line across all bars to compare
 * them with: 'roof', or another 'mark'.
 *
 * @typedef {{ kind: 'bars', title: string, axis: string,
 *      bars: { label: string, text: string, value: number, kind: string }[],
 *      marks?: { label: string, value: number, kind: 'roof' | 'mark' }[] }} BarChart
 */

const barRow = 40;
const markRow = 20;

/**
 * @param {BarChart} chart
 * @param {number} width
 * @param {string} id
 */
export function barChart({ title, axis, bars, marks = [] }, width, id) {
    const [left, right, top] = [4, width - 10, marks.length * markRow];
    const bottom = top + bars.length * barRow;
    const values = [...bars, ...marks].map(({ value }) => value);
    const scale = axisOf(values, { log: false }, { fromZero: true, most: Math.floor(width / 75) });
    const at = (value) => left + scale.place(value) * (right - left);
    const parts = scale.ticks.flatMap((tick) => {
        const half = textWidth(scale.format(tick)) / 2;
        const middle = Math.max(half, Math.min(at(tick), width - half));
        return [
            svgLine(at(tick), top, at(tick), bottom, 'grid'),
            svgText(middle, bottom + 17, scale.format(tick), { 'text-anchor': 'middle' }),
        ];
    });
    bars.forEach(({ label, text, value, kind }, index) => {
        const y = top + index * barRow;
        const room = Math.max(40, right - left - textWidth(`: ${text}`));
        const hollow = kind === 'wrong';
        parts.push(
            svgText(left, y + 15, `${shortened(label, room)}: ${text}`),
            svgTag('rect', {
                ...{ x: left, y: y + 21, width: Math.max(at(value) - left, 0.5), height: 14 },
                ...(hollow
                    ? { stroke: 'var(--plot-wrong)', 'stroke-width': 2, style: 'fill:none' }
                    : { fill: `var(--plot-${kind})` }),
            }),
        );
    });
    marks.forEach(({ label, value, kind }, index) => {
        const x = at(value);
        const y = (index + 0.5) * markRow;
        const leftOf = scale.place(value) > 0.5;
        const text = shortened(label, leftOf ? x - 8 : width - x - 8);
        parts.push(
            svgLine(x, y, x, bottom, kind, { dashes: kind === 'roof' ? '6 4' : '2 4', wide: 2 }),
            svgText(x + (leftOf ? -6 : 6), y + 5, text, { 'text-anchor': leftOf ? 'end' : 'start' }),
        );
    });
    parts.push(svgLine(left, bottom, right, bottom, 'text'));
    parts.push(svgText(width / 2, bottom + 36, shortened(axis, width - 8), { 'text-anchor': 'middle' }));
    const words = [...bars.map(({ label, text }) => `${label}: ${text}`), ...marks.map(({ label }) => label)];
    return svgDrawing({ title, description: `${words.join('; ')}.`, width, height: bottom + 44, id }, parts);
}
