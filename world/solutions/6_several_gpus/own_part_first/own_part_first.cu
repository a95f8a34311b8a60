// Solution: the own part is multiplied while those of the other devices arrive.
//
// The copies have a stream of their own. For each part there is an event, for which the
// stream that multiplies waits right before it needs the part.
#include <cuda_runtime.h>

#include <vector>

#include "exercises/6_several_gpus/own_part_first/own_part_first.h"

constexpr unsigned threads_per_block = 128;

__global__ void multiply_add(const float* a, unsigned row_length, const float* x,
                             unsigned width, unsigned rows, float* y) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (unsigned k = 0; k < width; ++k) sum += a[row * row_length + k] * x[k];
    y[row] += sum;
}

void multiply_parts(int devices, const Share* shares, unsigned rows, unsigned width) {
    int before = 0;
    cudaGetDevice(&before);
    const unsigned row_length = static_cast<unsigned>(devices) * width;
    const unsigned blocks = (rows + threads_per_block - 1) / threads_per_block;
    for (int device = 0; device < devices; ++device) {
        const Share& share = shares[device];
        cudaSetDevice(device);
        std::vector<cudaEvent_t> arrived(static_cast<unsigned>(devices));
        for (int k = 1; k < devices; ++k) {
            const int from = (device + k) % devices;
            const unsigned part = static_cast<unsigned>(from);
            cudaMemcpyPeerAsync(share.d_x + part * width, device, shares[from].d_own_x,
                                from, width * sizeof(float), share.copies);
            cudaEventCreateWithFlags(&arrived[part], cudaEventDisableTiming);
            cudaEventRecord(arrived[part], share.copies);
        }
        for (int k = 0; k < devices; ++k) {
            const unsigned part = static_cast<unsigned>((device + k) % devices);
            if (k > 0) cudaStreamWaitEvent(share.products, arrived[part]);
            const float* const x = k == 0 ? share.d_own_x : share.d_x + part * width;
            multiply_add<<<blocks, threads_per_block, 0, share.products>>>(
                share.d_a + part * width, row_length, x, width, rows, share.d_y);
        }
        for (int k = 1; k < devices; ++k)
            cudaEventDestroy(arrived[static_cast<unsigned>((device + k) % devices)]);
    }
    cudaSetDevice(before);
}
