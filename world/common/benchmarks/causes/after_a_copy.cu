// accuracy.md: why does the plain sum take 256 us, and the sums that do more work 247? In the lesson's table it is the
// one that runs right after the copy. Here both sums run after a sum, after the copy, and after smaller stores, whose
// lines the L2 cache still holds.
#include "chapters/3_optimization/accuracy/kernels.cuh"
#include "experiment.cuh"

using optimization::kThreads, optimization::Plain, optimization::Sum2;

constexpr std::size_t kCount = std::size_t{1} << 28;  // floats, 1 GiB
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Problem {
    float* values;
    char *from, *to;  // of half a GiB each, as in the lesson's copy
    void* block_sums;
    double* total;

    template <class Sum>
    void add() const {
        int per_sm = 0;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, optimization::sum_blocks<Sum>, kThreads, 0));
        const unsigned blocks = sm_count * per_sm;
        auto* sums = static_cast<Sum*>(block_sums);
        optimization::sum_blocks<<<blocks, kThreads>>>(values, kCount, sums);
        optimization::add_blocks<<<1, kThreads>>>(sums, blocks, total);
    }
    bool is_right() const {  // the terms are 1
        double sum = 0;
        CHECK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
        return sum > kCount * 0.999999 && sum < kCount * 1.000001;
    }
};

__global__ void fill_with_ones(float* values) {
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
        values[i] = 1;
}

int main(int argc, char** argv) {
    start(argc, argv, "after_a_copy: sums of 2^28 floats, and what ran before them");
    const Problem p{device_array<float>(kCount), device_array<char>(512 * kMiB), device_array<char>(512 * kMiB),
                    device_array<char>(64 * 1024), device_array<double>(1)};
    fill_with_ones<<<1056, 256>>>(p.values);
    CHECK(cudaDeviceSynchronize());
    const auto right = [&] { return p.is_right(); };
    const double bytes = kCount * sizeof(float);
    std::vector<Variant> variants;
    const auto plain = [&](const std::string& after) {
        variants.push_back({"plain sum after " + after, [&] { p.add<Plain<float>>(); }, bytes, right,
                            resources(optimization::sum_blocks<Plain<float>>, kThreads)});
    };
    const auto sum2 = [&](const std::string& after) {
        variants.push_back({"Sum2 after " + after, [&] { p.add<Sum2<float>>(); }, bytes, right,
                            resources(optimization::sum_blocks<Sum2<float>>, kThreads)});
    };
    const auto copy = [&] {
        const auto run = [&] { CHECK(cudaMemcpyAsync(p.to, p.from, 512 * kMiB, cudaMemcpyDeviceToDevice)); };
        variants.push_back({"(copy)", run, bytes, {}, ""});
    };
    const auto store = [&](std::size_t mib) {
        const auto run = [&p, mib] { CHECK(cudaMemsetAsync(p.to, 0, mib * kMiB)); };
        variants.push_back({"(store of " + std::to_string(mib) + " MiB)", run, 1.0 * mib * kMiB, {}, ""});
    };
    copy(), plain("the copy"), plain("a sum"), copy(), sum2("the copy"), sum2("a sum");
    for (const std::size_t mib : {8, 32, 128, 512}) {
        const std::string after = "a store of " + std::to_string(mib) + " MiB";
        store(mib), plain(after), store(mib), sum2(after);
    }
    measure("Sums of 1 GiB, with what ran before each", variants, "GB/s", 101);
    return finish();
}
