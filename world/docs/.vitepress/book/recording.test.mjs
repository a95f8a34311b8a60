import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { addressedFigures, figureAt, figuresIn, matchesOf, numbersIn, rewritten } from './addresses.mjs';
import { countedOf } from './counted.mjs';
import { minimizedLesson, minimizedRun, textOfRun } from './minimized.mjs';
import { hashOf } from './pages.mjs';
import { addressedMarks, merged, renewedMarks, renewedTables } from './recording.mjs';
import { root } from './repository.mjs';
import { provenance, stepTable } from './results.mjs';

const step = (name, microseconds, rate, more = {}) => ({
    name, number: 1, change: 'x', kind: 'device', comparison: { passed: true, largest_error: 0, mismatches: [] }, launches: null, diagnostics: [],
    seconds: { median: microseconds * 1e-6, minimum: 0, maximum: 1, p10: 0, p90: 1, samples: 5 }, gb_per_s: rate, gop_per_s: null, figures: [], ...more,
});
const coalescing = (factor = 1) => ({
    name: 'coalescing', size: [1024], texts: ['A text.'], expectations: [{ what: 'it is', passed: true }], diagnostics: [], failure: null, passed: true,
    roof: { name: 'copy', bytes: 1, gb_per_s: 4200, seconds: { median: 1e-3, p10: 1e-3, p90: 1e-3 } },
    steps: [step('naive', 552 * factor, 3890 / factor), step('wide', 1234.5 * factor, 77)],
    tables: [
        { name: 'rates', title: 'Rates, at 1980 MHz', header: ['stride', 'offset', 'GB/s'], rows: [['8', '0', String(928 / factor)], ['8', '1', '500'], ['16', '0', '500']] },
        { name: 'launches', title: 'Launches', header: ['floats', 'time, us'], rows: [['1024', '6.5'], ['2048', '1,024']] },
    ],
});
const runOf = (lesson, more = {}) => ({
    warpwise: 1, date: '2026-12-24T01:02:03Z', chapter: { number: 2, title: 'Memory', folder: '2_memory_model' },
    device: { name: 'NVIDIA H200', kind: 'cuda', driver_version: 13000, runtime_version: 13010 },
    command: ['build/bin/cuda/memory_model', 'coalescing', '--json', 'x.json'], lessons: [lesson], passed: true, ...more,
});
const only = (text) => numbersIn(text)[0];

test('each figure of a lesson has an address', () => {
    const lesson = coalescing();
    const addresses = addressedFigures(lesson).map((figure) => figure.address);
    assert.equal(new Set(addresses).size, addresses.length);
    assert.equal(figureAt(lesson, 'naive / GB/s').value, 3890);
    assert.equal(figureAt(lesson, 'copy / time').value, 1e-3);
    assert.equal(figureAt(lesson, 'rates / 8, 0 / GB/s').value, 928);
    assert.equal(figureAt(lesson, 'rates / 16 / GB/s').value, 500);
    assert.equal(figureAt(lesson, 'launches / 2048 / time, us').value, 1024);
    assert.equal(figureAt(lesson, 'launches / 4096 / time, us'), undefined);
    assert.equal(figureAt(lesson, 'narrow / GB/s'), undefined);
});

test('steps and columns of the same name are told apart by a number', () => {
    const lesson = { ...coalescing(), steps: [step('vendor', 1, 10), step('vendor', 2, 20)] };
    assert.equal(figureAt(lesson, 'vendor / GB/s').value, 10);
    assert.equal(figureAt(lesson, 'vendor (2) / GB/s').value, 20);
});

test('a number of a text is found by value, unit, and as many digits as it has', () => {
    const found = (text) => matchesOf(only(text), coalescing()).map((figure) => figure.address);
    assert.deepEqual(found('552 us'), ['naive / time']);
    assert.deepEqual(found('0.55 ms'), ['naive / time']);
    assert.deepEqual(found('1.23 ms'), ['wide / time']);
    assert.deepEqual(found('3.89 TB/s'), ['naive / GB/s']);
    assert.deepEqual(found('6.5 us'), ['launches / 1024 / time, us']);
    assert.deepEqual(found('500 GB/s'), ['rates / 8, 1 / GB/s', 'rates / 16 / GB/s']);
    assert.deepEqual(found('3891 GB/s'), []);
    assert.deepEqual(found('552\nus'), ['naive / time']);
    assert.deepEqual(numbersIn('1,234, 552; 8, 16').map(({ number }) => number), ['1,234', '552', '8', '16']);
});

test('a renewed number has as many digits and commas as the old one', () => {
    assert.equal(rewritten(only('552 us'), 600.4), '600');
    assert.equal(rewritten(only('3.89 TB/s'), 4.1), '4.10');
    assert.equal(rewritten(only('1,234 us'), 12345.6), '12,346');
});

const lesson = { source: 'h200_chapter_2 coalescing', before: coalescing(), after: coalescing(2) };
const mark = (content, more = '') => `<Measured source="h200_chapter_2 coalescing"${more}>${content}</Measured>`;

test('marks are renewed by their address, or by a number that stands only once', () => {
    const page = [mark('552 us'), mark('0.928 TB/s', ' at="rates / 8, 0 / GB/s"'), mark('3890 after 552', ' at="naive / GB/s; naive / GB/s"')];
    assert.deepEqual(renewedMarks(page[0], lesson), { text: mark('1104 us'), unresolved: [] });
    assert.deepEqual(renewedMarks(page[1], lesson).text, mark('0.464 TB/s', ' at="rates / 8, 0 / GB/s"'));
    assert.match(renewedMarks(page[2], lesson).unresolved[0].message, /552 is not in the old data at "naive \/ GB\/s"/);
    const other = '<Measured source="h200_chapter_2 histogram">552 us</Measured>';
    assert.deepEqual(renewedMarks(other, lesson), { text: other, unresolved: [] });
});

test('marks that cannot be told stay, and are listed with their line', () => {
    const page = `A\n${mark('500 GB/s')}\n${mark('1.9', ' derived')}\n${mark('70 us')}\n`;
    const { text, unresolved } = renewedMarks(page, lesson);
    assert.equal(text, page);
    assert.deepEqual(unresolved.map(({ line }) => line), [2, 3, 4]);
    assert.match(unresolved[0].message, /stands 2 times/);
    assert.match(unresolved[1].message, /computed from others/);
    assert.match(unresolved[2].message, /not in the old data/);
});

test('cells of a marked table are renewed, and no others', () => {
    const page = '<!-- measured -->\n\n| lesson | size | last |\n|---|---|---|\n| `coalescing` | 552 us | 552 us |\n| `other` | 1 | 552 us |\n\n| `coalescing` | 1 | 552 us |\n';
    const { text, unresolved } = renewedTables(page, lesson);
    assert.equal(text, page.replace('| 552 us | 552 us |', '| 552 us | 1104 us |'));
    assert.deepEqual(unresolved, []);
});

test('addresses are added where the number stands only once', () => {
    const added = (page) => addressedMarks(page, () => coalescing());
    assert.equal(added(mark('552 us')), mark('552 us', ' at="naive / time"'));
    for (const page of [mark('500 GB/s'), mark('552 us', ' derived'), mark('552 us', ' at="naive / time"')]) assert.equal(added(page), page);
});

test('a recorded lesson keeps machine, date, and command of its run, in the order of the chapter', () => {
    const stored = minimizedRun(runOf({ ...coalescing(), name: 'histogram' }, { date: '2026-01-01T00:00:00Z' }));
    const now = merged(stored, runOf(coalescing()), ['coalescing', 'histogram']);
    assert.deepEqual(now.lessons.map((each) => each.name), ['coalescing', 'histogram']);
    assert.equal(now.date, '2026-01-01T00:00:00Z');
    assert.equal(now.lessons[0].date, '2026-12-24T01:02:03Z');
    assert.equal(now.lessons[0].device.runtime_version, 13010);
    assert.deepEqual(now.lessons[0].command, ['build/bin/cuda/memory_model', 'coalescing']);
    assert.match(provenance(now, 'coalescing').machine, /CUDA 13\.1\)$/);
    assert.equal(provenance(now, 'coalescing').date, '2026-12-24');
    assert.equal(provenance(now, 'histogram').date, '2026-01-01');
    assert.throws(() => merged(stored, runOf(coalescing(), { device: { kind: 'cpu' } }), []), /not one of a GPU/);
    assert.throws(() => merged(stored, runOf({ ...coalescing(), passed: false }), []), /coalescing: not recorded/);
    assert.throws(() => merged(stored, runOf(coalescing(), { chapter: { number: 3 } }), []), /chapter 3, not 2/);
});

test('minimizing leaves out what nobody reads, and does nothing the second time', () => {
    const small = minimizedRun(runOf(coalescing()));
    const { steps, ...brief } = small.lessons[0];
    for (const key of ['texts', 'expectations', 'diagnostics', 'failure']) assert.ok(!(key in brief), key);
    assert.deepEqual(Object.keys(steps[0].seconds), ['median', 'p10', 'p90']);
    assert.ok(!('launches' in steps[0]) && !('gop_per_s' in steps[0]));
    assert.deepEqual(minimizedRun(small), small);
    assert.deepEqual(JSON.parse(textOfRun(small)), small);
    assert.equal(minimizedLesson({ name: 'x', steps: [step('a', 1 / 3, 1)] }).steps[0].seconds.median, 3.3333333e-7);
});

test('launches become their sum, samples scaled up', () => {
    const launch = (blocks, instrumented_blocks, barriers) => ({
        block: [64, 1, 1], blocks, instrumented_blocks, registers: blocks === 8 ? 40 : null, occupancy: blocks / 10,
        counters: { global_load: { requests: 3, lanes: 96, bytes: 384, sectors: 12, needed_sectors: 9, wavefronts: 3, least_wavefronts: 3, same_address: 0 }, barriers, steps: 5, active_lanes: 160 },
    });
    const counts = countedOf([launch(8, 2, 4), launch(2, 2, 0)]);
    assert.equal(counts.global_load.sectors, 60);
    assert.equal(counts.global_load.needed_sectors, 45);
    assert.equal(counts.barriers_per_warp, 1);
    assert.equal(counts.launches, 2);
    assert.equal(counts.occupancy, 0.8);
    assert.equal(counts.registers, 40);
    assert.deepEqual(counts.sampled, { blocks: 2, of_blocks: 8 });
    assert.ok(!('global_store' in counts));
});

test('the name of a column is no figure', () => {
    assert.deepEqual(figuresIn('H200 GB/s, H200 time'), []);
    assert.deepEqual(figuresIn('(200 GB/s) of 1,234.5 GB/s').map((figure) => figure.value), [200, 1234.5]);
});

test('a table of counts has sectors beside those needed, and a limit of the occupancy where no registers are known', () => {
    const counted = (sectors, needed_sectors, occupancy, more = {}) => ({
        global_load: { requests: 2, sectors, ...(needed_sectors ? { needed_sectors } : {}) }, barriers_per_warp: 0, launches: 1, occupancy, ...more,
    });
    const table = (...all) => stepTable({ device: { kind: 'cpu' } }, { name: 'x', size: [64],
        steps: all.map((each, index) => ({ number: index + 1, name: `step_${index}`, change: '', comparison: { passed: true }, counted: each })) });
    const column = ({ header, rows }, name) => rows.map((row) => row[header.findIndex((each) => (each.text ?? each) === name)]);
    const unknown = table(counted(64, 8, 1), counted(33, 32, 0.5), counted(7, 0, 1));
    assert.deepEqual(column(unknown, 'sectors/ld'), ['32 of 4', '16.5 of 16', '3.5']);
    assert.deepEqual(column(unknown, 'max occupancy'), ['-', '50 %', '-']);
    const known = table(counted(8, 8, 1, { registers: 32 }), counted(8, 8, 0.25, { registers: 128 }));
    assert.deepEqual(column(known, 'occupancy'), ['100 %', '25 %']);
    assert.ok(!table(counted(8, 8, 1), counted(8, 8, 1)).header.some((each) => each.text === 'max occupancy'));
});

/// A small repository: one chapter, a page, its Chinese twin, and a README.
function repository() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpwise_recording_'));
    const write = (file, text) => {
        fs.mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
        fs.writeFileSync(path.join(folder, file), text);
    };
    write('chapters/2_memory_model/chapter.json', JSON.stringify({
        title: 'Memory', program: 'memory_model', path: [{ lesson: 'coalescing', about: 'x' }],
    }));
    write('docs/results/h200_chapter_2.json', textOfRun(minimizedRun(runOf(coalescing()))));
    write('docs/page.md', `${mark('552 us')}\n`);
    write('docs/zh/page.md', `---\ntranslated_from: ${hashOf(`${mark('552 us')}\n`)}\n---\n${mark('552 us')}\n`);
    write('README.md', '<!-- measured -->\n\n| lesson | size | last |\n|---|---|---|\n| `coalescing` | 1 | 552 us |\n');
    write('new.json', JSON.stringify(runOf(coalescing(2))));
    return folder;
}
const record = (folder, ...words) => spawnSync('node', [path.join(root, 'docs/scripts/record.mjs'), ...words],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, WARPWISE_RECORD_ROOT: folder } });

test('the command updates the data, the pages of both languages, and the README', () => {
    const folder = repository();
    const read = (file) => fs.readFileSync(path.join(folder, file), 'utf8');
    try {
        const { status, stdout, stderr } = record(folder, 'coalescing', '--from', 'new.json');
        assert.equal(status, 0, stdout + stderr);
        assert.equal(read('docs/page.md'), `${mark('1104 us')}\n`);
        assert.equal(read('docs/zh/page.md'), `---\ntranslated_from: ${hashOf(read('docs/page.md'))}\n---\n${mark('1104 us')}\n`);
        assert.match(read('README.md'), /\| 1104 us \|/);
        assert.equal(JSON.parse(read('docs/results/h200_chapter_2.json')).lessons[0].date, '2026-12-24T01:02:03Z');
        fs.writeFileSync(path.join(folder, 'docs/page.md'), mark('3 us'));
        const again = record(folder, 'coalescing', '--from', 'new.json');
        assert.equal(again.status, 1);
        assert.match(again.stdout, /docs\/page\.md:1: 3 us is not in the old data/);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
});

test('the command refuses in one line what it cannot do', () => {
    const folder = repository();
    try {
        for (const [words, message] of [
            [['coalescin', '--from', 'new.json'], /^record: no lesson 'coalescin'\n$/],
            [[], /^record: usage: .*\n$/],
            [['coalescing', '--from', 'none.json'], /^record: .*none\.json.*\n$/],
        ]) {
            const { status, stderr } = record(folder, ...words);
            assert.equal(status, 2);
            assert.match(stderr, message);
        }
        const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'docs/scripts/record.mjs'), 'coalescing'],
            { cwd: folder, encoding: 'utf8', env: { PATH: folder, WARPWISE_RECORD_ROOT: folder } });
        assert.equal(status, 2);
        assert.match(stderr, /^record: there is no GPU here, and only a GPU can measure.*\n$/);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
});
