// The kernels of qualifiers: each shows one qualifier. All of them compute with integers,
// so every result has to be exactly right.
#pragma once

namespace basics_and_pi {
namespace {

constexpr unsigned kBlock = 64;  // threads per block

// 1. __global__ and __device__. A kernel (__global__) runs on the device, is launched by
// the host, and returns void. A __device__ function runs on the device and is called from
// there, like any function. The compiler inlines it where it sees fit. __forceinline__
// insists on that, and __noinline__ asks for a real call, which costs some instructions and
// registers.
__device__ __forceinline__ int square(int value) { return value * value; }
__device__ __noinline__ int cube(int value) { return value * value * value; }

__global__ void square_plus_cube(const int* in, int* out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = square(in[i]) + cube(in[i]);
}

// 2. __host__ __device__. The function is compiled twice, once for each side, so the host
// can check the kernel with the very same code. A function without a qualifier is __host__,
// and a kernel that calls it does not compile.
// Lanes of a warp whose loops are shorter wait for the longest one.
__host__ __device__ int collatz_steps(unsigned value) {
    int steps = 0;
    for (; value > 1; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    return steps;
}

__global__ void collatz(int* steps, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) steps[i] = collatz_steps(i);
}

// 3. __constant__. A variable in device memory that kernels may only read. The host writes
// it with cudaMemcpyToSymbol, also between launches. Constant memory has a cache of its
// own, which serves one address to a whole warp at a time.
// Here all lanes read coefficients[k] with the same k. Loads from different addresses would
// be serialized.
__constant__ int coefficients[4];

__global__ void polynomial(const int* in, int* out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int sum = 0;
    for (int k = 3; k >= 0; --k) sum = sum * in[i] + coefficients[k];
    out[i] = sum;
}

// 4. A __device__ variable. It is in global memory and exists as long as the program. Every
// thread of every launch sees the same variable, and it keeps its value from launch to
// launch. The host copies it with cudaMemcpyFromSymbol.
// `++threads_so_far` would lose counts, because all threads add to one variable. Therefore
// the kernel uses atomicAdd.
__device__ unsigned threads_so_far = 1000;

__global__ void count_threads() { atomicAdd(&threads_so_far, 1u); }

// 5. A __managed__ variable. The host uses it by name, without a copy: pages of memory move
// to the side that touches them.
// The host has to wait for the kernel first. Nothing else makes the value arrive.
__managed__ unsigned managed_threads = 0;

__global__ void count_threads_managed() { atomicAdd(&managed_threads, 1u); }

// 6. __shared__. Each block has one array, on its SM. It exists until the block ends. The
// block reverses its part of the array: each thread writes one element and reads an element
// that another thread wrote, so all must have written before any thread reads.
// Every thread reaches __syncthreads(), also those of the last block that have no element.
__global__ void reverse_blocks_static(const int* in, int* out, unsigned count) {
    __shared__ int tile[kBlock];
    const unsigned first = blockIdx.x * blockDim.x;
    const unsigned elements = first < count ? min(blockDim.x, count - first) : 0;
    if (threadIdx.x < elements) tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < elements) out[first + threadIdx.x] = tile[elements - 1 - threadIdx.x];
}

// 7. All four launch arguments. The array has no size here: the third argument of the
// launch gives its bytes. The fourth argument names the stream, a queue of the device.
// Kernels of one stream run in order, and those of different streams may overlap.
// There is only one dynamic array. A kernel that needs two divides it.
__global__ void reverse_blocks_dynamic(const int* in, int* out, unsigned count) {
    extern __shared__ int dynamic_tile[];
    const unsigned first = blockIdx.x * blockDim.x;
    const unsigned elements = first < count ? min(blockDim.x, count - first) : 0;
    if (threadIdx.x < elements) dynamic_tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < elements)
        out[first + threadIdx.x] = dynamic_tile[elements - 1 - threadIdx.x];
}

struct Seen {
    dim3 grid, block;
    uint3 block_index, thread_index;
    int warp_size;
};

// 8. Built-in variables. They are declared everywhere in device code, and nothing can be
// assigned to them. The last thread of the last block writes down what it sees of them.
__global__ void built_in_variables(Seen* seen) {
    const bool last_block = blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 &&
                            blockIdx.z == gridDim.z - 1;
    const bool last_thread = threadIdx.x == blockDim.x - 1 &&
                             threadIdx.y == blockDim.y - 1 && threadIdx.z == blockDim.z - 1;
    if (last_block && last_thread)
        *seen = {gridDim, blockDim, blockIdx, threadIdx, warpSize};
}

// 9. __launch_bounds__(threads, blocks) promises that no block has more threads, and asks
// the compiler to use so few registers that this many blocks fit on an SM. __restrict__
// promises that, while the kernel runs, nothing that is reached through this pointer is
// written through another one. So the compiler may keep in a register what it has read.
// Both are promises. A launch with more threads is refused. A broken __restrict__ gives
// wrong results.
__global__ void __launch_bounds__(kBlock, 8)
    bounded_square(const int* __restrict__ in, int* __restrict__ out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = square(in[i]);
}

}  // namespace
}  // namespace basics_and_pi
