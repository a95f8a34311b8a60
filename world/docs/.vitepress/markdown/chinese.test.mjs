import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inChinese, isEnglish, missingWord, namedInChinese, tableInChinese, unusedEntries, withoutChinese } from './chinese.mjs';

test('words are looked up, and patterns carry their numbers and texts over', () => {
    assert.equal(inChinese('measured'), '实测');
    assert.equal(inChinese('64 threads'), '64 个线程');
    assert.equal(inChinese('measured, predicted'), '实测，预测');
    assert.equal(inChinese('nothing, predicted'), 'nothing，预测');
    assert.equal(inChinese('a word from nowhere'), undefined);
});

test('of several patterns the most particular one is taken', () => {
    assert.equal(inChinese('times recorded on one NVIDIA H200 (memory_model --device cuda, 2026-11-22)'),
        '时间在一块 NVIDIA H200 (memory_model --device cuda, 2026-11-22) 上记录');
    assert.equal(inChinese('4 of 4'), '4 of 4');
    assert.match(inChinese('times recorded on one X'), /^时间/);
});

test('what nobody has translated is found, also inside of a pattern', () => {
    assert.deepEqual(withoutChinese('measured'), []);
    assert.deepEqual(withoutChinese('nothing that is known, predicted'), ['nothing that is known']);
    assert.deepEqual(withoutChinese('12.5 KiB'), []);
    assert.match(missingWord('a word'), /"a word" \(docs\/zh\/words\.json\)/);
    assert.match(missingWord('a word', 'coalescing'), /or "words" of docs\/zh\/2_memory_model\/coalescing\.json/);
});

test('titles and steps are looked up by their names, and only for the English text of today', () => {
    assert.equal(namedInChinese('tables', 'stride', 'Lane k reads element k * stride', 'coalescing'), '第 k 个 lane 读第 k * stride 个元素');
    assert.equal(namedInChinese('tables', 'stride', 'Another title', 'coalescing'), undefined);
    assert.equal(namedInChinese('tables', 'stride', 'Lane k reads element k * stride', 'histogram'), undefined);
    assert.equal(namedInChinese('tables', 'backward_error', 'Backward error, n = 77', 'linear_solver'), '向后误差，n = 77');
    assert.match(namedInChinese('steps', 'energy_from_arrays', 'structure of arrays', 'coalescing'), /[\u4e00-\u9fff]/);
});

test('a table names what is missing, by its place', () => {
    const table = { name: 'stride', title: 'Lane k reads element k * stride', note: 'times recorded on one X', header: ['stride', 'measured'], rows: [['1', 'never seen']] };
    const { table: chinese, missing } = tableInChinese(table, 'coalescing');
    assert.deepEqual([chinese.title, chinese.note, chinese.rows], ['第 k 个 lane 读第 k * stride 个元素', '时间在一块 X 上记录', [['1', 'never seen']]]);
    assert.equal(missing.length, 1);
    assert.match(missing[0], /no Chinese for "never seen"/);
    const messages = (more) => tableInChinese({ ...table, rows: [], ...more }, 'coalescing').missing;
    assert.match(messages({ title: 'Another title' })[0], /coalescing\.json: tables "stride" is the Chinese of "Lane k.*and the English text is "Another title" now/);
    assert.match(messages({ name: 'nothing' })[0], /no Chinese for "Lane k.*coalescing\.json: tables "nothing"/);
});

test('of a step its name stays, and what changed is looked up by that name', () => {
    const steps = { title: 'Size 1', header: ['step'], steps: ['energy_from_arrays', 'unknown'], rows: [['1 energy_from_arrays', 'structure of arrays', '4'], ['2 unknown', 'something', '4']] };
    const { table: { rows, title }, missing } = tableInChinese(steps, 'coalescing');
    assert.equal(title, 'Size 1');
    assert.equal(rows[0][0], '1 energy_from_arrays');
    assert.match(rows[0][1], /[\u4e00-\u9fff]/);
    assert.deepEqual([rows[1][1], missing.length], ['something', 1]);
    assert.match(missing[0], /steps "unknown"/);
});

test('an entry counts as used once a text needed it', () => {
    const entry = 'docs/zh/words.json: "producer and consumer"';
    assert.ok(unusedEntries().includes(entry));
    inChinese('producer and consumer');
    assert.ok(!unusedEntries().includes(entry));
    const title = 'docs/zh/2_memory_model/coalescing.json: tables "offset"';
    assert.ok(unusedEntries().includes(title));
    namedInChinese('tables', 'offset', 'Lane k reads element k + offset', 'coalescing');
    assert.ok(!unusedEntries().includes(title));
});

test('a lesson may mean something else by a word', () => {
    assert.equal(inChinese('constant', 'histogram'), '全相同');
    assert.equal(inChinese('constant', 'memory_spaces'), '常量');
});

test('figures, units and names of the code are not English', () => {
    for (const text of ['', '-', '12.5 KiB', 'GB/s', 'x = 2', '4 GB/s', 'sum_by_last_block', 'cub::DeviceReduce::Sum', 'blockDim.x', 'cudaErrorInvalidValue', 'twice<<<1, 128>>>', '__sinf(v) + a', '66.91 Tflop/s', '步骤', '上限 (roof C)']) assert.ok(!isEnglish(text), text);
    for (const text of ['stride', 'GB/s at most', 'tile and halo', '2008: ms, over naive']) assert.ok(isEnglish(text), text);
});
