#!/usr/bin/env node
// Records how many registers per thread, and how much shared memory of fixed size, nvcc gives the kernels of some lessons:
// docs/results/registers_sm_90.json, which the occupancy explorer shows. It needs nvcc, but no GPU.
//
//     node docs/scripts/record_registers.mjs
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../.vitepress/book/repository.mjs';

const sources = ['chapters/3_optimization/occupancy/lesson.cu'];
const options = ['-std=c++20', '-O2', '-lineinfo', '-arch=sm_90', '-I.', '-cubin', '-Xptxas', '-v'];

/// What ptxas says of each kernel, in {name: {registers, shared_bytes}}; template arguments are part of the name.
export function kernelsIn(messages) {
    const kernels = {};
    const report = /Function properties for (.+)\n.*\nptxas info\s+: Used (\d+) registers(.*)/g;
    for (const [, name, registers, rest] of messages.matchAll(report)) {
        // "void optimization::(anonymous namespace)::scale_many<4u>(float const*, float*, unsigned long)"
        const plain = name.replaceAll('(anonymous namespace)', '').replace(/\(.*/, '').replace(/^.*::/, '');
        kernels[plain.replace(/(\d)u\b/g, '$1')] = { registers: Number(registers), shared_bytes: Number(/(\d+) bytes smem/.exec(rest)?.[1] ?? 0) };
    }
    return kernels;
}

function record() {
    const cubin = path.join(os.tmpdir(), `registers_${process.pid}.cubin`);
    const kernels = {};
    for (const source of sources) {
        const { status, stderr } = spawnSync('nvcc', [...options, '-o', cubin, source], { cwd: root, encoding: 'utf8' });
        if (status !== 0) throw new Error(stderr);
        Object.assign(kernels, kernelsIn(execFileSync('c++filt', { input: stderr, encoding: 'utf8' })));
    }
    fs.rmSync(cubin, { force: true });
    const compiler = /release [^\n]*/.exec(execFileSync('nvcc', ['--version'], { encoding: 'utf8' }))[0].replace('release ', 'nvcc ');
    const result = { compiler, command: `nvcc ${options.join(' ')} ${sources.join(' ')}`, date: new Date().toISOString().slice(0, 10), kernels };
    fs.writeFileSync(path.join(root, 'docs/results/registers_sm_90.json'), `${JSON.stringify(result, null, 1)}\n`);
}
if (process.argv[1] === fileURLToPath(import.meta.url)) record();
