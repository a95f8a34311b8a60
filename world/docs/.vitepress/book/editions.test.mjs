import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { articleOf, linkPreview, pagesInOrder, printedBook, searchOf } from './editions.mjs';
import { relativeLinks } from './offline.mjs';
import { readBook, titleOf } from './pages.mjs';
import { root } from './repository.mjs';

const book = readBook();

test('links of the offline edition start from the page, and stay as they are where they lead elsewhere', () => {
    assert.equal(relativeLinks('<a href="/glossary.html#x">', 'zh/a/b.html'), '<a href="../../glossary.html#x">');
    assert.equal(relativeLinks('<a class="y" href="/"><link href="/assets/s.css"><script src="/assets/a.js">', 'zh/index.html'),
        '<a class="y" href="../index.html"><link href="../assets/s.css"><script src="../assets/a.js">');
    assert.equal(relativeLinks('<a href="/zh/">', 'zh/index.html'), '<a href="index.html">');
    for (const other of ['<a href="#x">', '<a href="https://x.y/z">', '<a href="//x.y/z">', 'href="/x"']) assert.equal(relativeLinks(other, 'a.html'), other);
});

test('all pages of the sidebar are in reading order, once', () => {
    for (const language of ['en', 'zh']) {
        const order = pagesInOrder(book, language);
        assert.equal(new Set(order).size, order.length);
        for (const page of order) assert.ok(book.pages.has(page), page);
        assert.ok(order.length > 100);
        const chapter = language === 'zh' ? 'zh/2_memory_model/coalescing.md' : '2_memory_model/coalescing.md';
        assert.ok(order.indexOf(chapter) < order.indexOf(chapter.replace('2_memory_model', 'exercises/2_memory_model').replace('coalescing.md', 'coalesce_structures.md')));
    }
});

const main = (text) => `<div><main class="main"><!--[-->${text}<!--]--></main></div>`;

test('the printable book holds the pages with links inside of it, and answers open', () => {
    const articles = new Map([
        ['start_here.md', articleOf(main('<h1 id="a">Start</h1><a href="/glossary.html#term-warp">warp</a><a href="#a">up</a><button>x</button><details><summary>q</summary></details>'))],
        ['glossary.md', articleOf(main('<table><tr id="term-warp"></tr></table><a href="/source/x.cu.html#L1">x.cu</a>'))],
        ['zh/glossary.md', articleOf(main('中文'))],
    ]);
    const html = printedBook(book, articles, 'en', { style: 'assets/style.css', titleOf });
    assert.match(html, /<article id="start_here">\n<h1 id="start_here--a">Start<\/h1><a href="#glossary--term-warp">warp<\/a><a href="#start_here--a">up<\/a><details open>/);
    assert.match(html, /<tr id="glossary--term-warp">/);
    assert.match(html, /<a href="source\/x\.cu\.html#L1">/);
    assert.doesNotMatch(html, /中文|<button|<!--/);
});

test('the search has sections of the language, and terms', () => {
    const articles = new Map([['start_here.md', '<h1 id="a">Start</h1><p>Text &amp; <code>x</code>, y</p><h2 id="b">More</h2><pre>code_of_it(1)</pre>'], ['zh/start_here.md', '<h1 id="a">入门</h1><p>文字</p>']]);
    const { sections, terms } = searchOf(book, articles, 'en', titleOf);
    assert.deepEqual(sections.map(({ url, heading, text, names }) => [url, heading, text, names]), [
        ['start_here.html', 'Start', 'Text & x, y', ''],
        ['start_here.html#b', 'More', '', 'code_of_it'],
    ]);
    assert.ok(terms.some(({ term, url }) => term === 'warp' && /\.html$/.test(url)));
    assert.deepEqual(searchOf(book, articles, 'zh', titleOf).sections.map(({ heading }) => heading), ['入门']);
});

test('pages say title, description, and picture to those who link to them, and the picture exists', () => {
    const head = linkPreview({ page: 'zh/glossary.md', title: '术语表', description: 'd' }, { site: 'https://a.b', base: '/c/' });
    const content = (name) => head.find(([, attributes]) => attributes.property === name)[1].content;
    assert.equal(content('og:title'), '术语表');
    assert.equal(content('og:url'), 'https://a.b/c/zh/glossary.html');
    assert.equal(content('og:image'), 'https://a.b/c/link_preview.png');
    assert.equal(content('og:locale'), 'zh_CN');
    const picture = fs.readFileSync(path.join(root, 'docs/public/link_preview.png'));
    assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [1200, 630]);
    assert.ok(picture.length < 300_000);
});

test('the site is built and published by a workflow whose steps are commands that there are', () => {
    const workflow = fs.readFileSync(path.join(root, '.github/workflows/pages.yml'), 'utf8');
    const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'docs/package.json'), 'utf8'));
    for (const [, name] of workflow.matchAll(/npm run (\w+)/g)) assert.ok(scripts[name], name);
    assert.match(workflow, /BOOK_BASE: .*base_path/);
    assert.match(workflow, /uses: actions\/deploy-pages@/);
});
