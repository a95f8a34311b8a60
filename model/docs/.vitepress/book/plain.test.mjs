import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readBook } from './pages.mjs';
import { bookParser, plainBook, writePlainBook } from './plain.mjs';
import { root } from './repository.mjs';

const folder = path.join(root, 'build', 'markdown');
const book = readBook();
const md = await bookParser(book);
const files = plainBook(book, md, folder);

/// The text without what stands in fences.
const outside = (text) => text.replace(/^ *(`{3,}|~{3,})[^\n]*\n[^]*?^ *\1 *$/gm, '').replace(/^(?: {4,}[^\n]*\n)+/gm, '\n').replace(/`[^`\n]*`/g, '');
const each = (check) => {
    for (const [name, text] of files) check(name, text);
};

test('there is a file for each page in both languages, and a table of contents', () => {
    for (const page of book.pages.keys()) assert.ok(files.has(page.startsWith('zh/') ? page : `en/${page}`), page);
    assert.match(files.get('README.md'), /en\/README\.md[^]*zh\/README\.md/);
    for (const chapter of book.chapters) {
        for (const lesson of chapter.lessons) assert.ok(files.get('en/README.md').includes(`(${chapter.folder}/${lesson.name}.md)`), lesson.name);
    }
});

test('no fence is empty, and none needs the site', () => {
    each((name, text) => {
        assert.doesNotMatch(text, /^ *(`{3,})[^\n`]*\n\s*\1 *$/m, name);
        assert.doesNotMatch(outside(text), /`{3,}/, `${name}: a fence is not closed`);
        assert.doesNotMatch(text, /^ *`{3,}(?:code|change|results|bars|recorded|table)\b/m, name);
    });
});

test('no component and no container of the site is left', () => {
    each((name, text) => {
        assert.doesNotMatch(outside(text), /<\/?[A-Z]\w*/, name);
        assert.doesNotMatch(outside(text), /^:::/m, name);
        assert.doesNotMatch(text, /[`[/]undefined|undefined[`\]/]|\(undefined\)|\[object /, name);
    });
});

test('every run of our own has a footnote with its source, and each source one', () => {
    let found = 0;
    each((name, text) => {
        const marks = new Set([...text.matchAll(/(?<!^)\[\^(\d+)\]/gm)].map((mark) => mark[1]));
        const notes = [...text.matchAll(/^\[\^(\d+)\]: (.+)$/gm)];
        assert.deepEqual(notes.map((note) => note[1]).sort(), [...marks].sort(), name);
        assert.equal(new Set(notes.map((note) => note[2])).size, notes.length, name);
        found += notes.length;
    });
    assert.ok(found > 0);
});

test('links lead to files and to places in them', () => {
    const ids = new Map();
    const idsOf = (name) => {
        if (!ids.has(name)) {
            const text = files.get(name);
            const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => title.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replace(/ /g, '-'));
            ids.set(name, new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1])]));
        }
        return ids.get(name);
    };
    let count = 0;
    each((name, text) => {
        for (const [, href] of outside(text).matchAll(/\]\(([^)\s]+)\)/g)) {
            if (/^[a-z][a-z+.-]*:/i.test(href)) continue;
            const [file, anchor] = href.split('#');
            const target = file === '' ? name : path.posix.join(path.posix.dirname(name), decodeURI(file));
            count += 1;
            if (files.has(target)) assert.ok(!anchor || idsOf(target).has(decodeURIComponent(anchor)), `${name}: no place ${href}`);
            else assert.ok(fs.existsSync(path.join(folder, path.dirname(name), decodeURI(file))), `${name}: dead link ${href}`);
        }
    });
    assert.ok(count > 1000, `only ${count} links were seen`);
});

test('a page holds its kernels, its changes, and its recorded figures', () => {
    const page = files.get('en/1_basics_and_pi/matrix_add.md');
    assert.match(page, /```diff\n[^]*?^\+[^]*?```\n.*kernels\.cuh:\d+\]\(\.\.\/\.\.\/\.\.\/\.\.\/chapters\/1_basics_and_pi\/matrix_add\/kernels\.cuh#L\d+\)/m);
    assert.match(page, /```cuda\n[^]*?__global__/);
    assert.match(page, /\| 4 add_x_along_rows \|/);
    assert.match(page, /\*NVIDIA H200 .*basics_and_pi --device cuda`/);
    assert.match(files.get('zh/1_basics_and_pi/matrix_add.md'), /\[\S*[\u4e00-\u9fff].*\]\(\.\.\/counters_and_reports\.md#/);
});

test('it is written anew into its own folder, and never over other files', () => {
    const own = fs.mkdtempSync(path.join(os.tmpdir(), 'markdown-'));
    try {
        writePlainBook(new Map([['en/a.md', 'first\n'], ['README.md', 'x\n']]), own);
        writePlainBook(new Map([['en/b.md', 'second\n'], ['README.md', 'y\n']]), own);
        assert.deepEqual(fs.readdirSync(path.join(own, 'en')), ['b.md']);
        assert.equal(fs.readFileSync(path.join(own, 'README.md'), 'utf8'), 'y\n');
        fs.rmSync(path.join(own, '.made_by_warpwise'));
        assert.throws(() => writePlainBook(new Map(), own), /holds other files/);
    } finally {
        fs.rmSync(own, { recursive: true });
    }
});
