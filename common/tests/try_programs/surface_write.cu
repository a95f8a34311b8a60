// A kernel writes a surface, another reads it through a texture, a third doubles it in place.
#include <cstdio>
#include <vector>

__global__ void write(cudaSurfaceObject_t surface, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) surf2Dwrite(static_cast<float>(100 * y + x), surface, x * 4, y);
}
__global__ void twice(cudaSurfaceObject_t surface, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    surf2Dwrite(2 * surf2Dread<float>(surface, x * 4, y), surface, x * 4, y);
}
__global__ void read(cudaTextureObject_t texture, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

int main() {
    const int width = 50, height = 20;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    float* d_out;
    cudaMalloc(&d_out, width * height * sizeof(float));

    const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    write<<<grid, block>>>(surface, width, height);
    twice<<<grid, block>>>(surface, width, height);
    read<<<grid, block>>>(texture, d_out, width, height);
    std::vector<float> out(width * height);
    cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) wrong += out[y * width + x] != 2.0f * (100 * y + x);
    printf("%d wrong elements\n", wrong);
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
    cudaFree(d_out);
    return wrong;
}
