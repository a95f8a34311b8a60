import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excerptOf, find, prepared, sectionsOf } from './search.mjs';

const section = (url, page, heading, text, names = '') => ({ url, page, heading, text, names });
const index = prepared({
    sections: [
        section('cuda.html#atomicAdd', 'CUDA names', 'atomicAdd', 'Adds to a word in global memory.'),
        section('hist.html#step-2', 'Histogram', 'Step 2', 'All threads call atomicAdd on few counters.', 'atomicAdd counts'),
        section('bank.html', 'Bank conflicts', 'Bank conflicts', 'Lanes of a warp want words of one bank: a bank conflict.', 'energy_from_structures'),
        section('zh.html', '合并访问', '步长', '相邻线程的合并访问只要几个扇区。'),
    ],
    terms: [{ term: 'warp', others: ['warp', 'warps'], meaning: '32 threads that execute the code together', url: 'hierarchy.html', page: 'Thread hierarchy' }],
});
const urls = (query) => find(index, query).map(({ url }) => url);

test('a name leads to the section that is about it, a term to the page that introduces it', () => {
    assert.deepEqual(urls('atomicAdd'), ['cuda.html#atomicAdd', 'hist.html#step-2']);
    assert.deepEqual(urls('atomicAdd()'), ['cuda.html#atomicAdd', 'hist.html#step-2']);
    assert.equal(urls('warp')[0], 'hierarchy.html');
    assert.equal(urls('Warps')[0], 'hierarchy.html');
});

test('all words have to be there, parts of names and Chinese are found, and one mistyped letter is forgiven', () => {
    assert.deepEqual(urls('bank lanes'), ['bank.html']);
    assert.deepEqual(urls('bank histogram'), []);
    assert.deepEqual(urls('from_struct'), ['bank.html']);
    assert.deepEqual(urls('合并访问'), ['zh.html']);
    assert.deepEqual(urls('conflcit'), ['bank.html']);
    assert.deepEqual(urls('  '), []);
    assert.deepEqual(urls('zzzzzz'), []);
    assert.deepEqual(urls('[a-z]+'), []);
});

test('an excerpt is the text around the first word, with the words marked', () => {
    const text = `${'before '.repeat(30)}a warp of lanes ${'after '.repeat(60)}`;
    const parts = excerptOf(text, ['warp', 'lanes']);
    assert.deepEqual(parts.filter(({ marked }) => marked).map((part) => part.text), ['warp', 'lanes']);
    const whole = parts.map((part) => part.text).join('');
    assert.ok(whole.startsWith('… before') && whole.endsWith(' …') && whole.length < 200);
});

test('sections of a page are its text below each heading; code and tables of figures lend their names', () => {
    const html = '<h1 id="t" tabindex="-1">Title <a class="header-anchor" href="#t">&#8203;</a></h1><p>A <code>b&lt;1&gt;</code>.</p>' +
        '<h2 id="s">Second</h2><table><tr><td>prose</td></tr></table><table><tr><th>sums_<wbr>in_<wbr>tile</th><td class="number">3</td></tr></table><pre><code>call(<span>x_1</span>)</code></pre>';
    assert.deepEqual(sectionsOf(html, 'p.html', 'Title'), [
        { url: 'p.html', page: 'Title', heading: 'Title', text: 'A b<1>.', names: '' },
        { url: 'p.html#s', page: 'Title', heading: 'Second', text: 'prose', names: 'sums_in_tile call x_1' },
    ]);
});
