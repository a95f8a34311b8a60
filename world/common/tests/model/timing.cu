#include "common/tests/model/timing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/helpers/check.h"

namespace model_kernels {
namespace {

using warpwise::check;

/// Reads all of `words`. The result is stored only if it is a value that it never is.
__global__ void read_all(const uint4* words, std::size_t count, unsigned* sum) {
    unsigned bits = 0;
    const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const uint4 word = words[i];
        bits |= word.x | word.y | word.z | word.w;
    }
    if (bits != 0) *sum = bits;
}

std::size_t l2_bytes() {
    int device = 0;
    int bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
    return static_cast<std::size_t>(bytes);
}

double percentile(const std::vector<float>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Stopwatch::Stopwatch()
    : written_(3 * l2_bytes()), read_(3 * l2_bytes() / sizeof(uint4) * (sizeof(uint4) / sizeof(unsigned))), sum_(1) {
    read_.fill_bytes(0);
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
}

Stopwatch::~Stopwatch() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
}

void Stopwatch::write_other_buffer() { check(cudaMemsetAsync(written_.data(), 1, written_.bytes(), nullptr)); }

void Stopwatch::read_other_buffer() {
    read_all<<<1024, 256>>>(reinterpret_cast<const uint4*>(read_.data()), read_.bytes() / sizeof(uint4), sum_.data());
    warpwise::check_launch();
}

template <class Before, class Body>
Times Stopwatch::times(Before before, Body body) {
    std::vector<float> samples;
    for (int i = 0; i < kSamples; ++i) {
        before();
        check(cudaEventRecord(start_));
        body();
        check(cudaEventRecord(stop_));
        check(cudaEventSynchronize(stop_));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, stop_));
        samples.push_back(milliseconds);
    }
    std::sort(samples.begin(), samples.end());
    return {1e-3 * percentile(samples, 0.5), 1e-3 * percentile(samples, 0.1), 1e-3 * percentile(samples, 0.9)};
}

Timing Stopwatch::of(const Prepared& kernel) {
    constexpr int warm_ups = 3;
    for (int i = 0; i < warm_ups; ++i) kernel.launch();
    warpwise::check_finished();
    Timing timing;
    timing.cold = times(
        [&] {
            write_other_buffer();
            read_other_buffer();
        },
        kernel.launch);
    timing.after_writes = times([&] { write_other_buffer(); }, kernel.launch);
    // The launch before the first event also keeps the GPU busy until the host has queued the measured launch.
    timing.hot = times(
        [&] {
            read_other_buffer();
            kernel.launch();
        },
        kernel.launch);
    return timing;
}

Times Stopwatch::of_nothing() {
    return times([&] { read_other_buffer(); }, [] {});
}

}  // namespace model_kernels
