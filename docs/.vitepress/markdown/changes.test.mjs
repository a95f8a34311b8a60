import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedLines } from './changes.mjs';

const marked = (before, after) =>
    changedLines({ name: 'a', code: before }, { name: 'b', code: after }).map((line) => ({ '': ' ', add: '+', remove: '-' })[line.kind] + line.text);

test('lines that went and lines that came are marked, all others are not', () => {
    assert.deepEqual(marked('void a() {\n  one();\n  two();\n}', 'void b() {\n  one();\n  three();\n}'),
        [' void b() {', '   one();', '-  two();', '+  three();', ' }']);
});

test('another name alone is no change', () => {
    assert.deepEqual(marked('void a() { ab(); }', 'void b() { ab(); }'), [' void b() { ab(); }']);
});
