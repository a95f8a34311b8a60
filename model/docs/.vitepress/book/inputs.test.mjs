import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { stateOfInputs } from './inputs.mjs';
import { root as repository } from './repository.mjs';

test('the site is built again when a file or a setting has changed, and not because it was built', () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'inputs-'));
    try {
        const write = (file, text) => {
            fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
            fs.writeFileSync(path.join(root, file), text);
        };
        write('docs/page.md', 'a');
        write('chapters/1/lesson.cu', 'b');
        write('README.md', 'c');
        const first = stateOfInputs(root, { base: '/' });
        assert.equal(stateOfInputs(root, { base: '/' }), first);
        for (const file of ['docs/.vitepress/dist/index.html', 'docs/.vitepress/pages/page.md', 'docs/node_modules/x/y.js', 'build/x', '.warpwise.json']) write(file, 'x');
        assert.equal(stateOfInputs(root, { base: '/' }), first);
        assert.notEqual(stateOfInputs(root, { base: '/x/' }), first);
        for (const file of ['docs/page.md', 'chapters/1/kernels.cuh', 'docs/node_modules/.package-lock.json']) {
            const before = stateOfInputs(root, { base: '/' });
            write(file, 'another text');
            assert.notEqual(stateOfInputs(root, { base: '/' }), before, file);
        }
    } finally {
        fs.rmSync(root, { recursive: true });
    }
});

test('to see that nothing has changed takes less than two seconds of work', () => {
    const begin = process.cpuUsage();
    stateOfInputs(repository);
    const { user, system } = process.cpuUsage(begin);
    assert.ok((user + system) / 1e6 < 2, `${(user + system) / 1e6} s`);
});
