// What the CPU device costs, as ratios to the same work done without it, both measured in this process.
//
//     build/bin/cpu/benchmarks/cpu_device_speed
//
// Prints one line for each goal: the figure, the goal, and whether it was met. Times are the least of several rounds,
// because whatever else the machine does can only add to them. Exit status 0 whatever the figures are: a busy machine
// is no mistake.
#include <sys/resource.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "cpu_device/execution.h"

namespace {

namespace context = boost::context::detail;

constexpr int kRounds = 15;

/// Seconds of the fastest of several rounds.
double fastest(const std::function<void()>& work) {
    double best = 1e30;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void line(const char* what, double figure, const char* unit, const char* relation, double goal) {
    const bool met = *relation == '<' ? figure <= goal : figure >= goal;
    std::printf("%-62s %8.2f %-3s  goal %s %.2f  %s\n", what, figure, unit, relation, goal, met ? "met" : "MISSED");
}

// ---- a thread without barriers against a plain call -------------------------------------------------------------

__device__ __attribute__((noinline)) void add_one_element(const float* a, const float* b, float* sum, int i) {
    sum[i] = a[i] + b[i];
}

__global__ void add_by_call(const float* a, const float* b, float* sum, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) add_one_element(a, b, sum, i);
}

void threads_without_barriers() {
    constexpr int n = 1 << 20;
    std::vector<float> a(n, 1), b(n, 2), sum(n);
    cpu_device::set_cores(1);
    const double loop = fastest([&] {
        for (int i = 0; i < n; ++i) add_one_element(a.data(), b.data(), sum.data(), i);
    });
    const double launch = fastest([&] { add_by_call<<<n / 256, 256>>>(a.data(), b.data(), sum.data(), n); });
    std::printf("  plain loop %.2f ns per element, launch %.2f ns per thread\n", loop / n * 1e9, launch / n * 1e9);
    line("thread without a barrier / the same body in a plain loop", launch / loop, "x", "<=", 3);
}

// ---- a thread at a barrier against raw context switches ---------------------------------------------------------

struct Ring {
    std::vector<context::fcontext_t> fibers;
    std::size_t current = 0;
    long switches_left = 0;
    context::fcontext_t host = nullptr;
} ring;

void ring_fiber(context::transfer_t from) {
    for (;;) {
        *static_cast<context::fcontext_t*>(from.data) = from.fctx;
        const std::size_t self = ring.current;
        if (ring.switches_left-- == 0) {
            from = context::jump_fcontext(ring.host, &ring.fibers[self]);
        } else {
            ring.current = self + 1 == ring.fibers.size() ? 0 : self + 1;
            from = context::jump_fcontext(ring.fibers[ring.current], &ring.fibers[self]);
        }
    }
}

/// Seconds of one switch to the next of `fibers` stacks in turn, with nothing else done.
double raw_switch(std::size_t fibers) {
    constexpr std::size_t stack = 16 * 1024;
    std::vector<char> stacks(fibers * stack);
    constexpr long switches = 500000;
    const double seconds = fastest([&] {
        ring.fibers.clear();
        for (std::size_t i = 0; i < fibers; ++i) {
            char* top = stacks.data() + (i + 1) * stack - i * 192 % 4096;
            ring.fibers.push_back(context::make_fcontext(top, stack / 2, ring_fiber));
        }
        ring.current = 0;
        ring.switches_left = switches;
        const context::transfer_t back = context::jump_fcontext(ring.fibers[0], &ring.host);
        static_cast<void>(back);
    });
    return seconds / switches;
}

__global__ void cross_barriers(int barriers) {
    for (int i = 0; i < barriers; ++i) __syncthreads();
}

void threads_at_barriers() {
    constexpr int barriers = 100;
    constexpr unsigned blocks = 16;
    cpu_device::set_cores(1);
    for (const unsigned threads : {64u, 256u, 1024u}) {
        const double raw = raw_switch(threads);
        const double seconds = fastest([&] { cross_barriers<<<blocks, threads>>>(barriers); });
        const double crossing = seconds / (static_cast<double>(blocks) * threads * barriers);
        char what[80];
        std::snprintf(what, sizeof what, "thread crossing a barrier / raw switch, block of %u", threads);
        std::printf("  raw switch %.2f ns, crossing %.2f ns\n", raw * 1e9, crossing * 1e9);
        line(what, crossing / raw, "x", "<=", 3);
    }
}

// ---- cores ------------------------------------------------------------------------------------------------------

__global__ void busy(float* out, int steps) {
    float x = static_cast<float>(threadIdx.x) / 256;
    for (int i = 0; i < steps; ++i) x = 3.7F * x * (1 - x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

void cores() {
    if (std::thread::hardware_concurrency() < 2) {
        std::printf("one core only: the gain of a second one is not measured\n");
        return;
    }
    std::vector<float> out(64 * 256);
    const auto work = [&] { busy<<<64, 256>>>(out.data(), 300); };
    cpu_device::set_cores(1);
    const double one = fastest(work);
    cpu_device::set_cores(2);
    const double two = fastest(work);
    line("one core / two cores, 64 blocks of 256 threads", one / two, "x", ">=", 1.8);
}

// ---- a tiled product --------------------------------------------------------------------------------------------

constexpr int kTile = 16;

__global__ void multiply_tiled(const float* a, const float* b, float* product, int n) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const unsigned row = blockIdx.y * kTile + threadIdx.y;
    const unsigned col = blockIdx.x * kTile + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < n; first += kTile) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < kTile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    product[row * n + col] = sum;
}

void tiled_product() {
    constexpr int n = 512;
    std::vector<float> a(n * n, 0.5F), b(n * n, 0.25F), product(n * n);
    cpu_device::set_cores(std::min(2u, std::max(1u, std::thread::hardware_concurrency())));
    const double seconds = fastest([&] {
        multiply_tiled<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a.data(), b.data(), product.data(), n);
    });
    if (product[n + 1] != 0.5F * 0.25F * n) std::printf("the product is wrong\n");
    line("tiled product of 512 x 512 floats, two cores", seconds, "s", "<=", 0.4);
}

// ---- memory -----------------------------------------------------------------------------------------------------

long peak_kilobytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

void memory() {
    cross_barriers<<<64, 256>>>(2);
    const long small = peak_kilobytes();
    cross_barriers<<<1 << 16, 256>>>(2);
    const long large = peak_kilobytes();
    std::printf("  64 blocks: %ld KB at most so far, 65536 blocks: %ld KB\n", small, large);
    line("peak memory, 1024 times as many blocks / before", static_cast<double>(large) / static_cast<double>(small),
         "x", "<=", 1.1);
}

}  // namespace

int main() {
    memory();
    threads_without_barriers();
    threads_at_barriers();
    cores();
    tiled_product();
}
