// Exercise: a kernel that waits, and three proposals what to change.
// The task: ./warpwise task read_the_report
#include "exercises/5_modern_cuda/read_the_report/read_the_report.h"

// Where the count of a bin lies in shared memory: after every 32 words one is left out.
__device__ unsigned place_of(unsigned bin) { return bin + bin / 32; }

// A block has a histogram, and each thread has a bin.
__global__ void add_up_kernel(const unsigned* counts, unsigned* sums) {
    __shared__ unsigned row[bins + bins / 32];
    const size_t i = blockIdx.x * size_t{bins} + threadIdx.x;

    // TODO 1: which of the three proposals does the report speak for? See the task.
    // TODO 2: carry it out.
    row[place_of(threadIdx.x)] = counts[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned b = 0; b < bins; ++b) {
            sum += row[place_of(b)];
            row[place_of(b)] = sum;
        }
    }
    __syncthreads();
    sums[i] = row[place_of(threadIdx.x)];
}

void add_up_histograms(const unsigned* d_counts, unsigned histograms, unsigned* d_sums) {
    if (histograms == 0) return;
    add_up_kernel<<<histograms, bins>>>(d_counts, d_sums);
}
