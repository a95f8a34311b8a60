#pragma once

#include <cmath>

#include "chapters/4_examples/transformer_block/shapes.cuh"

namespace examples {
namespace {

// Step 1, all parts as their formulas read. A layer norm with one thread per row: the mean,
// the variance, then the results.
// Slow because the lanes of a warp are a whole row apart, so each of them needs a sector of
// its own for 4 bytes. And a block of a transformer has few rows: 1024 of them are 1024
// threads, where a GPU has room for a hundred times as many.
__global__ void norm_by_thread(const float* in, std::size_t rows, std::size_t cols,
                               const float* gamma, const float* beta, float* out) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    const float* const from = in + row * cols;
    float* const to = out + row * cols;
    const float count = static_cast<float>(cols);
    float sum = 0, squares = 0;
    for (std::size_t col = 0; col < cols; ++col) sum += from[col];
    const float mean = sum / count;
    for (std::size_t col = 0; col < cols; ++col)
        squares += (from[col] - mean) * (from[col] - mean);
    const float factor = rsqrtf(squares / count + kEpsilon);
    for (std::size_t col = 0; col < cols; ++col)
        to[col] = (from[col] - mean) * factor * gamma[col] + beta[col];
}

// A product with one thread per element of C.
// Slow because each multiply-add takes two loads from global memory: one of A, which is
// the same for a warp, and one of B.
__global__ void product_by_thread(const float* a, const float* b, float* c, Extents x) {
    const std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= x.m || col >= x.n) return;
    float sum = 0;
    for (std::size_t p = 0; p < x.k; ++p) sum += a[row * x.k + p] * b[p * x.n + col];
    c[row * x.n + col] = sum;
}

// The scores of attention: for each head, a matrix of tokens x tokens with one thread per
// element, a query times a key. A token must not see those after it: such scores are
// -infinity, and the softmax makes them 0.
// Slow because neighboring lanes read different keys, which are a whole row of `qkv` apart:
// 32 sectors per load. And half of the matrix is masked.
__global__ void scores_of_all(const float* qkv, Heads x, float* scores) {
    const std::size_t query = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::size_t key = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (query >= x.tokens || key >= x.tokens) return;
    const std::size_t head = blockIdx.z, width = x.heads * x.head;
    const float* const q = qkv + query * 3 * width + head * x.head;
    const float* const k = qkv + key * 3 * width + width + head * x.head;
    float sum = 0;
    for (std::size_t p = 0; p < x.head; ++p) sum += q[p] * k[p];
    scores[(head * x.tokens + query) * x.tokens + key] =
        key <= query ? sum * rsqrtf(static_cast<float>(x.head)) : -INFINITY;
}

// The softmax of each row of scores, in place, with one thread per row and three passes.
// Slow for the same reason as the layer norm, and because the matrices of scores are the
// largest thing that the block moves: 50 MB for 12 heads and 1024 tokens.
__global__ void softmax_by_thread(float* scores, std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float* const x = scores + row * cols;
    float largest = -INFINITY, sum = 0;
    for (std::size_t col = 0; col < cols; ++col) largest = fmaxf(largest, x[col]);
    for (std::size_t col = 0; col < cols; ++col) sum += expf(x[col] - largest);
    const float factor = 1 / sum;
    for (std::size_t col = 0; col < cols; ++col) x[col] = expf(x[col] - largest) * factor;
}

// The values of all tokens, weighted by the softmax of the scores: one thread per element.
__global__ void weigh_values(const float* weights, const float* qkv, Heads x, float* out) {
    const std::size_t query = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t width = x.heads * x.head;
    if (query >= x.tokens || col >= width) return;
    const float* const of_query =
        weights + (col / x.head * x.tokens + query) * x.tokens;  // of its head
    float sum = 0;
    for (std::size_t key = 0; key < x.tokens; ++key)
        sum += of_query[key] * qkv[key * 3 * width + 2 * width + col];
    out[query * width + col] = sum;
}

// What stands between the products, element by element: a bias for each column, GELU, and
// the addition of what went into this half of the block (the residual).
// Each of them reads and writes a matrix for an operation or a few per element.
__global__ void add_bias(const float* in, const float* bias, std::size_t count,
                         std::size_t cols, float* out) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) out[i] = in[i] + bias[i % cols];
}
__global__ void gelu(const float* in, std::size_t count, float* out) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) out[i] = gelu_of(in[i]);
}
__global__ void add(const float* a, const float* b, std::size_t count, float* out) {
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i];
}

}  // namespace
}  // namespace examples
