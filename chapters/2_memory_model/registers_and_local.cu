// Problem: moving sums. n sensors deliver a sample each, row after row; sum[row][col] is that of the last 64 samples of
// sensor col up to this row. All are whole numbers, so that sums are exact.
//
// A thread follows one sensor down the rows: it adds the new sample and takes away the one of 64 rows before. So it has
// to remember 64 samples, and where those are kept is what this lesson is about. An array that a thread declares may be
// in registers, the fastest memory there is, or in local memory: that is device memory, with a name that promises more.
// The source does not say which. The rule: registers have no addresses. An array can only be in registers if the
// compiler knows every index of it, and if there are enough of them.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

constexpr unsigned kWindow = 64;  // samples of a sum
constexpr unsigned kThreads = 128;
constexpr std::size_t kLanes = 32;
constexpr std::size_t kArrayBytes = kWindow * sizeof(int);  // that a thread has to remember

// Samples and sums, row after row: the samples of a row, one of each sensor, lie side by side.
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
        std::fill(sums.begin(), sums.end(), -1000000);  // no 64 samples of three digits add up to that
        d_sums.fill_bytes(0x7F);
        sums_are_on_host = false;
    }

    // The reference is the difference of two sums from the start: whole numbers, far below 2^53.
    warpwise::Comparison compare() {
        if (!sums_are_on_host) sums = d_sums.download();
        return warpwise::compare_each(sums, rows * cols, [&](std::size_t i) {
            const double until_now = sums_from_the_start[i + cols];
            const double before = i >= kWindow * cols ? sums_from_the_start[i + cols - kWindow * cols] : 0;
            return until_now - before;
        });
    }

    // Each sample is read once and each sum written once; an addition and a subtraction each.
    warpwise::Work work() const {
        const double elements = static_cast<double>(rows * cols);
        return {.bytes = 2 * sizeof(int) * elements, .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(int) * size.count(); }
};

// ---- steps --------------------------------------------------------------------------------------------------------

// Step 1, one core of the host, row after row: the sample of 64 rows before is still in the array of samples.
void serial(MovingSums& problem) {
    const std::size_t cols = problem.cols;
    for (std::size_t i = 0; i < problem.rows * cols; ++i) {
        const int before = i >= cols ? problem.sums[i - cols] : 0;
        const int oldest = i >= kWindow * cols ? problem.samples[i - kWindow * cols] : 0;
        problem.sums[i] = before + problem.samples[i] - oldest;
    }
    problem.sums_are_on_host = true;
}

// Step 2, a thread a sensor, and the last 64 samples in an array, used as a ring: the place of row r is r % 64.
// Slow: the place is known at run time only, so the array cannot be in registers. It is in local memory: each access to
// it is a load or a store of device memory, through the caches. Local memory is laid out so that lanes which use the
// same index are neighbors, 4 sectors a request; but 256 bytes for each of the SM's threads do not fit in its cache.
__global__ void sums_index_at_run_time(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
                                       std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= cols) return;
    int recent[kWindow] = {};
    int sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        const int sample = samples[row * cols + col];
        const std::size_t place = row % kWindow;
        sum += sample - recent[place];
        recent[place] = sample;
        sums[row * cols + col] = sum;
    }
}

// Launches a kernel with a thread for each sensor.
void launch(void (*kernel)(const int*, int*, std::size_t, std::size_t), MovingSums& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.cols, kThreads);
    kernel<<<blocks, kThreads>>>(problem.d_samples.data(), problem.d_sums.data(), problem.rows, problem.cols);
    warpwise::check_launch();
}

void index_at_run_time(MovingSums& problem) { launch(sums_index_at_run_time, problem); }

// Step 3, the ring in shared memory, a column for each thread. Shared memory has addresses, so any index will do, and
// lane k's column lies in bank k: no conflicts. No barrier either, since no two threads share a column.
// Better: nothing leaves the SM. Slow: 256 bytes a thread are 32 KB a block; few blocks fit on an SM, and few threads
// have few loads under way.
__global__ void sums_in_shared_memory(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows,
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

void in_shared_memory(MovingSums& problem) { launch(sums_in_shared_memory, problem); }

// Step 4, the loop over the rows in rounds of 64, and each round unrolled: `place` is 0, 1, 2 ... in 64 copies of the
// loop's body, a constant in each, and so every sample has a register of its own. #pragma unroll asks for that; the
// number of rounds must be a constant, which is why rows behind the last are skipped inside instead of ending the loop.
// Better: a remembered sample costs nothing to reach, and a round's loads can start before its sums are stored.
// Slow: so many registers a thread that the SM has room for less than half of its threads, and for half of step 3's.
__global__ void __launch_bounds__(kThreads)
    sums_unrolled(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows, std::size_t cols) {
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

void unrolled(MovingSums& problem) { launch(sums_unrolled, problem); }

// Step 5, the same code with a cap: __launch_bounds__(1024) promises that no block has more than 1024 threads, so one
// may have 65,536 / 1024 = 64 registers, of which 64 samples alone would take all. (-maxrregcount=64 on nvcc's command
// line does that to every kernel of a file.) What does not fit is spilled: stored to local memory and loaded again.
// Better: more threads fit on an SM. Slow: spilled samples are in device memory again. Which of the two weighs more,
// only the clock can tell. (On an H200 the spills do.)
constexpr unsigned kCappedThreads = 1024;

__global__ void __launch_bounds__(kCappedThreads)
    sums_unrolled_capped(const int* __restrict__ samples, int* __restrict__ sums, std::size_t rows, std::size_t cols) {
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

void unrolled_capped(MovingSums& problem) { launch(sums_unrolled_capped, problem); }

// ---- the compiler's report ----------------------------------------------------------------------------------------

// What a kernel takes of the multiprocessor's memories.
struct Resources {
    int registers = 0;           // of a thread
    std::size_t local = 0;       // bytes of a thread: arrays with an index that is not constant, and what was spilled
    std::size_t shared = 0;      // bytes of a block
    unsigned threads_of_sm = 0;  // that fit at a time, in blocks of kThreads
};

// Blocks on a multiprocessor of compute capability 9.0, by hand: it has 65,536 registers, of which a warp gets 256 at a
// time; 228 KB of shared memory, of which 1 KB a block goes to the system; and room for 2048 threads.
constexpr unsigned threads_by_hand(int registers, std::size_t shared) {
    const std::size_t registers_of_block = warpwise::ceil_div(static_cast<std::size_t>(registers), 8) * 8 * kThreads;
    const std::size_t by_registers = 65536 / registers_of_block;
    const std::size_t by_shared = 228 * 1024 / (shared + 1024);
    return static_cast<unsigned>(std::min({by_registers, by_shared, std::size_t{2048} / kThreads})) * kThreads;
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
    warpwise::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.kernel, int{kThreads}, 0));
    return {attributes.numRegs, attributes.localSizeBytes, attributes.sharedSizeBytes,
            static_cast<unsigned>(blocks) * kThreads};
}

// Prints registers, local and shared memory of the four kernels, and holds on a GPU what the text predicts of them.
void report_resources(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::vector<std::string>> rows;
    for (const Kernel& kernel : kernels) {
        Resources resources{kernel.registers, kernel.local, kernel.shared,
                            threads_by_hand(kernel.registers, kernel.shared)};
        if (on_gpu) resources = resources_in_this_program(kernel);
        rows.push_back({kernel.name, std::to_string(resources.registers), std::to_string(resources.local),
                        std::to_string(resources.shared), std::to_string(resources.threads_of_sm)});
        if (!on_gpu) continue;
        const std::string name = std::string(kernel.name) + ": ";
        if (kernel.kernel == sums_index_at_run_time) {
            lesson.expect(resources.local >= kArrayBytes, name + "the array is in local memory");
        } else if (kernel.kernel == sums_unrolled_capped) {
            lesson.expect(resources.local > 0, name + "registers are spilled to local memory");
            lesson.expect(resources.registers <= 65536 / int{kCappedThreads}, name + "keeps to its cap");
        } else {
            lesson.expect(resources.local == 0, name + "nothing is in local memory");
        }
        if (kernel.kernel == sums_unrolled) {
            lesson.expect(resources.registers > int{kWindow}, name + "the samples are in registers");
        }
    }
    lesson.table(
        on_gpu ? "As the runtime reports it for this GPU" : "As nvcc 13.0 reports it for compute capability 9.0",
        {"kernel", "registers", "local bytes", "shared bytes", "threads on an SM"}, rows);
}

// On the CPU device: what the kernels ask of global and shared memory. All four ask the same of global memory, because
// local memory is no part of the source.
void expect_the_same_requests(warpwise::Lesson& lesson) {
    constexpr std::size_t rows = 2 * kWindow, cols = 2 * kThreads;
    constexpr double requests = rows * cols / kLanes;
    MovingSums problem({rows, cols});
    for (const Kernel& kernel : kernels) {
        const auto counts = lesson.count([&] { launch(kernel.kernel, problem); });
        if (!counts) continue;
        const std::string name = std::string(kernel.name) + ": ";
        for (const warpwise::RequestCounts& global : {counts->global_load, counts->global_store}) {
            lesson.expect(global.requests == requests && global.sectors == 4 * requests,
                          name + "each sample read once and each sum written once, 4 sectors a request");
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
    lesson.text(
        R"(A thread that declares an array of 64 ints wants them in registers, where they cost nothing to reach.
But a register has no address: an instruction names the registers it uses. recent[5] can be a register, recent[i]
cannot, unless the compiler finds out what i is. If it does not, the array is in local memory: each thread's own piece
of device memory. The source looks the same.

What you will see: moving sums, with the last 64 samples of a thread in local memory, in shared memory, in registers,
and in registers of which there are too few.

Predict, for each kernel, before you look at the report below: how many bytes of local memory does a thread have? How
many registers does it take at least?)");
    report_resources(lesson);
    lesson.text(
        R"(With an index known at run time only, all 64 ints are in local memory: 256 bytes. Unrolled by 64, every
index is a constant, nothing is local, and a thread takes more than 64 registers: the samples, sums and addresses, and
samples that are loaded ahead. Capped at 64 registers, what does not fit was spilled: local memory again.

Registers are dealt out of 65,536 an SM. Divide: of a kernel that takes 138 of them, rounded up to 144, an SM holds
three blocks of 128 threads, 384 of 2048. Shared memory limits in the same way: 228 KB hold six blocks of 33 KB.

The compiler says all of this when asked, with -Xptxas -v on nvcc's command line:

    ptxas info    : Function properties for sums_index_at_run_time
        256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    ptxas info    : Used 32 registers, used 0 barriers, 256 bytes cumulative stack size
    ptxas info    : Function properties for sums_unrolled_capped
        288 bytes stack frame, 452 bytes spill stores, 288 bytes spill loads
    ptxas info    : Used 64 registers, used 0 barriers, 288 bytes cumulative stack size

The stack frame is local memory, of arrays and of spills together. A stack frame without spills means an index that is
not constant; spills mean too many values alive at a time, or a cap. Bytes of spill stores and loads are counted in
the code, not in the run: inside of a loop they weigh more. (Names are shortened here; nvcc 13.0 for compute
capability 9.0. In a program, cudaFuncGetAttributes tells numRegs and localSizeBytes.)

Now the steps. All of them read each sample once and write each sum once.)");
    lesson.steps<MovingSums>(
        {.gpu = {256, std::size_t{1} << 20},
         .cpu = {128, 2048},
         .awkward = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 1009}, {63, 33}, {64, 32}, {65, 31}, {130, 257}, {1009, 3}}},
        {{"serial", "one core of the host", serial, warpwise::StepKind::host},
         {"sums_index_at_run_time", "an array used as a ring: local memory", index_at_run_time},
         {"sums_in_shared_memory", "the ring in shared memory", in_shared_memory},
         {"sums_unrolled", "64 steps unrolled: registers", unrolled},
         {"sums_unrolled_capped", "at most 64 registers: spills", unrolled_capped}});
    expect_the_same_requests(lesson);
    if (warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(Why it is so. What a step asks of the memory is the same, but a ring in local memory adds a load and a
store for each sample. They hit the L1 cache only while it is large enough: 2048 threads with 256 bytes each have half
a MiB. Shared memory and registers keep the ring on the SM, at the price of threads; fewer threads have fewer loads
under way.)");
    } else {
        lesson.text(
            R"(The counters show no difference in global memory: local memory does not stand in the source, and only
nvcc decides about it. Nor can they know the registers: the column `occupancy` assumes 32 of them, and --registers 138
tells it better. On a GPU the ring in local memory adds a load and a store for each sample. They hit the L1 cache only
while it is large enough: 2048 threads with 256 bytes each have half a MiB. Shared memory and registers keep the ring
on the SM, at the price of threads: fewer of them have fewer loads under way.)");
    }
    lesson.show_recorded_steps(
        "The same steps, 256 x 1048576",
        {"sums_index_at_run_time", "sums_in_shared_memory", "sums_unrolled", "sums_unrolled_capped"}, "GB/s",
        [](const warpwise::RecordedStep& step) { return warpwise::text_or_dash("%.0f", step.gb_per_s); });
    lesson.text(
        R"(Registers are the fastest memory, and yet they do not win here. On an H200 the ring in shared memory reaches
0.74 of a copy with 768 threads on an SM; in registers it is 0.51 with 384. The threads are the reason: in an
experiment with 384 threads for both (docs/results/causes_h200.md) registers were no faster. The cap brings 1024 threads
and 0.40: its spills cost more than its threads bring. And the ring in local memory, with all 2048, reaches 0.10.)");
    lesson.text(
        R"(The rule to take along: small arrays, constant indices, unrolled loops; shared memory, when an index
has to be found out at run time or the array would take most of the registers; and a look at the report before a thought
about the clock.

Mistakes to avoid: bounds that only the run time knows, in a loop that is to be unrolled (`return` or `break` in it can
keep the compiler from it, too);
taking an array's address and handing it to a function that is not inlined; a cap on registers to win occupancy,
without looking for spills; taking local memory for fast because it is called local.

Try next: set kWindow to 16 and predict registers and local bytes of each kernel before you ask nvcc. Which one is no
longer in local memory? (On a GPU the lesson expects spills, and will say that it was WRONG.) Then take the #pragma
unroll away: does the report change?

    memory_model registers_and_local --size 1000x10007
    nvcc -std=c++20 -I. -arch=native -Xptxas -v -c -o /dev/null chapters/2_memory_model/registers_and_local.cu)");
}

}  // namespace memory_model
