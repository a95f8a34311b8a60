import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comments, glossaryRows, printedText, problemsOfTerms, prose } from './terms.mjs';

const head = '# Glossary\n\n| English | Chinese | meaning | introduced in |\n|---|---|---|---|\n';
const glossary = `${head}| lane | 通道 | a place | [warps](9_first/warps.md) |\n| shared memory | 共享内存 | fast | [tiles](9_first/tiles.md) |\n`;
const unplaced = `${glossary}| ulp | ulp | small | |\n`;
const data = { terms: { lane: { forms: ['lane', 'lanes'], not: ['lane of a road'] }, 'shared memory': { forms: ['shared memory'] } }, ahead: [] };
const page = (name, text, more = []) => ({ page: `9_first/${name}.md`, file: `docs/9_first/${name}.md`, text, more });
const warps = page('warps', '# Warps and lanes\n\nThe place of a thread is its **lane**. There are 32 lanes.\n');
const tiles = page('tiles', '---\ntitle: Tiles\n---\n# Tiles\n\nAll threads of a block reach <dfn>shared memory</dfn>.\n');
const problems = (stops, changed = {}) => problemsOfTerms({ glossary, data: { ...data, ...changed }, stops });

test('a book that introduces each word where it is used first has no problems', () => {
    assert.deepEqual(problems([page('first', '# First\n\nThreads.\n'), warps, tiles, page('last', 'Lanes use shared memory.\n')]), []);
});

test('a word that is used too early is reported with page, line, and word', () => {
    assert.deepEqual(problems([page('first', '# First\n\nThreads run.\nThere are 32 Lanes, and all\nof them use shared\nmemory.\n'), warps, tiles]), [
        "docs/9_first/first.md:4: 'Lanes' is used before docs/9_first/warps.md introduces it",
        "docs/9_first/first.md:5: 'shared memory' is used before docs/9_first/tiles.md introduces it",
    ]);
    assert.deepEqual(problems([tiles, page('warps', 'Its lanes wait. A **lane** is a place.\n')]), [
        "docs/9_first/warps.md:1: 'lanes' is used before docs/9_first/warps.md introduces it",
    ]);
});

test('the order decides: the same pages the other way round use a word too early', () => {
    const user = page('user', 'Each lane adds.\n');
    assert.deepEqual(problems([warps, user, tiles]), []);
    assert.deepEqual(problems([user, warps, tiles]), ["docs/9_first/user.md:1: 'lane' is used before docs/9_first/warps.md introduces it"]);
});

test('the page that introduces a word has to mark it', () => {
    const found = problems([page('warps', 'A lane is a place.\n'), tiles]);
    assert.equal(found.length, 1);
    assert.match(found[0], /^docs\/9_first\/warps\.md:1: introduces 'lane' \(docs\/glossary\.md:5\), but does not mark it/);
});

test('the glossary and the list of forms have to agree, and a word is introduced on the path', () => {
    assert.deepEqual(problems([warps]), ["docs/glossary.md:6: 'shared memory' needs a link to the page of the path that introduces it; 9_first/tiles.md is not on the path"]);
    const withoutPlace = ["docs/glossary.md:7: 'ulp' needs a link to the page that introduces it"];
    assert.deepEqual(problemsOfTerms({ glossary: unplaced, data, stops: [warps, tiles] }), withoutPlace);
    assert.deepEqual(problemsOfTerms({ glossary: unplaced, data: { ...data, terms: { ...data.terms, ulp: { forms: ['ulp'] } } }, stops: [warps, tiles] }), withoutPlace);
    assert.deepEqual(problems([warps, tiles], { terms: { ...data.terms, wave: { forms: ['wave'] } } }), ["docs/glossary.json: 'wave' is not in docs/glossary.md"]);
    assert.deepEqual(problems([warps, tiles], { terms: { lane: data.terms.lane } }), [
        "docs/glossary.md:6: 'shared memory' is introduced by 9_first/tiles.md, but docs/glossary.json does not say in which forms it is written",
    ]);
});

test('what a lesson prints, and what its kernels say in comments, counts like its page', () => {
    const source = '#include "lanes"\nvoid f(Lesson& lesson) {\n    // lanes\n    run("all_lanes");\n    lesson.question(\n        R"(How many\nlanes work?)");\n    lesson.conclusion(gpu ? "a lane" : "`lanes`");\n}\n';
    const lesson = page('first', 'Nothing.\n', [{ file: 'chapters/9_first/first/lesson.cu', text: printedText(source) }]);
    assert.deepEqual(problems([lesson, warps, tiles]), [
        "chapters/9_first/first/lesson.cu:7: 'lanes' is used before docs/9_first/warps.md introduces it",
        "chapters/9_first/first/lesson.cu:8: 'lane' is used before docs/9_first/warps.md introduces it",
    ]);
    const cells = 'rows.push_back({name, "32 lanes"});\nlesson.expect(right("lanes"), "all lanes " + text(1));\nchar c = \'"\'; lesson.predict({.question = R"(How many\nlanes?)"});\n';
    assert.deepEqual(problems([page('first', '', [{ file: 'a.cu', text: printedText(cells) }]), warps, tiles]), [
        "a.cu:1: 'lanes' is used before docs/9_first/warps.md introduces it",
        "a.cu:4: 'lanes' is used before docs/9_first/warps.md introduces it",
    ]);
    const kernels = page('first', '', [{ file: 'a.cuh', text: comments('int lanes;\n// all lanes, and `lane`\n') }]);
    assert.deepEqual(problems([kernels, warps, tiles]), ["a.cuh:2: 'lanes' is used before docs/9_first/warps.md introduces it"]);
});

test('code, formulas, tags, other meanings, and names of pages in links are no uses', () => {
    const text = [
        '# About lanes', '', '```code', 'a.cu: lanes', '```', '', '    lanes = 32;', '', 'Take `lanes` and $lane$, <X at="lane">1</X>, a lane of a road,',
        '[the lanes](lanes.md), and [Shared memory](tiles.md).', '',
    ].join('\n');
    const titles = new Map([['docs/9_first/tiles.md', 'Shared memory']]);
    assert.deepEqual(problemsOfTerms({ glossary, data, titles, stops: [page('first', text), warps, tiles] }), []);
    assert.deepEqual(problems([page('first', 'See [how lanes work](lanes.md).\n'), warps, tiles]), ["docs/9_first/first.md:1: 'lanes' is used before docs/9_first/warps.md introduces it"]);
    assert.equal(prose(text).length, text.length);
    assert.deepEqual(problems([page('first', '- a list\n\n    with lanes in its second paragraph\n'), warps, tiles]), ["docs/9_first/first.md:3: 'lanes' is used before docs/9_first/warps.md introduces it"]);
});

test('a sentence may look ahead if it is listed and links to the place that explains the word', () => {
    const first = page('first', 'There are 32 places, called\n[lanes](warps.md). And lanes again.\n');
    const entry = { file: 'docs/9_first/first.md', term: 'lane', sentence: 'There are 32 places, called [lanes](warps.md).' };
    assert.deepEqual(problems([first, warps, tiles], { ahead: [entry] }), ["docs/9_first/first.md:2: 'lanes' is used before docs/9_first/warps.md introduces it"]);
    assert.deepEqual(problems([page('first', 'Nothing.\n'), warps, tiles], { ahead: [entry] }), [
        `docs/glossary.json: 'lane' may be used early in docs/9_first/first.md, but "${entry.sentence}" is not there, or does not use it early`,
    ]);
    const unlinked = { ...entry, sentence: 'And lanes again.' };
    assert.deepEqual(problems([first, warps, tiles], { ahead: [entry, unlinked] }), [
        `docs/glossary.json: 'lane' may be used early in docs/9_first/first.md, but "And lanes again." links neither to the glossary nor to 9_first/warps.md`,
    ]);
});

test('the glossary is read by its columns', () => {
    assert.deepEqual(glossaryRows(unplaced), [
        { name: 'lane', line: 5, page: '9_first/warps.md' },
        { name: 'shared memory', line: 6, page: '9_first/tiles.md' },
        { name: 'ulp', line: 7, page: undefined },
    ]);
});
