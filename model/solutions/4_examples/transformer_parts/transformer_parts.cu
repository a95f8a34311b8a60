// Solution: one block of GPT-2 in seven launches.
//
// Layer norm: a warp has a row, so that neighboring lanes read neighboring floats.
// Welford's sum finds mean and variance in one pass, and shuffles combine what the lanes
// have.
//
// Products: tiles of 64 x 64 through shared memory, and 4 x 4 sums per thread in registers.
// 16 multiply-adds take 8 floats from the tiles. Bias, GELU, and residual are added while a
// sum is still in its register, so each product is one launch.
//
// Attention: a block has 32 queries of a head and takes the keys 32 at a time. Scores stay
// in registers. When a tile brings a larger score, the sum and the weighted values so far
// are multiplied by exp(old - new). Tiles in which all keys come after all queries are left
// out.
#include "exercises/4_examples/transformer_parts/transformer_parts.h"

#include <cfloat>
#include <cmath>

constexpr int lanes = 32;
constexpr int threads = 256;  // of a block of the norm and of the products
constexpr unsigned all_lanes = ~0u;

// ---- part 1: layer norm -----------------------------------------------------------------

__global__ void norm_by_warp(const float* x, const float* gamma, const float* beta,
                             float* out, int rows, int cols) {
    const int row = (blockIdx.x * threads + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;
    if (row >= rows) return;  // the whole warp
    const float* const from = x + static_cast<size_t>(row) * cols;
    float* const to = out + static_cast<size_t>(row) * cols;
    float count = 0, mean = 0, m2 = 0;
    for (int col = lane; col < cols; col += lanes) {
        const float value = from[col], difference = value - mean;
        count += 1;
        mean += difference / count;
        m2 += difference * (value - mean);
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        const float other_count = __shfl_xor_sync(all_lanes, count, distance);
        const float other_mean = __shfl_xor_sync(all_lanes, mean, distance);
        const float other_m2 = __shfl_xor_sync(all_lanes, m2, distance);
        const float sum = count + other_count;
        if (sum > 0) {
            const float difference = other_mean - mean, share = other_count / sum;
            mean += difference * share;
            m2 += other_m2 + difference * difference * count * share;
        }
        count = sum;
    }
    const float factor = rsqrtf(m2 / count + 1e-5f);
    for (int col = lane; col < cols; col += lanes)
        to[col] = (from[col] - mean) * factor * gamma[col] + beta[col];
}

void layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_out,
                int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const int rows_per_block = threads / lanes;
    norm_by_warp<<<(rows + rows_per_block - 1) / rows_per_block, threads>>>(
        d_x, d_gamma, d_beta, d_out, rows, cols);
}

// ---- part 2: products -------------------------------------------------------------------

constexpr int BM = 64, BN = 64;  // rows and columns of the tile of results
constexpr int BK = 16;           // terms of a pair of tiles
constexpr int TM = 4, TN = 4;    // rows and columns of a thread
constexpr int side = BM / TM;    // threads of a block in each direction

enum class Then { bias, gelu, residual };

__device__ float gelu_of(float x) {
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

template <Then then>
__global__ void product_in_registers(Product p, const float* residual, float* out) {
    __shared__ float in_tile[BM][BK];
    __shared__ float weight_tile[BK][BN];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
    float sums[TM][TN] = {};
    for (int first = 0; first < p.ins; first += BK) {
        for (int i = 0; i < TM; ++i) {
            const int row = first_row + y + i * side, term = first + x;
            in_tile[y + i * side][x] = row < p.rows && term < p.ins
                                           ? p.d_in[static_cast<size_t>(row) * p.ins + term]
                                           : 0;
        }
        for (int j = 0; j < TN; ++j) {
            const int col = first_col + x + j * side, term = first + y;
            weight_tile[y][x + j * side] =
                term < p.ins && col < p.outs
                    ? p.d_weights[static_cast<size_t>(term) * p.outs + col]
                    : 0;
        }
        __syncthreads();
        for (int term = 0; term < BK; ++term) {
            float of_in[TM], of_weights[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) of_in[i] = in_tile[y + i * side][term];
#pragma unroll
            for (int j = 0; j < TN; ++j) of_weights[j] = weight_tile[term][x + j * side];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) sums[i][j] += of_in[i] * of_weights[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < TN; ++j) {
        const int col = first_col + x + j * side;
        const float bias = col < p.outs ? p.d_bias[col] : 0;
#pragma unroll
        for (int i = 0; i < TM; ++i) {
            const int row = first_row + y + i * side;
            if (row >= p.rows || col >= p.outs) continue;
            const size_t place = static_cast<size_t>(row) * p.outs + col;
            float result = sums[i][j] + bias;
            if (then == Then::gelu) result = gelu_of(result);
            if (then == Then::residual) result += residual[place];
            out[place] = result;
        }
    }
}

template <Then then>
void launch_product(const Product& p, const float* d_residual, float* d_out) {
    if (p.rows == 0 || p.outs == 0) return;
    const dim3 grid((p.outs + BN - 1) / BN, (p.rows + BM - 1) / BM);
    product_in_registers<then><<<grid, dim3(side, side)>>>(p, d_residual, d_out);
}

void linear(const Product& p, float* d_out) {
    launch_product<Then::bias>(p, nullptr, d_out);
}

void linear_gelu(const Product& p, float* d_out) {
    launch_product<Then::gelu>(p, nullptr, d_out);
}

void linear_residual(const Product& p, const float* d_residual, float* d_out) {
    launch_product<Then::residual>(p, d_residual, d_out);
}

// ---- part 3: attention ------------------------------------------------------------------

constexpr int widest = 64;                   // head
constexpr int queries = 8;                   // of a warp
constexpr int warps = 4;                     // of a block of attention
constexpr int query_rows = warps * queries;  // of a block
constexpr int keys = lanes;                  // of a tile: one per lane
constexpr int own = widest / lanes;          // columns of a lane

__global__ void attention_online(const float* qkv, float* out, int tokens, int heads,
                                 int head) {
    __shared__ float q_tile[query_rows][widest];
    __shared__ float k_tile[keys][widest + 1];  // a column lies in 32 banks
    __shared__ float v_tile[keys][widest];
    __shared__ float weights[warps][queries][keys];
    const int lane = threadIdx.x % lanes, warp = threadIdx.x / lanes;
    const int first_query = blockIdx.x * query_rows;
    const size_t width = static_cast<size_t>(heads) * head;
    const float* const q = qkv + static_cast<size_t>(blockIdx.y) * head;
    const float *const k = q + width, *const v = k + width;
    for (int i = threadIdx.x; i < query_rows * widest; i += warps * lanes) {
        const int row = i / widest, col = i % widest;
        const bool is_there = first_query + row < tokens && col < head;
        q_tile[row][col] = is_there ? q[(first_query + row) * 3 * width + col] *
                                          rsqrtf(static_cast<float>(head))
                                    : 0;
    }
    float largest[queries], sums[queries], results[queries][own];
#pragma unroll
    for (int i = 0; i < queries; ++i) {
        largest[i] = -FLT_MAX;
        sums[i] = 0;
#pragma unroll
        for (int c = 0; c < own; ++c) results[i][c] = 0;
    }
    for (int first_key = 0; first_key <= first_query; first_key += keys) {
        __syncthreads();
        for (int i = threadIdx.x; i < keys * widest; i += warps * lanes) {
            const int row = i / widest, col = i % widest;
            const bool is_there = first_key + row < tokens && col < head;
            const size_t from = (first_key + row) * 3 * width + col;
            k_tile[row][col] = is_there ? k[from] : 0;
            v_tile[row][col] = is_there ? v[from] : 0;
        }
        __syncthreads();
        float scores[queries] = {};
        for (int p = 0; p < head; ++p) {
            const float of_key = k_tile[lane][p];
#pragma unroll
            for (int i = 0; i < queries; ++i)
                scores[i] += q_tile[warp * queries + i][p] * of_key;
        }
#pragma unroll
        for (int i = 0; i < queries; ++i) {
            const int query = first_query + warp * queries + i;
            const float score = first_key + lane <= query ? scores[i] : -INFINITY;
            float larger = fmaxf(largest[i], score);
            for (int distance = lanes / 2; distance > 0; distance /= 2)
                larger = fmaxf(larger, __shfl_xor_sync(all_lanes, larger, distance));
            const float correction = expf(largest[i] - larger);
            const float weight = expf(score - larger);
            largest[i] = larger;
            sums[i] = sums[i] * correction + weight;  // of the keys of this lane
            weights[warp][i][lane] = weight;
#pragma unroll
            for (int c = 0; c < own; ++c) results[i][c] *= correction;
        }
        __syncwarp();
        for (int key = 0; key < keys; ++key) {
            float values[own];
#pragma unroll
            for (int c = 0; c < own; ++c) values[c] = v_tile[key][lane + c * lanes];
#pragma unroll
            for (int i = 0; i < queries; ++i) {
#pragma unroll
                for (int c = 0; c < own; ++c)
                    results[i][c] += weights[warp][i][key] * values[c];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < queries; ++i) {
        float sum = sums[i];
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(all_lanes, sum, distance);
        const int query = first_query + warp * queries + i;
#pragma unroll
        for (int c = 0; c < own; ++c) {
            const int col = lane + c * lanes;
            if (query < tokens && col < head)
                out[query * width + blockIdx.y * head + col] = results[i][c] / sum;
        }
    }
}

void attention(const float* d_qkv, float*, float* d_out, int tokens, int heads, int head) {
    if (tokens == 0) return;
    const dim3 grid((tokens + query_rows - 1) / query_rows, heads);
    attention_online<<<grid, warps * lanes>>>(d_qkv, d_out, tokens, heads, head);
}

// ---- the block --------------------------------------------------------------------------

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
