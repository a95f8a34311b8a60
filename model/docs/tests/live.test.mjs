// The kernels that run in the page: what they count is what the CPU device counts, request by request, and what they compute is the same.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkTrace } from '../../common/views/trace.mjs';
import { loadKernels, runLive } from '../live/device.mjs';
import { lessons, startValues } from '../live/lessons.mjs';
import { build, compiler, fileOf, madeFrom, partsOf } from '../scripts/live.mjs';
import { digestOfRequests, digestOfResult, listed } from '../scripts/live_counts.mjs';

const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const countsOf = (name) => read(fileURLToPath(new URL(`../live/counts/${name}.json`, import.meta.url)));
const names = Object.keys(lessons);

function compare(kernels, name) {
    const recorded = countsOf(name);
    assert.deepEqual(
        recorded.map(({ values }) => values),
        lessons[name].cases,
        'record them again: node docs/scripts/live_counts.mjs',
    );
    for (const { values, counts, result, requests } of recorded) {
        const ran = runLive(kernels, lessons[name].launch(values));
        const about = JSON.stringify(values);
        assert.deepEqual(listed(ran.counts), counts, about);
        assert.equal(digestOfResult(new Uint32Array(ran.values(lessons[name].result).buffer)), result, `result, ${about}`);
        const [{ warps, arrays }] = ran.trace.launches;
        assert.equal(digestOfRequests(warps, arrays), requests, `requests of the first block, ${about}`);
    }
}

for (const name of names) {
    test(`${name}: counts, requests, and results are those of the CPU device`, async () => {
        compare(await loadKernels(read(fileOf(name))), name);
    });

    test(`${name}: what is built is of the present sources`, () => {
        const built = read(fileOf(name));
        assert.equal(built.made_from, madeFrom(name), `build it again: node docs/scripts/live.mjs ${name}`);
        assert.deepEqual(built.files, partsOf(lessons[name]));
        assert.deepEqual(built.kernels, lessons[name].kernels);
    });

    test(`${name}: every value of a control can be run, and gives a trace that the views accept`, async () => {
        const kernels = await loadKernels(read(fileOf(name)));
        const lesson = lessons[name];
        for (const [control, { min, max, values, options, start }] of Object.entries(lesson.controls)) {
            const few = values ?? options ?? [min, max];
            assert.ok(values || options ? few.includes(start) : start >= min && start <= max, `${control} starts with ${start}`);
            for (const value of few) {
                checkTrace(runLive(kernels, lesson.launch({ ...startValues(lesson), [control]: value })).trace);
            }
        }
    });
}

test('all lessons are built anew and count the same', { skip: compiler() ? false : 'clang and wasm-ld are not installed' }, async () => {
    const now = compiler();
    for (const name of names) {
        const built = build(name);
        compare(await loadKernels(built), name);
        // Another compiler may write other code for the same counts.
        if (read(fileOf(name)).compiler === now) assert.deepEqual(built, read(fileOf(name)), name);
    }
});

test('a kernel that was not compiled is named', async () => {
    const kernels = await loadKernels(read(fileOf('dot_product')));
    assert.throws(() => runLive(kernels, { ...lessons.dot_product.launch(startValues(lessons.dot_product)), kernel: 'nobody' }), /there is no kernel/);
});
