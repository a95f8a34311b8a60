// bank_conflicts.md: how many cycles does a wavefront of shared memory take, and why does a request of one wavefront
// take longer in the lesson? Its loop, and one that executes little else than the loads. Lane k reads word k * stride,
// so a request takes `stride` wavefronts if stride is a power of two. Each SM notes when its first block begins and its
// last one ends.
#include "experiment.cuh"

constexpr unsigned kWords = 1024, kUnrolled = 32, kThreads = 256, kPerSm = 2048 / kThreads, kRounds = 22;

struct Span {
    unsigned long long begin, end;
};

template <bool lean>
__global__ void x_read(unsigned stride, unsigned repeats, float* sums, Span* spans) {
    __shared__ float array[kWords + kUnrolled];
    for (unsigned i = threadIdx.x; i < kWords + kUnrolled; i += kThreads) array[i] = i;
    __syncthreads();
    const unsigned long long begin = clock64();
    const unsigned place = threadIdx.x % 32 * stride;
    float sum = 0;
    if constexpr (lean) {
        const volatile float* all = array;  // volatile, so that every load stays
#pragma unroll 1
        for (unsigned k = 0; k < repeats; k += kUnrolled)
#pragma unroll
            for (unsigned i = 0; i < kUnrolled; ++i) sum += all[place + i];
    } else {
        for (unsigned k = 0; k < repeats; ++k) sum += array[(place + k) % kWords];
    }
    sums[blockIdx.x * kThreads + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    atomicMin(&spans[sm].begin, begin);
    atomicMax(&spans[sm].end, clock64());
}

struct IsSum {
    bool lean;
    unsigned stride, repeats;
    __device__ bool operator()(std::size_t i, float v) const {
        const unsigned place = i % 32 * stride;
        unsigned sum = 0;
        for (unsigned k = 0; k < repeats; ++k) sum += lean ? place + k % kUnrolled : (place + k) % kWords;
        return v == sum;
    }
};

template <bool lean>
void run(unsigned stride) {
    const unsigned blocks = sm_count * kPerSm, repeats = 1024;
    static float* sums = device_array<float>(blocks * kThreads);
    static Span* d_spans = device_array<Span>(sm_count);
    std::vector<double> cycles;  // per request: the median SM of each round
    for (unsigned round = 0; round < (counters_only ? 1 : kRounds); ++round) {
        std::vector<Span> spans(sm_count, {~0ull, 0});
        CHECK(cudaMemcpy(d_spans, spans.data(), sm_count * sizeof(Span), cudaMemcpyHostToDevice));
        x_read<lean><<<blocks, kThreads>>>(stride, repeats, sums, d_spans);
        CHECK(cudaMemcpy(spans.data(), d_spans, sm_count * sizeof(Span), cudaMemcpyDeviceToHost));
        std::vector<double> each;
        for (const Span& s : spans) each.push_back((s.end - s.begin) / (2048 / 32.0 * repeats));
        std::sort(each.begin(), each.end());
        if (round > 0) cycles.push_back(each[sm_count / 2]);
    }
    if (counters_only) return;
    all_right = is_right(sums, blocks * kThreads, IsSum{lean, stride, repeats}) && all_right;
    std::sort(cycles.begin(), cycles.end());
    std::printf("%-16s %2u wavefronts: %7.3f cycles per request (10 %%: %.3f, 90 %%: %.3f)\n",
                lean ? "little else" : "as in the lesson", stride, cycles[10], cycles[2], cycles[18]);
}

int main(int argc, char** argv) {
    start(argc, argv, "shared_wavefronts: cycles of an SM per request of 4 bytes per lane");
    for (unsigned stride = 1; stride <= 32; stride *= 2) run<false>(stride);
    for (unsigned stride = 1; stride <= 32; stride *= 2) run<true>(stride);
    return finish();
}
