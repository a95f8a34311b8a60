#!/usr/bin/env node
// Compiles the kernels that run in the book's pages to WebAssembly: docs/live/built/*.json, from the lessons of docs/live/lessons.mjs.
//
//     node docs/scripts/live.mjs [NAME..]            # needs clang and wasm-ld: apt install clang lld
//
// The definitions that a lesson takes from its source stay as they are, except that
//   - `__shared__ float tile[8];` is followed by a call that tells the block where the array is,
//   - `#pragma unroll` is left out, because g++ does not know it either,
//   - `return;` is `co_return;` in a kernel with barriers (docs/live/cpp/cuda_runtime.h says why).
// clang inserts calls at every load, every store (those of its thread sanitizer), and every basic block, as g++ does for the CPU device. Each
// call gets the number of its place in the code, and the sanitizer's library is replaced by docs/live/cpp/block.cpp.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { definition } from '../.vitepress/markdown/definitions.mjs';
import { lessons } from '../live/lessons.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const live = path.join(root, 'docs/live');

/// The definitions that a lesson takes, and those of them that readers see.
export function partsOf({ file, takes }) {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    return takes.map((name) => {
        const { code, line } = definition(text, name);
        return { path: file, first: line, lines: code.split('\n') };
    });
}

const hasBarrier = (code) => /\b__sync(threads|warp)\b/.test(code);

/// One translation unit: the definitions, and a function that starts a kernel by its number.
export function sourceOf(lesson) {
    const names = [];
    const parts = partsOf(lesson).map(({ path: file, first, lines }) => {
        let code = lines.join('\n').replace(/^#pragma unroll.*$/gm, '');
        if (hasBarrier(code)) code = code.replace(/\breturn\s*;/g, 'co_return;');
        code = code.replace(/__shared__\s+[^;=]*?(\w+)((?:\[[^;]*?\])*);/g, (all, name) => {
            if (!names.includes(name)) names.push(name);
            return `${all} live::shared_array(&${name}, sizeof ${name}, ${names.indexOf(name)});`;
        });
        return `#line ${first} "${file}"\n${code}`;
    });
    const starts = lesson.kernels.map((kernel, number) => `    if (kernel == ${number}) live::call(${kernel}, words);`);
    const source = [
        '#include "cuda_runtime.h"',
        'namespace {',
        ...parts,
        '#line 1 "live"',
        '}  // namespace',
        'extern "C" void live_start(unsigned kernel, const unsigned* words) {',
        ...starts,
        '}',
        '',
    ].join('\n');
    return { source, names };
}

/// Says of each access where it is, from the debug information of clang's intermediate code, and gives it a number.
function withSites(code, file, files) {
    const metadata = new Map([...code.matchAll(/^!(\d+) = (.*)$/gm)].map(([, number, text]) => [number, text]));
    const field = (text, name) => new RegExp(`\\b${name}: !?("[^"]*"|\\d+)`).exec(text ?? '')?.[1];
    const fileOfScope = (scope) => {
        for (let text = metadata.get(scope); text; text = metadata.get(field(text, 'scope'))) {
            const found = field(text, 'file');
            if (found) return field(metadata.get(found), 'filename')?.slice(1, -1);
        }
        return undefined;
    };
    const lineOf = (number) => {
        for (let place = metadata.get(number); place; place = metadata.get(field(place, 'inlinedAt'))) {
            if (fileOfScope(field(place, 'scope'))?.endsWith(file)) return Number(field(place, 'line'));
        }
        return 0;
    };
    const sites = [];
    const number = (site) => sites.push(site) - 1;
    const lines = code.split('\n').map((line, index, every) => {
        const step = /^(\s*)(?:tail )?call void @__sanitizer_cov_trace_pc\(\)/.exec(line);
        if (step) return `${step[1]}call void @live_step(i32 ${number([2, 0, -1, 0])})`;
        const access = /^(\s*)(?:tail )?call void @__tsan_(?:unaligned_)?(read|write)(\d+)\((i8\*|ptr) (.*)\)(?:, !dbg !(\d+))?$/.exec(line);
        if (!access) return line;
        const [, indent, what, bytes, pointer, address, debug] = access;
        const place = debug ?? /!dbg !(\d+)/.exec(every[index + 1])?.[1];
        const at = place === undefined ? 0 : lineOf(place);
        const part = files.findIndex(({ first, lines }) => at >= first && at < first + lines.length);
        return `${indent}call void @live_access(${pointer} ${address}, i32 ${number([what === 'write' ? 1 : 0, Number(bytes), part, at])})`;
    });
    const result = lines.filter((line) => !/^declare void @__(tsan_(unaligned_)?(read|write)\d|sanitizer_cov_trace_pc\()/.test(line)).join('\n');
    const other = /call [^\n]*@(__tsan_(?!init)\w+|mem(?:cpy|move|set)|llvm\.mem\w+)[^\n]*/.exec(result);
    if (other) throw new Error(`${file}: no view counts ${other[0]}`);
    const pointer = /@live_access\((i8\*|ptr)/.exec(result)[1];
    return { code: `${result}\ndeclare void @live_access(${pointer}, i32)\ndeclare void @live_step(i32)\n`, sites };
}

/// The sites in the order of the code, which in WebAssembly is a topological one with every loop in one piece: lanes that are further back
/// in it have to catch up with the others.
function inOrder(assembly, sites) {
    const order = [...assembly.matchAll(/^\s*i32\.const\s+(\d+)\s*\n\s*call\s+live_(?:access|step)\b/gm)].map(([, site]) => Number(site));
    const calls = [...assembly.matchAll(/^\s*call\s+live_(?:access|step)\b/gm)].length;
    if (order.length !== calls || new Set(order).size !== calls) throw new Error('clang has joined or doubled accesses');
    const places = sites.map(() => -1); // of code that is never called
    order.forEach((site, place) => { places[site] = place; });
    return places;
}

const common = ['--target=wasm32', '-std=c++20', '-O1', '-fno-exceptions', '-fno-rtti', '-ffreestanding', '-nostdlibinc', '-Wno-unknown-attributes'];
// What keeps one access of the source one access of the code.
const watched = ['-g1', '-fno-unroll-loops', '-fno-vectorize', '-fno-slp-vectorize', '-fsanitize-coverage=bb,no-prune,trace-pc', '-Xclang', '-fsanitize=thread', '-mllvm', '-tsan-instrument-func-entry-exit=0', '-mllvm', '-tsan-instrument-read-before-write', '-mllvm', '-disable-vector-combine'];

export const compiler = () => {
    try {
        execFileSync('wasm-ld', ['--version'], { stdio: 'ignore' });
        return /clang version (\d+)/.exec(execFileSync('clang++', ['--version'], { encoding: 'utf8' }))[0];
    } catch {
        return undefined;
    }
};

/** @returns {import('../live/device.mjs').Built} */
export function build(name) {
    const lesson = lessons[name];
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'live-'));
    const at = (file) => path.join(folder, file);
    const clang = (...options) => execFileSync('clang++', [...common, ...options], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    try {
        const { source, names } = sourceOf(lesson);
        const parts = partsOf(lesson);
        fs.writeFileSync(at('kernels.cpp'), source);
        clang(...watched, '-I', path.join(live, 'cpp'), '-S', '-emit-llvm', 'kernels.cpp', '-o', 'kernels.ll');
        const { code, sites } = withSites(fs.readFileSync(at('kernels.ll'), 'utf8'), lesson.file, parts);
        fs.writeFileSync(at('numbered.ll'), code);
        clang('-Wno-everything', '-S', 'numbered.ll', '-o', 'numbered.s');
        const order = inOrder(fs.readFileSync(at('numbered.s'), 'utf8'), sites);
        clang('-Wno-everything', '-c', 'numbered.ll', '-o', 'kernels.o');
        clang('-c', path.join(live, 'cpp/block.cpp'), '-o', 'block.o');
        const exported = ['live_shape', 'live_block', 'live_arguments', 'live_events', 'live_shared', 'live_shared_count', '__heap_base'];
        execFileSync('wasm-ld', ['--no-entry', '--strip-all', '-z', 'stack-size=65536', '--stack-first', ...exported.map((one) => `--export=${one}`), 'kernels.o', 'block.o', '-o', 'kernels.wasm'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
        const wasm = fs.readFileSync(at('kernels.wasm')).toString('base64');
        return { compiler: compiler(), made_from: madeFrom(name), files: parts, kernels: lesson.kernels, names, sites, order, wasm };
    } finally {
        fs.rmSync(folder, { recursive: true, force: true });
    }
}

/// A digest of all that a built lesson depends on.
export function madeFrom(name) {
    const hash = crypto.createHash('sha256').update(sourceOf(lessons[name]).source);
    for (const file of ['cpp/cuda_runtime.h', 'cpp/block.cpp']) hash.update(fs.readFileSync(path.join(live, file)));
    return hash.update([...common, ...watched].join(' ')).digest('hex').slice(0, 16);
}

export const fileOf = (name) => path.join(live, 'built', `${name}.json`);

/// One member a line.
const written = (object) => `{\n${Object.entries(object).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`).join(',\n')}\n}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const chosen = process.argv.slice(2);
    fs.mkdirSync(path.join(live, 'built'), { recursive: true });
    for (const name of chosen.length > 0 ? chosen : Object.keys(lessons)) {
        const built = build(name);
        fs.writeFileSync(fileOf(name), written(built));
        console.log(`${name}: ${built.sites.length} accesses, ${Math.round((built.wasm.length * 3) / 4)} bytes of WebAssembly, ${fs.statSync(fileOf(name)).size} bytes`);
    }
}
