import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createMarkdownRenderer } from 'vitepress';
import { readBook } from '../book/pages.mjs';
import { root } from '../book/repository.mjs';
import { cuda } from './cuda.mjs';
import { bookMarkdown } from './index.mjs';

const book = readBook();
const failures = [];
const untranslated = [];
const md = await createMarkdownRenderer(path.join(root, 'docs'), {
    ...cuda,
    config: (markdown) =>
        bookMarkdown(markdown, { book, failed: (failure) => failures.push(failure), untranslated: (word) => untranslated.push(word) }),
});
const render = (text, page = '2_memory_model/coalescing.md') => md.render(text, { path: path.join(root, 'docs', page), relativePath: page });
const failed = (text, page) => {
    failures.length = 0;
    render(text, page);
    return failures.map((failure) => failure.message);
};

const file = 'chapters/2_memory_model/coalescing/particles.cuh';
const lesson = 'chapters/2_memory_model/coalescing/lesson.cu';
const code = (content, info = 'code') => `\`\`\`${info}\n${content}\n\`\`\`\n`;

test('a kernel is shown with its comment, its file and its line', () => {
    const html = render(code(`${file}: energy_from_structures`));
    assert.match(html, /Step 1, the particles/);
    assert.match(html, /__global__/);
    assert.match(html, /particles\.cuh:\d+<\/a><\/figcaption>/);
    assert.doesNotMatch(render(code(`${file}: energy_from_structures`, 'code bare')), /Step 1, the particles/);
});

test('CUDA words have a color of their own', () => {
    const html = render(code(`${lesson}: from_structures`));
    assert.match(html, /<span style="[^"]*">\s*&lt;&lt;&lt;<\/span>|&#x3C;&#x3C;&#x3C;<\/span>/);
});

test('what changed is marked', () => {
    const html = render(code(`${file}: energy_from_structures -> energy_from_structures_float4`, 'change'));
    const diff = html.match(/class="line diff (?:add|remove)"[^]*?\n/g);
    assert.deepEqual(diff.map((line) => /diff (\w+)/.exec(line)[1]), ['remove', 'remove', 'add', 'add', 'add', 'add']);
    assert.doesNotMatch(html, /class="line diff [^>]*><span[^>]*>\s*\/\//); // comments
    const bank = render(code('chapters/2_memory_model/bank_conflicts/kernels.cuh: sums_in_tile -> sums_in_padded_tile', 'change'));
    assert.match(bank, /<mark>[^<]+<\/mark>/);
    assert.match(bank, /class="line diff add" style="--in:4"/);
});

test('a file without a name is shown as a whole', () => {
    const stub = 'exercises/2_memory_model/pad_the_tile/pad_the_tile.cu';
    const html = render(code(stub));
    assert.match(html, /Exercise: a tile whose columns/);
    assert.match(html, /rotate_tiles&#x3C;&#x3C;&#x3C;|rotate_tiles/);
    assert.match(html, /pad_the_tile\.cu:1<\/a><\/figcaption>/);
    assert.match(failed(code('exercises/no.cu'))[0], /there is no file exercises\/no\.cu/);
});

test('names stay beside the first figures: what is between them is repeated for narrow windows', () => {
    const html = render(code('h200_chapter_2 coalescing', 'results'));
    assert.match(html, /<th scope="row" data-aside="[^"]+; ok[^"]*">\d energy_<wbr>from_/);
    assert.match(html, /<th scope="col" class="aside">what changed<\/th>/);
});

test('each ladder of a lesson is a table of its own', () => {
    const html = render(code('h200_chapter_3 divergence', 'results'), '3_optimization/divergence.md');
    assert.equal(html.match(/<table>/g).length, 2);
    assert.match(html, /<tbody>\n<tr><th scope="row"[^>]*>1 serial_<wbr>hailstones/);
    assert.equal(render(code('h200_chapter_2 coalescing', 'results')).match(/<table>/g).length, 1);
});

test('what changed from one file to another names the later one', () => {
    const html = render(code('chapters/1_basics_and_pi/vector_add/kernels.cuh: add_one_per_thread -> chapters/1_basics_and_pi/matrix_add/kernels.cuh: add_x_along_rows', 'change'));
    assert.match(html, /chapters\/1_basics_and_pi\/matrix_add\/kernels\.cuh:\d+<\/a><\/figcaption>/);
    assert.match(html, /class="line diff add"/);
    assert.match(failed(code('chapters/1_basics_and_pi/vector_add/kernels.cuh: add_one_per_thread -> chapters/no.cu: x', 'change'))[0], /there is no file chapters\/no\.cu/);
});

test('an unknown kernel, file, run, lesson or table fails with page and line', () => {
    failures.length = 0;
    render(`text\n\n${code(`${file}: energy_from_nothing`)}`);
    assert.equal(failures[0].page, 'docs/2_memory_model/coalescing.md');
    assert.match(failures[0].message, /particles\.cuh: there is no 'energy_from_nothing'/);
    assert.match(failed(code('chapters/no.cu: x'))[0], /there is no file chapters\/no\.cu/);
    assert.match(failed(code('h300_chapter_2 coalescing', 'results'))[0], /no recorded run/);
    assert.match(failed(code('h200_chapter_2 coalescin', 'results'))[0], /no lesson/);
    assert.match(failed(code('h200_chapter_2 coalescing no_such', 'results'))[0], /has no table/);
    assert.match(failed(code('cpu_chapter_2 coalescing', 'bars'))[0], /has no times/);
});

test('a recorded table holds what the program printed, and where it is from', () => {
    const html = render(code('h200_chapter_2 coalescing', 'results'));
    assert.match(html, />2429</);
    assert.match(html, /NVIDIA H200 .*memory_model coalescing --device cuda<\/code>, 2026-/);
    assert.match(render(code('h200_chapter_2 coalescing offset', 'results')), />2367</);
    assert.match(render(code('h200_chapter_2 host_memory_and_streams timeline', 'results')), /<pre v-pre>1 stream\n {2}0 {2}&gt;0&gt;#0[^]*NVIDIA H200/);
    assert.match(render(code('cpu_chapter_2 coalescing', 'results')), /counters_and_reports\.html#sectors-per-request/);
});

test('a Chinese page translates what a recorded table says, and keeps names and figures', () => {
    const html = render(code('cpu_chapter_2 bank_conflicts', 'results'), 'zh/2_memory_model/bank_conflicts.md').replaceAll('<wbr>', '');
    assert.match(html, /<a href="\/zh\/counters_and_reports\.html#wavefronts-and-conflicts">冲突<br><small>conflicts<\/small><\/a>/);
    assert.match(html, /sums_in_padded_tile<\/th><td[^>]*>tile\[32\]\[33\]/);
    assert.match(html, /Warpwise 的 CPU 设备 \(计算能力 9\.0, /);
    assert.doesNotMatch(render(code('cpu_chapter_2 bank_conflicts', 'results')), /[\u4e00-\u9fff]/);
});

test('heads and cells that nobody has translated are reported on Chinese pages, with page and line', () => {
    const fence = code('docs/README.md: 1', 'table');
    const reported = () => untranslated.map(({ line, message }) => `${line}: ${/"(.*?)"/.exec(message)[1]}`);
    untranslated.length = 0;
    render(fence);
    assert.deepEqual(untranslated, []);
    render(`text\n\n${fence}`, 'zh/no_such_page.md');
    assert.deepEqual(reported().slice(0, 2), ['3: page', '3: what it holds']);
    assert.ok(untranslated.length > 2);
    untranslated.length = 0;
    render(`text\n\n${code('docs/README.md: 1', 'table heads')}`, 'zh/no_such_page.md');
    assert.deepEqual(reported(), ['3: page', '3: what it holds']);
});

test('a table of another page is taken from there, in the language of the page', () => {
    const fence = code('docs/results/counters_h200.md: 1', 'table');
    assert.match(render(fence, 'zh/results/counters_h200.md'), /<td>全局加载请求数<\/td>/);
    assert.match(render(fence), /<td>global load requests<\/td>/);
    assert.match(failed(code('docs/results/counters_h200.md: 3', 'table'))[0], /counters_h200\.md has 2 tables, not 3/);
});

test('measured and cited figures stay inside of their paragraph, also at the start of a line', () => {
    const html = render('It takes\n<Measured source="h200_chapter_2 coalescing">552 us</Measured>, and\n<Literature source="GTX 260, 2008">0.117 ms</Literature> then.');
    assert.match(html, /<p>It takes\s<a class="measured" href="\/recorded\.html#h200_chapter_2" title="NVIDIA H200[^"]*">552 us<\/a>, and/);
    assert.match(html, /0\.117 ms <cite>\(GTX 260, 2008\)<\/cite><\/span> then\.<\/p>/);
});

test('a run of our own has its source at the end of the page, once, in the language of the page', () => {
    const source = 'a trial version, one NVIDIA H200, 2026-11-22';
    const figure = `<OurRun source="${source}">2926 GB/s</OurRun>`;
    const html = render(`It read\n${figure}, and ${figure} again, and <OurRun source="another, 2026-11-23">3 us</OurRun>.`);
    const mark = (number, of) => `<sup><a href="#our-run-${number}" title="Our run, not recorded: ${of}">${number}</a></sup></span>`;
    assert.ok(html.includes(`<span class="our-run">2926 GB/s${mark(1, source)}, and`), html);
    assert.ok(html.includes(`2926 GB/s${mark(1, source)} again, and <span class="our-run">3 us${mark(2, 'another, 2026-11-23')}.</p>`), html);
    assert.equal(html.match(/<li id="our-run-1">Our run, not recorded: a trial version, one NVIDIA H200, 2026-11-22<\/li>/g).length, 1);
    assert.match(html, /<li id="our-run-2">Our run, not recorded: another, 2026-11-23<\/li>\n<\/ol>/);
    assert.match(render(figure, 'zh/2_memory_model/coalescing.md'), /<li id="our-run-1">我们自己的运行，没有存档：a trial/);
    assert.doesNotMatch(render('Nothing was run.'), /our-runs/);
});

test('links lead to pages of the book, and to the sources', () => {
    assert.match(render('[x](../glossary.md)'), /href="\/glossary\.html"/);
    assert.match(render('[x](../glossary.md#a)', 'zh/2_memory_model/shared_memory.md'), /href="\/zh\/glossary\.html#a"/);
    assert.match(render('[x](../../exercises/2_memory_model/pad_the_tile/README.md)'), /href="\/exercises\/2_memory_model\/pad_the_tile\.html"/);
    assert.match(render('[x](../../chapters/2_memory_model/coalescing/particles.cuh)'), /href="\/source\/chapters\/2_memory_model\/coalescing\/particles\.cuh\.html" target="_self"/);
    assert.match(failed('[x](../nowhere.md)')[0], /dead link: \.\.\/nowhere\.md/);
});

test('drawings and tables of programs keep their columns; other text and code may go on below', () => {
    assert.match(render(code('bin 0    copy 0    copy 1\nbin 1    copy 0    copy 1', 'txt')), /<div class="aligned language-txt/);
    assert.match(render('    bin 0    copy 0    copy 1\n'), /<div class="aligned language-txt/);
    assert.match(render(code('CPU device: a message that is long\nand goes on', 'txt')), /<div class="language-txt/);
    assert.match(render(code('int a;      // one\nint b;      // two', 'cuda')), /<div class="language-cuda/);
});

test('formulas become MathML, and predictions sections', () => {
    assert.match(render('$x^2$'), /<math[^>]*>.*<msup>/);
    assert.match(render('::: predict\nHow many?\n:::'), /<section class="predict"><p class="predict-title">Predict first/);
    assert.match(render('::: predict\n几个？\n:::', 'zh/2_memory_model/coalescing.md'), /先预测/);
});
