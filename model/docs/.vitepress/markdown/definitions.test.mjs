import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { root } from '../book/repository.mjs';
import { definition } from './definitions.mjs';

const source = String.raw`// Problem: nothing.
#include <vector>
#define TWICE(x) \
    { (x) + (x) }

namespace lesson {
namespace {

constexpr unsigned kThreads = 256;  // a block
constexpr std::initializer_list<Recorded> recorded = {{"a {", 1}, {"b", 2}};

// Prints } and {.
void print() {
    std::puts("} { \" }");  // }
    const char brace = '}', quote = '\'';
    const int million = 1'000'000;
    const char* raw = R"(} " )";
}

__global__ void prototype(int* out);

// Step 1: one.
// Slow: it is.
template <class T, int N = sizeof(std::vector<T>)>
__global__ void __launch_bounds__(kThreads) copy(const T* in, T* out, std::size_t count = other(1)) {
    if (threadIdx.x < count) { out[0] = in[0]; } /* } */
}

int other(int) { return 1; }
int other(long) { return 2; }
__global__ void prototype(int* out) { *out = 1; }

struct Particle {
    float x, y;
    // The sum.
    float sum() const { return x + y; }
    explicit Particle(float x_) : x{x_}, y(0) {}
};
static_assert(sizeof(Particle) == 8);

enum class Kind { host, device };
}  // namespace
}  // namespace lesson
`;

test('a kernel comes with the comment above it, its template and its attributes', () => {
    const found = definition(source, 'copy');
    assert.equal(found.comment, '// Step 1: one.\n// Slow: it is.');
    assert.match(found.code, /^template <class T/);
    assert.match(found.code, /\*\/\n}$/);
    assert.equal(source.split('\n')[found.line - 1], found.code.split('\n')[0]);
});

test('braces in strings, characters and comments do not count', () => {
    const found = definition(source, 'print');
    assert.equal(found.comment, '// Prints } and {.');
    assert.match(found.code, /R"\(} " \)";\n}$/);
});

test('structs end with their semicolon, and their members can be named', () => {
    assert.match(definition(source, 'Particle').code, /^struct Particle \{[^]*\n};$/);
    const sum = definition(source, 'Particle::sum');
    assert.equal(sum.code, 'float sum() const { return x + y; }');
    assert.equal(sum.comment, '// The sum.');
    assert.equal(definition(source, 'Kind').code, 'enum class Kind { host, device };');
});

test('constants and arrays are found, with the comment behind them', () => {
    assert.equal(definition(source, 'kThreads').code, 'constexpr unsigned kThreads = 256;  // a block');
    assert.match(definition(source, 'recorded').code, /\{"b", 2}};$/);
});

test('a definition is preferred to its prototype', () => {
    assert.match(definition(source, 'prototype').code, /\{ \*out = 1; }$/);
});

test('several of one name have to be told apart', () => {
    assert.throws(() => definition(source, 'other'), /defined in lines \d+, \d+/);
    assert.equal(definition(source, 'other/2').code, 'int other(long) { return 2; }');
});

test('an unknown name is refused, with those that there are', () => {
    assert.throws(() => definition(source, 'copi'), /there is no 'copi'; there are .*copy/);
});

test('every kernel of every lesson can be found', () => {
    let kernels = 0;
    for (const chapter of fs.readdirSync(path.join(root, 'chapters'))) {
        const files = fs.readdirSync(path.join(root, 'chapters', chapter), { recursive: true }).map(String);
        assert.ok(chapter !== '1_basics_and_pi' || files.includes(path.join('vector_add', 'kernels.cuh')));
        for (const file of files.filter((name) => /\.cuh?$/.test(name))) {
            const text = fs.readFileSync(path.join(root, 'chapters', chapter, file), 'utf8');
            const names = [...text.matchAll(/^__global__ void (?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\([^;{]*\{/gm)].map((match) => match[1]);
            for (const name of names) {
                const { code } = definition(text, `${name}/1`);
                assert.match(code, new RegExp(`__global__[^]*\\b${name}\\([^]*}$`), `${file}: ${name}`);
                assert.equal((code.match(/__global__/g) ?? []).length, 1, `${file}: ${name}`);
                ++kernels;
            }
        }
    }
    assert.ok(kernels > 50, `${kernels} kernels`);
});
