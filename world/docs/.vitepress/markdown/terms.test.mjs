import assert from 'node:assert/strict';
import { test } from 'node:test';
import path from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { glossary } from '../book/glossary.mjs';
import { readBook } from '../book/pages.mjs';
import { root } from '../book/repository.mjs';
import { bookMarkdown } from './index.mjs';
import { termFinder } from './terms.mjs';

const term = (id, forms, not = []) => ({ id, forms, not, page: 'x.md' });
const finder = termFinder([term('warp', ['warp', 'warps'], ['warp view']), term('bank', ['bank']), term('bank-conflict', ['bank conflict', 'bank conflicts']), term('sm', ['SM']), term('扇区', ['扇区'])]);
const names = (text) => finder(text, () => true).map(({ from, to, term: { id } }) => `${id}: ${text.slice(from, to)}`);

test('terms are found as whole words, the longer of two, and not in phrases that mean something else', () => {
    assert.deepEqual(names('Warps of an SM, not sm or warped; bank conflicts'), ['warp: Warps', 'sm: SM', 'bank-conflict: bank conflicts']);
    assert.deepEqual(names('The warp view shows a warp'), ['warp: warp']);
    assert.deepEqual(names('读 4 个扇区。'), ['扇区: 扇区']);
});

const book = readBook();
const md = await createMarkdownRenderer(path.join(root, 'docs'), { config: (markdown) => bookMarkdown(markdown, { book }) });
const render = (text, page = '2_memory_model/shared_memory.md') => md.render(text, { path: path.join(root, 'docs', page), relativePath: page });
const links = (html) => [...html.matchAll(/<a href="([^"]*)" class="term" data-term="[^"]*">([^<]*)</g)].map(([, href, word]) => `${word} ${href}`);

test('the first use of a term on a page leads to its row of the glossary', () => {
    const html = render('# A warp\n\nA `warp` in code, a [warp](../glossary.md), and a warp of 32 lanes. Another warp.\n\n| warp |\n|---|\n| sector |\n');
    assert.deepEqual(links(html), ['warp /glossary.html#term-warp', 'lanes /glossary.html#term-lane', 'sector /glossary.html#term-sector']);
    assert.deepEqual(links(render('每个线程束有 32 个 lane。', 'zh/2_memory_model/shared_memory.md')).map((link) => link.split(' ')[0]), ['线程束', 'lane']);
});

test('a page that introduces a term does not lead away from it, and the glossary has an anchor for each term', () => {
    const { page } = glossary('en').find(({ name }) => name === 'sector');
    assert.deepEqual(links(render('A sector.', page)), []);
    for (const language of ['en', 'zh']) {
        const place = language === 'zh' ? 'zh/glossary.md' : 'glossary.md';
        const html = render(book.pages.get(place).text, place);
        for (const { id } of glossary(language)) assert.ok(html.includes(`<tr id="${id}"`), `${language}: ${id}`);
        assert.deepEqual(links(html), []);
    }
});
