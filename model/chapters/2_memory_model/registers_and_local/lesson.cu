// Problem: moving sums. n sensors deliver one sample each, row after row; sum[row][col] is
// the sum of the last 64 samples of sensor col up to this row. All samples are whole
// numbers, so that sums are exact.
//
// A thread follows one sensor down the rows: it adds the new sample and subtracts the one
// of 64 rows before. So it has to remember 64 samples, and where those are kept is what
// this lesson is about. An array that a thread declares may be in registers, the fastest
// memory there is, or in local memory, which is a part of device memory. The source does
// not say which. The rule: registers have no addresses. An array can only be in registers
// if the compiler knows every index into it, and if there are enough registers.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/2_memory_model/registers_and_local/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr std::size_t kLanes = 32;
constexpr std::size_t kArrayBytes = kWindow * sizeof(int);  // that a thread has to remember

// Samples and sums, row after row: the samples of a row, one per sensor, are consecutive.
struct MovingSums {
    std::size_t rows, cols;
    std::vector<int> samples, sums;
    std::vector<int> sums_from_the_start;  // rows + 1 rows: of all samples before this row
    DeviceBuffer<int> d_samples, d_sums;
    bool sums_are_on_host = false;  // set by the step that leaves its result in `sums`

    explicit MovingSums(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          samples(warpwise::uniform_integers(rows * cols, 31, -999, 999)),
          sums(rows * cols),
          sums_from_the_start((rows + 1) * cols),
          d_samples(samples),
          d_sums(rows * cols) {
        for (std::size_t row = 0; row < rows; ++row) {
            warpwise::parallel_for(cols, [&](std::size_t begin, std::size_t end) {
                for (std::size_t col = begin; col < end; ++col) {
                    const std::size_t i = row * cols + col;
                    sums_from_the_start[i + cols] = sums_from_the_start[i] + samples[i];
                }
            });
        }
    }

    void poison() {
        // No 64 samples of three digits add up to that.
        std::fill(sums.begin(), sums.end(), -1000000);
        d_sums.fill_bytes(0x7F);
        sums_are_on_host = false;
    }

    // The reference is the difference of two sums from the start: whole numbers, far below
    // 2^53.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        return warpwise::compare_each(sums, rows * cols, [&](std::size_t i) {
            const double until_now = sums_from_the_start[i + cols];
            const double before =
                i >= kWindow * cols ? sums_from_the_start[i + cols - kWindow * cols] : 0;
            return until_now - before;
        });
    }

    // Each sample is read once and each sum is written once, for one addition and one
    // subtraction.
    warpwise::Work work() const {
        const double elements = static_cast<double>(rows * cols);
        return {.bytes = 2 * sizeof(int) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(int) * size.count();
    }
};

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core of the host, row after row. The sample of 64 rows before is still in the
// array of samples.
void serial(MovingSums& problem) {
    const std::size_t cols = problem.cols;
    for (std::size_t i = 0; i < problem.rows * cols; ++i) {
        const int before = i >= cols ? problem.sums[i - cols] : 0;
        const int oldest = i >= kWindow * cols ? problem.samples[i - kWindow * cols] : 0;
        problem.sums[i] = before + problem.samples[i] - oldest;
    }
    problem.sums_are_on_host = true;
}

// Launches a kernel with one thread per sensor.
void launch(void (*kernel)(const int*, int*, std::size_t, std::size_t),
            MovingSums& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_samples.data(), problem.d_sums.data(),
                                 problem.rows, problem.cols);
    warpwise::check_launch();
}

void index_at_run_time(MovingSums& problem) { launch(sums_index_at_run_time, problem); }

void in_shared_memory(MovingSums& problem) { launch(sums_in_shared_memory, problem); }

void unrolled(MovingSums& problem) { launch(sums_unrolled, problem); }

void unrolled_capped(MovingSums& problem) { launch(sums_unrolled_capped, problem); }

// ---- the compiler's report --------------------------------------------------------------

// What a kernel takes of the memories of an SM.
struct Resources {
    int registers = 0;       // per thread
    std::size_t local = 0;   // bytes per thread: arrays with a variable index, and spills
    std::size_t shared = 0;  // bytes per block
    unsigned threads_of_sm = 0;  // that fit at a time, in blocks of kThreads
};

// Threads on an SM of compute capability 9.0, by hand. It has 65,536 registers, of which a
// warp gets 256 at a time; 228 KiB of shared memory, of which 1 KiB per block goes to the
// system; and room for 2048 threads.
constexpr unsigned threads_by_hand(int registers, std::size_t shared) {
    const std::size_t registers_of_block =
        warpwise::ceil_div(static_cast<std::size_t>(registers), 8) * 8 * kThreads;
    const std::size_t by_registers = 65536 / registers_of_block;
    const std::size_t by_shared = 228 * 1024 / (shared + 1024);
    return static_cast<unsigned>(
               std::min({by_registers, by_shared, std::size_t{2048} / kThreads})) *
           kThreads;
}

// A kernel of the steps, and what nvcc 13.0 says of it for compute capability 9.0.
struct Kernel {
    const char* name;
    void (*kernel)(const int*, int*, std::size_t, std::size_t);
    int registers;
    std::size_t local, shared;
};
constexpr std::array<Kernel, 4> kernels = {
    {{"sums_index_at_run_time", sums_index_at_run_time, 32, kArrayBytes, 0},
     {"sums_in_shared_memory", sums_in_shared_memory, 32, 0, kArrayBytes* kThreads},
     {"sums_unrolled", sums_unrolled, 138, 0, 0},
     {"sums_unrolled_capped", sums_unrolled_capped, 64, 288, 0}}};

// What the compiler has put into the program that runs, asked of the runtime.
Resources resources_in_this_program(const Kernel& kernel) {
    cudaFuncAttributes attributes{};
    int blocks = 0;
    warpwise::check(cudaFuncGetAttributes(&attributes, kernel.kernel));
    warpwise::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.kernel,
                                                                  int{kThreads}, 0));
    return {attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes,
            static_cast<unsigned>(blocks) * kThreads};
}

// Prints registers, local and shared memory of the four kernels. On a GPU it checks what
// the text predicts of them.
void report_resources(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::vector<std::string>> rows;
    for (const Kernel& kernel : kernels) {
        Resources resources{kernel.registers, kernel.local, kernel.shared,
                            threads_by_hand(kernel.registers, kernel.shared)};
        if (on_gpu) resources = resources_in_this_program(kernel);
        rows.push_back({kernel.name, std::to_string(resources.registers),
                        std::to_string(resources.local), std::to_string(resources.shared),
                        std::to_string(resources.threads_of_sm)});
        if (!on_gpu) continue;
        const std::string name = std::string(kernel.name) + ": ";
        if (kernel.kernel == sums_index_at_run_time) {
            lesson.expect(resources.local >= kArrayBytes,
                          name + "the array is in local memory");
        } else if (kernel.kernel == sums_unrolled_capped) {
            lesson.expect(resources.local > 0,
                          name + "registers are spilled to local memory");
            lesson.expect(resources.registers <= 65536 / int{kCappedThreads},
                          name + "keeps to its cap");
        } else {
            lesson.expect(resources.local == 0, name + "nothing is in local memory");
        }
        if (kernel.kernel == sums_unrolled) {
            lesson.expect(resources.registers > int{kWindow},
                          name + "the samples are in registers");
        }
    }
    lesson.table(
        {"resources", on_gpu ? "As the runtime reports it for this GPU"
                             : "As nvcc 13.0 reports it for compute capability 9.0"},
        {"kernel", "registers", "local bytes", "shared bytes", "threads on an SM"}, rows);
}

// On the CPU device: what the kernels ask of global and shared memory. All four ask the
// same of global memory, because local memory is no part of the source.
void expect_the_same_requests(warpwise::Lesson& lesson) {
    constexpr std::size_t rows = 2 * kWindow, cols = 2 * kThreads;
    constexpr double requests = rows * cols / kLanes;
    MovingSums problem({rows, cols});
    for (const Kernel& kernel : kernels) {
        const auto counts = lesson.count([&] { launch(kernel.kernel, problem); });
        if (!counts) continue;
        const std::string name = std::string(kernel.name) + ": ";
        for (const warpwise::RequestCounts& global :
             {counts->global_load, counts->global_store}) {
            lesson.expect(
                global.requests == requests && global.sectors == 4 * requests,
                name + "reads each sample and writes each sum once, 4 sectors each");
        }
        const bool in_shared = kernel.kernel == sums_in_shared_memory;
        const double cleared = in_shared ? kWindow * cols / kLanes : 0.0;
        lesson.expect(counts->shared_load.requests == (in_shared ? requests : 0),
                      name + "a load from the ring a sample");
        lesson.expect(counts->shared_store.requests == (in_shared ? requests + cleared : 0),
                      name + "a store to the ring a sample");
        lesson.expect(counts->shared().conflicts() == 0, name + "no bank conflicts");
    }
}

}  // namespace

void registers_and_local(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A thread that declares an array of 64 ints should have it in registers. But a
register has no address: recent[5] can be a register, recent[i] cannot, unless the
compiler knows i. Otherwise the array is in local memory, which is device memory, and
the source looks the same. Our kernels add up the last 64 samples of each sensor, so a
thread remembers 64. Where is an array, how can you see it, and what does it cost?)");
    lesson.predict(
        {.question = R"(A kernel keeps 64 ints per thread in an array with the index
row % 64, which is known only at run time. How many bytes of local memory does a thread
have?)",
         .answer = warpwise::Number{.value = 256, .unit = "bytes"},
         .because = R"(Registers have no addresses, so an array whose index is
known only at run time is in local memory: 64 ints of 4 bytes.)"});
    report_resources(lesson);
    lesson.conclusion(
        R"(64 ints with an index known only at run time are 256 bytes of local memory.
Unrolled, every index is a constant: nothing is local, and a thread takes more than 64
registers. With at most 64, what does not fit is spilled to local memory. nvcc -Xptxas
-v reports all of this at compile time.)");
    lesson.predict(
        {.question = R"(All steps read each sample once and write each sum once from
and to global memory. Where is the array of samples best kept on a GPU?)",
         .answer = warpwise::Fastest{{"sums_index_at_run_time", "sums_in_shared_memory",
                                      "sums_unrolled", "sums_unrolled_capped"}},
         .because = R"(Local memory is traffic through the caches. In registers the
array leaves room for few threads, and limiting the registers spills the array again.)"});
    lesson.steps<MovingSums>(
        {.gpu = {256, std::size_t{1} << 20},
         .cpu = {128, 2048},
         .awkward = {{0, 0},
                     {0, 5},
                     {5, 0},
                     {1, 1},
                     {1, 1009},
                     {63, 33},
                     {64, 32},
                     {65, 31},
                     {130, 257},
                     {1009, 3}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"sums_index_at_run_time", "an array used as a ring: local memory",
          index_at_run_time},
         {"sums_in_shared_memory", "the ring in shared memory", in_shared_memory},
         {"sums_unrolled", "64 steps unrolled: registers", unrolled},
         {"sums_unrolled_capped", "at most 64 registers: spills", unrolled_capped}});
    expect_the_same_requests(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Local memory loses, although the most threads fit on an SM: it adds a
load and a store per sample. Shared memory wins over registers, because more threads fit
on an SM and so more loads are in flight. Limiting the registers costs more in spills
than the additional threads gain.)"
            : R"(The counters show no difference, because only nvcc decides what is in
local memory. On the H200, local memory loses: it adds a load and a store per sample.
Shared memory wins over registers, because more threads fit on an SM and so more loads
are in flight. Limiting the registers costs more in spills than the additional threads
gain.)");
}

}  // namespace memory_model
