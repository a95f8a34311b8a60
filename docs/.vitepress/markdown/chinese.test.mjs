import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inChinese, isEnglish } from './chinese.mjs';

test('whole texts are looked up, and patterns carry their numbers and texts over', () => {
    assert.equal(inChinese('stride'), '步长');
    assert.equal(inChinese('256 points, 9001 charges'), '256 个点，9001 个电荷');
    assert.equal(inChinese('3840 for 5376'), '应为 5376，得到 3840');
    assert.equal(inChinese('sectors, predicted'), '扇区，预测');
    assert.equal(inChinese('nothing, predicted'), 'nothing，预测');
    assert.equal(inChinese('a word from nowhere'), undefined);
});

test('a lesson may mean something else by a word', () => {
    assert.equal(inChinese('constant', 'histogram'), '全相同');
    assert.equal(inChinese('constant', 'memory_spaces'), '常量');
});

test('figures, units and names of the code are not English', () => {
    for (const text of ['', '-', '12.5 KiB', 'GB/s', 'x = 2', '4 GB/s', 'sum_by_last_block', 'cub::DeviceReduce::Sum', '步骤', '上限 (roof C)']) assert.ok(!isEnglish(text), text);
    for (const text of ['stride', 'GB/s at most', 'tile and halo', '2008: ms, over naive']) assert.ok(isEnglish(text), text);
});
