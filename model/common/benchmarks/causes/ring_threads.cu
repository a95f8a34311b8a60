// registers_and_local.md: the ring in registers (384 threads per SM) against the ring in shared memory (768): threads,
// or loads that begin early? The shared ring with fewer and fewer threads; and with loads ahead.
#include "experiment.cuh"

constexpr unsigned kWindow = 64, kThreads = 128;
constexpr std::size_t kSensors = std::size_t{1} << 20, kTimes = 256;  // 1 GiB in, 1 GiB out

__global__ void x_ring_in_shared(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
                                 std::size_t cols) {
    __shared__ int recent[kWindow][kThreads];
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    for (unsigned place = 0; place < kWindow; ++place) recent[place][threadIdx.x] = 0;
    int sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const int sample = samples[row * cols + col];
        const std::size_t place = row % kWindow;
        sum += sample - recent[place][threadIdx.x];
        recent[place][threadIdx.x] = sample;
        sums[row * cols + col] = sum;
    }
}
// The same ring, but `ahead` loads are made before the first of them is used. rows must be a multiple of `ahead`.
template <unsigned ahead>
__global__ void x_ring_in_shared_ahead(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
                                       std::size_t cols) {
    __shared__ int recent[kWindow][kThreads];
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    for (unsigned place = 0; place < kWindow; ++place) recent[place][threadIdx.x] = 0;
    int sum = 0;
#pragma unroll 1
    for (std::size_t first = 0; first < rows; first += ahead) {
        int sample[ahead];
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) sample[k] = samples[(first + k) * cols + col];
        asm volatile("" ::: "memory");
#pragma unroll
        for (unsigned k = 0; k < ahead; ++k) {
            const std::size_t place = (first + k) % kWindow;
            sum += sample[k] - recent[place][threadIdx.x];
            recent[place][threadIdx.x] = sample[k];
            sums[(first + k) * cols + col] = sum;
        }
    }
}
__device__ void unrolled(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows, std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t first = 0; first < rows; first += kWindow) {
#pragma unroll
        for (unsigned place = 0; place < kWindow; ++place) {
            const std::size_t row = first + place;
            const int sample = row < rows ? samples[row * cols + col] : 0;
            sum += sample - recent[place];
            recent[place] = sample;
            if (row < rows) sums[row * cols + col] = sum;
        }
    }
}
__global__ void __launch_bounds__(kThreads)
    x_ring_in_registers(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows, std::size_t cols) {
    unrolled(samples, sums, rows, cols);
}
// No loads early: a barrier for the compiler after each row.
__global__ void __launch_bounds__(kThreads)
    x_ring_in_registers_in_order(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
                                 std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t first = 0; first < rows; first += kWindow) {
#pragma unroll
        for (unsigned place = 0; place < kWindow; ++place) {
            const std::size_t row = first + place;
            int sample = 0;
            if (row < rows)
                asm volatile("ld.global.b32 %0, [%1];" : "=r"(sample) : "l"(samples + row * cols + col) : "memory");
            sum += sample - recent[place];
            recent[place] = sample;
            if (row < rows) asm volatile("st.global.b32 [%0], %1;" ::"l"(sums + row * cols + col), "r"(sum) : "memory");
        }
    }
}

__global__ void fill(int* samples, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        samples[i] = static_cast<int>(i % 1009) - 500;
}
struct IsSum {  // looks at every 37th element
    __device__ bool operator()(std::size_t i, int v) const {
        if (i % 37 != 0) return true;
        int sum = 0;
        for (unsigned k = 0; k < kWindow && i >= k * kSensors; ++k)
            sum += static_cast<int>((i - k * kSensors) % 1009) - 500;
        return v == sum;
    }
};

int main(int argc, char** argv) {
    start(argc, argv, "ring_threads: moving sums of 64 samples, 2^20 sensors, 256 rows");
    const std::size_t count = kSensors * kTimes;
    int *samples = device_array<int>(count), *sums = device_array<int>(count);
    fill<<<1056, 256>>>(samples, count);
    CHECK(cudaGetLastError());
    std::vector<Variant> variants;
    const auto add = [&](std::string name, auto kernel, unsigned blocks_per_sm = 0, bool ring_in_shared = true) {
        const std::size_t own = ring_in_shared ? kWindow * kThreads * sizeof(int) : 0;
        std::size_t more = 0;  // dynamic shared memory that nobody uses, so that only so many blocks fit
        if (blocks_per_sm > 0) {
            const std::size_t each = std::min<std::size_t>(228 * 1024 / blocks_per_sm - 1024, 227 * 1024) / 128 * 128;
            more = each > own ? each - own : 0;
            CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(227 * 1024 - own)));
        }
        if (ring_in_shared) CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
        variants.push_back({name,
                            [=] {
                                kernel<<<static_cast<unsigned>(kSensors / kThreads), kThreads, more>>>(
                                    samples, sums, kTimes, kSensors);
                            },
                            8.0 * count, [=] { return is_right(sums, count, IsSum{}); },
                            resources(kernel, kThreads, more), [=] { CHECK(cudaMemset(sums, 0x7F, 4 * count)); }});
    };
    add("shared ring, all that fit", x_ring_in_shared);
    add("registers, all that fit", x_ring_in_registers, 0, false);
    add("registers, loads in order", x_ring_in_registers_in_order, 0, false);
    if (!counters_only) {
        for (const unsigned blocks : {6u, 5u, 4u, 3u, 2u})
            add("shared ring, " + std::to_string(blocks) + " blocks", x_ring_in_shared, blocks);
        for (const unsigned blocks : {3u, 2u})
            add("registers, " + std::to_string(blocks) + " blocks", x_ring_in_registers, blocks, false);
        for (const unsigned blocks : {3u, 2u})
            add("registers, in order, " + std::to_string(blocks) + " blocks", x_ring_in_registers_in_order, blocks,
                false);
        add("shared ring, 4 loads ahead, 3 blocks", x_ring_in_shared_ahead<4>, 3);
        add("shared ring, 16 loads ahead, 3 blocks", x_ring_in_shared_ahead<16>, 3);
        add("shared ring, 4 loads ahead, 6 blocks", x_ring_in_shared_ahead<4>, 6);
        add("shared ring, 16 loads ahead, 6 blocks", x_ring_in_shared_ahead<16>, 6);
    }
    measure("Threads on an SM, and loads ahead", variants, "GB/s", 21);
    return finish();
}
