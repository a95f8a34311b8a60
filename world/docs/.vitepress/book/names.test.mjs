import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { exampleOf, namesOfIndex, namesPage, pageOfName, sourcesOfPath, usesName } from './names.mjs';
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
    assert.equal(new Set(names.map(({ name }) => pageOfName(name).toLowerCase())).size, names.length);
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
    for (const [prefix, mistake] of [['', 'Common mistake:'], ['zh/', '常见错误：']]) {
        const index = book.pages.get(prefix + namesPage).text;
        for (const { name, lesson } of names) {
            assert.ok(index.includes(`- [\`${name}\`](${pageOfName(name)})`), name);
            const { text } = book.pages.get(prefix + pageOfName(name));
            assert.ok(text.includes(`\n# \`${name}\`\n`) && text.includes(`**${mistake}**`) && text.includes(`](../${lesson}.md)`), name);
        }
    }
});

test('a page of a name shows the first statement of the lesson that uses it, and no comment', () => {
    assert.equal(exampleOf('// atomicAdd\n#include "atomicAdd.h"\n    atomicAdd(&x,\n              1);\n', 'atomicAdd'), 'atomicAdd(&x,\n          1);');
    assert.equal(exampleOf('int x; // cudaMalloc\n', 'cudaMalloc'), undefined);
    const shown = names.filter(({ name }) => book.pages.get(pageOfName(name)).text.includes('In this lesson:'));
    assert.ok(shown.length > names.length / 2, `${shown.length} of ${names.length}`);
});
