// matrix_add.md: why is step 3 only 3.9 times as slow as step 4, and why is step 4 slower than step 2?
#include "experiment.cuh"

constexpr std::size_t kSide = 16384, kCount = kSide * kSide;

// step 3
__device__ void down_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (row >= rows) return;
    for (std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; col < cols; col += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}
// step 4
__device__ void along_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows; row += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = a[i] + b[i];
    }
}
__global__ void x_down_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    down_rows(a, b, sum, rows, cols);
}
__global__ void x_along_rows(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    along_rows(a, b, sum, rows, cols);
}
__global__ void x_down_rows_32x1(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    down_rows(a, b, sum, rows, cols);
}
// step 3, loads that pass by the L1 cache
__global__ void x_down_rows_no_l1(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (row >= rows) return;
    for (std::size_t col = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; col < cols; col += stride) {
        const std::size_t i = row * cols + col;
        sum[i] = __ldcg(a + i) + __ldcg(b + i);
    }
}
// step 3, loads only / stores only
__global__ void x_down_rows_loads(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * cols +
                          std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (a[i] + b[i] == -1) sum[0] = 1;
}
__global__ void x_down_rows_stores(const float*, const float*, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * cols +
                          std::size_t{blockIdx.y} * blockDim.y + threadIdx.y;
    sum[i] = 2 * value_at(i);
}
__global__ void along_rows_loads(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t i = (std::size_t{blockIdx.y} * blockDim.y + threadIdx.y) * cols +
                          std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (a[i] + b[i] == -1) sum[0] = 1;
}
__global__ void along_rows_stores(const float*, const float*, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t i = (std::size_t{blockIdx.y} * blockDim.y + threadIdx.y) * cols +
                          std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    sum[i] = 2 * value_at(i);
}
// step 2: with any grid, from one that just fills the device to one element per thread
__global__ void x_flat(const float* a, const float* b, float* sum, std::size_t rows, std::size_t cols) {
    const std::size_t count = rows * cols, stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        sum[i] = a[i] + b[i];
}

struct IsSum {
    __device__ bool operator()(std::size_t i, float v) const { return v == 2 * value_at(i); }
};

int main(int argc, char** argv) {
    start(argc, argv, "matrix_add_causes: 16384 x 16384 floats");
    float *a = device_array<float>(kCount), *b = device_array<float>(kCount), *sum = device_array<float>(kCount);
    fill_numbers(a, kCount);
    fill_numbers(b, kCount);
    std::vector<Variant> variants;
    const auto add = [&](std::string name, auto kernel, dim3 grid, dim3 block, double arrays, bool writes) {
        char note[120];
        std::snprintf(note, sizeof note, "grid %u x %u; ", grid.x, grid.y);
        variants.push_back(
            {name, [=] { kernel<<<grid, block>>>(a, b, sum, kSide, kSide); }, arrays * 4 * kCount,
             writes ? std::function<bool()>([=] { return is_right(sum, kCount, IsSum{}); }) : std::function<bool()>(),
             note + resources(kernel, static_cast<int>(block.x * block.y)),
             [=] { CHECK(cudaMemset(sum, 0xFF, 4 * kCount)); }});
    };
    const auto down = [](unsigned y) { return dim3(kSide / 32, kSide / y); };
    const unsigned fill = 8 * sm_count;
    if (counters_only) {
        add("", x_down_rows, down(8), dim3(32, 8), 3, true);
        add("", x_down_rows_32x1, down(1), dim3(32, 1), 3, true);
        add("", x_down_rows_no_l1, down(8), dim3(32, 8), 3, true);
        add("", x_down_rows_loads, down(8), dim3(32, 8), 2, false);
        add("", x_down_rows_stores, down(8), dim3(32, 8), 1, true);
        add("", x_along_rows, dim3(kSide / 32, kSide / 8), dim3(32, 8), 3, true);
        add("", x_flat, dim3(fill), dim3(256), 3, true);
        measure("", variants);
        return finish();
    }
    add("step 4, 32 x 8", x_along_rows, dim3(kSide / 32, kSide / 8), dim3(32, 8), 3, true);
    for (const unsigned y : {1u, 2u, 4u, 8u, 16u, 32u})
        add("step 3, 32 x " + std::to_string(y), x_down_rows, down(y), dim3(32, y), 3, true);
    add("step 3, 32 x 8, past L1", x_down_rows_no_l1, down(8), dim3(32, 8), 3, true);
    add("step 3, loads only", x_down_rows_loads, down(8), dim3(32, 8), 2, false);
    add("step 4, loads only", along_rows_loads, dim3(kSide / 32, kSide / 8), dim3(32, 8), 2, false);
    add("step 3, stores only", x_down_rows_stores, down(8), dim3(32, 8), 1, true);
    add("step 4, stores only", along_rows_stores, dim3(kSide / 32, kSide / 8), dim3(32, 8), 1, true);
    measure("Step 3: 8 neighboring columns share a sector; blocks of 32 x 1 to 32 x 32", variants);

    variants.clear();
    const auto count_blocks = static_cast<unsigned>(kCount / 256);
    add("step 2: flat, grid fills", x_flat, dim3(fill), dim3(256), 3, true);
    add("flat, 1024 blocks", x_flat, dim3(1024), dim3(256), 3, true);
    add("flat, 1 element per thread", x_flat, dim3(count_blocks), dim3(256), 3, true);
    add("step 4: row/col, 32 x 8, 1 element", x_along_rows, dim3(kSide / 32, kSide / 8), dim3(32, 8), 3, true);
    add("row/col, 32 x 8, grid fills", x_along_rows, dim3(kSide / 32, 2), dim3(32, 8), 3, true);
    add("row/col, 256 x 1, 1 element", x_along_rows, dim3(kSide / 256, kSide), dim3(256, 1), 3, true);
    add("row/col, 256 x 1, grid fills", x_along_rows, dim3(kSide / 256, 16), dim3(256, 1), 3, true);
    add("row/col, 128 x 2, 1 element", x_along_rows, dim3(kSide / 128, kSide / 2), dim3(128, 2), 3, true);
    add("row/col, 64 x 4, 1 element", x_along_rows, dim3(kSide / 64, kSide / 4), dim3(64, 4), 3, true);
    measure("Step 4 against step 2: index, elements per thread, shape of the block", variants);
    return finish();
}
