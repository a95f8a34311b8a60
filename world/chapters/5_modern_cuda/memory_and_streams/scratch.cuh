// Group A of the lesson memory_and_streams: kRounds rounds, each of which needs scratch
// memory, and after each of which the host reads one number. The steps differ in where the
// scratch memory is from.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "chapters/5_modern_cuda/memory_and_streams/kernels.cuh"
#include "chapters/5_modern_cuda/memory_and_streams/pools.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;

constexpr int kRounds = 16;

// One round of smoothing on the host.
template <class T>
std::vector<T> smoothed(const std::vector<T>& x) {
    std::vector<T> out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const T left = x[i == 0 ? 0 : i - 1], right = x[i + 1 == x.size() ? i : i + 1];
        out[i] = T(0.25) * (left + 2 * x[i] + right);
    }
    return out;
}

template <class T>
T largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
    T largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

struct Smoothing {
    std::size_t count;
    std::vector<float> values;
    std::vector<double> expected;          // after all rounds
    std::vector<double> expected_changes;  // the largest one of each round
    DeviceBuffer<float> d_in, d_x, d_scratch;
    DeviceBuffer<unsigned> d_largest{kRounds};
    float* changes = nullptr;  // pinned memory of the host, a float per round
    Stream first, second;
    Event event;
    Pool returning, keeping{Pool::keep_everything};

    // What a pool does: filled in while `watched` says of which.
    const Pool* watched = nullptr;
    std::size_t held = 0;        // bytes reserved, when last looked at
    unsigned times_grown = 0;    // how often it asked the system for memory
    std::size_t most_held = 0;   // with an allocation in use
    std::size_t held_after = 0;  // after the last round

    explicit Smoothing(const warpwise::Size& size)
        : count(size[0]),
          values(warpwise::uniform<float>(count, 5)),
          expected(values.begin(), values.end()),
          d_in(values),
          d_x(count),
          d_scratch(count) {
        void* pinned = nullptr;
        check(cudaHostAlloc(&pinned, kRounds * sizeof(float), cudaHostAllocDefault));
        changes = static_cast<float*>(pinned);
        for (int round = 0; round < kRounds; ++round) {
            std::vector<double> next = smoothed(expected);
            expected_changes.push_back(largest_difference(expected, next));
            expected = std::move(next);
        }
    }
    ~Smoothing() { (void)cudaFreeHost(changes); }
    Smoothing(const Smoothing&) = delete;
    Smoothing& operator=(const Smoothing&) = delete;

    void poison() {
        d_x.fill_bytes(0xFF);
        d_scratch.fill_bytes(0xFF);
        std::fill_n(changes, kRounds, std::numeric_limits<float>::quiet_NaN());
        warpwise::check_finished();  // the steps' streams do not wait for this one
    }

    // A round adds three numbers of magnitude 1 and takes a quarter: at most two roundings
    // of half an epsilon each, and means of earlier errors.
    warpwise::Comparison compare() {
        warpwise::check_finished();
        const double tolerance = (kRounds + 1) * FLT_EPSILON;
        const warpwise::Comparison rounds =
            warpwise::compare(std::vector<float>(changes, changes + kRounds),
                              expected_changes, {.absolute = 2 * tolerance});
        return rounds.passed
                   ? warpwise::compare(d_x.download(), expected, {.absolute = tolerance})
                   : rounds;
    }

    // Each round reads and writes the array once, at least.
    warpwise::Work work() const {
        return {.bytes = 2.0 * kRounds * sizeof(float) * static_cast<double>(count),
                .operations = 4.0 * kRounds * static_cast<double>(count)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 4 * size[0] * sizeof(float) + (std::size_t{64} << 20);
    }

    std::size_t bytes() const { return count * sizeof(float); }
    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }

    void begin() {
        if (count > 0)
            check(cudaMemcpyAsync(d_x.data(), d_in.data(), bytes(), cudaMemcpyDefault,
                                  first));
        check(cudaMemsetAsync(d_largest.data(), 0, d_largest.bytes(), first));
    }
    void smooth_into(float* scratch) {
        smooth<<<blocks(), kThreads, 0, first>>>(d_x.data(), count, scratch);
        warpwise::check_launch();
    }
    void find_change(const float* scratch, int round, cudaStream_t stream) {
        largest_change<<<blocks(), kThreads, 0, stream>>>(d_x.data(), scratch, count,
                                                          d_largest.data() + round);
        warpwise::check_launch();
    }
    void replace_by(const float* scratch) {
        take_over<<<blocks(), kThreads, 0, first>>>(scratch, count, d_x.data());
        warpwise::check_launch();
    }
    // The host reads the round's number: a solver would stop when it is small enough.
    void read_change(int round) {
        check(cudaMemcpyAsync(changes + round, d_largest.data() + round, sizeof(float),
                              cudaMemcpyDeviceToHost, first));
        first.wait();
    }

    void look_at_pool() {
        if (watched == nullptr) return;
        const std::size_t now = watched->reserved();
        times_grown += now > held;
        held = now;
        most_held = std::max(most_held, now);
        held_after = now;
    }
};

// Step 1, a loop on one core.
void serial_rounds(Smoothing& problem) {
    std::vector<float> x = problem.values;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<float> next = smoothed(x);
        problem.changes[round] = largest_difference(x, next);
        x = std::move(next);
    }
    if (x.empty()) return;
    check(
        cudaMemcpy(problem.d_x.data(), x.data(), problem.bytes(), cudaMemcpyHostToDevice));
}

// Step 2, memory for each round, by cudaMalloc and cudaFree.
// Slow: the two calls more than double the time of a round. Here the host has already
// waited when it calls cudaFree. In a program with other streams, cudaFree would also wait
// for them.
void scratch_by_malloc(Smoothing& problem) {
    problem.begin();
    for (int round = 0; round < kRounds; ++round) {
        float* scratch = nullptr;
        check(cudaMalloc(&scratch, problem.bytes()));
        problem.smooth_into(scratch);
        problem.find_change(scratch, round, problem.first);
        problem.replace_by(scratch);
        problem.read_change(round);
        check(cudaFree(scratch));
    }
}

// Step 3, the same memory for all rounds, allocated before the loop.
// Better: nothing is left of the calls. This is the first thing to try.
// Slow: nothing, but it does not always suit. The memory is taken all the time, also while
// another part of the program could use it, and its size must be known in advance.
void scratch_once(Smoothing& problem) {
    problem.begin();
    for (int round = 0; round < kRounds; ++round) {
        float* scratch = problem.d_scratch.data();
        problem.smooth_into(scratch);
        problem.find_change(scratch, round, problem.first);
        problem.replace_by(scratch);
        problem.read_change(round);
    }
}

// Step 4, memory from a pool, in the order of the stream: cudaMallocAsync returns at once,
// and what the stream is given after it may use the memory. cudaFreeAsync does not wait:
// the memory ends when the stream gets there. Slow: the pool gives memory back to the
// system when the host synchronizes and the pool holds more than its release threshold.
// That is 0 at first, so each round asks anew. On an H200 this is no faster than step 2.
void scratch_async(Smoothing& problem) {
    problem.begin();
    for (int round = 0; round < kRounds; ++round) {
        float* scratch = nullptr;
        check(cudaMallocFromPoolAsync(&scratch, problem.bytes(), problem.returning.handle(),
                                      problem.first));
        problem.look_at_pool();
        problem.smooth_into(scratch);
        problem.find_change(scratch, round, problem.first);
        problem.replace_by(scratch);
        check(cudaFreeAsync(scratch, problem.first));
        problem.read_change(round);
        problem.look_at_pool();
    }
}

// Step 5, the same from a pool with a high release threshold.
// Better: the pool keeps the memory. Each round after the first one gets it back without
// asking the system.
void scratch_async_kept(Smoothing& problem) {
    problem.begin();
    for (int round = 0; round < kRounds; ++round) {
        float* scratch = nullptr;
        check(cudaMallocFromPoolAsync(&scratch, problem.bytes(), problem.keeping.handle(),
                                      problem.first));
        problem.look_at_pool();
        problem.smooth_into(scratch);
        problem.find_change(scratch, round, problem.first);
        problem.replace_by(scratch);
        check(cudaFreeAsync(scratch, problem.first));
        problem.read_change(round);
        problem.look_at_pool();
    }
}

// Step 6, a second stream uses the memory, too: it looks for the largest change. Two events
// tell each stream when the other is ready. The second stream may use the memory only after
// the first one has allocated and filled it, and the first one may overwrite what the
// second one reads, and free it, only after that. No faster than step 5: the first stream
// has nothing to do meanwhile. This pays only where both streams have work.
void scratch_in_two_streams(Smoothing& problem) {
    problem.begin();
    for (int round = 0; round < kRounds; ++round) {
        float* scratch = nullptr;
        check(cudaMallocFromPoolAsync(&scratch, problem.bytes(), problem.keeping.handle(),
                                      problem.first));
        problem.look_at_pool();
        problem.smooth_into(scratch);
        problem.event.order(problem.first, problem.second);
        problem.find_change(scratch, round, problem.second);
        problem.event.order(problem.second, problem.first);
        problem.replace_by(scratch);
        check(cudaFreeAsync(scratch, problem.first));
        problem.read_change(round);
        problem.look_at_pool();
    }
}

}  // namespace
}  // namespace modern_cuda
