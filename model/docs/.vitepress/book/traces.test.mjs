import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { problemsOfTraces, problemsOfViews } from './traces.mjs';
import { root } from './repository.mjs';

const source = 'chapters/2_memory_model/coalescing/copies.cuh';
const otherSource = 'chapters/2_memory_model/coalescing/particles.cuh';
let repository;

before(() => {
    repository = fs.mkdtempSync(path.join(os.tmpdir(), 'traces-'));
    for (const file of ['docs/public/traces/coalescing.json', source, otherSource]) {
        fs.mkdirSync(path.join(repository, path.dirname(file)), { recursive: true });
        fs.copyFileSync(path.join(root, file), path.join(repository, file));
    }
});
after(() => fs.rmSync(repository, { recursive: true }));

test('a trace of other sources is found', () => {
    assert.deepEqual(problemsOfTraces(repository), []);
    const file = path.join(repository, source);
    const text = fs.readFileSync(file, 'utf8');
    for (const changed of [`// one line more\n${text}`, text.replace('in[i * stride + offset]', 'in[i * stride]'), '']) {
        fs.writeFileSync(file, changed);
        const [problem, ...others] = problemsOfTraces(repository);
        assert.match(problem.message, /copies\.cuh:\d+ is not what was traced, ".+"; record it again: .*record_traces\.sh coalescing$/);
        assert.equal(problem.trace, path.join('docs', 'public', 'traces', 'coalescing.json'));
        assert.deepEqual(others, []);
    }
});

test('views of a trace or a launch that is not there are found', () => {
    const views = [
        '<WarpView src="coalescing" left="energy_from_structures" right="energy_from_arrays" />',
        'Text',
        '<WarpView lang="zh" src="coalescing" left="energy_from_clouds" />',
        '<BlockView src="coalescing nothing" />',
    ];
    assert.deepEqual(problemsOfViews(views.join('\n'), repository), [
        { line: 3, message: 'WarpView: coalescing has no launch "energy_from_clouds"' },
        { line: 4, message: 'BlockView: there is no trace nothing' },
    ]);
});
