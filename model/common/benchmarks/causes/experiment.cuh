// What these programs share: checks, timing of variants in turn, a plain table. README.md says what they are for.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const cudaError_t status_ = (call);                                                                  \
        if (status_ != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

inline bool counters_only = false;  // `PROGRAM counters`: each variant is launched once, for ncu
inline bool all_right = true;

template <class T>
T* device_array(std::size_t count) {
    T* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, count * sizeof(T)));
    CHECK(cudaMemset(pointer, 0, count * sizeof(T)));
    return pointer;
}

template <class T, class Expected>
__global__ void count_wrong(const T* values, std::size_t count, Expected expected, unsigned long long* wrong) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        if (!expected(i, values[i])) atomicAdd(wrong, 1ull);
    }
}

// expected(i, value) is a functor that says whether values[i] is right.
template <class T, class Expected>
bool is_right(const T* values, std::size_t count, Expected expected) {
    static unsigned long long* d_wrong = device_array<unsigned long long>(1);
    CHECK(cudaMemset(d_wrong, 0, sizeof *d_wrong));
    count_wrong<<<1056, 256>>>(values, count, expected, d_wrong);
    CHECK(cudaGetLastError());
    unsigned long long wrong = 0;
    CHECK(cudaMemcpy(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong != 0) std::printf("WRONG: %llu of %zu elements\n", wrong, count);
    return wrong == 0;
}

struct Variant {
    std::string name;
    std::function<void()> run;
    double amount;                // bytes (or operations) of one run, for the rate
    std::function<bool()> right;  // looks at the result of a run; empty: nothing to look at
    std::string note;
    std::function<void()> poison = {};
};

// Times the variants in turn, `repeats` rounds; prints the median, the 10 % and 90 % quantiles, the rate, the ratio to
// the first variant.
inline std::vector<double> measure(const std::string& title, const std::vector<Variant>& variants,
                                   const char* rate = "GB/s", int repeats = 21) {
    const auto launch = [](const Variant& variant) {
        variant.run();
        CHECK(cudaGetLastError());
    };
    std::vector<bool> right;
    for (const Variant& variant : variants) {
        if (variant.poison && !counters_only) variant.poison();
        launch(variant);
        CHECK(cudaDeviceSynchronize());
        right.push_back(counters_only || !variant.right || variant.right());
        if (!right.back()) all_right = false;
    }
    std::vector<double> medians;
    if (counters_only) return medians;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    const auto started = std::chrono::steady_clock::now();  // warm-up: at least 0.2 s
    do {
        launch(variants[0]);
        CHECK(cudaDeviceSynchronize());
    } while (std::chrono::steady_clock::now() - started < std::chrono::milliseconds(200));

    std::vector<std::vector<double>> times(variants.size());
    for (int k = 0; k < repeats + 1; ++k) {
        for (std::size_t v = 0; v < variants.size(); ++v) {
            CHECK(cudaEventRecord(begin));
            launch(variants[v]);
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (k > 0) times[v].push_back(1e3 * ms);  // the first round is one more warm-up
        }
    }
    std::size_t width = 8;
    for (const Variant& variant : variants) width = std::max(width, variant.name.size());
    std::printf("\n%s (median of %d, in turn)\n%-*s  %10s  %10s  %10s  %9s  %7s  %s\n", title.c_str(), repeats,
                static_cast<int>(width), "variant", "median us", "10 % us", "90 % us", rate, "x first", "");
    for (std::size_t v = 0; v < variants.size(); ++v) {
        std::sort(times[v].begin(), times[v].end());
        const std::size_t n = times[v].size();
        medians.push_back(times[v][n / 2]);
        std::printf("%-*s  %10.1f  %10.1f  %10.1f  %9.0f  %7.3f  %s%s\n", static_cast<int>(width),
                    variants[v].name.c_str(), medians[v], times[v][n / 10], times[v][n - 1 - n / 10],
                    variants[v].amount / medians[v] * 1e-3, medians[v] / medians[0], variants[v].note.c_str(),
                    right[v] ? "" : "  RESULT WRONG");
    }
    std::fflush(stdout);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return medians;
}

inline int sm_count = 0;

inline void start(int argc, char** argv, const char* what) {
    for (int k = 1; k < argc; ++k) counters_only = counters_only || std::strcmp(argv[k], "counters") == 0;
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    sm_count = properties.multiProcessorCount;
    int driver = 0, runtime = 0;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    std::printf("== %s\n%s, %d SMs, L2 %.0f MiB, driver API %d, runtime %d\n", what, properties.name, sm_count,
                properties.l2CacheSize / 1048576.0, driver, runtime);
}

inline int finish() {
    CHECK(cudaDeviceSynchronize());
    std::printf("%s\n\n", all_right ? "all results are right" : "SOME RESULTS ARE WRONG");
    return all_right ? 0 : 1;
}

// Blocks of an SM at a time, registers and static shared memory of a kernel, as text; blocks in *per_sm.
template <class Kernel>
std::string resources(Kernel kernel, int threads, std::size_t dynamic_shared = 0, int* per_sm = nullptr) {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, kernel));
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic_shared));
    if (per_sm) *per_sm = blocks;
    char text[160];
    std::snprintf(text, sizeof text, "%d registers, local %zu B, %d threads per SM", a.numRegs, a.localSizeBytes,
                  blocks * threads);
    return text;
}

// The input of most experiments: element i holds i modulo 2^20 (exact in a float, and so are sums of a few).
__host__ __device__ inline float value_at(std::size_t i) { return static_cast<float>(i & 0xFFFFF); }

static __global__ void number(float* values, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        values[i] = value_at(i);
    }
}
inline void fill_numbers(float* values, std::size_t count) {
    number<<<1056, 256>>>(values, count);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
