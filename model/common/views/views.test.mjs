// The logic behind the views: traces, what requests cost, timelines, and that the modules can be put into one script.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { arrayKey, asOneTile, bankLayout, bankOf, layoutOf, mapOf, placeIn, shownBytes } from './array_map.mjs';
import { viewMessages } from './messages.mjs';
import { unpackTrace } from './packed_trace.mjs';
import { comparisonOf, costOf, efficiency, totalsOf } from './request.mjs';
import { blocksOf, runsOf, stateOf, summaryOf, timelineOf } from './timeline.mjs';
import { checkTrace, findLaunch, namesOf, partnerOf, requestsOf } from './trace.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = here('../../docs/public/traces/');
const recorded = fs.readdirSync(folder).filter((name) => name.endsWith('.json'));
const open = (name) => checkTrace(fs.readFileSync(folder + name, 'utf8'));

/// A request without a trace around it.
const made = (kind, bytes, offsets, { lanes, begin = 0, ...counts } = {}) => ({
    kind,
    bytes,
    offsets,
    lanes: lanes ?? offsets.map((_, lane) => lane),
    array: { name: 'a', space: kind.split('_')[0], bytes: 65536, begin },
    event: { kind, ...counts },
});
const everyLane = (offsetOf) => Array.from({ length: 32 }, (_, lane) => offsetOf(lane));

// ---- recorded traces ----

test('there are recorded traces, each below 60 KB, with command and date and without paths of a machine', () => {
    assert.ok(recorded.length >= 5, folder);
    for (const name of recorded) {
        const text = fs.readFileSync(folder + name, 'utf8');
        assert.ok(text.length < 60_000, name);
        assert.doesNotMatch(text, /"\/|\/(home|tmp|root|work)\//, name);
        const { command, date } = open(name);
        assert.match(command[0], /^build\/bin\/cpu\//, name);
        assert.match(date, /^20\d\d-\d\d-\d\dT/, name);
    }
});

for (const name of recorded) {
    test(`every request of ${name} costs what the CPU device counted`, () => {
        let compared = 0;
        for (const launch of open(name).launches) {
            for (const warp of launch.warps) {
                for (const one of requestsOf(warp, launch)) {
                    const where = `${namesOf([launch], 'en')[0]}, line ${one.event.line}`;
                    const { space, sectors, wavefronts, least } = costOf(one);
                    assert.equal(sectors, one.event.sectors, where);
                    assert.equal(wavefronts, one.event.wavefronts, where);
                    if (space === 'shared') assert.equal(least, one.event.least_wavefronts, where);
                    compared += 1;
                }
            }
        }
        assert.ok(compared > 10, `only ${compared} requests`);
    });
}

test('launches are found by label, step and number, and all have different names', () => {
    const { launches } = open('coalescing.json');
    assert.equal(findLaunch(launches, 'copy_with_gaps, stride 8'), 2);
    assert.equal(findLaunch(launches, 'copy_with_gaps，步长 8'), 2);
    assert.equal(launches[findLaunch(launches, 'energy_from_arrays')].step, 'energy_from_arrays');
    assert.equal(findLaunch(launches, 1), 1);
    assert.equal(findLaunch(launches, 'nothing'), -1);
    for (const language of ['en', 'zh']) {
        const names = namesOf([...launches, ...launches], language);
        assert.equal(new Set(names).size, names.length);
    }
});

// ---- files that readers bring ----

test('wrong files are told apart', () => {
    const problemOf = (text) => {
        try {
            checkTrace(text);
        } catch (error) {
            return error.problem;
        }
        return undefined;
    };
    assert.equal(problemOf('int main() {}'), 'not_json');
    assert.equal(problemOf('[1, 2]'), 'not_a_trace');
    assert.equal(problemOf('{"warpwise": 1, "lessons": []}'), 'not_a_trace');
    assert.equal(problemOf('{"warpwise_trace": 2, "launches": []}'), 'newer_version');
    assert.equal(problemOf('{"warpwise_trace": 1, "date": "", "command": [], "launches": []}'), 'no_launches');
    assert.equal(problemOf('{"warpwise_trace": 1, "launches": 3}'), 'damaged');
});

test('damage is found wherever it is, and its place is named', () => {
    const good = JSON.parse(fs.readFileSync(`${folder}bank_conflicts.json`, 'utf8'));
    const damages = {
        'launches[0].grid': (copy) => (copy.launches[0].grid = [1, 2]),
        'launches[1].arrays': (copy) => (copy.launches[1].arrays[0].space = 'texture'),
        'launches[0].files': (copy) => (copy.launches[0].files[0].lines = 'all'),
        'launches[2].warps': (copy) => (copy.launches[2].warps = []),
        'launches[0].warps[0].events[3]': (copy) => (copy.launches[0].warps[0].events[3].lanes = 'all'),
        'launches[0].warps[0].events[2]': (copy) => (copy.launches[0].warps[0].events[2].array = 99),
        'launches[0].warps[0].events[1]': (copy) => (copy.launches[0].warps[0].events[1].kind = 'teleport'),
        'launches[0].warps[0].events[0]': (copy) => delete copy.launches[0].warps[0].events[0].first,
    };
    for (const [place, damage] of Object.entries(damages)) {
        const copy = structuredClone(good);
        damage(copy);
        assert.throws(
            () => checkTrace(copy),
            (error) => error.problem === 'damaged' && error.detail === place,
            place,
        );
    }
});

// ---- requests ----

test('sectors and efficiency follow the stride', () => {
    for (const [stride, sectors] of [
        [1, 4],
        [2, 8],
        [4, 16],
        [8, 32],
        [32, 32],
    ]) {
        const cost = costOf(made('global_load', 4, everyLane((lane) => 4 * stride * lane)));
        assert.equal(cost.sectors, sectors, `stride ${stride}`);
        assert.equal(efficiency(cost), 128 / (32 * sectors), `stride ${stride}`);
    }
});

test('a shifted start costs a fifth sector, which begins before the array', () => {
    const cost = costOf(made('global_load', 4, everyLane((lane) => 4 * lane), { begin: 4 }));
    assert.equal(cost.sectors, 5);
    assert.deepEqual(cost.fetched, [-4, 28, 60, 92, 124]);
});

test('lanes that want the same bytes share them', () => {
    const cost = costOf(made('global_load', 4, everyLane(() => 64)));
    assert.equal(cost.sectors, 1);
    assert.deepEqual(cost.fetched, [64]);
    assert.equal(cost.asked, 128);
    assert.equal(cost.used, 4);
});

test('an access that crosses into another sector fetches both', () => {
    const cost = costOf(made('global_load', 16, [120]));
    assert.equal(cost.sectors, 2);
    assert.deepEqual(cost.fetched, [96, 128]);
});

test('atomics on one address follow each other', () => {
    assert.equal(costOf(made('global_atomic', 4, everyLane(() => 0))).sectors, 32);
    assert.equal(costOf(made('global_atomic', 4, everyLane((lane) => 4 * lane))).sectors, 4);
});

test('passes of the banks are the greatest common divisor of stride and 32', () => {
    const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));
    for (let stride = 1; stride <= 64; ++stride) {
        const cost = costOf(made('shared_load', 4, everyLane((lane) => 4 * stride * lane)));
        assert.equal(cost.wavefronts, gcd(stride, 32), `stride ${stride}`);
        assert.equal(cost.least, 1);
        for (const pass of cost.passes) assert.equal(new Set(pass.map(({ bank }) => bank)).size, pass.length);
        assert.equal(cost.passes.flat().length, 32);
    }
});

test('a word that all lanes want is delivered once', () => {
    const cost = costOf(made('shared_load', 4, everyLane(() => 8)));
    assert.equal(cost.wavefronts, 1);
    assert.equal(cost.passes[0][0].lanes.length, 32);
    assert.equal(cost.passes[0][0].bank, 2);
});

test('wide accesses are served in groups, which is no conflict', () => {
    const eight = costOf(made('shared_load', 8, everyLane((lane) => 8 * lane)));
    assert.deepEqual([eight.wavefronts, eight.least], [2, 2]);
    const sixteen = costOf(made('shared_load', 16, everyLane((lane) => 16 * lane)));
    assert.deepEqual([sixteen.wavefronts, sixteen.least], [4, 4]);
    const strided = costOf(made('shared_load', 8, everyLane((lane) => 16 * lane)));
    assert.deepEqual([strided.wavefronts, strided.conflicts], [4, 2]);
});

test('which atomic operation it was is found from the counts', () => {
    const same = everyLane(() => 0);
    const counts = (wavefronts, least_wavefronts) => ({ wavefronts, least_wavefronts });
    assert.equal(costOf(made('shared_atomic', 4, same, counts(1, 1))).wavefronts, 1);
    assert.equal(costOf(made('shared_atomic', 4, same, counts(32, 1))).wavefronts, 32);
});

test('constant memory takes a pass for each address', () => {
    assert.equal(costOf(made('constant_load', 4, everyLane(() => 12))).wavefronts, 1);
    assert.equal(costOf(made('constant_load', 4, everyLane((lane) => 4 * (lane >> 1)))).wavefronts, 16);
});

test('costs add up by memory', () => {
    const load = costOf(made('global_load', 4, everyLane((lane) => 8 * lane)));
    const column = costOf(made('shared_load', 4, everyLane((lane) => 128 * lane)));
    assert.deepEqual(totalsOf([load, column, load]), {
        global: { requests: 2, sectors: 16, moved: 512, used: 256 },
        shared: { requests: 1, wavefronts: 32, conflicts: 31 },
        constant: { requests: 0, wavefronts: 0 },
    });
});

// ---- the array as rows and columns ----

test('the row length is the distance of lanes, or of requests, or else 128 bytes', () => {
    const rowOf = (...warps) => layoutOf(warps[0][0].array, warps).row;
    const at = (bytes, offsetOf) => made('global_load', bytes, everyLane(offsetOf));
    assert.equal(rowOf([at(4, (lane) => 1536 * lane)]), 1536, 'a column of a matrix');
    assert.equal(rowOf([at(4, (lane) => 1536 * (lane >> 3) + 4 * (lane % 8))]), 1536, 'a block 8 wide');
    assert.equal(rowOf([at(4, (lane) => 4 * lane)], [at(4, (lane) => 512 + 4 * lane)]), 512, 'a row per warp');
    assert.equal(rowOf([at(4, (lane) => 4 * lane)], [at(4, (lane) => 128 + 4 * lane)]), 128, 'one row after another');
    assert.equal(rowOf([at(16, (lane) => 16 * lane)]), 128, 'float4');
    assert.equal(rowOf([at(12, (lane) => 12 * lane)]), 120, 'whole elements');
    assert.equal(rowOf([at(16, (lane) => 16 * (lane >> 2))]), 128, 'neighbors that want the same');
    assert.equal(rowOf([at(4, (lane) => 4 * ((lane * lane * 37) % 1009))]), 128, 'no order');
});

test('recorded matrices and tiles have the rows that their kernels give them', () => {
    for (const [file, step, name, length] of [
        ['matrix_add.json', 'add_x_down_rows', 'a', 384],
        ['matrix_add.json', 'add_x_along_rows', 'a', 384],
        ['bank_conflicts.json', 'sums_in_tile', 'tiles', 32],
        ['bank_conflicts.json', 'sums_in_padded_tile', 'tiles', 33],
        ['transpose.json', 'transpose_naive', 'out', 256],
        ['transpose.json', 'transpose_padded_tile', 'tile', 33],
        ['coalescing.json', 'energy_from_structures', 'particles', 8],
        ['coalescing.json', 'copy_with_gaps, stride 8', 'in', 8],
    ]) {
        const { launches } = open(file);
        const launch = launches[findLaunch(launches, step)];
        const array = launch.arrays.find((one) => one.name === name);
        const warps = launch.warps.map((warp) => requestsOf(warp, launch, { array: name }));
        const { cell, row } = layoutOf(array, warps);
        assert.equal(row / cell, length, `${file}, ${step}, ${name}`);
    }
});

test('a map holds all that lanes touch, once, and the fetched sectors within the array', () => {
    for (const name of recorded) {
        for (const launch of open(name).launches) {
            for (const one of requestsOf(launch.warps[0], launch)) {
                const cost = costOf(one);
                for (const layout of [layoutOf(one.array, [[one]]), bankLayout(one.array), { cell: 4, row: 28, shift: 0 }]) {
                    const map = mapOf(one, cost, layout);
                    const length = (list) => list.reduce((sum, { from, to }) => sum + to - from, 0);
                    const different = new Set(one.offsets).size;
                    assert.equal(length(map.pieces), different * one.bytes, name);
                    const lanes = new Set(map.pieces.flatMap((piece) => piece.lanes));
                    assert.deepEqual([...lanes].sort((a, b) => a - b), one.lanes, name);
                    if (cost.space === 'global') assert.ok(length(map.fetched) <= cost.moved, name);
                    for (const { from, to, row } of [...map.pieces, ...map.fetched]) {
                        assert.ok(map.rows.includes(row) && from >= 0 && to <= layout.row, name);
                        assert.ok(map.runs.some((run) => run.from <= from && to <= run.to), name);
                    }
                }
            }
        }
    }
});

test('of long rows only touched columns are shown', () => {
    const far = made('global_load', 4, [0, 4, 2048]);
    const map = mapOf(far, costOf(far), { cell: 4, row: 4096, shift: 0 });
    assert.deepEqual(map.runs, [
        { from: 0, to: 32 },
        { from: 2048, to: 2080 },
    ]);
    assert.equal(shownBytes(map), 64);
    assert.deepEqual(map.rows, [0]);
});

test('by bank, a column of a tile is one column, and a padded one is a diagonal', () => {
    const banksOf = (stride) => {
        const one = made('shared_load', 4, everyLane((lane) => stride * lane));
        const map = mapOf(one, costOf(one), bankLayout(one.array));
        return map.pieces.map(({ from, row, bad }) => [from / 4, row, bad]);
    };
    assert.deepEqual(banksOf(128), everyLane((lane) => [0, lane, true]));
    assert.deepEqual(banksOf(132), everyLane((lane) => [lane, lane, false]));
    assert.equal(bankOf(132), 1);
    const shifted = made('shared_load', 4, [0], { begin: 160 });
    assert.deepEqual(mapOf(shifted, costOf(shifted), bankLayout(shifted.array)).pieces[0].from, 32);
});

test('a tile keeps its rows from request to request, if they are few', () => {
    const rows = (...lists) => asOneTile(lists.map((list) => ({ rows: list }))).map((map) => map.rows);
    assert.deepEqual(rows([0], [2, 3]), [
        [0, 2, 3],
        [0, 2, 3],
    ]);
    const many = Array.from({ length: 41 }, (_, row) => row);
    assert.deepEqual(rows([0], many), [[0], many]);
});

test('row, column and element of a byte', () => {
    assert.deepEqual(placeIn(1540, { cell: 4, row: 1536, shift: 0 }), { row: 1, column: 1, element: 385 });
    assert.deepEqual(placeIn(0, { cell: 4, row: 128, shift: 32 }), { row: 0, column: 8, element: 0 });
});

// ---- two launches ----

test('two launches are compared by array and in sum', () => {
    const { launches } = open('matrix_add.json');
    const [left, right] = launches.map((launch) => {
        const requests = requestsOf(launch.warps[0], launch);
        return { requests, costs: requests.map(costOf) };
    });
    const shown = comparisonOf(left, right).map(({ counter, array = '', values }) => [array, counter, ...values].join(' '));
    assert.deepEqual(shown, [
        'a sectors 32 4',
        'b sectors 32 4',
        'sum sectors 32 4',
        ' sectors 32 4',
        ' moved 3072 384',
        ' used 0.125 1',
    ]);
    const only = requestsOf(launches[0].warps[0], launches[0], { array: 'a' });
    assert.ok(only.length > 0 && only.every(({ array }) => array.name === 'a'));
    assert.equal(arrayKey(launches[0].arrays[0]), arrayKey(launches[1].arrays[0]));
});

test('differences are said as difference and factor', () => {
    const { difference } = viewMessages.en;
    assert.equal(difference('sectors', [32, 4]), '−28 (× 0.125)');
    assert.equal(difference('used', [0.125, 1]), '+87.5 points (× 8)');
    assert.equal(difference('conflicts', [496, 0]), '−496');
    assert.equal(difference('wavefronts', [1, 1]), '0');
});

test('a launch is compared with one that has an array in common', () => {
    const launch = (kernel, ...names) => ({ kernel, arrays: names.map((name) => ({ name })) });
    const launches = [launch('fill', 'a'), launch('fill', 'a'), launch('other', 'b'), launch('sum', 'a', 'b')];
    assert.equal(partnerOf(launches, [1, 2, 3], true), 3);
    assert.equal(partnerOf(launches, [1, 2, 3], false), 1);
    assert.equal(partnerOf(launches, [2], true), 2);
});

// ---- block view ----

test("the tree of pi's block sum halves the active threads from barrier to barrier", () => {
    const { launches } = open('pi.json');
    const launch = launches[findLaunch(launches, 'sum_by_tree')];
    const time = timelineOf(launch, blocksOf(launch)[0]);
    assert.equal(time.threads, 256);
    const barriers = time.columns.flatMap((column, index) => (column.barrier ? [index] : []));
    assert.equal(barriers.length, 8);
    const sums = barriers.map((barrier, round) => {
        const part = time.columns.slice(barrier + 1, barriers[round + 1]);
        return Math.min(
            ...part.flatMap((column, i) => {
                const stores = column.cells.some((cell) => cell?.event.kind === 'shared_store');
                return stores ? [summaryOf(time, barrier + 1 + i).active] : [];
            }),
        );
    });
    assert.deepEqual(sums, [128, 64, 32, 16, 8, 4, 2, 1]);
});

test('a timeline holds every event once, in the order of its warp', () => {
    for (const name of recorded) {
        for (const launch of open(name).launches) {
            for (const block of blocksOf(launch)) {
                const time = timelineOf(launch, block);
                time.warps.forEach((warp, index) => {
                    const events = time.columns.flatMap(({ cells }) => (cells[index] ? [cells[index].event] : []));
                    assert.deepEqual(events, warp.events, name);
                });
            }
        }
    }
});

test('warps that do not enter a branch skip its columns, and wait only before a barrier', () => {
    const { launches } = open('pi.json');
    const launch = launches[findLaunch(launches, 'sum_by_tree')];
    const time = timelineOf(launch, '0, 0, 0');
    const first = time.columns.findIndex(({ cells }) => cells[0] && !cells[7]);
    assert.equal(stateOf(time, first, 7), 'skips');
    const waiting = {
        warps: [{}, {}],
        lastColumn: [1, 1],
        columns: [{ cells: [{}, undefined] }, { barrier: {}, cells: [{}, {}] }],
    };
    assert.equal(stateOf(waiting, 0, 1), 'waits');
    assert.equal(stateOf(time, time.columns.length - 1, 0), 'runs');
    assert.deepEqual(runsOf([0, 1, 2, 5, 7, 8]), [
        [0, 3],
        [5, 1],
        [7, 2],
    ]);
});

test('requests are said in words', () => {
    const inWords = (one, cost, language = 'en') =>
        viewMessages[language]
            .requestInWords({
                request: { ...one, event: { ...one.event, line: 42 } },
                cost,
                index: 2,
                count: 64,
                threads: 32,
            })
            .replace(/\u00a0/g, ' ');
    const column = made('global_load', 4, everyLane((lane) => 128 * lane));
    assert.equal(
        inWords(column, costOf(column)),
        'Request 3 of 64, line 42: 32 lanes load 4 bytes each from a, stride 128 bytes: 32 sectors, 12.5 % used.',
    );
    const half = made('shared_store', 4, [0, 256, 512], { lanes: [0, 2, 4] });
    assert.equal(
        inWords(half, costOf(half)),
        'Request 3 of 64, line 42: 3 of 32 lanes store 4 bytes each to a, stride 256 bytes: ' +
            '3 passes, 2 of them because of conflicts.',
    );
    const same = made('constant_load', 4, everyLane(() => 0));
    assert.equal(
        inWords(same, costOf(same), 'zh'),
        '第 3 次请求，共 64 次，第 42 行：32 个 lane 从 a 各加载 4 字节，都是同一处：1 个地址，1 趟。',
    );
    const one = made('global_store', 8, [16], { lanes: [0] });
    assert.equal(
        inWords(one, costOf(one)),
        'Request 3 of 64, line 42: 1 of 32 lanes stores 8 bytes to a: 1 sector, 25 % used.',
    );
});

// ---- the traces of a report ----

test('a packed trace becomes the trace again', () => {
    const step = { kind: 'step', file: 0, line: 7, lanes: 'ffffffff' };
    const load = { ...step, kind: 'global_load', array: 0, bytes: 4, sectors: 4 };
    const launch = (first, lines, ...warps) => ({
        kernel: 'add',
        files: [{ path: 'add.cu', first, lines }],
        warps: warps.map((events, warp) => ({ warp, events })),
    });
    const packed = {
        warpwise_trace: 1,
        keys: [Object.keys(step), [...Object.keys(load), 'first', 'stride'], [...Object.keys(load), 'at']],
        shapes: [
            [0, ...Object.values(step)],
            [1, ...Object.values(load), null, 4],
            [2, ...Object.values(load), [-8, 12]],
        ],
        sequences: [
            [0, 1, 1],
            [2, 0],
        ],
        sources: {
            'add.cu': [
                [7, 'a', 'b', 'c'],
                [70, 'z'],
            ],
        },
        launches: [launch(8, 2, [0, 0, 128], [0, 256, -4]), launch(70, 1, [1, 12]), launch(1, 0)],
    };
    assert.deepEqual(unpackTrace(packed), {
        warpwise_trace: 1,
        launches: [
            launch(
                8,
                ['b', 'c'],
                [step, { ...load, first: 0, stride: 4 }, { ...load, first: 128, stride: 4 }],
                [step, { ...load, first: 256, stride: 4 }, { ...load, first: -4, stride: 4 }],
            ),
            launch(70, ['z'], [{ ...load, at: [12, 4, 16] }, step]),
            launch(1, []),
        ],
    });
});

// ---- one script of all modules (README.md) ----

const modules = [...fs.readFileSync(here('README.md'), 'utf8').matchAll(/^\| `(\w+\.mjs)`/gm)].map(([, name]) => name);
const textOf = (name) => fs.readFileSync(here(name), 'utf8');

test('README.md lists every module after those that it imports', async () => {
    const there = fs.readdirSync(here('.')).filter((name) => /^\w+\.mjs$/.test(name));
    assert.deepEqual([...modules].sort(), there.sort());
    for (const [index, name] of modules.entries()) {
        await import(`./${name}`); // all imported names are there
        for (const [line] of textOf(name).matchAll(/^import\b.*$/gm)) {
            const [, imported] = /^import \{ \w+(?:, \w+)* \} from '\.\/(\w+\.mjs)';$/.exec(line) ?? [];
            assert.ok(imported, `${name}: ${line}`);
            assert.ok(modules.indexOf(imported) < index, `${name} comes before ${imported}`);
        }
    }
});

test('modules export at the start of a line, and no two have a name at the top in common', () => {
    const owners = new Map();
    for (const name of modules) {
        const text = textOf(name);
        assert.doesNotMatch(text, /^export (?!(const|class|function) \w)|^[ \t]+export\b/m, name);
        for (const [, declared] of text.matchAll(/^(?:export )?(?:async )?(?:const|let|class|function) (\w+)/gm)) {
            assert.ok(!owners.has(declared), `${declared}: ${owners.get(declared)}, ${name}`);
            owners.set(declared, name);
        }
    }
});

test('the modules one after another, without imports and exports, are one script', () => {
    const plain = (text) => text.replace(/^import .*$/gm, '').replace(/^export /gm, '');
    const script = modules.map((name) => plain(textOf(name))).join('\n');
    assert.doesNotMatch(script, /<\/script/i);
    const inOne = new Function(`'use strict';\n${script}\nreturn { warpView, blockView, checkTrace, viewMessages };`)();
    assert.equal(typeof inOne.warpView, 'function');
    assert.equal(typeof inOne.blockView, 'function');
    assert.throws(() => inOne.checkTrace('{}'), { problem: 'not_a_trace' });
    assert.equal(inOne.viewMessages.zh.warpView, viewMessages.zh.warpView);
});
