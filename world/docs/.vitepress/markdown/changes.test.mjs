import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedLines, folded, withMarks } from './changes.mjs';

const lines = (before, after) => changedLines({ name: 'a', code: before }, { name: 'b', code: after });
const marked = (before, after) => lines(before, after).map((line) => ({ '': ' ', add: '+', remove: '-' })[line.kind] + line.text);
const words = (before, after) => lines(before, after).map(({ text, marks = [] }) => marks.map(([from, to]) => text.slice(from, to)));

test('lines that went and lines that came are marked, all others are not', () => {
    assert.deepEqual(marked('void a() {\n  one();\n  two();\n}', 'void b() {\n  one();\n  three();\n}'),
        [' void b() {', '   one();', '-  two();', '+  three();', ' }']);
});

test('another name alone is no change', () => {
    assert.deepEqual(marked('void a() { ab(); }', 'void b() { ab(); }'), [' void b() { ab(); }']);
});

test('comments are no changes: those of the later kernel are there, unmarked, and those of the earlier one are not', () => {
    assert.deepEqual(marked('void a() {\n  // old\n  one();  // once\n}', 'void b() {\n  // new\n\n  one();\n  // last\n}'),
        [' void b() {', '   // new', ' ', '   one();', '   // last', ' }']);
    assert.deepEqual(marked('one();\ntwo("//");', 'one();\n// why\nthree("//");'), [' one();', '-two("//");', ' // why', '+three("//");']);
});

test('another indentation or line break is no change', () => {
    assert.deepEqual(marked('f(x,\n  y);', 'f(x, y);'), [' f(x, y);']);
    assert.deepEqual(marked('{\n one();\n}', '{\n   one();\n}'), [' {', '    one();', ' }']);
});

test('of a line in which a few words changed, these are marked', () => {
    assert.deepEqual(words('float tile[32][32];', 'float tile[32][33];'), [['32'], ['33']]);
    assert.deepEqual(words('sum(x, y);', 'sum(x, y, z);  // three'), [[], [', z']]);
    assert.deepEqual(words('one();', 'quite = something + else_;'), [[], []]); // another line
});

test('marks go around what the highlighter made', () => {
    const html = '<span class="line"><span style="x">a[3</span><span>2]&#x3C;b</span></span>\n<span class="line">c</span>';
    assert.equal(withMarks(html, [[[2, 4], [5, 6]], []]),
        '<span class="line"><span style="x">a[<mark>3</mark></span><span><mark>2</mark>]<mark>&#x3C;</mark>b</span></span>\n<span class="line">c</span>');
});

test('of long runs without a change only the number of lines is left, but for the first line and those beside a change', () => {
    const code = (middle) => ['void a() {', ...Array.from({ length: 9 }, (_, i) => `  line(${i});`), middle, ...Array.from({ length: 5 }, (_, i) => `  more(${i});`), '}'].join('\n');
    const all = folded(changedLines({ name: 'a', code: code('  old();') }, { name: 'a', code: code('  changed();') }), (count) => `${count} lines`, 2);
    assert.deepEqual(all.map((line) => line.text),
        ['void a() {', '7 lines', '  line(7);', '  line(8);', '  old();', '  changed();', '  more(0);', '  more(1);', '4 lines']);
});

test('runs that are hardly longer than the line that would stand for them stay', () => {
    const all = folded([{ text: 'a', kind: '' }, { text: 'b', kind: '' }, { text: 'c', kind: '' }, { text: 'd', kind: 'add' }], () => 'folded', 0);
    assert.deepEqual(all.map((line) => line.text), ['a', 'b', 'c', 'd']);
});
