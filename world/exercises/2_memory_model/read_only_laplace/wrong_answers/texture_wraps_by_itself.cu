// Wrong answer: trusts a linear texture to wrap around at its ends
// Rejected by: closes the ring
// Message: There the neighbor outside of the array counts as 0. Which element is the left
//     neighbor of element 0, and
// which one the right neighbor of the last element?
#include "exercises/2_memory_model/read_only_laplace/read_only_laplace.h"

__global__ void laplace_by_texture(cudaTextureObject_t x, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    y[i] = tex1Dfetch<float>(x, i - 1) - 2 * tex1Dfetch<float>(x, i) +
           tex1Dfetch<float>(x, i + 1);
}

void laplace(const float* d_x, float* d_y, int count) {
    if (count == 0) return;
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = const_cast<float*>(d_x);
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = count * sizeof(float);
    cudaTextureDesc description = {};
    description.addressMode[0] = cudaAddressModeWrap;
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
