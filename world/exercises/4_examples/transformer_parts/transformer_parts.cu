// Exercise: one block of GPT-2 whose parts are all naive.
// The task: ./warpwise task transformer_parts
#include "exercises/4_examples/transformer_parts/transformer_parts.h"

#include <cmath>

constexpr int threads = 256;  // of a block

int blocks_for(size_t count) { return static_cast<int>((count + threads - 1) / threads); }

// ---- part 1: layer norm -----------------------------------------------------------------

// TODO 1: one thread per row reads it three times, and its neighbors are a row away. Let a
// warp have the row. How do 32 lanes find the mean and the variance together?
__global__ void norm_by_thread(const float* x, const float* gamma, const float* beta,
                               float* out, int rows, int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* const from = x + static_cast<size_t>(row) * cols;
    float* const to = out + static_cast<size_t>(row) * cols;
    float sum = 0, squares = 0;
    for (int col = 0; col < cols; ++col) sum += from[col];
    const float mean = sum / cols;
    for (int col = 0; col < cols; ++col) squares += (from[col] - mean) * (from[col] - mean);
    const float factor = rsqrtf(squares / cols + 1e-5f);
    for (int col = 0; col < cols; ++col)
        to[col] = (from[col] - mean) * factor * gamma[col] + beta[col];
}

void layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_out,
                int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    norm_by_thread<<<blocks_for(rows), threads>>>(d_x, d_gamma, d_beta, d_out, rows, cols);
}

// ---- part 2: products -------------------------------------------------------------------

// TODO 2: each multiply-add loads two floats from global memory. Which of them could serve
// several multiply-adds, from a tile in shared memory, and then from registers?
__global__ void product_by_thread(Product p, float* out) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= p.rows || col >= p.outs) return;
    float sum = 0;
    for (int i = 0; i < p.ins; ++i)
        sum += p.d_in[static_cast<size_t>(row) * p.ins + i] *
               p.d_weights[static_cast<size_t>(i) * p.outs + col];
    out[static_cast<size_t>(row) * p.outs + col] = sum;
}

// TODO 3: these kernels read and write a whole matrix for an operation or a few. Where is
// an element of it before it is written for the first time?
__global__ void add_bias(float* out, const float* bias, size_t count, int cols) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] += bias[i % cols];
}
__global__ void gelu(float* out, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = out[i];
    out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__global__ void add(float* out, const float* other, size_t count) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) out[i] += other[i];
}

size_t results_of(const Product& p) { return static_cast<size_t>(p.rows) * p.outs; }

void linear(const Product& p, float* d_out) {
    if (results_of(p) == 0) return;
    const dim3 block(32, 8), grid((p.outs + 31) / 32, (p.rows + 7) / 8);
    product_by_thread<<<grid, block>>>(p, d_out);
    add_bias<<<blocks_for(results_of(p)), threads>>>(d_out, p.d_bias, results_of(p),
                                                     p.outs);
}

void linear_gelu(const Product& p, float* d_out) {
    if (results_of(p) == 0) return;
    linear(p, d_out);
    gelu<<<blocks_for(results_of(p)), threads>>>(d_out, results_of(p));
}

void linear_residual(const Product& p, const float* d_residual, float* d_out) {
    if (results_of(p) == 0) return;
    linear(p, d_out);
    add<<<blocks_for(results_of(p)), threads>>>(d_out, d_residual, results_of(p));
}

// ---- part 3: attention ------------------------------------------------------------------

// TODO 4: the scores go to global memory and come back twice. Compute them for a tile of
// keys, use them at once, and go on to the next tile. What has to be corrected when a tile
// brings a larger score than those before?
__global__ void scores_of_all(const float* qkv, float* scores, int tokens, int heads,
                              int head) {
    const int query = blockIdx.y * blockDim.y + threadIdx.y;
    const int key = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.z;
    if (query >= tokens || key >= tokens) return;
    const size_t width = static_cast<size_t>(heads) * head;
    const float* const q = qkv + query * 3 * width + h * head;
    const float* const k = qkv + key * 3 * width + width + h * head;
    float sum = 0;
    for (int p = 0; p < head; ++p) sum += q[p] * k[p];
    scores[(static_cast<size_t>(h) * tokens + query) * tokens + key] =
        key <= query ? sum * rsqrtf(static_cast<float>(head)) : -INFINITY;
}

__global__ void softmax_by_thread(float* scores, int rows, int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float* const x = scores + static_cast<size_t>(row) * cols;
    float largest = -INFINITY, sum = 0;
    for (int col = 0; col < cols; ++col) largest = fmaxf(largest, x[col]);
    for (int col = 0; col < cols; ++col) sum += expf(x[col] - largest);
    for (int col = 0; col < cols; ++col) x[col] = expf(x[col] - largest) / sum;
}

__global__ void weigh_values(const float* weights, const float* qkv, float* out, int tokens,
                             int heads, int head) {
    const int query = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t width = static_cast<size_t>(heads) * head;
    if (query >= tokens || col >= heads * head) return;
    const float* const of_query =
        weights + (static_cast<size_t>(col / head) * tokens + query) * tokens;
    float sum = 0;
    for (int key = 0; key < tokens; ++key)
        sum += of_query[key] * qkv[key * 3 * width + 2 * width + col];
    out[query * width + col] = sum;
}

void attention(const float* d_qkv, float* d_scores, float* d_out, int tokens, int heads,
               int head) {
    if (tokens == 0) return;
    const int width = heads * head;
    const dim3 block(32, 8), grid((tokens + 31) / 32, (tokens + 7) / 8, heads);
    scores_of_all<<<grid, block>>>(d_qkv, d_scores, tokens, heads, head);
    softmax_by_thread<<<blocks_for(static_cast<size_t>(heads) * tokens), threads>>>(
        d_scores, heads * tokens, tokens);
    const dim3 grid_of_values((width + 31) / 32, (tokens + 7) / 8);
    weigh_values<<<grid_of_values, block>>>(d_scores, d_qkv, d_out, tokens, heads, head);
}

// ---- the block --------------------------------------------------------------------------

// Nothing is to be done here: when the parts are replaced, the block has them.
void transformer_block(const float* d_x, const Weights& w, const Workspace& room,
                       float* d_out, int tokens, int width, int heads) {
    layer_norm(d_x, w.d_gamma1, w.d_beta1, room.d_normed, tokens, width);
    linear({room.d_normed, w.d_qkv, w.d_qkv_bias, tokens, width, 3 * width}, room.d_qkv);
    attention(room.d_qkv, room.d_scores, room.d_attended, tokens, heads, width / heads);
    linear_residual(
        {room.d_attended, w.d_projection, w.d_projection_bias, tokens, width, width}, d_x,
        room.d_middle);
    layer_norm(room.d_middle, w.d_gamma2, w.d_beta2, room.d_normed, tokens, width);
    linear_gelu({room.d_normed, w.d_up, w.d_up_bias, tokens, width, 4 * width},
                room.d_inner);
    linear_residual({room.d_inner, w.d_down, w.d_down_bias, tokens, 4 * width, width},
                    room.d_middle, d_out);
}
