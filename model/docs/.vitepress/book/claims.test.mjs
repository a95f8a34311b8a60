import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allProblemsOfClaims, paragraphsOf, problemsOfMarkedTables, problemsOfShownRecords, problemsOfSource } from './claims.mjs';

const step = (name, number, microseconds, rate) => ({
    name, number, change: 'x', kind: 'device', comparison: { passed: true, largest_error: 0 },
    seconds: { median: microseconds * 1e-6, p10: microseconds * 1e-6, p90: microseconds * 1e-6 }, gb_per_s: rate, speed_up: 1,
});
const lesson = { name: 'copying', steps: [step('naive', 1, 552, 3890.4), step('wide', 2, 745, 4325.2)], tables: [{ name: 'rates', title: 'Rates', header: ['stride', 'GB/s'], rows: [['8', '928']] }] };
const run = { device: { kind: 'cuda' }, lessons: [lesson] };
const own = { run, lesson, source: 'run copying' };
const lessons = new Map([['copying', own], ['moving', { run, lesson: { ...lesson, name: 'moving', steps: [step('slow', 1, 99, 77)], tables: [] }, source: 'run moving' }]]);
const inSource = (text, of = own) => problemsOfSource(text, of, lessons).map(({ line, message }) => `${line}: ${message}`);

test('a wrong number in a comment next to "measured" or "H200" is found, with its line', () => {
    assert.deepEqual(inSource('int x;\n// On an H200 it takes 552 us, at 4325 GB/s.\n'), []);
    assert.deepEqual(inSource('int x;\n// On an H200 it takes 553 us.\n'), ['2: "553 us" claims to be measured, and is not in run copying']);
    assert.equal(inSource('// We measured 4.4 TB/s.\n').length, 1);
    assert.equal(inSource('// It was measured.\n// Without the tile it took 12 ms.\n').length, 1);
});

test('a wrong number in the text of a lesson is found', () => {
    const text = (words) => `lesson.text(\n    R"(A first paragraph.\n\n${words})");\nconst double x = 1;\n`;
    assert.deepEqual(inSource(text('An H200 reaches 928 GB/s\nwith stride 8.')), []);
    assert.match(inSource(text('An H200 reaches 929 GB/s\nwith stride 8.'))[0], /^4: "929 GB\/s"/);
    assert.equal(inSource('lesson.text("On an H200 12 ms.");\n').length, 1);
});

test('a sentence may quote another lesson that it names', () => {
    assert.deepEqual(inSource('// An H200 has 77 GB/s (lesson moving).\n'), []);
    assert.equal(inSource('// An H200 has 77 GB/s.\n').length, 1);
});

test('what is said to be not recorded, documented, or worked out claims nothing, and neither does a number far from such words', () => {
    assert.deepEqual(inSource('// A trial version took 12 ms on an H200 (that run is not recorded).\n'), []);
    assert.deepEqual(inSource('// NVIDIA documents 3.35 TB/s for another chip, not the H200.\n'), []);
    assert.deepEqual(inSource('// Worked out for an H200: 12 ms.\n'), []);
    assert.deepEqual(inSource('// The display is refreshed each 16.7 ms.\n'), []);
});

test('comments, strings, and raw strings are paragraphs of their own', () => {
    const found = paragraphsOf('// One,\n// two.\n//\n// Three.\nf("four"); // five\nR"(Six\nseven.\n\n    code\nEight.)"');
    assert.deepEqual(found.map(({ text, line }) => [line, text]), [[1, 'One, two.'], [4, 'Three.'], [5, 'five'], [6, 'Six seven.'], [10, 'Eight.']]);
});

const inReadme = (text) => problemsOfMarkedTables(text, (name) => {
    if (!lessons.has(name)) throw new Error(`no lesson '${name}' is recorded`);
    return lessons.get(name);
}).map(({ line, message }) => `${line}: ${message}`);

test('a wrong number in a marked table of the README is found', () => {
    const table = (figure) => `<!-- measured -->\n\n| lesson | size | step |\n|---|---|---|\n| \`copying\` | 2^30 | ${figure} |\n| | 7 | 552 us |\n`;
    assert.deepEqual(inReadme(table('4325 GB/s')), []);
    assert.match(inReadme(table('4326 GB/s'))[0], /^5: 4326 GB\/s is not in run copying/);
    assert.match(inReadme(table('4325; 4326')) [0], /4326 is not in/);
    assert.deepEqual(inReadme(table('4326 GB/s').replace('<!-- measured -->', '')), []);
    assert.match(inReadme(table('1 ms').replace('copying', 'cooking'))[0], /no lesson 'cooking'/);
    assert.match(inReadme('<!-- measured -->\n\nNo table.\n')[0], /no table below/);
});

test('a wrong number in a marked listing of the README is found', () => {
    const listing = (row) => `<!-- measured: run copying -->\n\n    step  what changed  result\n${row}\n\nText.\n`;
    const right = '     1 naive   x   ok, exact  552 us  0.0 %  3890  1.00x';
    assert.deepEqual(inReadme(listing(right)), []);
    assert.match(inReadme(listing(right.replace('3890', '3891')))[0], /^4: 1 naive has 3890 in run copying/);
    assert.match(inReadme(listing('     3 other  x'))[0], /shows no step/);
});

test('of a listing of the CPU device, the columns of recorded figures are checked', () => {
    const listing = (time) => `<!-- measured: run copying -->\n\n    step     H200 time  requests\n    -------  ---------  --------\n     1 naive ${time.padStart(9)}        32\n`;
    assert.deepEqual(inReadme(listing('552 us')), []);
    assert.match(inReadme(listing('553 us'))[0], /^5: 1 naive has 552 us in run copying, not 553 us/);
});

test('a table of the CPU device shows the figures that are recorded today', () => {
    const shown = (note, header, row) => problemsOfShownRecords({ tables: [{ name: 'rates', title: 'Rates', note, header, rows: [row] }] }, own);
    const note = 'GB/s recorded on one NVIDIA H200 (copying --device cuda, 2026-11-22)';
    assert.deepEqual(shown(note, ['stride', 'counted', 'GB/s on an H200'], ['8', '12345', '928']), []);
    assert.match(shown(note, ['stride', 'counted', 'GB/s on an H200'], ['8', '12345', '929'])[0], /929 is not in run copying/);
    assert.match(shown(note, ['stride', 'GB/s'], ['8', '929'])[0], /929 is not in/);
    assert.match(shown(note, ['stride', 'GB/s on an H200'], ['8', '-'])[0], /no recorded figure is found/);
    assert.deepEqual(shown(undefined, ['stride', 'counted'], ['8', '929']), []);
});

test('nothing of this repository claims what is not recorded', () => {
    assert.deepEqual(allProblemsOfClaims(), []);
});
