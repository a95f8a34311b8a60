// Correct answer: 64 threads with four bins each
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned totals[2];
    const size_t i = blockIdx.x * size_t{bins / 4} + threadIdx.x;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint4 own = reinterpret_cast<const uint4*>(counts)[i];
    own.y += own.x;
    own.z += own.y;
    own.w += own.z;
    unsigned sum = own.w;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const unsigned before = __shfl_up_sync(0xFFFFFFFFu, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    const unsigned before = sum - own.w + (warp == 1 ? totals[0] : 0);
    reinterpret_cast<uint4*>(sums)[i] =
        make_uint4(own.x + before, own.y + before, own.z + before, own.w + before);
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins / 4>>>(d_counts, d_sums);
}
