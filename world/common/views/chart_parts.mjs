// What all charts have in common: elements of SVG as text, the width of words, axes, and markers. Charts are text, so
// that a page can hold them before any script runs, and a test needs no browser.
import { number } from './messages.mjs';

export const chartFont = 13; // pixels

/** @param {unknown} text */
export const escapeXml = (text) =>
    String(text)
        .replace(/[\u0000-\u001f]/g, ' ')
        .replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const decimals = (value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value);

/**
 * An element of SVG as text; attributes that are undefined or false are left out. Children are markup: texts among them
 * have to be escaped before.
 *
 * @param {string} name
 * @param {Record<string, string | number | boolean | undefined>} attributes
 * @param {...string} children
 */
export function svgTag(name, attributes, ...children) {
    const shown = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== false);
    const words = shown.map(([key, value]) => ` ${key}="${escapeXml(decimals(value))}"`).join('');
    return children.length > 0 ? `<${name}${words}>${children.join('')}</${name}>` : `<${name}${words}/>`;
}

/** A text that begins, ends, or has its middle at x. */
export const svgText = (x, y, text, attributes = {}) => svgTag('text', { x, y, ...attributes }, escapeXml(text));

/** A line of one of the colors --plot-NAME; of its paint attributes `dashes` is one. */
export const svgLine = (x1, y1, x2, y2, color, { dashes, wide = 1, ...others } = {}) =>
    svgTag('line', {
        ...{ x1, y1, x2, y2, stroke: `var(--plot-${color})`, 'stroke-width': wide, 'stroke-dasharray': dashes },
        ...others,
    });

/** A path without a filling. */
export const svgPath = (d, color, { dashes, wide = 2 } = {}) =>
    svgTag('path', {
        ...{ d, stroke: `var(--plot-${color})`, 'stroke-width': wide, 'stroke-dasharray': dashes },
        style: 'fill:none;stroke-linejoin:round',
    });

/** About as wide as a browser makes it, rather wider. */
export const textWidth = (text, size = chartFont) =>
    [...String(text)].reduce((sum, letter) => sum + (letter > '\u2e80' ? 1 : /[mwMW@%]/.test(letter) ? 0.9 : 0.58), 0) *
    size;

/** The text, or its beginning and three dots where there is not so much room. */
export function shortened(text, room, size = chartFont) {
    if (textWidth(text, size) <= room) return text;
    const letters = [...text];
    while (letters.length > 0 && textWidth(`${letters.join('')}...`, size) > room) letters.pop();
    return `${letters.join('')}...`;
}

/**
 * The whole drawing: as wide as the element that holds it, `width` only says for which width it was made.
 *
 * @param {{ title: string, description: string, width: number, height: number, id: string, role?: string }} of
 * @param {string[]} parts
 */
export function svgDrawing({ title, description, width, height, id, role = 'img' }, parts) {
    const labels = role === 'img' ? `${id}-title ${id}-text` : `${id}-title`;
    return svgTag(
        'svg',
        {
            ...{ class: 'ww-drawing', viewBox: `0 0 ${width} ${Math.round(height)}`, role, 'aria-labelledby': labels },
            ...{ 'font-size': chartFont, fill: 'var(--plot-text)' },
        },
        svgTag('title', { id: `${id}-title` }, escapeXml(title)),
        svgTag('desc', { id: `${id}-text` }, escapeXml(description)),
        ...parts,
    );
}

// ---- axes ----

const positive = (values) => values.filter((value) => value > 0);

/** Is it positive over more than a decade and a half? */
const isWide = (values) => Math.min(...values) > 0 && Math.max(...values) > 30 * Math.min(...values);

/** So wide beside some zeros that a linear axis would show nothing else. A logarithmic one leaves the zeros out. */
const isWideBesideZero = (values) =>
    Math.min(...values) === 0 && positive(values).length > 0 && Math.max(...values) > 1e4 * Math.min(...positive(values));

function linearTicks(from, to, most) {
    const rough = (to - from) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
    const first = Math.ceil(from / step - 1e-9);
    const last = Math.floor(to / step + 1e-9);
    return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function logTicks(from, to, most) {
    const inside = (factors) => {
        const ticks = [];
        for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); ++power)
            for (const factor of factors) ticks.push(Number(`${factor}e${power}`));
        return ticks.filter((tick) => tick >= from * 0.999 && tick <= to * 1.001);
    };
    const powers = inside([1]);
    if (powers.length < 3) return inside(to / from > 100 ? [1, 3] : [1, 2, 5]);
    const every = Math.ceil(powers.length / Math.max(1, most));
    return powers.filter((_, index) => index % every === 0);
}

/**
 * @typedef {{ from?: number, to?: number, log?: boolean, ticks?: number[], title?: string,
 *      format?: (value: number) => string }} AxisWish what is not given follows from the values; an axis with
 *      `from` is logarithmic only if it says so
 *
 * @typedef {{ from: number, to: number, ticks: number[], leavesZerosOut: boolean,
 *      place: (value: number) => number, format: (value: number) => string }} Axis `place`: 0 to 1
 */

/**
 * @param {number[]} values
 * @param {AxisWish} [wish]
 * @param {{ fromZero?: boolean, most?: number }} [options] `most`: ticks
 * @returns {Axis}
 */
export function axisOf(values, wish = {}, { fromZero = false, most = 6 } = {}) {
    const isFree = wish.log === undefined && wish.from === undefined;
    const leavesZerosOut = isFree && fromZero && isWideBesideZero(values);
    const log = wish.log ?? (isFree && (isWide(values) || leavesZerosOut));
    const shown = log ? positive(values) : values;
    let from = wish.from ?? Math.min(...shown, ...(fromZero && !log ? [0] : []));
    let to = wish.to ?? Math.max(...shown);
    if (from === to) [from, to] = log ? [from / 2, to * 2] : [fromZero && from >= 0 ? 0 : from - 1, to + 1];
    if (!log && fromZero && wish.to === undefined) to += (to - from) * 0.03;
    const place = log
        ? (value) => Math.log(value / from) / Math.log(to / from)
        : (value) => (value - from) / (to - from);
    const ticks = wish.ticks ?? (log ? logTicks : linearTicks)(from, to, most);
    return { from, to, ticks, leavesZerosOut, place, format: wish.format ?? number };
}

/**
 * Grid, tick labels and titles of a plot. The title of the upward axis is above it: upright it would be hard to read.
 *
 * @param {{ left: number, right: number, top: number, bottom: number }} box in pixels
 * @param {Axis & { title?: string }} x
 * @param {Axis & { title?: string }} y
 * @param {number} width of the drawing
 */
export function axesParts(box, x, y, width) {
    const { left, right, top, bottom } = box;
    const parts = [];
    let free = -Infinity; // labels that would overlap the one before are left out
    for (const tick of x.ticks) {
        const at = left + x.place(tick) * (right - left);
        const text = x.format(tick);
        const half = textWidth(text) / 2 + 4;
        parts.push(svgLine(at, top, at, bottom, 'grid'));
        const middle = Math.min(at, width - half);
        if (middle - half < free) continue;
        free = middle + half;
        parts.push(svgText(middle, bottom + 17, text, { 'text-anchor': 'middle' }));
    }
    for (const tick of y.ticks) {
        const at = bottom - y.place(tick) * (bottom - top);
        parts.push(svgLine(left, at, right, at, 'grid'));
        parts.push(svgText(left - 6, at + 4, y.format(tick), { 'text-anchor': 'end' }));
    }
    parts.push(svgLine(left, bottom, right, bottom, 'text'), svgLine(left, top, left, bottom, 'text'));
    if (y.title) parts.push(svgText(4, top - 12, shortened(y.title, width - 8)));
    const title = shortened(x.title ?? '', width - 8);
    const half = textWidth(title) / 2;
    const middle = Math.max(half + 4, Math.min((left + right) / 2, width - half - 4));
    if (title) parts.push(svgText(middle, bottom + 36, title, { 'text-anchor': 'middle' }));
    return parts;
}

/** How much room the labels of an upward axis take. */
export const axisWidth = (axis) => Math.max(...axis.ticks.map((tick) => textWidth(axis.format(tick))), 12) + 10;

// ---- markers and keys ----

// Hollow, so that points on top of each other show.
const markers = [
    'm-4-4h8v8h-8z',
    'm-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
    'm0-5.5l5 9h-10z',
    'm0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z',
    'm0 5.5l5-9h-10z',
    'm-4-4l8 8m0-8l-8 8',
    'm0-5v10m-5-5h10',
];
const dashPatterns = [undefined, '8 4', '10 3 2 3', '2 4'];

export const seriesColor = (index) => `${(index % 7) + 1}`;
export const seriesDashes = (index) => dashPatterns[index % dashPatterns.length];
export const seriesMarker = (index, x, y) =>
    svgPath(`M${decimals(x)} ${decimals(y)}${markers[index % markers.length]}`, seriesColor(index));

export const keyRow = 21; // pixels

/**
 * What lines and points are called, one below the other.
 *
 * @param {{ name: string, sample: (x: number, y: number) => string[] }[]} entries samples are 30 pixels wide
 */
export const keyParts = (entries, top, width) =>
    entries.flatMap(({ name, sample }, index) => {
        const y = top + (index + 0.5) * keyRow;
        return [...sample(4, y), svgText(42, y + 4, shortened(name, width - 46))];
    });

/** A sample of a line for the key. */
export const lineSample =
    (color, how) =>
    (x, y) => [svgLine(x, y, x + 30, y, color, { wide: 2, ...how })];
