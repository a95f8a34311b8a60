import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidebar } from './sidebar.mjs';
import { hashOf, placeOf, readBook, twinOf } from './pages.mjs';

const book = readBook();

test('the sidebar lists every lesson and exercise of every chapter, in both languages', () => {
    for (const language of ['en', 'zh']) {
        const links = JSON.stringify(sidebar(book, language));
        for (const chapter of book.chapters) {
            for (const lesson of chapter.lessons) assert.ok(links.includes(`/${chapter.folder}/${lesson.name}.html`), lesson.name);
            for (const exercise of chapter.exercises) assert.ok(links.includes(`/exercises/${chapter.folder}/${exercise.name}.html`), exercise.name);
        }
    }
});

test('every page has a Chinese one, written or not', () => {
    for (const page of book.pages.keys()) {
        if (!page.startsWith('zh/')) assert.ok(book.pages.has(`zh/${page}`), page);
    }
});

test('a Chinese page that is missing or stale carries its banner, a fresh one none', () => {
    const english = { origin: 'docs/warps.md', text: '# Warps\n' };
    const of = (hash) => `---\ntranslated_from: ${hash}\n---\n\n# 线程束\n`;
    const missing = twinOf('warps.md', english);
    assert.equal(missing.twin, 'missing');
    assert.equal(missing.text, '---\ntwin: missing\n---\n# Warps\n');
    assert.equal(missing.origin, 'docs/warps.md');
    const stale = twinOf('warps.md', english, of(hashOf('# Warp\n')));
    assert.equal(stale.twin, 'stale');
    assert.match(stale.text, /^---\n(.*\n)*twin: stale\n(.*\n)*---\n/);
    const fresh = twinOf('warps.md', english, of(hashOf(english.text)));
    assert.deepEqual(fresh, { origin: 'docs/zh/warps.md', text: of(hashOf(english.text)), twin: 'fresh' });
});

test('a file of the repository is found where the book has it', () => {
    assert.deepEqual(placeOf('docs/cpu_device.md', book), { page: 'cpu_device.md' });
    assert.deepEqual(placeOf('exercises/2_memory_model/pad_the_tile/README.md', book), { page: 'exercises/2_memory_model/pad_the_tile.md' });
    assert.deepEqual(placeOf('chapters/2_memory_model/coalescing/particles.cuh', book), { source: 'chapters/2_memory_model/coalescing/particles.cuh' });
    assert.equal(placeOf('no/such/file', book), undefined);
});

test('the hash of a page depends on its text, and not on its front matter', () => {
    assert.equal(hashOf('---\ntitle: a\n---\ntext\n'), hashOf('text'));
    assert.notEqual(hashOf('text'), hashOf('texts'));
});
