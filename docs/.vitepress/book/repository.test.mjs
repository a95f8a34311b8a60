import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chapters, exercises } from './repository.mjs';

test('chapters come in order, each with its lessons as CMake lists them', () => {
    const [first, second] = chapters();
    assert.equal(first.title, 'Basics and pi');
    assert.equal(first.program, 'basics_and_pi');
    assert.equal(first.lessons[0].name, 'device_query');
    assert.equal(second.number, 2);
    assert.deepEqual(second.lessons.slice(0, 2).map((lesson) => lesson.name), ['memory_spaces', 'coalescing']);
});

test('every lesson says what it is about', () => {
    for (const chapter of chapters()) {
        for (const lesson of chapter.lessons) assert.notEqual(lesson.about, '', `${chapter.folder}/${lesson.name}`);
    }
});

test('exercises come in the order in which they are best done', () => {
    const names = exercises('2_memory_model').map((exercise) => exercise.name);
    assert.equal(names[0], 'coalesce_structures');
    assert.equal(names[1], 'stencil_halo');
    assert.equal(exercises('1_basics_and_pi')[3].kind, 'fix');
    assert.deepEqual(exercises('no_such_chapter'), []);
});
