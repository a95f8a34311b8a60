// Correct answer: a texture object over x, destroyed when the kernel is done
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_by_texture(cudaTextureObject_t x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float left = tex1Dfetch<float>(x, i > 0 ? i - 1 : count - 1);
    const float middle = tex1Dfetch<float>(x, i);
    const float right = tex1Dfetch<float>(x, i + 1 < count ? i + 1 : 0);
    y[i] = left - 2 * middle + right;
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<float*>(d_x);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = static_cast<size_t>(count) * sizeof(float);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    laplace_by_texture<<<(count + 255) / 256, 256>>>(texture, d_y, count);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
}

void laplace_twice(const float* d_x, float* d_work, float* d_y, int count) {
    laplace(d_x, d_work, count);
    laplace(d_work, d_y, count);
}
