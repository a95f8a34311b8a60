#!/usr/bin/env node
// What the CPU device counts for the launches of docs/live: writes docs/live/counts/*.json, with which docs/tests/live.test.mjs compares the
// counts of WebAssembly.
//
//     node docs/scripts/live_counts.mjs [NAME..]     # the CPU device has to be built: build/cpu, or in the folder that BUILD names
//
// All lessons go into one program, each in a namespace, which reads launches and says what was counted. It is compiled as `warpwise try`
// compiles a file: BUILD/cpu/try.json says how.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { lanesOf } from '../../common/views/trace.mjs';
import { lessons } from '../live/lessons.mjs';
import { partsOf } from './live.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

const program = `#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <utility>
#include <vector>
#include "cpu_device/instrument.h"
LESSONS
namespace {
template <class T>
T argument(std::uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}
template <class... P, std::size_t... at>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, const std::vector<std::uint64_t>& words, std::index_sequence<at...>) {
    kernel<<<grid, block>>>(argument<P>(words[at])...);
}
template <class... P>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, const std::vector<std::uint64_t>& words) {
    launch(kernel, grid, block, words, std::index_sequence_for<P...>{});
}
void start(unsigned kernel, dim3 grid, dim3 block, const std::vector<std::uint64_t>& words) {
STARTS
}
}  // namespace

int main() {
    cpu_device::instrument({.counters = true, .model = false, .traced_blocks = 1, .traced_events = 100000});
    unsigned kernel, gx, gy, bx, by, arrays, arguments, result;
    while (std::cin >> kernel >> gx >> gy >> bx >> by >> arrays) {
        std::vector<std::uint32_t*> places;
        std::vector<std::size_t> counts;
        for (unsigned k = 0; k < arrays; ++k) {
            std::size_t count;
            std::cin >> count;
            std::vector<std::uint32_t> values(count);
            for (auto& value : values) std::cin >> value;
            std::uint32_t* place = nullptr;
            cudaMalloc(&place, 4 * count);
            cudaMemcpy(place, values.data(), 4 * count, cudaMemcpyHostToDevice);
            places.push_back(place);
            counts.push_back(count);
        }
        std::cin >> arguments;
        std::vector<std::uint64_t> words;
        for (unsigned k = 0; k < arguments; ++k) {
            std::string what;
            std::uint64_t value;
            std::cin >> what >> value;
            words.push_back(what == "array" ? reinterpret_cast<std::uint64_t>(places[value]) : value);
        }
        std::cin >> result;
        start(kernel, dim3(gx, gy), dim3(bx, by), words);
        std::vector<std::uint32_t> values(counts[result]);
        cudaMemcpy(values.data(), places[result], 4 * values.size(), cudaMemcpyDeviceToHost);
        for (auto* place : places) cudaFree(place);
        const auto all = cpu_device::take_counters();
        if (all.size() != 1) return 1;
        std::printf("{\\"counts\\": {");
        const char* separator = "";
        for (std::size_t k = 0; k < cpu_device::kMemoryOperations; ++k) {
            const auto operation = static_cast<cpu_device::MemoryOperation>(k);
            const auto& sums = all[0].total[operation];
            if (sums.requests == 0) continue;
            std::printf("%s\\"%s\\": [%llu, %llu, %llu, %llu, %llu, %llu]", separator, cpu_device::name_of(operation),
                        (unsigned long long)sums.requests, (unsigned long long)sums.lanes, (unsigned long long)sums.bytes,
                        (unsigned long long)sums.sectors, (unsigned long long)sums.wavefronts,
                        (unsigned long long)sums.least_wavefronts);
            separator = ", ";
        }
        std::printf("}, \\"result\\": [");
        for (std::size_t k = 0; k < values.size(); ++k) std::printf("%s%u", k ? "," : "", values[k]);
        std::printf("], \\"trace\\": %s}\\n", cpu_device::json_of(all[0].trace).c_str());
    }
}
`;

const keys = ['requests', 'lanes', 'bytes', 'sectors', 'wavefronts', 'least_wavefronts'];

/// Counts as a list for each kind, in the order of keys; of global memory the first four, of shared memory without the sectors.
export const listed = (counts) =>
    Object.fromEntries(
        Object.entries(counts)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([kind, sums]) => [kind, keys.filter((key) => (kind.startsWith('global') ? !/wave/.test(key) : key !== 'sectors')).map((key) => sums[key])]),
    );

const digest = (text) => crypto.createHash('sha256').update(text).digest('hex').slice(0, 16);

/// What each warp of a block asked for: the requests of each, with lanes and places, in an order of their own, because the order of two loads
/// in one expression is up to the compiler.
export const requestsInWords = (warps, arrays) =>
    warps
        .map(({ warp, events }) =>
            events
                .filter(({ kind }) => kind !== 'step' && kind !== 'barrier')
                .map((event) => {
                    const offsets = event.at ?? lanesOf(event.lanes).map((_, rank) => event.first + rank * event.stride);
                    return `${warp} ${event.kind} ${arrays[event.array].bytes} ${event.lanes} ${event.bytes} ${offsets.join(' ')}`;
                })
                .sort()
                .join('\n'),
        )
        .join('\n');

export const digestOfRequests = (warps, arrays) => digest(requestsInWords(warps, arrays));
export const digestOfResult = (words) => digest(Array.from(words).join(' '));

const bitsOf = (value, type) => (type === 'float' ? new Uint32Array(new Float32Array([value]).buffer)[0] : value);

function inputOf(launch, kernel, result) {
    const words = [kernel, ...launch.grid, ...launch.block, launch.arrays.length];
    for (const { count, type, fill } of launch.arrays) {
        words.push(count);
        for (let i = 0; i < count; ++i) words.push(bitsOf((fill ?? ((k) => k % 1000))(i), type));
    }
    const nameOf = launch.arrays.map(({ name }) => name);
    words.push(launch.args.length, ...launch.args.flatMap((one) => (typeof one === 'string' ? ['array', nameOf.indexOf(one)] : ['number', one])));
    return [...words, nameOf.indexOf(result)].join(' ');
}

/// Everything that the CPU device says of the cases of these lessons, by name.
export function runOnCpuDevice(names, build) {
    const { compiler, options, cpu_device_headers, include_folders, libraries, rewriter } = JSON.parse(fs.readFileSync(path.join(build, 'cpu/try.json'), 'utf8'));
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'live-'));
    try {
        const kernels = names.flatMap((name) => lessons[name].kernels.map((kernel) => ({ name, kernel })));
        const parts = names.map((name) => `namespace live_${name} {\nnamespace {\n${partsOf(lessons[name]).map(({ lines }) => lines.join('\n')).join('\n')}\n}\n}`);
        const starts = kernels.map(({ name, kernel }, k) => `    if (kernel == ${k}) launch(&live_${name}::${kernel}, grid, block, words);`);
        fs.writeFileSync(path.join(folder, 'counts.cu'), program.replace('LESSONS', () => parts.join('\n')).replace('STARTS', () => starts.join('\n')));
        const run = (file, words, more = {}) => execFileSync(file, words, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'], maxBuffer: 1 << 30, ...more });
        run(rewriter, ['counts.cu', '-o', 'counts.cpp']);
        const headers = [...cpu_device_headers, ...include_folders].flatMap((one) => ['-I', one]);
        run(compiler, [...options, ...headers, '-c', 'counts.cpp', '-o', 'counts.o']);
        run(compiler, ['counts.o', ...libraries, '-o', 'counts']);
        const cases = names.flatMap((name) => lessons[name].cases.map((values) => ({ name, values })));
        const input = cases.map(({ name, values }) => {
            const launch = lessons[name].launch(values);
            return inputOf(launch, kernels.findIndex((one) => one.name === name && one.kernel === launch.kernel), lessons[name].result);
        });
        const said = String(run('./counts', [], { input: `${input.join('\n')}\n` })).trim().split('\n').map((line) => JSON.parse(line));
        if (said.length !== cases.length) throw new Error(`${cases.length} launches, ${said.length} answers`);
        return cases.map((one, k) => ({ ...one, ...said[k] }));
    } finally {
        if (!process.env.KEEP) fs.rmSync(folder, { recursive: true, force: true });
    }
}

export function recordCounts(names, build) {
    fs.mkdirSync(path.join(root, 'docs/live/counts'), { recursive: true });
    const all = runOnCpuDevice(names, build);
    for (const name of names) {
        const lines = all
            .filter((one) => one.name === name)
            .map(({ values, counts, result, trace }) =>
                JSON.stringify({
                    values,
                    counts: listed(Object.fromEntries(Object.entries(counts).map(([kind, sums]) => [kind.replace(' ', '_'), Object.fromEntries(keys.map((key, k) => [key, sums[k]]))]))),
                    result: digestOfResult(result),
                    requests: digestOfRequests(trace.warps, trace.arrays),
                }),
            );
        fs.writeFileSync(path.join(root, `docs/live/counts/${name}.json`), `[\n${lines.join(',\n')}\n]\n`);
        console.log(`${name}: ${lines.length} launches counted`);
    }
    return all;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const chosen = process.argv.slice(2);
    recordCounts(chosen.length > 0 ? chosen : Object.keys(lessons), process.env.BUILD ?? path.join(root, 'build'));
}
