// Problem: sum[i] = a[i] + b[i] for two vectors of n floats.
//
// One addition for every twelve bytes: eight read, four written. Every processor of today
// adds far faster than its memory delivers, so the work is the moving of data and the best
// possible time is bytes / bandwidth. The lesson first goes through the five moves of every
// GPU program, then leaves the data on the device and closes in on that time.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#ifndef __CPU_DEVICE__
#if __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>
#define VENDOR_ROUTINE "cub::DeviceTransform"
#else
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform.h>
#define VENDOR_ROUTINE "thrust::transform"
#endif
#endif

#include "chapters/1_basics_and_pi/vector_add/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::DeviceBuffer;

// The two vectors on the host and on the device, and room for their sum on both sides.
struct VectorAdd {
    std::size_t count;
    std::vector<float> a, b, sum;
    DeviceBuffer<float> d_a, d_b, d_sum;
    bool sum_is_on_host = false;  // set by the steps that leave their result in `sum`

    explicit VectorAdd(const warpwise::Size& size)
        : count(size[0]),
          a(warpwise::uniform<float>(count, 1)),
          b(warpwise::uniform<float>(count, 2)),
          sum(count),
          d_a(a),
          d_b(b),
          d_sum(count) {}

    void poison() {
        std::fill(sum.begin(), sum.end(), std::numeric_limits<float>::quiet_NaN());
        d_sum.fill_bytes(0xFF);
        sum_is_on_host = false;
    }

    // The reference is the sum in double precision. A float addition rounds it once: by at
    // most half the distance of two floats, epsilon / 2 of the sum. The double sum's own
    // rounding is below a billionth of that.
    warpwise::Comparison compare() {
        if (!sum_is_on_host) sum = d_sum.download();
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare_each(
            sum, count, [&](std::size_t i) { return static_cast<double>(a[i]) + b[i]; },
            {.relative = half_epsilon * (1 + 1e-8)});
    }

    warpwise::Work work() const {
        return {.bytes = 3.0 * sizeof(float) * count, .operations = 1.0 * count};
    }

    // Twice three vectors: the step `five_moves` allocates its own beside those of the
    // problem.
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 6 * sizeof(float) * size[0];
    }
};

// Step 1, the loop that all the others replace. One core of the host works through the
// elements one after the other.
// Slow because a single core does all of the work.
void serial(VectorAdd& problem) {
    for (std::size_t i = 0; i < problem.count; ++i)
        problem.sum[i] = problem.a[i] + problem.b[i];
    problem.sum_is_on_host = true;
}

// What to do about an error in a program that has nothing else yet: say where, say what,
// stop. Every call of the runtime returns a status; one that nobody looks at is an error
// that shows up somewhere else.
void stop_on_error(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "vector_add: %s: %s: %s\n", what, cudaGetErrorName(status),
                 cudaGetErrorString(status));
    std::exit(EXIT_FAILURE);
}

// Step 2, the five moves with nothing but the runtime's own calls: allocate, copy in,
// launch, copy out, free. The launch itself returns nothing: cudaGetLastError tells
// whether it was accepted. What goes wrong inside the kernel is told by the next call
// that waits for it, here the copy out.
// The additions are faster because thousands of threads share them. The whole is still slow
// because all data are copied to the device and back for a single addition each, and
// because allocating and freeing memory takes time as well.
void five_moves(VectorAdd& problem) {
    const std::size_t bytes = problem.count * sizeof(float);
    float *d_a = nullptr, *d_b = nullptr, *d_sum = nullptr;

    // 1. allocate
    stop_on_error(cudaMalloc(&d_a, bytes), "allocating a");
    stop_on_error(cudaMalloc(&d_b, bytes), "allocating b");
    stop_on_error(cudaMalloc(&d_sum, bytes), "allocating the sum");

    // 2. copy in
    stop_on_error(cudaMemcpy(d_a, problem.a.data(), bytes, cudaMemcpyHostToDevice),
                  "copying a in");
    stop_on_error(cudaMemcpy(d_b, problem.b.data(), bytes, cudaMemcpyHostToDevice),
                  "copying b in");

    // 3. launch: as many blocks as it takes for one thread per element, and never 0,
    // which is an error
    const std::size_t blocks =
        std::max<std::size_t>(1, (problem.count + kThreads - 1) / kThreads);
    add_one_per_thread<<<static_cast<unsigned>(blocks), kThreads>>>(d_a, d_b, d_sum,
                                                                    problem.count);
    stop_on_error(cudaGetLastError(), "launching add_one_per_thread");

    // 4. copy out: waits for the kernel, because the device does both in order
    stop_on_error(cudaMemcpy(problem.sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost),
                  "copying the sum out");

    // 5. free
    stop_on_error(cudaFree(d_a), "freeing a");
    stop_on_error(cudaFree(d_b), "freeing b");
    stop_on_error(cudaFree(d_sum), "freeing the sum");
    problem.sum_is_on_host = true;
}

// Step 3, the same kernel on data that are on the device already, as they are in the
// middle of a real computation. From here on (and in the rest of the book) buffers free
// themselves, `blocks_for` rounds up, and `check_launch` throws an exception that names
// file and line.
// Faster because nothing is copied between host and device. Still slow because each thread
// computes a single element: it loads 8 bytes, waits for them, stores 4, and ends. (An
// experiment showed that time is lost with one element per thread, but not why. Too few
// bytes in flight are probably the main reason.)
void one_per_thread(VectorAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    add_one_per_thread<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                             problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

// Step 4, a grid of fixed size: as many blocks as fit on the device at once.
void grid_stride(VectorAdd& problem) {
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count, kThreads),
                                     warpwise::blocks_that_fill(add_grid_stride, kThreads));
    add_grid_stride<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                          problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

// Step 5, 16 bytes per access: one block per tile of kTile float4s. The end of the
// vectors may cut the last tile short.
void float4_add(VectorAdd& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, 4 * kTile);
    add_float4<<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                     problem.d_sum.data(), problem.count);
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead: a routine of the CUDA Core Compute Libraries, which come
// with the CUDA Toolkit.
void vendor(VectorAdd& problem) {
    const float* a = problem.d_a.data();
    const float* b = problem.d_b.data();
#if __has_include(<cub/device/device_transform.cuh>)
    warpwise::check(cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b),
                                                    problem.d_sum.data(), problem.count,
                                                    cuda::std::plus<float>{}));
#else
    thrust::transform(thrust::device, a, a + problem.count, b, problem.d_sum.data(),
                      thrust::plus<float>{});
#endif
}
#endif

}  // namespace

void vector_add(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Adding two vectors takes one addition per twelve bytes moved, so the memory
decides how long it takes. What does a program have to do around a kernel, and how
should a kernel access its data to use the full speed of the memory?)");
    lesson.predict({.question = R"(The copies in and out are counted. Which is faster on a
machine with a GPU: `serial`, a plain loop on one core of the host, or `five_moves`,
which allocates, copies, launches, and copies back?)",
                    .answer = warpwise::Fastest{{"serial", "five_moves"}},
                    .because = R"(Every number moves between host and device for a single
addition, and the copies take about as long as the loop, however fast the kernel is.)",
                    .idea = "host and device memory"});
    lesson.predict({.question = R"(Three kernels move the same bytes. One has a thread per
element (add_one_per_thread), one a loop over the grid (add_grid_stride), and one loads four
floats per access (add_float4). Which of them is the fastest on a GPU?)",
                    .answer = warpwise::Fastest{{"add_one_per_thread", "add_grid_stride",
                                                 "add_float4"}},
                    .because = R"(The more bytes each thread has in flight, which means
asked for and not yet arrived, the less the memory idles while threads wait: add_float4 has
64 of them, add_one_per_thread 8.)"});

    std::vector<warpwise::Step<VectorAdd>> steps = {
        {"serial", "a loop on one core of the host", serial, warpwise::StepKind::host},
        {"five_moves", "a kernel, with all copies and allocations counted", five_moves},
        {"add_one_per_thread", "the same kernel, data on the device already",
         one_per_thread},
        {"add_grid_stride", "a grid that just fills the device, threads loop", grid_stride},
        {"add_float4", "16 bytes per access, several in flight per thread", float4_add},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", VENDOR_ROUTINE, vendor, warpwise::StepKind::vendor});
#endif
    lesson.steps<VectorAdd>(
        {.gpu = {std::size_t{1} << 28},
         .cpu = {std::size_t{1} << 18},
         .awkward = {{0}, {1}, {31}, {32}, {33}, {1009}, {2048}, {4096 + 3}, {100003}}},
        steps);

    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(With its copies, the GPU loses: for a single addition, the data are not
worth the trip. On data that are on the device already, all kernels move the same bytes,
and the one with the most bytes in flight per thread is the fastest.)"
            : R"(All kernels move the same bytes, but the last one needs a quarter of
the requests and keeps 64 bytes in flight per thread instead of 8. On a GPU it is the
fastest. The CPU device counts and checks, but its times would say nothing about a GPU.)");
}

}  // namespace basics_and_pi
