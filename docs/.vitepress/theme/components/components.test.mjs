// The logic behind the explorers: occupancy, Amdahl's law, the roofline; and the words of all interactive views.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { viewMessages } from '../../../../common/views/messages.mjs';
import { drawingNames, places, problemsOfDrawings, problemsOfShownDrawings, recordedFigures } from '../drawings/figures.mjs';
import * as model from '../drawings/model.mjs';
import { drawingWords } from '../drawings/words.mjs';
import { chapters } from '../../book/repository.mjs';
import { kernelsIn } from '../../../scripts/record_registers.mjs';
import { occupancyKernels } from './occupancy_kernels.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/// A module in TypeScript, which Node itself does not read.
async function load(name) {
    const { outputFiles } = buildSync({ entryPoints: [here(name)], bundle: true, write: false, format: 'esm' });
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

const { occupancy, capabilities } = await load('occupancy.ts');
const amdahl = await load('amdahl.ts');
const roofline = await load('roofline.ts');
const progress = await load('progress.ts');
const { messages } = await load('messages.ts');

// ---- occupancy ----

const capability = (name) => capabilities.find((one) => one.name === name);

test("occupancy of compute capability 9.0 is that of the CPU device's tests", () => {
    // common/tests/device/occupancy_test.cu: threads, registers, shared bytes; blocks, what limits.
    const table = [
        [32, 32, 0, 32, 'blocks'],
        [256, 32, 0, 8, 'threads'],
        [1024, 32, 0, 2, 'threads'],
        [256, 40, 0, 6, 'registers'],
        [1024, 64, 0, 1, 'registers'],
        [256, 255, 0, 1, 'registers'],
        [128, 32, 48 * 1024, 4, 'shared_memory'],
        [128, 32, 227 * 1024, 1, 'shared_memory'],
        [1024, 65, 0, 0, 'impossible'],
        [1025, 32, 0, 0, 'impossible'],
        [0, 32, 0, 0, 'impossible'],
        [128, 256, 0, 0, 'impossible'],
        [128, 32, 227 * 1024 + 1, 0, 'impossible'],
        [96, 32, 0, 21, 'threads'],
        [100, 32, 0, 16, 'threads'],
        [128, 32, 113 * 1024, 2, 'shared_memory'],
        [128, 32, 113 * 1024 + 1, 1, 'shared_memory'],
    ];
    for (const [threads, registers, shared, blocks, limit] of table) {
        const result = occupancy(capability('9.0'), threads, registers, shared);
        assert.equal(result.blocks, blocks, `${threads}, ${registers}, ${shared}`);
        assert.ok(result.limits.includes(limit), `${threads}, ${registers}, ${shared}: ${result.limits}`);
    }
});

test("occupancy of every compute capability is that of NVIDIA's calculator", () => {
    // cudaOccMaxActiveBlocksPerMultiprocessor of cuda_occupancy.h, CUDA 13.0, with the largest share of memory as shared
    // memory, 2026-11-22, from 10.0 on 2026-11-30: compute capability, threads, registers, shared bytes; blocks.
    const table = [
        ['7.5', 256, 40, 0, 4],
        ['7.5', 128, 64, 16384, 4],
        ['7.5', 1024, 64, 0, 1],
        ['7.5', 64, 16, 50000, 1],
        ['8.0', 1000, 40, 0, 1],
        ['8.0', 128, 97, 33000, 4],
        ['8.6', 33, 16, 0, 16],
        ['8.6', 256, 43, 33000, 3],
        ['8.6', 768, 79, 0, 1],
        ['8.9', 32, 16, 1024, 24],
        ['8.9', 192, 100, 10000, 2],
        ['9.0', 160, 52, 20000, 7],
        ['9.0', 640, 70, 70000, 1],
        ['10.0', 160, 52, 20000, 7],
        ['10.0', 256, 43, 33000, 5],
        ['10.0', 33, 16, 0, 32],
        ['10.3', 128, 97, 33000, 4],
        ['10.3', 640, 70, 70000, 1],
        ['12.0', 256, 40, 0, 6],
        ['12.0', 160, 52, 20000, 4],
        ['12.0', 128, 97, 33000, 3],
        ['12.0', 33, 16, 0, 24],
    ];
    for (const [name, threads, registers, shared, blocks] of table) {
        assert.equal(
            occupancy(capability(name), threads, registers, shared).blocks,
            blocks,
            `${name}: ${threads}, ${registers}, ${shared}`,
        );
    }
});

test('limits of the multiprocessors that the time model knows are those of the explorer', () => {
    const folder = here('../../../../common/model/gpus/');
    for (const file of fs.readdirSync(folder)) {
        const gpu = JSON.parse(fs.readFileSync(folder + file, 'utf8'));
        const known = capability(gpu.compute_capability);
        assert.ok(known, `${file}: the explorer does not know ${gpu.compute_capability}`);
        const { max_threads_per_sm: threads, max_blocks_per_sm: blocks, shared_kib_per_sm: shared } = gpu;
        assert.deepEqual([known.warps * 32, known.blocks, known.sharedBytes], [threads, blocks, shared * 1024], file);
    }
});

test("the lessons' kernels have the occupancy that was recorded", () => {
    const { kernels } = occupancyKernels();
    const of = (lesson, step) => {
        const { threads, registers, shared } = kernels.find((one) => one.lesson === lesson && one.step === step);
        return occupancy(capability('9.0'), threads, registers, shared);
    };
    assert.equal(of('occupancy', 'one_float').share, 1);
    for (const step of ['one_float_one_block', 'four_floats_one_block', 'eight_floats_one_block', 'four_float4_one_block']) {
        assert.equal(of('occupancy', step).blocks, 1, step);
    }
    const run = JSON.parse(fs.readFileSync(here('../../../results/h200_chapter_2.json'), 'utf8'));
    const { tables } = run.lessons.find(({ name }) => name === 'registers_and_local');
    for (const row of tables.find(({ name }) => name === 'resources').rows) {
        assert.equal(of('registers_and_local', row[0]).warps * 32, Number(row.at(-1)), row[0]);
    }
    const steps = JSON.parse(fs.readFileSync(here('../../../results/h200_chapter_3.json'), 'utf8')).lessons.find(({ name }) => name === 'occupancy').steps;
    for (const { lesson, step } of kernels) if (lesson === 'occupancy') assert.ok(steps.some(({ name }) => name === step), step);
});

test('registers are read from what nvcc says', () => {
    const said = (name, how) => `ptxas info    : Function properties for ${name}\n    0 bytes stack frame\nptxas info    : Used ${how}\n`;
    const kernels = kernelsIn(said('void a::(anonymous namespace)::scale<4u>(float const*, unsigned long)', '24 registers, used 0 barriers') + said('reverse(int*)', '10 registers, used 1 barriers, 256 bytes smem'));
    assert.deepEqual(kernels, { 'scale<4>': { registers: 24, shared_bytes: 0 }, reverse: { registers: 10, shared_bytes: 256 } });
});

// ---- Amdahl's law, roofline, words ----

test("Amdahl's law: limits, and how many processors come near them", () => {
    assert.equal(amdahl.speedUp(0, 64), 64);
    assert.equal(amdahl.speedUp(1, 64), 1);
    assert.equal(amdahl.limitOf(0.05), 20);
    assert.equal(amdahl.limitOf(0), Infinity);
    assert.equal(amdahl.processorsFor(0.05, 0.9), 171);
    assert.ok(amdahl.speedUp(0.05, 171) >= 18 && amdahl.speedUp(0.05, 170) < 18);
    assert.ok(Math.abs(amdahl.timeOn(0.05, 64) * amdahl.speedUp(0.05, 64) - 1) < 1e-12);
});

const chapter = (name, date, number, lessons) => ({
    date: `${date}T00:00:00Z`,
    command: ['program'],
    chapter: { number, folder: `${number}_chapter` },
    device: { name, kind: 'cuda', compute_capability: '9.0', processors: 132, clock_mhz: 1980 },
    lessons,
});
const step = (name, kind, operations, bytes, median, passed = true) => ({
    name,
    kind,
    operations,
    bytes,
    seconds: { median },
    comparison: { passed },
});

test('the roofline takes the fastest right step of each lesson, of one machine', () => {
    const results = [
        chapter('GPU A', '2026-01-02', 2, [
            { name: 'two', roof: { gb_per_s: 4000 }, steps: [step('a', 'device', 8e9, 8e9, 4e-3)] },
        ]),
        chapter('GPU A', '2026-01-01', 1, [
            {
                name: 'one',
                date: '2026-01-03T00:00:00Z',
                roof: { gb_per_s: 3000 },
                steps: [
                    step('slow', 'device', 1e9, 0, 2),
                    step('fast', 'device', 1e9, 0, 1),
                    step('wrong', 'device', 1e9, 0, 0.1, false),
                    step('vendor', 'vendor', 1e9, 0, 0.1),
                ],
            },
        ]),
        chapter('GPU B', '2025-01-01', 3, [
            { name: 'three', roof: { gb_per_s: 9999 }, steps: [step('b', 'device', 1, 1, 1)] },
        ]),
    ];
    const data = roofline.rooflineOf(results);
    assert.equal(data.machine, 'GPU A');
    assert.deepEqual(
        data.points.map((point) => [point.lesson, point.step]),
        [
            ['one', 'fast'],
            ['two', 'a'],
        ],
    );
    assert.deepEqual(data.dates, ['2026-01-02', '2026-01-03']);
    assert.equal(data.gbPerS, 4000);
    assert.equal(Math.round(data.gopPerS), 66908);
    assert.equal(roofline.intensityOf(data.points[0]), Infinity);
    assert.equal(roofline.attainable(data, 1), 4000);
    assert.ok(Math.abs(roofline.shareOf(data, data.points[1]) - 0.5) < 1e-12);
    assert.equal(roofline.rooflineOf([]), undefined);
});

test('a table with a step above the FP32 peak is work of tensor cores, and no lesson takes its best step from it', () => {
    const numbered = (number, name, operations, kind = 'device') => ({ number, ...step(name, kind, operations, 0, 1) });
    const steps = [
        numbered(1, 'tiles', 3e13),
        numbered(2, 'registers', 5e13),
        numbered(null, 'vendor', 4e13, 'vendor'),
        { ...numbered(3, 'wrong', 9e14), comparison: { passed: false } },
        numbered(1, 'mma', 6e13),
        numbered(2, 'wgmma', 4e14),
    ];
    assert.deepEqual(
        roofline.belowFp32Peak(steps, 66908).map(({ name }) => name),
        ['tiles', 'registers', 'vendor', 'wrong'],
    );
    const data = roofline.rooflineOf([
        chapter('GPU A', '2026-01-01', 4, [{ name: 'product', roof: { gb_per_s: 4000 }, steps }]),
    ]);
    assert.deepEqual(data.onTensorCores, ['product']);
    assert.equal(data.points[0].step, 'registers');
    assert.deepEqual(data.tensorCeilings.map(({ format, gopPerS }) => [format, Math.round(gopPerS)]), [['TF32', 535265]]);
    assert.deepEqual(data.tensorPoints.map(({ lesson, step, ceiling }) => [lesson, step, ceiling]), [['product', 'wgmma', 0]]);
});

test('results of a reader give a roofline, or a word about what is wrong with them', () => {
    const own = chapter('GPU C', '2026-02-01', 2, [{ name: 'two', roof: { gb_per_s: 1000 }, steps: [step('a', 'device', 8e9, 8e9, 1e-2)] }]);
    const data = roofline.rooflineOfTexts([JSON.stringify(own)]);
    assert.deepEqual([data.machine, data.points.length], ['GPU C', 1]);
    assert.equal(roofline.rooflineOfTexts(['{']), 'not_json');
    const report = (inside) => `<!DOCTYPE html>\n<html lang="en">\n<title>Warpwise report</title>\n${inside}</html>`;
    const times = `<script type="application/json" id="times-2_memory_model">${JSON.stringify(own).replaceAll('<', '\\u003c')}</script>\n`;
    const plot = '<script type="application/json" id="plot-1">{"kind": "bars"}</script>';
    assert.deepEqual(roofline.rooflineOfTexts([report(plot + times)]), data);
    assert.equal(roofline.rooflineOfTexts([report(plot)]), 'no_times');
    assert.equal(roofline.rooflineOfTexts(['<!doctype html>\n<html lang="en">' + times]), 'not_json');
    assert.equal(roofline.rooflineOfTexts(['{"warpwise_trace": 1}']), 'not_results');
    assert.equal(roofline.rooflineOfTexts(['null']), 'not_results');
    assert.equal(roofline.rooflineOfTexts([JSON.stringify({ ...own, device: { ...own.device, kind: 'cpu' } })]), 'no_times');
    assert.equal(roofline.rooflineOfTexts([JSON.stringify({ ...own, device: { ...own.device, compute_capability: '3.5' } })]), 'unknown_gpu');
});

test('the recorded runs give a roofline', () => {
    const files = fs.readdirSync(here('../../../results/')).filter((name) => /_chapter_\d+\.json$/.test(name));
    const data = roofline.rooflineOf(
        files.map((name) => JSON.parse(fs.readFileSync(here(`../../../results/${name}`), 'utf8'))),
    );
    assert.ok(data.points.some(({ lesson }) => lesson === 'coalescing'));
    for (const point of data.points) assert.ok(roofline.shareOf(data, point) > 0, point.lesson);
    for (const point of data.points) assert.ok(roofline.rateOf(point) <= data.gopPerS, point.lesson);
    assert.deepEqual(data.tensorPoints.map(({ lesson, ceiling }) => [lesson, data.tensorCeilings[ceiling].format]), [['attention', 'BF16'], ['attention', 'BF16'], ['tensor_cores', 'BF16']]);
    const drawn = [...data.points, ...data.tensorPoints].filter(roofline.hasPlace);
    for (const point of drawn) assert.ok(Number.isFinite(roofline.intensityOf(point)), point.lesson);
    assert.deepEqual(data.points.filter((point) => point.operations > 0 && !drawn.includes(point)).map(({ lesson }) => lesson), ['pi', 'pi_precision']);
    assert.deepEqual([...new Set(drawn.filter(({ isLeast }) => isLeast).map(({ lesson }) => lesson))], ['matrix_multiply', 'linear_solver', 'attention', 'tensor_cores']);
    for (const point of data.tensorPoints) assert.ok(roofline.rateOf(point) <= 1.05 * data.tensorCeilings[point.ceiling].gopPerS);
    // The same as the lesson prints, which selects them in C++.
    const counted = JSON.parse(fs.readFileSync(here('../../../results/cpu_chapter_3.json'), 'utf8'));
    const lesson = counted.lessons.find(({ name }) => name === 'strategy_and_amdahl');
    const printed = lesson.tables.find(({ name }) => name === 'best_steps');
    assert.deepEqual(data.points.map(({ lesson, step }) => [lesson, step]), printed.rows.map(([, lesson, step]) => [lesson, step]));
});

// ---- progress ----

test('progress is the same in both languages and at every base', () => {
    for (const [address, base] of [['2_memory_model/coalescing.md'], ['zh/2_memory_model/coalescing.md'], ['/2_memory_model/coalescing.html'], ['/w/zh/2_memory_model/coalescing.html#x', '/w/']]) {
        assert.equal(progress.keyOf(address, base), '2_memory_model/coalescing');
    }
});

test('the path is taken from the sidebar, and goes on where reading stopped', () => {
    const sidebar = [
        { text: 'Start', items: [{ text: 'x', link: '/x.html' }] },
        { text: '1 Basics', items: [{ text: 'A', link: '/1/a.html', items: [{ text: 'E', link: '/exercises/1/e.html' }] }, { text: 'B', link: '/1/b.html' }] },
    ];
    const stops = progress.stopsOf(sidebar);
    assert.deepEqual(stops.map(({ key, kind }) => [key, kind]), [['1/a', 'lesson'], ['exercises/1/e', 'exercise'], ['1/b', 'lesson']]);
    const next = (done, last) => progress.nextStop(stops, { done, last })?.key;
    assert.equal(next([]), undefined);
    assert.equal(next([], '1/a'), '1/a');
    assert.equal(next(['1/a'], '1/a'), 'exercises/1/e');
    assert.equal(next(['1/a', '1/b'], '1/b'), 'exercises/1/e');
    assert.equal(next(['1/a', '1/b', 'exercises/1/e'], '1/b'), undefined);
});

test('marks are set and taken back, and what is no progress is none', () => {
    let now = progress.withMark({ done: [] }, 'a', true);
    now = progress.withMark(now, 'a', true);
    assert.deepEqual(now, { done: ['a'] });
    assert.deepEqual(progress.withMark(now, 'a', false), { done: [] });
    for (const text of [null, '', '{', 'null', '3', '{"done": 5}']) assert.deepEqual(progress.parsed(text), { done: [] });
    assert.deepEqual(progress.parsed('{"done": ["a", 3, "a"], "last": "b"}'), { done: ['a'], last: 'b' });
});

// ---- drawings ----

const recorded = (run, lesson) => JSON.parse(fs.readFileSync(here(`../../../results/${run}.json`), 'utf8')).lessons.find(({ name }) => name === lesson);
const table = (run, lesson, name) => recorded(run, lesson).tables.find((one) => one.name === name).rows;

test('the sectors of a stride and of a shifted start are those that the CPU device counted', () => {
    for (const [stride, predicted, counted, share] of table('cpu_chapter_2', 'coalescing', 'stride')) {
        const { sectors, share: used } = model.strided(Number(stride));
        assert.equal(sectors.length, Number(counted), `stride ${stride}`);
        assert.equal(predicted, counted);
        assert.ok(Math.abs(used * 100 - parseFloat(share)) < 0.06, `stride ${stride}: ${used}`);
    }
    assert.deepEqual(model.strided(1, 1).sectors, [0, 1, 2, 3, 4]);
    assert.deepEqual(model.strided(1).sectors, [0, 1, 2, 3]);
    assert.equal(model.strided(32, 7).words.at(-1), 999); // the picture has 1024 places
});

test('banks: a column of the plain tile is in one bank, of the padded and the swizzled tile in all', () => {
    const plain = { layout: 'plain' };
    const swizzled = { layout: 'swizzled' };
    const padded = (padding) => ({ layout: 'padded', padding });
    for (const index of model.lanes) {
        assert.equal(model.wavefrontsOf('column', index, plain), 32);
        assert.equal(model.wavefrontsOf('column', index, swizzled), 1);
        assert.equal(model.wavefrontsOf('column', index, padded(1)), 1);
        for (const how of [plain, swizzled, padded(1), padded(4)]) assert.equal(model.wavefrontsOf('row', index, how), 1);
    }
    const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));
    for (let padding = 1; padding <= 8; ++padding) assert.equal(model.wavefrontsOf('column', 5, padded(padding)), divisor(32 + padding, 32), `padding ${padding}`);
    assert.equal(model.bankOf(3, 5, swizzled), 3 ^ 5);
    assert.equal(model.bankOf(31, 31, padded(1)), 30);
    assert.equal(new Set(model.lanes.flatMap((row) => model.lanes.map((col) => model.wordOf(row, col, swizzled)))).size, 1024);
});

test('threads, passes of a branch, waves, and turns', () => {
    assert.deepEqual(model.placeOfThread(326, 256), { block: 1, thread: 70, warp: 2, lane: 6 });
    assert.deepEqual(model.passesOf(model.conditions.odd).map(({ active }) => active.length), [16, 16]);
    assert.deepEqual(model.passesOf(model.conditions.one).map(({ active }) => active.length), [1, 31]);
    assert.equal(model.passesOf(model.conditions.all).length, 1);
    assert.deepEqual(model.waves(133, 132), { counts: [132, 1], share: 133 / 264 });
    assert.equal(model.waves(24, 12).share, 1);
    const turns = model.gridStride(8, 27);
    assert.deepEqual(turns.map((turn) => turn.length), [8, 8, 8, 3]);
    assert.deepEqual(turns.flat().map(({ element }) => element), model.upTo(27));
    assert.ok(turns.flat().every(({ thread, element }) => element % 8 === thread));
    assert.deepEqual([1, 2, 4, 32].map((count) => model.atomicTurns(count).length), [32, 16, 8, 1]);
    assert.equal(model.atomicTurns(4).flat().length, 32);
});

test('every tree adds all numbers, in as many rounds, with the threads and warps that its shape has', () => {
    const values = model.upTo(16).map((value) => value * value);
    for (const shape of ['modulo', 'interleaved', 'sequential']) {
        const rounds = model.treeRounds(shape, 16);
        assert.deepEqual(rounds.map((round) => round.length), [8, 4, 2, 1], shape);
        assert.equal(model.treeValues(rounds, values).at(-1)[0], 1240, shape);
    }
    const threads = (shape) => model.treeRounds(shape, 16)[0].map(({ thread }) => thread);
    assert.deepEqual(threads('modulo'), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert.deepEqual(threads('interleaved'), model.upTo(8));
    assert.deepEqual(model.treeRounds('sequential', 8)[0], [0, 1, 2, 3].map((at) => ({ thread: at, into: at, from: at + 4 })));
    const flags = [1, 0, 1, 1, 0, 1, 0, 1];
    assert.deepEqual(model.scanStates(flags).at(-1), [1, 1, 2, 3, 3, 4, 4, 5]);
    assert.equal(model.scanStates(flags).length, 4);
});

test('a look-back ends at the nearest prefix, with one lane or with several', () => {
    const tiles = [9, 20, 25, 40].map((number) => ({ state: 'prefix', number })).concat([7, 5, 11].map((number) => ({ state: 'sum', number })));
    const looks = (lanes) => model.lookBack(tiles, lanes).map(({ before, done }) => [before, done]);
    assert.deepEqual(looks(1), [[11, false], [16, false], [23, false], [63, true]]);
    assert.deepEqual(looks(4), [[63, true]]);
    assert.deepEqual(looks(3), [[23, false], [63, true]]);
    assert.deepEqual(model.lookBack(tiles.slice(0, 1), 4), [{ first: 0, end: 1, before: 9, done: true }]);
});

test('a hand-over brings the new word only with a release and an acquire', () => {
    const found = (releases, acquires) => model.handOver(releases, acquires).at(-1);
    assert.deepEqual(
        [[true, true], [true, false], [false, true], [false, false]].map(([releases, acquires]) => found(releases, acquires).word),
        [42, 0, 0, 0],
    );
    assert.ok([true, false].every((releases) => [true, false].every((acquires) => found(releases, acquires).flag === 1)));
    assert.equal(model.handOver(true, true)[3].l1, undefined);
    assert.equal(model.handOver(true, false)[3].l2.word, 42); // it is there, but B does not look there
});

test('a scan of parts gives the last place of each run its sum, and a scan of sums does not', () => {
    const keys = [0, 0, 0, 1, 1, 2, 2, 2], values = [3, 1, 2, 4, 1, 5, 2, 1];
    const sums = (withFlags) => model.runParts(keys, values, withFlags).at(-1).map(({ sum }) => sum);
    assert.deepEqual(sums(true), [3, 4, 6, 4, 5, 5, 7, 8]);
    assert.deepEqual(sums(false), [3, 4, 6, 10, 11, 16, 18, 19]);
});

test('a bitonic network sorts, in rounds that compare each place once', () => {
    const rounds = model.bitonicRounds(8);
    assert.deepEqual(rounds.map(({ run, distance }) => [run, distance]), [[2, 1], [4, 2], [4, 1], [8, 4], [8, 2], [8, 1]]);
    for (const { pairs } of rounds) assert.deepEqual(pairs.flatMap(({ low, high }) => [low, high]).sort(), model.upTo(8));
    assert.deepEqual(rounds[3].pairs, [{ low: 0, high: 7 }, { low: 1, high: 6 }, { low: 2, high: 5 }, { low: 3, high: 4 }]);
    // All arrays of zeros and ones: if these are sorted, all others are, too.
    for (let bits = 0; bits < 256; ++bits) {
        const keys = model.upTo(8).map((place) => (bits >> place) & 1);
        assert.deepEqual(model.bitonicStates(keys).at(-1), keys.toSorted());
    }
});

test('a radix sort with stable passes sorts, and one with others does not', () => {
    const keys = [32, 13, 21, 33, 12, 23, 11, 31];
    assert.deepEqual(model.radixPasses(keys, 2, true), [keys, [21, 11, 31, 32, 12, 13, 33, 23], [11, 12, 13, 21, 23, 31, 32, 33]]);
    assert.deepEqual(model.radixPasses(keys, 2, false).at(-1).map((key) => Math.floor(key / 10)), [1, 1, 1, 2, 2, 3, 3, 3]);
    assert.notDeepEqual(model.radixPasses(keys, 2, false).at(-1), keys.toSorted());
});

test('pairs of maximum and sum, combined in rounds, are those of all values', () => {
    const values = [1, 3, 2, 0, 5, 1, 4, 2];
    const rounds = model.normalizerRounds(values);
    assert.deepEqual(rounds.map((round) => round.length), [8, 4, 2, 1]);
    const [{ largest, sum }] = rounds.at(-1);
    assert.equal(largest, 5);
    assert.ok(Math.abs(sum - values.reduce((total, value) => total + Math.exp(value - 5), 0)) < 1e-12);
    assert.deepEqual(rounds[1][0].factors, [Math.exp(-2), 1]);
});

test('the online softmax of tiles ends with the weighted mean of all values', () => {
    const scores = [1, 3, 2, 0, 5, 1, 4, 2], values = [4, 1, 3, 8, 2, 6, 5, 7];
    const after = model.onlineTiles(scores, values, 2);
    assert.equal(after.length, 5);
    assert.deepEqual(after.map(({ factor }) => factor).slice(2), [1, Math.exp(-2), 1]);
    const weights = scores.map((score) => Math.exp(score - 5));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    assert.equal(after.at(-1).largest, 5);
    assert.ok(Math.abs(after.at(-1).sum - sum) < 1e-12);
    assert.ok(Math.abs(after.at(-1).mean - weights.reduce((total, weight, at) => total + weight * values[at], 0) / sum) < 1e-12);
});

test('the pictures of the page are those that the lesson prints', () => {
    const run = JSON.parse(fs.readFileSync(here('../../../results/cpu_chapter_4.json'), 'utf8'));
    const { drawings } = run.lessons.find(({ name }) => name === 'convolution');
    const printed = drawings.find(({ name }) => name === 'pictures').text.split('\n');
    const original = model.picture();
    const { blurred, sharpened, edges } = model.filters;
    const filtered = (weights) => model.filteredPicture(original, weights);
    const shown = [
        [model.lettersOf(original), model.lettersOf(filtered(blurred))],
        [model.lettersOf(filtered(sharpened)), model.lettersOf(filtered(edges), 2, 0.5)],
    ];
    // A float and a double may fall on either side of a limit between two letters, but not further apart.
    const letters = ' .:-=+*#%@';
    const brightness = (text) => [...text].map((letter) => letters.indexOf(letter));
    shown.forEach(([left, right], part) => {
        left.forEach((line, at) => {
            const expected = brightness(`${line} ${right[at]}`);
            const got = brightness(printed[part * (left.length + 1) + 1 + at].slice(4).padEnd(expected.length));
            assert.equal(got.length, expected.length);
            got.forEach((value, column) => assert.ok(Math.abs(value - expected[column]) <= 1, `line ${at}, column ${column}`));
        });
    });
});

test('a filter keeps the brightness of an even picture, or takes it away', () => {
    const even = { rows: 3, cols: 4, pixels: Array(12).fill(0.5) };
    const near = (weights, value) => model.filteredPicture(even, weights).pixels.every((pixel) => Math.abs(pixel - value) < 1e-12);
    assert.ok(near(model.filters.blurred, 0.5) && near(model.filters.sharpened, 0.5) && near(model.filters.edges, 0));
    assert.ok(model.filteredPicture(even, model.filters.blurred, 'black').pixels.every((pixel) => pixel < 0.4));
});

test('a picture becomes a bitmap, the last row first', () => {
    const bytes = Buffer.from(model.imageOf({ rows: 2, cols: 4, pixels: [0, 0, 0, 0, 1, 1, 0.5, 2] }).split(',')[1], 'base64');
    assert.equal(bytes.toString('latin1', 0, 2), 'BM');
    assert.equal(bytes.readUInt32LE(2), bytes.length);
    assert.deepEqual([...bytes.subarray(bytes.readUInt32LE(10))], [255, 255, 128, 255, 0, 0, 0, 0]);
});

test('the halo of a tile in an image', () => {
    assert.deepEqual(model.imageHalo(32, 4), { loaded: 1600, own: 1024, share: 1.5625 });
    assert.equal(model.imageHalo(8, 4).share, 4);
});

test('streams are planned as the lesson plans them', () => {
    for (const c of [8, 16, 32]) {
        const turns = (streams) => model.endOf(model.planned(streams, c, [c, c, c]));
        assert.equal(turns(1), 3 * c);
        assert.equal(turns(2), 1.5 * c + 1);
        for (const streams of [3, 4, 8]) assert.equal(turns(streams), c + 2);
    }
    const parts = Object.fromEntries(table('h200_chapter_2', 'host_memory_and_streams', 'parts').map(([part, ms]) => [part, Number(ms)]));
    const times = [parts['copy in'], parts.compute, parts['copy out']];
    for (const [streams, chunks, , , byRules] of table('h200_chapter_2', 'host_memory_and_streams', 'whole')) {
        const share = Math.max(...times) / model.endOf(model.planned(Number(streams), Number(chunks), times));
        assert.ok(Math.abs(share - Number(byRules)) <= 0.0051, `${streams} streams, ${chunks} chunks: ${share}`);
    }
});

test('borrowed memory is there for the second stream only with both events', () => {
    assert.equal(model.borrowed('none').right, false);
    assert.equal(model.borrowed('one').right, false);
    const both = model.borrowed('two');
    assert.equal(both.right, true);
    assert.ok(both.memory.begin <= both.use.begin && both.use.end <= both.memory.end);
    assert.ok(model.borrowed('none').use.begin < model.borrowed('none').memory.begin);
    assert.ok(model.borrowed('one').use.end > model.borrowed('one').memory.end);
});

test('buffers, warps of a scheduler, and bytes in flight', () => {
    assert.equal(model.endOf(model.buffered(1, 6, 1, 1)), 12);
    assert.equal(model.endOf(model.buffered(2, 6, 1, 1)), 7);
    assert.equal(model.endOf(model.buffered(3, 6, 2, 1)), model.endOf(model.buffered(2, 6, 2, 1)));
    for (const buffers of [1, 2, 3]) {
        const plan = model.buffered(buffers, 6, 1.5, 1);
        for (const { tile, begin } of plan.filter(({ work }) => work === 'compute')) {
            assert.ok(begin >= plan.find((one) => one.work === 'load' && one.tile === tile).end);
        }
    }
    assert.equal(model.issued(1, 8, 32).issues.length, 4);
    assert.equal(model.issued(8, 8, 32).issues.length, 32);
    assert.equal(model.issued(10, 8, 32).share, 1);
    assert.equal(new Set(model.issued(10, 8, 32).issues.map(({ cycle }) => cycle)).size, 32);
    assert.equal(model.bytesInFlight(10, 300), 3000);
    assert.equal(model.bandwidthWith(1500, 300, 10), 5);
    assert.equal(model.bandwidthWith(9000, 300, 10), 10);
    assert.equal(model.loadsPerMultiplyAdd(8, 8), 1 / 4);
    assert.equal(model.loadsPerMultiplyAdd(32, 32), 1 / 16);
});

test('a block is counted with x fastest, and its ranks are those that the lesson recorded', () => {
    const first = (size, warp) => {
        const { x, y, z } = model.ranksOf(size).find((one) => one.warp === warp && one.lane === 0);
        return [x, y, z];
    };
    assert.deepEqual(first([8, 3, 3], 1), [0, 1, 1]);
    assert.equal(model.ranksOf([8, 3, 3]).length, 72);
    for (const { x, y, z, rank, warp, lane } of model.ranksOf([20, 4, 2])) {
        assert.equal((z * 4 + y) * 20 + x, rank);
        assert.equal(warp * 32 + lane, rank);
    }
});

test('sums in float lose what the lesson says, and terms go through as many additions', () => {
    const { result, gap, lost } = model.addedInFloat(2 ** 22, 3.1);
    assert.deepEqual([result, gap, Math.round(lost * 10) / 10], [4194307, 0.5, 0.1]);
    assert.equal(model.addedInFloat(2 ** 25, 3.1).result - 2 ** 25, 4);
    assert.equal(model.addedInFloat(2 ** 26, 3.1).lost > 3, true);
    const through = (shape) => model.upTo(8).map((term) => model.additionsOf(model.additions(shape, 8), term).length);
    assert.deepEqual(through('loop'), [7, 7, 6, 5, 4, 3, 2, 1]);
    assert.deepEqual(through('tree'), Array(8).fill(3));
    assert.deepEqual(through('threads'), [4, 4, 3, 2, 4, 4, 3, 2]);
    for (const shape of ['loop', 'tree', 'threads']) {
        const whole = model.additions(shape, 8).at(-1);
        assert.deepEqual([whole.first, whole.last], [0, 7], shape);
    }
    assert.equal(model.superscript(26), '²⁶');
});

test('down the columns each read fetches a line, along the rows one line serves all of its floats', () => {
    const matrix = { rows: 8, cols: 32, lineFloats: 16, places: 4 };
    assert.equal(model.lineFetches('down', 256, matrix).fetches, 256);
    assert.equal(model.lineFetches('along', 256, matrix).fetches, 16);
    assert.equal(model.lineFetches('down', 256, { ...matrix, places: 8 }).fetches, 16);
    assert.deepEqual(model.lineFetches('down', 10, matrix).now, { row: 1, col: 1 });
});

test('chains fill the cycles of a warp as the lesson draws them', () => {
    const row = (chains) => {
        const { issues } = model.issuedChains(1, chains, 4, 9);
        return model.upTo(9).map((cycle) => 'abcd'[issues.find((one) => one.cycle === cycle)?.chain] ?? '.').join(' ');
    };
    assert.deepEqual([1, 2, 4].map(row), ['a . . . a . . . a', 'a b . . a b . . a', 'a b c d a b c d a']);
    assert.equal(model.issuedChains(2, 2, 4, 16).share, 1);
});

test('the prices of operations are those that the lesson prints', () => {
    const rows = table('cpu_chapter_3', 'instruction_throughput', 'rates');
    for (const [name, { row, ...operation }] of Object.entries(model.operations)) {
        const [, , instructions, atMost] = rows.find(([first]) => first === row);
        assert.equal(String(operation.instructions), instructions, name);
        assert.ok(Math.abs(model.priceOf(operation).price - Number(atMost)) < 0.005, `${name}: ${model.priceOf(operation).price}`);
    }
});

test('mistakes are reported by whom the lesson recorded, and are as sticky', () => {
    const rows = table('h200_chapter_3', 'error_handling', 'mistakes');
    for (const [name, { reportedBy, sticky, returns }] of Object.entries(model.errorClasses)) {
        const same = rows.filter(([, , by]) => by === reportedBy);
        assert.ok(same.length > 0, name);
        for (const [mistake, , , , isSticky] of same) assert.equal(isSticky === 'yes', sticky, mistake);
        const calls = ['the call itself', 'the launch', 'cudaGetLastError', 'cudaDeviceSynchronize'];
        assert.equal(returns.indexOf('error'), calls.indexOf(reportedBy), name);
    }
});

test('a scheduler issues at most one instruction per cycle, and each stall has its reason', () => {
    const counts = {};
    for (const kind of ['memory', 'batch', 'shared', 'barrier']) {
        const rows = model.stalled(kind, 480);
        assert.equal(rows.length, 4);
        for (let cycle = 0; cycle < 480; ++cycle) {
            const states = rows.map((row) => row[cycle]);
            const issued = states.filter((state) => state === 'issued').length;
            assert.ok(issued <= 1);
            if (issued === 0) assert.ok(!states.includes('ready'));
        }
        const reasons = new Set(rows.flat().filter((state) => state !== 'issued' && state !== 'ready'));
        const expected = { memory: ['memory'], batch: ['memory'], shared: ['queue'], barrier: ['barrier', 'result'] };
        assert.deepEqual([...reasons].sort(), expected[kind]);
        counts[kind] = model.perInstruction(rows);
        // Each of four warps is in one state in each cycle.
        assert.ok(Math.abs((1 + counts[kind].waits + counts[kind].ready) * counts[kind].issued - 4 * 480) < 1e-6);
    }
    assert.equal(counts.shared.issued, 120);
    assert.ok(counts.batch.issued > 1.8 * counts.memory.issued);
    assert.ok(counts.batch.waits < counts.memory.waits);
});

test('a loop is done as often, whoever does it', () => {
    for (const way of ['serial', 'openmp', 'launch']) assert.equal(model.forked(way).filter(({ what }) => what === 'work').length, 16, way);
    assert.deepEqual(['serial', 'openmp', 'launch'].map((way) => model.endOf(model.forked(way, { slower: 2.5 }))), [16, 4.5, 3]);
});

test('eight kernels run, however they are started, and in an order that their data allow', () => {
    for (const way of ['wait', 'stream', 'graph', 'branches']) {
        const plan = model.launched(way, { launch: 0.75 });
        const kernels = plan.filter(({ place }) => place === 'device');
        assert.equal(kernels.length, 8, way);
        assert.equal(plan.length - kernels.length, way === 'wait' || way === 'stream' ? 8 : 1, way);
        const [first, last] = [kernels[0], kernels[7]];
        for (const { begin, end } of kernels.slice(1, 7)) assert.ok(begin >= first.end && end <= last.begin, way);
        for (const row of [0, 1, 2]) {
            const [one, other] = kernels.filter((kernel) => kernel.row === row);
            assert.ok(one.end <= other.begin, way);
        }
    }
    const ends = (launch) => ['wait', 'stream', 'graph', 'branches'].map((way) => model.endOf(model.launched(way, { launch })));
    assert.deepEqual(ends(1), [19.5, 9, 9, 5]);
    assert.deepEqual(ends(2), [27.5, 17, 10, 6]);
});

test('every lesson has a view or a drawing, in both languages', () => {
    for (const { folder, lessons } of chapters()) {
        for (const { name } of lessons) {
            for (const language of ['', 'zh/']) {
                const page = `${language}${folder}/${name}.md`;
                const text = fs.readFileSync(here(`../../../${page}`), 'utf8');
                assert.match(text, /^<(Drawing|WarpView|BlockView|LiveKernel|OccupancyExplorer|AmdahlExplorer|Roofline)\b/m, page);
            }
        }
    }
});

test('drawings take their figures from recorded runs, and have words in both languages', () => {
    assert.deepEqual(problemsOfDrawings(), []);
    const { figures, machine, dates } = recordedFigures();
    assert.equal(Object.keys(figures).length, Object.keys(places).length);
    assert.ok(Object.values(figures).every((value) => value > 0));
    assert.match(machine, /NVIDIA/);
    assert.match(dates[0], /^20\d\d-\d\d-\d\d$/);
    for (const words of Object.values(drawingWords)) assert.deepEqual(Object.keys(words).sort(), drawingNames());
    assert.equal(problemsOfShownDrawings('text\n<Drawing name="sm" />\n<Drawing name="none" />')[0].line, 3);
});

test('sentences of the drawings are Chinese in Chinese', () => {
    const call = (value) => (typeof value === 'function' ? value(...Array(8).fill(2)) : value);
    for (const [name, words] of Object.entries(drawingWords.zh)) {
        for (const [key, value] of Object.entries(words)) {
            const said = call(value);
            if (typeof said === 'string' && typeof value === 'function') assert.match(said, /[\u4e00-\u9fff]/, `${name}.${key}`);
        }
    }
});

test('both languages have all words, and none is left in English', () => {
    const shapeOf = (value) =>
        typeof value === 'object'
            ? Object.fromEntries(
                  Object.entries(value)
                      .map(([key, inner]) => [key, shapeOf(inner)])
                      .sort(),
              )
            : typeof value;
    const walk = (value, path) => {
        if (typeof value === 'object') Object.entries(value).forEach(([key, inner]) => walk(inner, `${path}.${key}`));
        else if (typeof value === 'string' && /[a-z]{4,}/.test(value.replace(/\blane\b/g, '')))
            assert.match(value, /[\u4e00-\u9fff]/, path);
    };
    for (const words of [messages, viewMessages]) {
        assert.deepEqual(shapeOf(words.zh), shapeOf(words.en));
        walk(words.zh, 'zh');
    }
});

test('chunks of a row lie in the banks as the counters of the lesson say', () => {
    for (const layout of ['dense', 'padded', 'swizzled']) {
        for (const row of model.upTo(32)) {
            const places = model.upTo(8).map((chunk) => model.placeOfChunk(row, chunk, layout));
            assert.equal(new Set(places).size, 8);
            for (const chunk of model.upTo(8)) assert.equal(model.chunkAt(row, places[chunk], layout), chunk);
        }
    }
    assert.equal(model.placeOfChunk(5, 2, 'swizzled'), 7);
    assert.equal(model.chunkWavefronts('dense', 4), 32);
    assert.equal(model.chunkWavefronts('padded', 4), 4);
    assert.equal(model.chunkWavefronts('swizzled', 4), 4);
    assert.equal(model.chunkWavefronts('dense', 16), 32);
    assert.equal(model.chunkWavefronts('swizzled', 16), 4);
});

test('the lanes of a warp hold each word of A and B and each sum of C once', () => {
    const places = { a: new Set(), b: new Set(), c: new Set() };
    for (const lane of model.lanes) {
        const held = model.fragmentsOf(lane);
        for (const matrix of ['a', 'b', 'c']) for (const { row, col } of held[matrix]) places[matrix].add(row * 8 + col);
    }
    assert.deepEqual([places.a.size, places.b.size, places.c.size], [128, 64, 128]);
    assert.deepEqual(model.fragmentsOf(6).c, [{ row: 1, col: 4 }, { row: 1, col: 5 }, { row: 9, col: 4 }, { row: 9, col: 5 }]);
});

test('bins are dealt out to the blocks of a cluster in turn', () => {
    assert.deepEqual(model.ownerOf(6, 4), { rank: 2, place: 1 });
    const owners = model.upTo(16).map((key) => model.ownerOf(key, 4));
    for (const rank of model.upTo(4)) assert.deepEqual(owners.filter((owner) => owner.rank === rank).map((owner) => owner.place), model.upTo(4));
});

test('a ring of devices adds up every array once, and sends each part around', () => {
    for (const n of [2, 3, 4, 6, 8]) {
        const { held, next } = model.ringOf(n, 2 * (n - 1));
        assert.ok(held.every((parts) => parts.every((count) => count === n)), `${n} devices`);
        assert.deepEqual(next, Array(n).fill(null));
        const half = model.ringOf(n, n - 1).held;
        for (const device of model.upTo(n)) assert.equal(half[device][(device + 1) % n], n);
    }
    assert.deepEqual(model.ringOf(4, 0).next, [0, 1, 2, 3]);
});

test('devices at work: nothing overlaps in a row, and the last way is the fastest', () => {
    for (const [what, ways] of Object.entries(drawingWords.en.gpu_timeline.ways)) {
        const ends = Object.keys(ways).map((way) => {
            const boxes = model.devicesAtWork(what, way);
            for (const one of boxes)
                for (const other of boxes)
                    if (one !== other && one.device === other.device && one.lane === other.lane) assert.ok(one.end <= other.begin || other.end <= one.begin, `${what} ${way}`);
            return Math.max(...boxes.map(({ end }) => end));
        });
        for (const [at, end] of ends.entries()) if (at > 0) assert.ok(end < ends[at - 1], `${what}: ${ends}`);
    }
});
