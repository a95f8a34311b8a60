import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { chapters, exercises, pageOf, sourceOfLesson } from './repository.mjs';

test('chapters come in order, each with its lessons as chapter.json lists them', () => {
    const [first, second] = chapters();
    assert.equal(first.title, 'Basics and pi');
    assert.equal(first.program, 'basics_and_pi');
    assert.equal(first.lessons[0].name, 'first_program');
    assert.equal(second.number, 2);
    assert.deepEqual(second.lessons.slice(0, 2).map((lesson) => lesson.name), ['coalescing', 'shared_memory']);
});

test('every lesson says what it is about', () => {
    for (const chapter of chapters()) {
        for (const lesson of chapter.lessons) assert.notEqual(lesson.about, '', `${chapter.folder}/${lesson.name}`);
    }
});

test('exercises come in the order in which they are best done, each after the lesson that it practices', () => {
    const names = exercises('2_memory_model').map((exercise) => exercise.name);
    assert.equal(names[0], 'coalesce_structures');
    assert.equal(names[1], 'vector_loads');
    assert.equal(names[2], 'stencil_halo');
    assert.equal(exercises('1_basics_and_pi')[0].kind, 'fill');
    assert.equal(exercises('2_memory_model').at(-1).name, 'overlap_streams');
    assert.deepEqual(exercises('no_such_chapter'), []);
});

test('chapters come by number, a folder without a list is none, and a list has to be complete', () => {
    const repository = fs.mkdtempSync(path.join(os.tmpdir(), 'chapters-'));
    const write = (folder, text) => {
        fs.mkdirSync(path.join(repository, 'chapters', folder), { recursive: true });
        fs.writeFileSync(path.join(repository, 'chapters', folder, 'chapter.json'), text);
    };
    write('10_last', '{"title": "Last", "program": "last", "path": []}');
    write('9_first', '{"title": "First", "program": "first", "path": [{"page": "before"}, {"lesson": "warps", "about": "lanes; and \\"more\\""}, {"exercise": "count"}]}');
    fs.mkdirSync(path.join(repository, 'chapters', '11_to_come'));
    const stops = [{ kind: 'page', name: 'before' }, { kind: 'lesson', name: 'warps' }, { kind: 'exercise', name: 'count' }];
    const found = chapters(repository);
    assert.deepEqual(found, [
        { number: 9, folder: '9_first', title: 'First', program: 'first', lessons: [{ name: 'warps', about: 'lanes; and "more"' }], path: stops },
        { number: 10, folder: '10_last', title: 'Last', program: 'last', lessons: [], path: [] },
    ]);
    assert.deepEqual(stops.map((stop) => pageOf(found[0], stop)), ['before.md', '9_first/warps.md', 'exercises/9_first/count.md']);
    write('10_last', '{"title": "Last", "program": "last", "path": [{"idea": "nothing"}]}');
    assert.throws(() => chapters(repository), /chapters\/10_last\/chapter\.json: an entry of the path is no lesson, exercise or page/);
    write('10_last', '{"title": "Last", "program": "last"}');
    assert.throws(() => chapters(repository), /chapters\/10_last\/chapter\.json: there is no "path"/);
    fs.rmSync(repository, { recursive: true });
});

test('a lesson begins in lesson.cu of its folder, or in a file of its own name', () => {
    const repository = fs.mkdtempSync(path.join(os.tmpdir(), 'lessons-'));
    fs.mkdirSync(path.join(repository, 'chapters', '9_first', 'warps'), { recursive: true });
    fs.writeFileSync(path.join(repository, 'chapters', '9_first', 'warps', 'lesson.cu'), '');
    assert.equal(sourceOfLesson('9_first', 'warps', repository), 'chapters/9_first/warps/lesson.cu');
    assert.equal(sourceOfLesson('9_first', 'lanes', repository), 'chapters/9_first/lanes.cu');
    fs.rmSync(repository, { recursive: true });
});
