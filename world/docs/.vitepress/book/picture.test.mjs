import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { linesOfPicture, picture } from './picture.mjs';
import { root } from './repository.mjs';

test('the picture of the README is the recorded run', () => {
    const kept = fs.readFileSync(path.join(root, 'docs', 'public', 'first_program.svg'), 'utf8');
    assert.equal(kept, picture(), 'it is older than the run: node docs/scripts/picture.mjs');
    assert.match(fs.readFileSync(path.join(root, 'README.md'), 'utf8'), /\(docs\/public\/first_program\.svg\)|src="docs\/public\/first_program\.svg"/);
});

test('the picture shows the command, every move, and the program, in light and in dark', () => {
    const lines = linesOfPicture().map(({ text }) => text);
    assert.ok(lines.includes('$ ./warpwise'));
    assert.ok(lines.some((line) => line.includes('square<<<')));
    for (const move of ['allocate', 'copy in', 'launch', 'copy out', 'free']) assert.ok(lines.some((line) => line.startsWith(`${move} `)), move);
    assert.match(picture(), /prefers-color-scheme: dark/);
    assert.doesNotMatch(picture(), /undefined|NaN/);
});
