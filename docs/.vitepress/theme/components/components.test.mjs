// The logic behind the interactive views: costs of requests, timelines, occupancy, Amdahl's law, the roofline.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/// A module in TypeScript, which Node itself does not read.
async function load(name) {
    const { outputFiles } = buildSync({ entryPoints: [here(name)], bundle: true, write: false, format: 'esm' });
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

const trace = await load('trace.ts');
const request = await load('request.ts');
const timeline = await load('timeline.ts');
const { occupancy, capabilities } = await load('occupancy.ts');
const amdahl = await load('amdahl.ts');
const roofline = await load('roofline.ts');
const { messages } = await load('messages.ts');

const folder = here('../../../public/traces/');
const recorded = fs.readdirSync(folder).filter((name) => name.endsWith('.json'));
const open = (name) => trace.parseTrace(fs.readFileSync(folder + name, 'utf8'));

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
                for (const one of trace.requestsOf(warp, launch)) {
                    const where = `${trace.namesOf([launch], 'en')[0]}, line ${one.event.line}`;
                    if (one.kind.startsWith('global')) {
                        assert.equal(request.globalCost(one).sectors, one.event.sectors, where);
                    } else if (one.kind.startsWith('shared')) {
                        const cost = request.sharedCost(one);
                        assert.equal(cost.wavefronts, one.event.wavefronts, where);
                        assert.equal(cost.least, one.event.least_wavefronts, where);
                    } else {
                        assert.equal(request.constantCost(one).wavefronts, one.event.wavefronts, where);
                    }
                    compared += 1;
                }
            }
        }
        assert.ok(compared > 10, `only ${compared} requests`);
    });
}

test('launches are found by label, step and number, and all have different names', () => {
    const { launches } = open('coalescing.json');
    assert.equal(trace.findLaunch(launches, 'copy_with_gaps, stride 8'), 2);
    assert.equal(trace.findLaunch(launches, 'copy_with_gaps，步长 8'), 2);
    assert.equal(launches[trace.findLaunch(launches, 'energy_from_arrays')].step, 'energy_from_arrays');
    assert.equal(trace.findLaunch(launches, 1), 1);
    assert.equal(trace.findLaunch(launches, 'nothing'), -1);
    for (const language of ['en', 'zh']) {
        const names = trace.namesOf([...launches, ...launches], language);
        assert.equal(new Set(names).size, names.length);
    }
});

// ---- files that readers bring ----

test('wrong files are told apart', () => {
    const problemOf = (text) => {
        try {
            trace.parseTrace(text);
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
            () => trace.checkTrace(copy),
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
        const cost = request.globalCost(
            made(
                'global_load',
                4,
                everyLane((lane) => 4 * stride * lane),
            ),
        );
        assert.equal(cost.sectors, sectors, `stride ${stride}`);
        assert.equal(request.efficiency(cost), 128 / (32 * sectors), `stride ${stride}`);
    }
});

test('a shifted start costs a fifth sector, and begins inside of a line', () => {
    const cost = request.globalCost(
        made(
            'global_load',
            4,
            everyLane((lane) => 4 * lane),
            { begin: 4 },
        ),
    );
    assert.equal(cost.sectors, 5);
    assert.equal(cost.lines.length, 2);
    assert.equal(cost.lines[0].offset, -4);
});

test('lanes that want the same bytes share them', () => {
    const cost = request.globalCost(
        made(
            'global_load',
            4,
            everyLane(() => 64),
        ),
    );
    assert.equal(cost.sectors, 1);
    assert.equal(cost.lines[0].pieces.length, 1);
    assert.equal(cost.lines[0].pieces[0].lanes.length, 32);
    assert.equal(cost.asked, 128);
    assert.equal(cost.used, 4);
});

test('an access that crosses into another line is drawn in both', () => {
    const cost = request.globalCost(made('global_load', 16, [120]));
    assert.equal(cost.sectors, 2);
    assert.deepEqual(
        cost.lines.map(({ pieces }) => [pieces[0].from, pieces[0].to]),
        [
            [120, 128],
            [0, 8],
        ],
    );
});

test('atomics on one address follow each other', () => {
    assert.equal(
        request.globalCost(
            made(
                'global_atomic',
                4,
                everyLane(() => 0),
            ),
        ).sectors,
        32,
    );
    assert.equal(
        request.globalCost(
            made(
                'global_atomic',
                4,
                everyLane((lane) => 4 * lane),
            ),
        ).sectors,
        4,
    );
});

test('passes of the banks are the greatest common divisor of stride and 32', () => {
    const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b));
    for (let stride = 1; stride <= 64; ++stride) {
        const cost = request.sharedCost(
            made(
                'shared_load',
                4,
                everyLane((lane) => 4 * stride * lane),
            ),
        );
        assert.equal(cost.wavefronts, gcd(stride, 32), `stride ${stride}`);
        assert.equal(cost.least, 1);
        for (const pass of cost.passes) assert.equal(new Set(pass.map(({ bank }) => bank)).size, pass.length);
        assert.equal(cost.passes.flat().length, 32);
    }
});

test('a word that all lanes want is delivered once', () => {
    const cost = request.sharedCost(
        made(
            'shared_load',
            4,
            everyLane(() => 8),
        ),
    );
    assert.equal(cost.wavefronts, 1);
    assert.equal(cost.passes[0][0].lanes.length, 32);
    assert.equal(cost.passes[0][0].bank, 2);
});

test('wide accesses are served in groups, which is no conflict', () => {
    const eight = request.sharedCost(
        made(
            'shared_load',
            8,
            everyLane((lane) => 8 * lane),
        ),
    );
    assert.deepEqual([eight.wavefronts, eight.least], [2, 2]);
    const sixteen = request.sharedCost(
        made(
            'shared_load',
            16,
            everyLane((lane) => 16 * lane),
        ),
    );
    assert.deepEqual([sixteen.wavefronts, sixteen.least], [4, 4]);
    const strided = request.sharedCost(
        made(
            'shared_load',
            8,
            everyLane((lane) => 16 * lane),
        ),
    );
    assert.deepEqual([strided.wavefronts, strided.conflicts], [4, 2]);
});

test('which atomic operation it was is found from the counts', () => {
    const same = everyLane(() => 0);
    const counts = (wavefronts, least_wavefronts) => ({ wavefronts, least_wavefronts });
    assert.equal(request.sharedCost(made('shared_atomic', 4, same, counts(1, 1))).wavefronts, 1);
    assert.equal(request.sharedCost(made('shared_atomic', 4, same, counts(32, 1))).wavefronts, 32);
});

test('constant memory takes a pass for each address', () => {
    assert.equal(
        request.constantCost(
            made(
                'constant_load',
                4,
                everyLane(() => 12),
            ),
        ).wavefronts,
        1,
    );
    assert.equal(
        request.constantCost(
            made(
                'constant_load',
                4,
                everyLane((lane) => 4 * (lane >> 1)),
            ),
        ).wavefronts,
        16,
    );
});

// ---- block view ----

test("the tree of pi's block sum halves the active threads from barrier to barrier", () => {
    const { launches } = open('pi.json');
    const launch = launches[trace.findLaunch(launches, 'sum_by_tree')];
    const time = timeline.timelineOf(launch, timeline.blocksOf(launch)[0]);
    assert.equal(time.threads, 256);
    const barriers = time.columns.flatMap((column, index) => (column.barrier ? [index] : []));
    assert.equal(barriers.length, 8);
    const sums = barriers.map((barrier, round) => {
        const part = time.columns.slice(barrier + 1, barriers[round + 1]);
        return Math.min(
            ...part.flatMap((column, i) => {
                const stores = column.cells.some((cell) => cell?.event.kind === 'shared_store');
                return stores ? [timeline.summaryOf(time, barrier + 1 + i).active] : [];
            }),
        );
    });
    assert.deepEqual(sums, [128, 64, 32, 16, 8, 4, 2, 1]);
});

test('a timeline holds every event once, in the order of its warp', () => {
    for (const name of recorded) {
        for (const launch of open(name).launches) {
            for (const block of timeline.blocksOf(launch)) {
                const time = timeline.timelineOf(launch, block);
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
    const launch = launches[trace.findLaunch(launches, 'sum_by_tree')];
    const time = timeline.timelineOf(launch, '0, 0, 0');
    const first = time.columns.findIndex(({ cells }) => cells[0] && !cells[7]);
    assert.equal(timeline.stateOf(time, first, 7), 'skips');
    const waiting = {
        warps: [{}, {}],
        lastColumn: [1, 1],
        columns: [{ cells: [{}, undefined] }, { barrier: {}, cells: [{}, {}] }],
    };
    assert.equal(timeline.stateOf(waiting, 0, 1), 'waits');
    assert.equal(timeline.stateOf(time, time.columns.length - 1, 0), 'runs');
    assert.deepEqual(timeline.runsOf([0, 1, 2, 5, 7, 8]), [
        [0, 3],
        [5, 1],
        [7, 2],
    ]);
});

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
    // memory, 2026-11-22: compute capability, threads, registers, shared bytes; blocks.
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
    ];
    for (const [name, threads, registers, shared, blocks] of table) {
        assert.equal(
            occupancy(capability(name), threads, registers, shared).blocks,
            blocks,
            `${name}: ${threads}, ${registers}, ${shared}`,
        );
    }
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
    check: { passed },
});

test('the roofline takes the fastest right step of each lesson, of one machine', () => {
    const results = [
        chapter('GPU A', '2026-01-02', 2, [
            { name: 'two', roof: { gb_per_s: 4000 }, steps: [step('a', 'device', 8e9, 8e9, 4e-3)] },
        ]),
        chapter('GPU A', '2026-01-01', 1, [
            {
                name: 'one',
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
    assert.equal(data.gbPerS, 4000);
    assert.equal(Math.round(data.gopPerS), 66908);
    assert.equal(roofline.intensityOf(data.points[0]), Infinity);
    assert.equal(roofline.attainable(data, 1), 4000);
    assert.ok(Math.abs(roofline.shareOf(data, data.points[1]) - 0.5) < 1e-12);
    assert.equal(roofline.rooflineOf([]), undefined);
});

test('the recorded runs give a roofline', () => {
    const files = fs.readdirSync(here('../../../results/')).filter((name) => /_chapter_\d+\.json$/.test(name));
    const data = roofline.rooflineOf(
        files.map((name) => JSON.parse(fs.readFileSync(here(`../../../results/${name}`), 'utf8'))),
    );
    assert.ok(data.points.some(({ lesson }) => lesson === 'coalescing'));
    for (const point of data.points) assert.ok(roofline.shareOf(data, point) > 0, point.lesson);
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
    assert.deepEqual(shapeOf(messages.zh), shapeOf(messages.en));
    const walk = (value, path) => {
        if (typeof value === 'object') Object.entries(value).forEach(([key, inner]) => walk(inner, `${path}.${key}`));
        else if (typeof value === 'string' && value !== 'lane' && /[a-z]{4,}/.test(value))
            assert.match(value, /[\u4e00-\u9fff]/, path);
    };
    walk(messages.zh, 'zh');
});

test('requests are said in words', () => {
    const inWords = (one, cost, language = 'en') =>
        messages[language]
            .requestInWords({
                request: { ...one, event: { ...one.event, line: 42 } },
                cost,
                index: 2,
                count: 64,
                threads: 32,
            })
            .replace(/\u00a0/g, ' ');
    const column = made(
        'global_load',
        4,
        everyLane((lane) => 128 * lane),
    );
    assert.equal(
        inWords(column, { space: 'global', cost: request.globalCost(column) }),
        'Request 3 of 64, line 42: 32 lanes load 4 bytes each from a, stride 128 bytes: 32 sectors, 12.5 % used.',
    );
    const half = made('shared_store', 4, [0, 256, 512], { lanes: [0, 2, 4] });
    assert.equal(
        inWords(half, { space: 'shared', cost: request.sharedCost(half) }),
        'Request 3 of 64, line 42: 3 of 32 lanes store 4 bytes each to a, stride 256 bytes: 3 passes, 2 of them because of conflicts.',
    );
    const same = made(
        'constant_load',
        4,
        everyLane(() => 0),
    );
    assert.equal(
        inWords(same, { space: 'constant', cost: request.constantCost(same) }, 'zh'),
        '第 3 次请求，共 64 次，第 42 行：32 个 lane 从 a 各加载 4 字节，都是同一处：1 个地址，1 趟。',
    );
    const one = made('global_store', 8, [16], { lanes: [0] });
    assert.equal(
        inWords(one, { space: 'global', cost: request.globalCost(one) }),
        'Request 3 of 64, line 42: 1 of 32 lanes stores 8 bytes to a: 1 sector, 25 % used.',
    );
});
