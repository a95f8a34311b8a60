import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { anchorOf, namesOfIndex, namesPage, sourcesOfPath, usesName } from './names.mjs';
import { readBook } from './pages.mjs';
import { root } from './repository.mjs';

const book = readBook();
const groups = namesOfIndex();
const names = groups.flatMap(({ names: some }) => some);
const sources = sourcesOfPath();

test('every name is used by a lesson or an exercise, and is taught by a lesson of the book', () => {
    const solutions = fs.readdirSync(path.join(root, 'solutions'), { recursive: true }).filter((name) => /\.cu$/.test(name)).map((name) => fs.readFileSync(path.join(root, 'solutions', name), 'utf8')).join('\n');
    for (const { name, lesson } of names) {
        assert.ok(book.pages.has(`${lesson}.md`), `${name}: there is no page ${lesson}`);
        const isSaid = [...book.pages.values()].some(({ origin, text }) => /^docs\/\d/.test(origin) && text.includes(name));
        assert.ok(sources.some(({ text }) => usesName(text, name)) || usesName(solutions, name) || isSaid, `nothing uses ${name}`);
    }
    assert.equal(new Set(names.map(({ name }) => anchorOf(name))).size, names.length);
});

test('what several lessons or exercises use is in the index', () => {
    const listed = names.map(({ name }) => name).join('\n');
    // Types, values and helpers that belong to one of the names.
    const others = /^(?:cudaSuccess|cudaMemcpy\w+To\w+|cudaMemcpyDefault|cudaDevice(?:Prop|Attr)|cudaDevAttr\w+|cudaError\w+|cudaStream\w*_t|cudaStreamDestroy|cudaFreeHost|cudaFuncAttributes?\w*|cudaTextureDesc|cudaResource\w+|cudaReadMode\w+|cudaDestroyTextureObject|cudaCreateChannelDesc|cudaTextureObject_t|cudaEvent_t|cudaEventDestroy|cudaGetErrorName|cudaFreeAsync|cudaLaunchKernel|cudaAddressMode\w+)$/;
    const used = new Map();
    for (const { text } of sources) for (const name of new Set(text.replace(/\/\/.*/g, '').match(/\b(?:cuda[A-Z]\w+|__(?:sync|shfl|ballot|any|threadfence|ldg)\w*|atomic[A-Z]\w+)\b/g))) used.set(name, (used.get(name) ?? 0) + 1);
    for (const [name, count] of used) if (count >= 3 && !others.test(name)) assert.ok(listed.includes(name) || /^atomicMin$/.test(name), `${name} is used by ${count}`);
});

test('both languages say of each name what it does, what goes wrong, and where it is taught', () => {
    for (const { name, en, zh } of names) {
        for (const text of [en.does, en.mistake]) assert.match(text, /[.?]$/, name);
        for (const text of [zh.does, zh.mistake]) assert.match(text, /[\u4e00-\u9fff].*[。？]$/, name);
    }
    for (const [page, mistake] of [[namesPage, 'Common mistake:'], [`zh/${namesPage}`, '常见错误：']]) {
        const { text } = book.pages.get(page);
        assert.equal(text.split(`**${mistake}**`).length - 1, names.length, page);
        for (const { name } of names) assert.ok(text.includes(`### \`${name}\` {#${anchorOf(name)}}`), name);
    }
});
