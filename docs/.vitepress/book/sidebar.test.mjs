import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidebar } from './sidebar.mjs';
import { hashOf, placeOf, readBook } from './pages.mjs';

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
    assert.equal(book.pages.get('zh/the_guide.md').text.includes('twin: missing'), book.pages.get('zh/the_guide.md').twin === 'missing');
});

test('a file of the repository is found where the book has it', () => {
    assert.deepEqual(placeOf('docs/cpu_device.md', book), { page: 'cpu_device.md' });
    assert.deepEqual(placeOf('exercises/2_memory_model/pad_the_tile/README.md', book), { page: 'exercises/2_memory_model/pad_the_tile.md' });
    assert.deepEqual(placeOf('chapters/2_memory_model/coalescing.cu', book), { source: 'chapters/2_memory_model/coalescing.cu' });
    assert.equal(placeOf('no/such/file', book), undefined);
});

test('the hash of a page depends on its text, and not on its front matter', () => {
    assert.equal(hashOf('---\ntitle: a\n---\ntext\n'), hashOf('text'));
    assert.notEqual(hashOf('text'), hashOf('texts'));
});
