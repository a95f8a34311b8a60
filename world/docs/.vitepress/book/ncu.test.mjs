import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ncuLesson, ncuRun, reportsOf, rowsOfCsv } from './ncu.mjs';

const stall = (reason) => `smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio`;
const header = ['ID', 'Kernel Name', 'gpu__time_duration.sum', stall('barrier'), stall('long_scoreboard'), stall('wait'),
    'smsp__average_warp_latency_per_inst_issued.ratio', 'launch__registers_per_thread'];
const csvOf = (...rows) => ['==PROF== Connected', ...[header, ['', '', 'ns', 'inst', 'inst', 'inst', 'inst', 'register/thread'], ...rows]
    .map((row) => row.map((cell) => `"${cell}"`).join(','))].join('\n');
const tree = ['0', 'tree_adds', '1,234,500', '20.25', '3', '2.5', '30', '18'];
const shuffles = ['1', 'modern_cuda::warps_add', '400000', '1', '40', '2', '44', '20'];
const report = `==PROF== Disconnected
  tree_adds (4, 1, 1)x(1024, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    Duration ms 1
    Section: Warp State Statistics
    Warp Cycles Per Issued Instruction cycle 30
    OPT   On average, each warp waits.

    Section: Occupancy
    Block Limit SM block 32
  warps_add (4, 1, 1)x(1024, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: Warp State Statistics
    Warp Cycles Per Issued Instruction cycle 44
`;
const run = { device: { kind: 'cuda', name: 'NVIDIA H200' }, date: '2026-11-30T01:02:03Z', lessons: [{ name: 'profiling', passed: true }] };
const parts = (more = {}) => ({ csv: csvOf(tree, shuffles), report, run, ncu: '2025.3.1.0\nncu program profiling --once\n', ...more });

test('rows of CSV have the names of the first row, and no units', () => {
    const rows = rowsOfCsv(csvOf(tree));
    assert.equal(rows.length, 1);
    assert.equal(rows[0]['gpu__time_duration.sum'], '1,234,500');
    assert.throws(() => rowsOfCsv('==ERROR== no counters\n'), /has no column "Kernel Name"/);
});

test('the stalls of each kernel are a table', () => {
    const [stalls, figures] = ncuLesson('profiling', parts()).tables;
    assert.deepEqual(stalls.header, ['kernel', 'long_scoreboard', 'mio_throttle', 'short_scoreboard', 'barrier', 'all']);
    assert.deepEqual(stalls.rows, [['tree_adds', '3.0', '0.0', '0.0', '20.3', '30.0'], ['warps_add', '40.0', '0.0', '0.0', '1.0', '44.0']]);
    assert.deepEqual(figures.rows.map((row) => [row[0], row[1], row.at(-1)]), [['tree_adds', '1234.5', '18'], ['warps_add', '400.0', '20']]);
});

test('the report on warps is kept as it is printed', () => {
    assert.deepEqual(reportsOf(report).map((each) => each.name), ['report_tree_adds', 'report_warps_add']);
    assert.match(reportsOf(report)[0].text, /^ {4}Section: Warp State Statistics\n.*30\n.*each warp waits\.$/s);
});

test('what cannot be recorded is refused', () => {
    assert.throws(() => ncuLesson('graphs', parts()), /has no lesson 'graphs'/);
    assert.throws(() => ncuLesson('profiling', parts({ csv: csvOf() })), /no kernel was profiled/);
    assert.throws(() => ncuLesson('profiling', parts({ csv: csvOf(tree, tree) })), /tree_adds was launched more than once/);
    const failed = { ...run, lessons: [{ name: 'profiling', passed: false }] };
    assert.throws(() => ncuLesson('profiling', parts({ run: failed })), /a check failed/);
    assert.throws(() => ncuLesson('profiling', parts({ run: { ...run, device: { kind: 'cpu' } } })), /not one of a GPU/);
});

test('a lesson takes the place of the one before', () => {
    const lesson = ncuLesson('profiling', parts());
    const first = ncuRun(undefined, lesson);
    assert.equal(first.device.name, 'NVIDIA H200');
    const second = ncuRun({ ...first, lessons: [{ name: 'graphs' }, ...first.lessons] }, { ...lesson, ncu: 'newer' });
    assert.deepEqual(second.lessons.map((each) => [each.name, each.ncu]), [['graphs', undefined], ['profiling', 'newer']]);
});
