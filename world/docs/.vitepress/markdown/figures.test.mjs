import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOfFigures } from './figures.mjs';

const messages = (markdown, lesson = true) => problemsOfFigures(markdown, { lesson }).map((problem) => `${problem.line}: ${problem.message}`);

test('a bandwidth or a time in plain text of a lesson is refused, with its line', () => {
    const found = messages('---\ntitle: x\n---\nAll well.\n\nIt takes 552 us, or 2.4 TB/s.\n');
    assert.equal(found.length, 2);
    assert.match(found[0], /^6: "552 us" has no provenance/);
});

test('Chinese units count as well', () => {
    assert.equal(messages('耗时 552 微秒。').length, 1);
});

test('counts, sizes and code are no figures of that kind', () => {
    assert.deepEqual(messages('32 lanes, 4 sectors, 128 bytes, 16 KiB, `--size 12 ms`x, 2 msec'.replace('12 ms', '12')), []);
});

test('a measured figure has to be in the run that it names', () => {
    const measured = (text, more = '') => messages(`<Measured source="h200_chapter_2 coalescing"${more}>${text}</Measured>`);
    assert.deepEqual(measured('552 us'), []);
    assert.deepEqual(measured('4183 GB/s'), []);
    assert.deepEqual(measured('4.18 TB/s'), []);
    assert.deepEqual(measured('from 928 to 500 GB/s'), []);
    assert.match(measured('4184 GB/s')[0], /4184 GB\/s is not in h200_chapter_2 coalescing/);
    assert.match(measured('from 929 to 500 GB/s')[0], /929 is not in/);
    assert.deepEqual(measured('1234 GB/s', ' derived'), []);
});

test('a run or lesson that does not exist is refused', () => {
    assert.match(messages('<Measured source="h300 pi">1 ms</Measured>')[0], /no recorded run 'h300'/);
    assert.match(messages('<Measured source="h200_chapter_2 pie">1 ms</Measured>')[0], /no lesson 'pie'/);
    assert.match(messages('<Measured>1 ms</Measured>')[0], /needs source/);
});

test('literature names its source', () => {
    assert.deepEqual(messages('<Literature source="GTX 260, 2008">0.117 ms</Literature>'), []);
    assert.match(messages('<Literature>0.117 ms</Literature>')[0], /needs source/);
});

test('runs of our own are no literature', () => {
    const source = 'source="a trial version of step 10, one NVIDIA H200, 2026-11-22"';
    assert.deepEqual(messages(`<OurRun ${source}>2926 GB/s</OurRun>`), []);
    assert.match(messages('<OurRun>2926 GB/s</OurRun>')[0], /OurRun needs source/);
    assert.match(messages(`<Literature ${source}>2926 GB/s</Literature>`)[0], /is a run of our own: use <OurRun/);
    assert.match(messages('2926 GB/s')[0], /or <OurRun source/);
});

test('recorded tables are left alone', () => {
    assert.deepEqual(messages('```results\nh200_chapter_2 coalescing\n12 ms\n```\n'), []);
});

test('outside of lessons a date in the section is enough', () => {
    assert.deepEqual(messages('# A\n\n## B\n\nOn one H200, 2026-11-21: 5 ms.\n', false), []);
    assert.equal(messages('# A\n\n## B\n\n2026-11-21\n\n## C\n\n5 ms\n', false).length, 1);
});

test('a measured figure that names its place has to be the one that stands there', () => {
    const measured = (text, at) => messages(`<Measured source="h200_chapter_2 coalescing" at="${at}">${text}</Measured>`);
    assert.deepEqual(measured('552 us', 'energy_from_structures / time'), []);
    assert.deepEqual(measured('928 to 500 GB/s', 'stride / 8 / useful GB/s; stride / 16 / useful GB/s'), []);
    assert.match(measured('928 GB/s', 'stride / 9 / useful GB/s')[0], /928 GB\/s is not in h200_chapter_2 coalescing at "stride.*", where there is 834/);
    assert.deepEqual(measured('552\nus', 'energy_from_structures / time'), []);
    assert.match(measured('552 us', 'energy_from_nowhere / time')[0], /has no figure at "energy_from_nowhere \/ time"/);
    assert.match(measured('552 us and 2 us', 'energy_from_structures / time')[0], /names 1 figures, and "552 us and 2 us" has 2/);
});
