import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedLines, folded } from './changes.mjs';

const marked = (before, after) =>
    changedLines({ name: 'a', code: before }, { name: 'b', code: after }).map((line) => ({ '': ' ', add: '+', remove: '-' })[line.kind] + line.text);

test('lines that went and lines that came are marked, all others are not', () => {
    assert.deepEqual(marked('void a() {\n  one();\n  two();\n}', 'void b() {\n  one();\n  three();\n}'),
        [' void b() {', '   one();', '-  two();', '+  three();', ' }']);
});

test('another name alone is no change', () => {
    assert.deepEqual(marked('void a() { ab(); }', 'void b() { ab(); }'), [' void b() { ab(); }']);
});

test('of long runs without a change only the number of lines is left, but for the first line and those beside a change', () => {
    const code = (middle) => ['void a() {', ...Array.from({ length: 9 }, (_, i) => `  line(${i});`), middle, ...Array.from({ length: 5 }, (_, i) => `  more(${i});`), '}'].join('\n');
    const lines = folded(changedLines({ name: 'a', code: code('  old();') }, { name: 'a', code: code('  changed();') }), (count) => `${count} lines`, 2);
    assert.deepEqual(lines.map((line) => line.text),
        ['void a() {', '7 lines', '  line(7);', '  line(8);', '  old();', '  changed();', '  more(0);', '  more(1);', '4 lines']);
});

test('runs that are hardly longer than the line that would stand for them stay', () => {
    const lines = folded([{ text: 'a', kind: '' }, { text: 'b', kind: '' }, { text: 'c', kind: '' }, { text: 'd', kind: 'add' }], () => 'folded', 0);
    assert.deepEqual(lines.map((line) => line.text), ['a', 'b', 'c', 'd']);
});
