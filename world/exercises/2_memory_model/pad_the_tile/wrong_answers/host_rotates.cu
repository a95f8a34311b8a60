// Wrong answer: the image goes to the host and is turned there
// Rejected by: turns images of any shape
// Message: were not read by any kernel
#include "exercises/2_memory_model/pad_the_tile/pad_the_tile.h"

#include <vector>

__global__ void rotate_tiles(const float*, float*, int, int) {
    __shared__ float tile[32][33];
}

void rotate_image(const float* d_image, float* d_rotated, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    const size_t pixels = static_cast<size_t>(rows) * cols;
    std::vector<float> image(pixels), rotated(pixels);
    cudaMemcpy(image.data(), d_image, pixels * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
        for (size_t col = 0; col < static_cast<size_t>(cols); ++col)
            rotated[col * rows + (rows - 1 - row)] = image[row * cols + col];
    }
    cudaMemcpy(d_rotated, rotated.data(), pixels * sizeof(float), cudaMemcpyHostToDevice);
    rotate_tiles<<<1, 1>>>(d_image, d_rotated, rows, cols);
}
