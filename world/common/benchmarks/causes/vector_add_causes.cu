// vector_add.md: what does starting threads and blocks cost (step 3 against step 4)? And why is an addition above the
// bandwidth of a copy: does the share of reads decide?
#include "experiment.cuh"

constexpr std::size_t kCount = std::size_t{1} << 28;  // floats: 1 GiB per array

__device__ void one_each(const float* a, const float* b, float* sum, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}
__device__ void striding(const float* a, const float* b, float* sum, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        sum[i] = a[i] + b[i];
}
__global__ void x_one_per_thread(const float* a, const float* b, float* sum, std::size_t count) {
    one_each(a, b, sum, count);
}
__global__ void x_grid_stride(const float* a, const float* b, float* sum, std::size_t count) {
    striding(a, b, sum, count);
}
// A block has 256 * n elements of its own, side by side: started as seldom as with n times as large a grid, but what
// all blocks touch at a time is not one stretch of memory.
__global__ void block_owns_stretch(const float* a, const float* b, float* sum, std::size_t count, unsigned n) {
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * n + threadIdx.x;
    for (unsigned k = 0; k < n; ++k) {
        const std::size_t i = first + std::size_t{k} * blockDim.x;
        if (i < count) sum[i] = a[i] + b[i];
    }
}

// R float4s read and W written per thread and unit, U units: R * U loads before the first store. Array r begins at
// r * vectors.
template <int R, int W, int U>
__global__ void reads_and_writes(const float4* in, float4* out, std::size_t vectors) {
    const std::size_t tile = std::size_t{blockIdx.x} * 256 * U + threadIdx.x;
    float4 v[U];
#pragma unroll
    for (int u = 0; u < U; ++u) v[u] = make_float4(1, 2, 3, 4);
    float4 loaded[R ? R : 1][U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
#pragma unroll
        for (int r = 0; r < R; ++r) loaded[r][u] = in[r * vectors + tile + u * 256];
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const float4 l = loaded[r][u];
            v[u] = make_float4(v[u].x + l.x, v[u].y + l.y, v[u].z + l.z, v[u].w + l.w);
        }
#pragma unroll
        for (int w = 0; w < W; ++w) out[w * vectors + tile + u * 256] = v[u];
        if (W == 0 && v[u].x + v[u].y + v[u].z + v[u].w == -1) out[0] = v[u];
    }
}

struct IsSum {
    __device__ bool operator()(std::size_t i, float v) const { return v == 2 * value_at(i); }
};
struct IsMix {  // array 0 of the output: 1, 2, 3, 4 and `reads` numbers
    int reads;
    __device__ bool operator()(std::size_t i, float v) const {
        return v == static_cast<float>(i % 4 + 1) + reads * value_at(i);
    }
};

int main(int argc, char** argv) {
    start(argc, argv, "vector_add_causes: sum = a + b, 2^28 floats");
    float* in = device_array<float>(4 * kCount);  // four arrays of 2^28; each holds the same numbers
    float* out = device_array<float>(2 * kCount);
    fill_numbers(in, 4 * kCount);
    const float *a = in, *b = in + kCount;
    std::vector<Variant> variants;
    const auto poison = [=] { CHECK(cudaMemset(out, 0xFF, 8 * kCount)); };
    const auto right = [=] { return is_right(out, kCount, IsSum{}); };
    const double bytes = 12.0 * kCount;
    if (counters_only) {
        x_one_per_thread<<<static_cast<unsigned>(kCount / 256), 256>>>(a, b, out, kCount);
        x_grid_stride<<<8 * sm_count, 256>>>(a, b, out, kCount);
        return finish();
    }
    for (const unsigned threads : {64u, 128u, 256u, 512u, 1024u}) {
        const unsigned blocks = static_cast<unsigned>(kCount / threads);
        variants.push_back({"one each, blocks of " + std::to_string(threads),
                            [=] { x_one_per_thread<<<blocks, threads>>>(a, b, out, kCount); }, bytes, right,
                            std::to_string(blocks) + " blocks started; " + resources(x_one_per_thread, threads),
                            poison});
    }
    measure("Cost of starting blocks: as many threads, in smaller and larger blocks", variants);
    variants.clear();
    for (const unsigned times : {1u, 2u, 4u, 8u, 16u, 64u, 256u, 993u}) {
        const unsigned blocks = 8 * sm_count * times;
        char note[80];
        std::snprintf(note, sizeof note, "%u blocks, %.1f elements per thread", blocks,
                      static_cast<double>(kCount) / blocks / 256);
        variants.push_back({"grid that fills, x " + std::to_string(times),
                            [=] { x_grid_stride<<<blocks, 256>>>(a, b, out, kCount); }, bytes, right, note, poison});
    }
    for (const unsigned n : {1u, 2u, 4u, 16u}) {
        const unsigned blocks = static_cast<unsigned>(kCount / 256 / n);
        variants.push_back({"block owns 256 x " + std::to_string(n),
                            [=] { block_owns_stretch<<<blocks, 256>>>(a, b, out, kCount, n); }, bytes, right,
                            std::to_string(blocks) + " blocks, not a stride of the grid", poison});
    }
    measure("Cost of starting threads: the loop of step 4 with more and more blocks of 256", variants);

    variants.clear();
    const std::size_t vectors = kCount / 4;
    const auto* in4 = reinterpret_cast<const float4*>(in);
    auto* out4 = reinterpret_cast<float4*>(out);
    const auto add = [&]<int R, int W, int U>() {
        char name[64];
        std::snprintf(name, sizeof name, "%d read, %d written", R, W);
        const unsigned blocks = static_cast<unsigned>(vectors / 256 / U);
        variants.push_back(
            {name, [=] { reads_and_writes<R, W, U><<<blocks, 256>>>(in4, out4, vectors); }, 4.0 * (R + W) * kCount,
             W ? std::function<bool()>([=] { return is_right(out, kCount, IsMix{R}); }) : std::function<bool()>(),
             std::to_string(16 * R * U) + " bytes of loads in flight per thread; " +
                 resources(reads_and_writes<R, W, U>, 256),
             poison});
    };
    variants.push_back({"cudaMemcpy",
                        [=] { CHECK(cudaMemcpyAsync(out, in, 4 * kCount, cudaMemcpyDeviceToDevice)); },
                        8.0 * kCount,
                        {},
                        ""});
    add.operator()<1, 1, 1>();
    add.operator()<1, 1, 2>();
    add.operator()<1, 1, 4>();
    add.operator()<2, 1, 1>();
    add.operator()<2, 1, 2>();
    add.operator()<3, 1, 1>();
    add.operator()<4, 1, 1>();
    add.operator()<1, 0, 4>();
    add.operator()<2, 0, 2>();
    add.operator()<4, 0, 1>();
    add.operator()<1, 2, 4>();
    add.operator()<0, 1, 2>();
    add.operator()<0, 2, 2>();
    measure("Shares of reads and writes, 16 bytes per access (all arrays 1 GiB)", variants);
    return finish();
}
