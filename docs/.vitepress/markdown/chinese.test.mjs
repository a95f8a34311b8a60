import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inChinese, isEnglish, unusedEntries, withoutChinese } from './chinese.mjs';

test('whole texts are looked up, and patterns carry their numbers and texts over', () => {
    assert.equal(inChinese('stride'), '步长');
    assert.equal(inChinese('256 points, 9001 charges'), '256 个点，9001 个电荷');
    assert.equal(inChinese('3840 for 5376'), '应为 5376，得到 3840');
    assert.equal(inChinese('sectors, predicted'), '扇区，预测');
    assert.equal(inChinese('nothing, predicted'), 'nothing，预测');
    assert.equal(inChinese('a word from nowhere'), undefined);
});

test('of several patterns the most particular one is taken', () => {
    assert.equal(inChinese('Loads of 4 bytes; times recorded on one NVIDIA H200 (memory_model --device cuda, 2026-11-22)'),
        '4 字节的加载；时间在一块 NVIDIA H200 (memory_model --device cuda, 2026-11-22) 上记录');
    assert.equal(inChinese('4 of 4'), '4 of 4');
    assert.equal(inChinese('2 of 4 wrong'), '4 个里错 2 个');
});

test('what nobody has translated is found, also inside of a pattern', () => {
    assert.deepEqual(withoutChinese('stride'), []);
    assert.deepEqual(withoutChinese('nothing that is known, predicted'), ['nothing that is known']);
    assert.deepEqual(withoutChinese('12.5 KiB'), []);
});

test('an entry counts as used once a text needed it', () => {
    assert.ok(unusedEntries().includes('producer and consumer'));
    inChinese('producer and consumer');
    assert.ok(!unusedEntries().includes('producer and consumer'));
});

test('a lesson may mean something else by a word', () => {
    assert.equal(inChinese('constant', 'histogram'), '全相同');
    assert.equal(inChinese('constant', 'memory_spaces'), '常量');
});

test('figures, units and names of the code are not English', () => {
    for (const text of ['', '-', '12.5 KiB', 'GB/s', 'x = 2', '4 GB/s', 'sum_by_last_block', 'cub::DeviceReduce::Sum', 'blockDim.x', 'cudaErrorInvalidValue', 'twice<<<1, 128>>>', '__sinf(v) + a', '66.91 Tflop/s', '步骤', '上限 (roof C)']) assert.ok(!isEnglish(text), text);
    for (const text of ['stride', 'GB/s at most', 'tile and halo', '2008: ms, over naive']) assert.ok(isEnglish(text), text);
});
