// Charts: what is drawn, where, and that whatever a description holds is text.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { drawChart } from './chart.mjs';
import { axisOf, shortened, textWidth } from './chart_parts.mjs';
import { placeLabels } from './roofline_chart.mjs';

const bars = (...values) => ({
    kind: 'bars',
    title: 'A title',
    axis: 'GB/s',
    bars: values.map((value, index) => ({ label: `${index + 1} step`, text: `${value} GB/s`, value, kind: 'device' })),
    marks: [{ label: 'roof: 10 GB/s', value: 10, kind: 'roof' }],
});
const curves = (...series) => ({
    kind: 'curves',
    title: 'Curves',
    x: { title: 'size' },
    y: { title: 'time' },
    series: series.map((points, index) => ({ name: `line ${index}`, points })),
});
const roofline = (series, others = {}) => ({
    kind: 'roofline',
    title: 'Roofline',
    gb_per_s: 4000,
    bandwidth_name: 'copy: 4000 GB/s',
    gop_per_s: 60000,
    ceiling_name: 'FP32 peak',
    x_title: 'operations per byte',
    y_title: 'operations per second',
    series: Object.entries(series).map(([name, points]) => ({ name, points })),
    ...others,
});
const draw = (chart, width = 600) => drawChart(chart, width, 'plot-1');

/// Elements of one kind, with their attributes; of texts what they say, too.
function elements(svg, name) {
    return [...svg.matchAll(new RegExp(`<${name}\\b([^>]*?)(?:/>|>([^<]*))`, 'g'))].map(([, attributes, text]) => ({
        ...Object.fromEntries([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
        text,
    }));
}
const words = (svg) => elements(svg, 'text').map(({ text }) => text);

function checkNesting(svg) {
    const open = [];
    for (const [tag, name] of svg.matchAll(/<\/?(\w+)(?:\s[^<>]*)?>/g)) {
        if (tag.startsWith('</')) assert.equal(open.pop(), name, tag);
        else if (!tag.endsWith('/>')) open.push(name);
    }
    assert.deepEqual(open, []);
    assert.doesNotMatch(svg.replace(/<\/?\w+(\s[\w-]+="[^"<>]*")*\/?>/g, ''), /[<>]/);
}

/// Where a text stands: left, right, and the line on which it is written.
function placeOf({ x, y, text, 'text-anchor': anchor = 'start' }) {
    const plain = text.replace(/&#\d+;/g, '-');
    const left = Number(x) - textWidth(plain) * { start: 0, middle: 0.5, end: 1 }[anchor];
    return { text, left, right: left + textWidth(plain), y: Number(y) };
}

const charts = {
    bars: bars(1, 9),
    'bars without values': { ...bars(0, 0), marks: [] },
    'one bar': bars(5),
    curves: curves([[1, 1], [1000, 1e-6]], [[1, 0], [1000, 5]]),
    'one point': curves([[5, 0]], []),
    roofline: roofline({ add: [[1 / 12, 300]], product: [[683, 6000], [683, 22000]] }),
    'roofline without a ceiling': roofline({ add: [[1 / 12, 300]] }, { gop_per_s: undefined }),
};
for (const [name, chart] of Object.entries(charts)) {
    for (const width of [280, 600, 1000]) {
        test(`${name}, ${width} pixels wide: sound markup, colors of the page, words inside and apart`, () => {
            const svg = draw(chart, width);
            checkNesting(svg);
            assert.doesNotMatch(svg, /NaN|Infinity|undefined|rgb\(|#[0-9a-f]{3}|http/);
            assert.match(svg, /^<svg [^>]*role="img" aria-labelledby="plot-1-title plot-1-text"/);
            assert.match(svg, /<title id="plot-1-title">[^<]+<\/title><desc id="plot-1-text">[^<]+<\/desc>/);
            const [, height] = /viewBox="0 0 \d+ (\d+)"/.exec(svg);
            const places = elements(svg, 'text').map(placeOf);
            places.forEach((one, index) => {
                assert.ok(one.left >= -1 && one.right <= width + 1, `${one.text}: ${one.left} to ${one.right}`);
                assert.ok(one.y > 8 && one.y < height, `${one.text} at ${one.y} of ${height}`);
                for (const other of places.slice(0, index)) {
                    const apart = one.left >= other.right || other.left >= one.right || Math.abs(one.y - other.y) >= 12;
                    assert.ok(apart, `${one.text} covers ${other.text}`);
                }
            });
        });
    }
}

test('whatever a description holds is text', () => {
    const evil = `"><script>alert('&')</script>\n`;
    for (const chart of Object.values(charts)) {
        const spoiled = JSON.parse(JSON.stringify(chart), (key, value) =>
            typeof value === 'string' && key !== 'kind' ? evil + value : value,
        );
        const svg = draw(spoiled);
        checkNesting(svg);
        assert.doesNotMatch(svg, /<script|alert\('/);
    }
});

test('bars are as long as their values, and a wrong one is hollow', () => {
    const chart = bars(2, 8);
    chart.bars[1].kind = 'wrong';
    const [short, long] = elements(draw(chart), 'rect');
    assert.ok(Math.abs(long.width / short.width - 4) < 0.01);
    assert.equal(short.fill, 'var(--plot-device)');
    assert.equal(long.fill, undefined);
    assert.equal(long.stroke, 'var(--plot-wrong)');
    const [mark] = elements(draw(chart), 'line').filter(({ stroke }) => stroke === 'var(--plot-roof)');
    assert.ok(Math.abs((mark.x1 - 4) / short.width - 5) < 0.01);
    assert.ok(words(draw(chart)).includes('2 step: 8 GB/s'));
    assert.match(draw(chart), /<desc[^>]*>1 step: 2 GB\/s; 2 step: 8 GB\/s; roof: 10 GB\/s\.</);
});

test('long names are shortened to the room that there is', () => {
    const chart = bars(1);
    chart.bars[0].label = 'x'.repeat(50) + 'éé' + 'y'.repeat(50);
    assert.ok(words(draw(chart)).some((text) => /^x+(é+y*)?\.\.\.: 1 GB\/s$/.test(text)));
    assert.equal(shortened('short', 100), 'short');
    assert.ok(textWidth(shortened('共享内存共享内存', 60)) <= 60);
});

test('axes are logarithmic where values need it, and begin at zero elsewhere', () => {
    assert.deepEqual(axisOf([1, 5], {}, { fromZero: true, most: 5 }).ticks, [0, 2, 4]);
    const wide = axisOf([1, 1000]);
    assert.deepEqual(wide.ticks, [1, 10, 100, 1000]);
    assert.ok(Math.abs(wide.place(10) - 1 / 3) < 1e-9);
    assert.equal(axisOf([0, 1, 100], {}, { fromZero: true }).leavesZerosOut, false);
    const besideZero = axisOf([0, 1, 1e6], {}, { fromZero: true });
    assert.ok(besideZero.leavesZerosOut && besideZero.from === 1);
    assert.deepEqual(axisOf([3, 4], { from: 0, to: 8, ticks: [0, 8] }).ticks, [0, 8]);
    assert.equal(axisOf([1, 1024], { from: 0, to: 1024 }).place(512), 0.5);
    const svg = draw(curves([[1, 0], [2, 1], [3, 1e6]]));
    assert.ok(words(svg).includes('time (without zeros)'));
});

test('curves go through their points, in steps where they should', () => {
    const chart = { ...curves([[0, 0], [5, 5], [10, 10]]), y: { from: 0, to: 10 }, marker: [5, 5] };
    const [line] = elements(draw(chart), 'path');
    assert.match(line.d, /^M[\d.]+ [\d.]+L[\d.]+ [\d.]+L[\d.]+ [\d.]+$/);
    const [marker] = elements(draw(chart), 'circle');
    assert.ok(line.d.includes(`L${Number(marker.cx).toFixed(1)} ${Number(marker.cy).toFixed(1)}`));
    chart.series[0].steps = true;
    assert.match(elements(draw(chart), 'path')[0].d, /^M[\d.]+ [\d.]+H[\d.]+V[\d.]+H/);
});

test('the highest point of each series is labelled: with its name, or on a phone with a number that the key explains', () => {
    const series = { vector_add: [[0.08, 300], [0.08, 310]], matrix_add: [[0.08, 305]], product: [[700, 22000]] };
    const desktop = words(draw(roofline(series)));
    for (const name of Object.keys(series)) assert.ok(desktop.includes(name), name);
    const phone = draw(roofline(series), 320);
    for (const name of Object.keys(series)) assert.ok(words(phone).includes(name), name);
    for (const digit of ['1', '2', '3'])
        assert.ok(words(phone).filter((text) => text === digit).length >= 2, `${digit} at its point and in the key`);
});

test('labels cover neither each other nor points, and stay in the box', () => {
    const points = Array.from({ length: 24 }, (_, i) => ({ x: 100 + (i % 4) * 9, y: 150 + Math.floor(i / 4) * 4 }));
    const box = { left: 0, right: 500, top: 0, bottom: 300 };
    const labels = placeLabels(points.map((point, i) => ({ ...point, text: `lesson_${i}` })), points, box, [160]);
    assert.equal(labels.length, points.length);
    const apart = (a, b) =>
        a.left >= b.left + b.width || b.left >= a.left + a.width || a.top >= b.top + b.height || b.top >= a.top + a.height;
    labels.forEach((label, index) => {
        assert.ok(label.left >= box.left && label.left + label.width <= box.right);
        assert.ok(label.top >= box.top && label.top + label.height <= box.bottom);
        for (const other of labels.slice(0, index)) assert.ok(apart(label, other), `${label.text}, ${other.text}`);
        assert.ok(label.top >= 160 || label.top + label.height <= 160, `${label.text} covers the level line`);
        for (const { x, y } of points) assert.ok(apart(label, { left: x - 1, top: y - 1, width: 2, height: 2 }), label.text);
    });
});

test('points with words can be reached with the keyboard, and show how far their roof is', () => {
    const chart = roofline({ add: [[1, 300]] });
    chart.series[0].said = 'add: 300 of 4000';
    const svg = draw(chart);
    checkNesting(svg);
    assert.match(svg, /role="group"/);
    const [point] = elements(svg, 'g');
    assert.deepEqual([point.tabindex, point['aria-label'], point['data-point']], ['0', 'add: 300 of 4000', '0']);
    const gap = elements(svg, 'line').find((line) => line.class === 'ww-gap');
    assert.ok(Number(gap.y2) < Number(gap.y1) && gap.x1 === gap.x2);
});

test('charts.css defines every color that is drawn with, for both schemes', () => {
    const css = fs.readFileSync(new URL('charts.css', import.meta.url), 'utf8');
    const used = new Set(
        Object.values(charts).flatMap((chart) => [...draw(chart).matchAll(/var\((--plot-[\w]+)\)/g)].map(([, name]) => name)),
    );
    assert.ok(used.size > 6);
    for (const name of used) assert.match(css, new RegExp(`${name}: light-dark\\(#[0-9a-f]{6}, #[0-9a-f]{6}\\);`), name);
});
