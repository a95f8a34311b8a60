import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidebar } from './sidebar.mjs';
import { pageOf } from './repository.mjs';
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

/// Links in the order in which VitePress goes from page to page: it flattens the sidebar like this.
const flat = (items) => items.flatMap((item) => [...(item.link ? [item.link] : []), ...flat(item.items ?? [])]);

test('the next page follows the path: lesson, its exercises, a page that the next lesson needs, the next lesson', () => {
    for (const [language, prefix] of [['en', '/'], ['zh', '/zh/']]) {
        const links = flat(sidebar(book, language));
        assert.equal(new Set(links).size, links.length, 'no page stands there twice');
        const path = book.chapters.flatMap((chapter) => chapter.path.map((stop) => prefix + pageOf(chapter, stop).replace(/\.md$/, '.html')));
        const first = links.indexOf(path[0]);
        assert.deepEqual(links.slice(first, first + path.length), path);
        assert.ok(links.indexOf(`${prefix}start_here.html`) < first);
    }
    const chapter = {
        number: 9, folder: '9_first', title: 'First', lessons: [{ name: 'warps' }, { name: 'lanes' }],
        path: [{ kind: 'page', name: 'before' }, { kind: 'lesson', name: 'warps' }, { kind: 'exercise', name: 'count' }, { kind: 'page', name: 'between' }, { kind: 'lesson', name: 'lanes' }],
    };
    const pages = new Map(chapter.path.map((stop) => [pageOf(chapter, stop), { text: `# The ${stop.name}\n` }]));
    const part = sidebar({ pages, chapters: [chapter] }, 'en').find(({ text }) => text === '9 First');
    assert.deepEqual(part.items, [
        { text: 'The before', link: '/before.html' },
        { text: '9.1 The warps', link: '/9_first/warps.html', items: [{ text: 'The count', link: '/exercises/9_first/count.html' }] },
        { text: 'The between', link: '/between.html' },
        { text: '9.2 The lanes', link: '/9_first/lanes.html' },
    ]);
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
