// The dot product of the part that a device has, and ways to add up the sums of devices.
//
// All kernels add in float what one thread reads, and in double from there on.
#pragma once

#include <cuda_runtime.h>
#include <cuda/atomic>

#include <cstddef>

namespace several_gpus {
namespace {

constexpr unsigned kDotThreads = 256;
constexpr unsigned kWarps = kDotThreads / 32;

// A device's part of the vectors, and what its blocks need to find its sum: their sums, and
// a counter of those that are done, which is 0 between two launches.
struct DotPart {
    const float* a;
    const float* b;
    std::size_t count;
    double* block_sums;
    unsigned* done;
};

// The sum of `value` over the block, in thread 0.
__device__ double sum_of_block(double value) {
    __shared__ double of_warp[kWarps];
    for (unsigned lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(0xFFFFFFFF, value, lanes);
    __syncthreads();  // nobody reads the sums of a call before any more
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    if (threadIdx.x == 0)
        for (unsigned warp = 0; warp < kWarps; ++warp) value += of_warp[warp];
    return value;
}

// What this thread adds up of the products: 16 bytes per load, and eight loads in flight.
__device__ double sum_of_thread(const DotPart& part) {
    constexpr unsigned at_once = 4;
    const std::size_t fours = part.count / 4;
    const float4* const a = reinterpret_cast<const float4*>(part.a);
    const float4* const b = reinterpret_cast<const float4*>(part.b);
    const std::size_t stride = std::size_t{gridDim.x} * kDotThreads;
    const std::size_t first = std::size_t{blockIdx.x} * kDotThreads + threadIdx.x;
    float sums[at_once] = {};
    std::size_t i = first;
    for (; i + (at_once - 1) * stride < fours; i += at_once * stride) {
        float4 x[at_once], y[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            x[k] = a[i + k * stride];
            y[k] = b[i + k * stride];
        }
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
            sums[k] +=
                x[k].x * y[k].x + x[k].y * y[k].y + x[k].z * y[k].z + x[k].w * y[k].w;
    }
    for (; i < fours; i += stride)
        sums[0] += a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z + a[i].w * b[i].w;
    const std::size_t tail = fours * 4 + first;
    if (tail < part.count) sums[1] += part.a[tail] * part.b[tail];
    double sum = 0;
    for (const float value : sums) sum += double{value};
    return sum;
}

// True in thread 0 of the block that is done last: then `sum` is that of the whole part.
__device__ bool sum_of_part(const DotPart& part, double& sum) {
    __shared__ bool is_last;
    const double of_block = sum_of_block(sum_of_thread(part));
    if (threadIdx.x == 0) {
        part.block_sums[blockIdx.x] = of_block;
        __threadfence();
        is_last = atomicAdd(part.done, 1u) + 1 == gridDim.x;
    }
    __syncthreads();
    if (!is_last) return false;
    __threadfence();
    double value = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kDotThreads)
        value += __ldcg(&part.block_sums[block]);
    sum = sum_of_block(value);
    if (threadIdx.x != 0) return false;
    *part.done = 0;
    return true;
}

// Steps 1 to 4: the sum of the part goes to `out`, in the memory of whatever device.
__global__ void __launch_bounds__(kDotThreads) dot_of_part(DotPart part, double* out) {
    double sum = 0;
    if (sum_of_part(part, sum)) *out = sum;
}

// Adds up what the devices have found: one thread is enough for a few numbers.
__global__ void add_sums(const double* sums, int count, double* total) {
    double sum = 0;
    for (int device = 0; device < count; ++device) sum += sums[device];
    *total = sum;
}

// Step 5, dot_with_flags: there is no second kernel, and no event that waits. Every device
// but the first stores its sum in the memory of device 0, and then the number of this run
// in a flag beside it. The last block of device 0 waits for these flags. Faster because
// device 0 goes on as soon as the flag has arrived, and because nothing has to be launched
// once the sums are there. The store to the flag is a release of system scope, and the
// load an acquire: threads of another device are not in the scope of a device. It takes
// kernels that run at the same time: if one device never got its launch, device 0 would
// wait forever.
using SystemFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

__global__ void __launch_bounds__(kDotThreads)
    dot_with_flags(DotPart part, int device, int devices, unsigned run, double* sums,
                   unsigned* flags, double* total) {
    double sum = 0;
    if (!sum_of_part(part, sum)) return;
    if (device != 0) {
        sums[device] = sum;
        SystemFlag(flags[device]).store(run, cuda::memory_order_release);
        return;
    }
    for (int other = 1; other < devices; ++other) {
        // A device that is ahead may have stored the number of a later run already.
        while (static_cast<int>(SystemFlag(flags[other]).load(cuda::memory_order_acquire) -
                                run) < 0) {
        }
        sum += sums[other];
    }
    *total = sum;
}

}  // namespace
}  // namespace several_gpus
