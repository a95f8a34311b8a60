// Included once in plain code and once in code that can be instrumented; INSTRUMENT_COST_NAMESPACE tells them apart.
#include "common/benchmarks/instrument_cost.h"

namespace INSTRUMENT_COST_NAMESPACE {
namespace {

constexpr int n = kInstrumentCostElements;

__global__ void add(const float* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[n - 1 - i];
}

__global__ void gather(const float* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(i * 2654435761u) % n];
}

__global__ void count(const float* in, unsigned* bins) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[static_cast<unsigned>(in[i])], 1u);
}

__global__ void sum_blocks(const float* in, float* out) {
    __shared__ float sums[256];
    const unsigned t = threadIdx.x;
    sums[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

constexpr int rows = 256;
constexpr int tile = 16;

__global__ void multiply_tiled(const float* a, const float* b, float* product) {
    __shared__ float a_tile[tile][tile], b_tile[tile][tile];
    const unsigned row = blockIdx.y * tile + threadIdx.y;
    const unsigned col = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < rows; first += tile) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * rows + first + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * rows + col];
        __syncthreads();
        for (int k = 0; k < tile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    product[row * rows + col] = sum;
}

}  // namespace

const InstrumentCost kernels[kInstrumentCostKernels] = {
    {"two loads, one store", 3.0 * n,
     [] { add<<<n / 256, 256>>>(instrument_cost_memory.in, instrument_cost_memory.out); }},
    {"random load, one store", 2.0 * n,
     [] { gather<<<n / 256, 256>>>(instrument_cost_memory.in, instrument_cost_memory.out); }},
    {"one load, one global atomic", 2.0 * n,
     [] { count<<<n / 256, 256>>>(instrument_cost_memory.in, instrument_cost_memory.bins); }},
    {"block sum in shared memory", (2.0 + 9) * n + (3.0 * 255 + 2) * (n / 256),
     [] { sum_blocks<<<n / 256, 256>>>(instrument_cost_memory.in, instrument_cost_memory.out); }},
    {"tiled product of 256 x 256", (4.0 + 2.0 * tile) * (rows / tile) * rows* rows + 1.0 * rows* rows,
     [] {
         multiply_tiled<<<dim3(rows / tile, rows / tile), dim3(tile, tile)>>>(
             instrument_cost_memory.in, instrument_cost_memory.in + rows * rows, instrument_cost_memory.out);
     }},
};

}  // namespace INSTRUMENT_COST_NAMESPACE
