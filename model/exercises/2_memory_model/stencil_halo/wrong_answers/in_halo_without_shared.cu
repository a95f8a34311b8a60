// Wrong answer: takes windows from global memory through a texture, and writes a tile that
//     it does not need
// Rejected by: shares loads and sums among the threads of a block
// Message: lanes of a warp take part in a load from global memory
#include "exercises/2_memory_model/stencil_halo/stencil_halo.h"

__global__ void by_texture(cudaTextureObject_t in, float* out, int count, int radius) {
    extern __shared__ float tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (i >= count) return;
    float sum = tile[threadIdx.x];
    for (int k = -radius; k <= radius; ++k) sum += tex1Dfetch<float>(in, i + k);
    out[i] = sum;
}

void sum_windows(const float* d_in, float* d_out, int count, int radius,
                 int threads_per_block) {
    if (count == 0) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<float*>(d_in);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = static_cast<size_t>(count) * sizeof(float);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    by_texture<<<(count + threads_per_block - 1) / threads_per_block, threads_per_block,
                 threads_per_block * sizeof(float)>>>(texture, d_out, count, radius);
    cudaDestroyTextureObject(texture);
}
