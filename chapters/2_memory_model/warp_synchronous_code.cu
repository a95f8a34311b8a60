// Problem: the sums of tiles of 256 floats, a block a tile, and what the last warp may leave out.
//
// A tree in shared memory halves the number of working threads in every round. After three rounds all of them are lanes
// of one warp, and a barrier for 256 threads seems too much. Until 2017 the lanes of a warp went through a kernel in
// lockstep: each instruction was done by all of them before the next, so that code without any barrier worked, and was
// taught ("warp-synchronous programming"). Since Volta (compute capability 7.0) every thread has a program counter of
// its own. Lanes may drift apart. __syncwarp() and the barriers of the block bring them together, and order what they
// read and write. Operations with a mask (shuffles, votes, matches) only wait for lanes; they order no memory access.
//
// The old code still compiles, and with `volatile` it still gives the right sums most of the time. That is what makes
// it dangerous.
#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/2_memory_model/provoked.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;

constexpr unsigned kThreads = 256;  // a block, and floats in a tile
constexpr unsigned kWarps = kThreads / 32;

// Whole numbers from -100 to 100: sums of 256 of them are exact in any order, and whatever is not exact is wrong.
std::vector<float> whole_numbers(std::size_t count) {
    const std::vector<int> numbers = warpwise::uniform_integers(count, 1, -100, 100);
    return {numbers.begin(), numbers.end()};
}

std::vector<double> sums_of_tiles(const std::vector<float>& values) {
    std::vector<double> sums(warpwise::ceil_div(values.size(), kThreads));
    for (std::size_t i = 0; i < values.size(); ++i) sums[i / kThreads] += values[i];
    return sums;
}

using Kernel = void (*)(const float*, float*, std::size_t);

struct TileSums {
    std::size_t count;
    std::vector<double> reference;
    DeviceBuffer<float> d_values, d_sums;

    explicit TileSums(const warpwise::Size& size) : count(size[0]), d_values(count) {
        const std::vector<float> values = whole_numbers(count);
        d_values.upload(values);
        reference = sums_of_tiles(values);
        d_sums = DeviceBuffer<float>(reference.size());
    }

    void poison() { d_sums.fill_bytes(0xFF); }

    warpwise::Comparison compare() { return warpwise::compare(d_sums.download(), reference); }

    warpwise::Work work() const {
        return {.bytes = sizeof(float) * static_cast<double>(count + reference.size()),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (size[0] + warpwise::ceil_div(size[0], kThreads)) * sizeof(float);
    }

    // One block a tile. No tile, no launch: a grid of 0 blocks would be an error.
    void run(Kernel kernel) {
        if (count == 0) return;
        kernel<<<warpwise::blocks_for(count, kThreads), kThreads>>>(d_values.data(), d_sums.data(), count);
        warpwise::check_launch();
    }
};

// Step 1, the tree as a block has it: a barrier before each of the eight rounds.
// Slow: in the last five rounds seven of eight warps come to the barrier only to be counted.
__global__ void tree_with_barriers(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// Step 2, from 64 parts on one warp is left, and waits for nobody but its own lanes: __syncwarp(). It does two things:
// no lane passes before all have come, and what each wrote to memory before it is there for the others after it.
// In a round the lanes below `half` write parts below `half` and read parts from `half` on: nobody reads what another
// one writes at the same time, so one __syncwarp() a round is enough. It stands where all 32 lanes pass.
// Better: three barriers in the place of eight, and the other seven warps are done early. Slow: each round goes through
// shared memory, a store, a load, and the wait for both.
__global__ void tail_with_syncwarp(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        part[thread] += part[thread + 32];
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// Step 3, the tail by shuffles: the lanes read each other's registers. The exchange and the waiting for each other are
// one operation, and no memory is involved that it would have to order. The mask names who takes part: all 32 lanes.
// Better: nothing of the tail touches memory. Slow: three rounds before it still do.
__global__ void tail_with_shuffles(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        float sum = part[thread] + part[thread + 32];
        for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
        if (thread == 0) sums[blockIdx.x] = sum;
    }
}

// Step 4, shuffles from the beginning: each warp adds its 32 values, and leaves one number; the first warp adds those.
// Better: one barrier a block, and nine accesses to shared memory. This is the form to remember.
__global__ void warps_first(const float* values, float* sums, std::size_t count) {
    __shared__ float warp_sums[kWarps];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    float sum = i < count ? values[i] : 0.0f;
    for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
    if (thread % 32 == 0) warp_sums[thread / 32] = sum;
    __syncthreads();
    if (thread < 32) {
        sum = thread < kWarps ? warp_sums[thread] : 0.0f;
        for (unsigned distance = kWarps / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
        if (thread == 0) sums[blockIdx.x] = sum;
    }
}

// What each step does in a full block of eight warps, as the text predicts it.
struct Predicted {
    const char* step;
    Kernel kernel;
    double barriers, shared_requests;
};
constexpr std::array<Predicted, 4> predictions = {{{"tree_with_barriers", tree_with_barriers, 64, 45},
                                                   {"tail_with_syncwarp", tail_with_syncwarp, 24, 45},
                                                   {"tail_with_shuffles", tail_with_shuffles, 24, 28},
                                                   {"warps_first", warps_first, 8, 9}}};

void show_predictions(warpwise::Lesson& lesson) {
    constexpr double blocks = 8;
    const warpwise::Record& recorded = lesson.recorded();
    TileSums problem({std::size_t{kThreads} * 8});
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& predicted : predictions) {
        rows.push_back({predicted.step, warpwise::count_text(predicted.barriers),
                        warpwise::count_text(predicted.shared_requests)});
        if (const warpwise::RecordedStep* const record = recorded.step(predicted.step)) {
            rows.back().push_back(warpwise::text_or_dash("%.0f us", record->microseconds()));
        } else if (recorded) {
            rows.back().emplace_back("-");
        }
        const auto counts = lesson.count([&] { problem.run(predicted.kernel); });
        if (!counts) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->barriers == predicted.barriers * blocks, step + ": as many barriers as predicted");
        lesson.expect(counts->shared().requests == predicted.shared_requests * blocks,
                      step + ": as many requests to shared memory as predicted");
    }
    std::vector<std::string> header = {"step", "barriers", "requests to shared memory"};
    if (recorded) header.push_back("2^26 floats on an H200");
    const std::string title = "A block of 8 warps: predicted, and held against the counters where there are some";
    lesson.table(recorded ? title + "; times " + recorded.where() : title, header, rows);
}

// ---- the wrong tails -------------------------------------------------------------------------------------------

// WRONG: no word about order at all. Neither the hardware nor the compiler owes this code anything: a lane may run
// ahead, and the compiler may keep part[thread] in a register from round to round.
__global__ void tail_with_nothing(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        part[thread] += part[thread + 32];
        for (unsigned half = 16; half > 0; half /= 2) {
            if (thread < half) part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// WRONG since Volta, and the way it was taught before: `volatile` makes the compiler load and store every time it says
// so. That was all that was missing as long as lanes went in lockstep. It orders nothing between two lanes.
__global__ void tail_with_volatile(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        volatile float* const mine = part + thread;
        mine[0] = mine[0] + mine[32];
        mine[0] = mine[0] + mine[16];
        mine[0] = mine[0] + mine[8];
        mine[0] = mine[0] + mine[4];
        mine[0] = mine[0] + mine[2];
        mine[0] = mine[0] + mine[1];
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

// WRONG, and hard to see: a __syncwarp() in every round, as in step 2, but all 32 lanes add. In the first round lane 0
// reads part 16 while lane 16 writes it: the old value is wanted, and either may come. A barrier between the rounds
// does not help inside of one.
__global__ void tail_where_all_add(const float* values, float* sums, std::size_t count) {
    __shared__ float part[kThreads];
    const unsigned thread = threadIdx.x;
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + thread;
    part[thread] = i < count ? values[i] : 0.0f;
    for (unsigned half = kThreads / 2; half >= 64; half /= 2) {
        __syncthreads();
        if (thread < half) part[thread] += part[thread + half];
    }
    __syncthreads();
    if (thread < 32) {
        part[thread] += part[thread + 32];
        for (unsigned half = 16; half > 0; half /= 2) {
            __syncwarp();
            part[thread] += part[thread + half];
        }
    }
    if (thread == 0) sums[blockIdx.x] = part[0];
}

struct Tail {
    const char* name;
    Kernel kernel;
    bool right;
    const char* in_lockstep;  // what it did on GPUs before Volta
};
constexpr std::array<Tail, 7> tails = {{{"tail_with_nothing", tail_with_nothing, false, "as the compiler likes"},
                                        {"tail_with_volatile", tail_with_volatile, false, "right"},
                                        {"tail_where_all_add", tail_where_all_add, false, "right"},
                                        {"tree_with_barriers", tree_with_barriers, true, "right"},
                                        {"tail_with_syncwarp", tail_with_syncwarp, true, "right"},
                                        {"tail_with_shuffles", tail_with_shuffles, true, "right"},
                                        {"warps_first", warps_first, true, "right"}}};

constexpr std::size_t kTiles = 4;  // of a demonstration

// "right", or how many of the sums were wrong, in one order of the threads.
std::string result_of(Kernel kernel) {
    std::string text;
    unwatched([&] {
        TileSums problem({kTiles * kThreads});
        problem.poison();
        problem.run(kernel);
        const warpwise::Comparison comparison = problem.compare();
        text = comparison.passed ? "right" : std::to_string(comparison.missed) + " of 4 wrong";
    });
    return text;
}

std::vector<warpwise::Mistake> mistakes_of(Kernel kernel) {
    return provoked_mistakes([&] {
        TileSums problem({kTiles * kThreads});
        problem.run(kernel);
        warpwise::check_finished();
    });
}

void show_tails(warpwise::Lesson& lesson) {
    const bool on_gpu = warpwise::Lesson::on_gpu();
    std::vector<std::string> header = {"tail", "until 2017"};
    if (on_gpu) {
        header.push_back("on this GPU, now");
    } else {
        for (const char* const order : {"ascending", "seed 1", "seed 2", "seed 3"}) header.push_back(order);
    }
    if (warpwise::can_watch()) header.push_back("mistakes found");
    std::vector<std::vector<std::string>> rows;
    for (const Tail& tail : tails) {
        rows.push_back({tail.name, tail.in_lockstep});
        bool always_right = true;
        for (unsigned seed = 0; seed < (on_gpu ? 1u : 4u); ++seed) {
            const OrderOfSeed order(seed);
            rows.back().push_back(result_of(tail.kernel));
            always_right &= rows.back().back() == "right";
        }
        const std::string name = tail.name;
        if (tail.right) lesson.expect(always_right, name + ": right in every order");
        if (!tail.right && !on_gpu) lesson.expect(!always_right, name + ": some order shows the mistake");
        if (!warpwise::can_watch()) continue;
        const std::size_t found = mistakes_of(tail.kernel).size();
        lesson.expect((found == 0) == tail.right, name + ": mistakes are found where there are some");
        rows.back().push_back(found == 0 ? "none" : std::to_string(found) + (found == 1 ? " race" : " races"));
    }
    lesson.table("Seven tails, and the sums of 4 tiles" + std::string(on_gpu ? "" : " in four orders of the lanes"),
                 header, rows);
}

// The reports of the two wrong tails from which most can be learned.
void show_mistakes(warpwise::Lesson& lesson) {
    if (!warpwise::can_watch()) return;
    const std::vector<warpwise::Mistake> ordered = mistakes_of(tail_with_volatile),
                                         all = mistakes_of(tail_where_all_add);
    if (ordered.empty() || all.empty()) return;  // an expectation has failed already
    lesson.text("What --check says of the volatile tail, about its first pair of lines:\n\n" +
                as_printed(ordered.front()) + "\n\nand of the tail where all lanes add:\n\n" + as_printed(all.front()));
}

}  // namespace

void warp_synchronous_code(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The last rounds of a tree belong to one warp. What does its lanes keep in order? For ten years the answer
was: the hardware, they go in lockstep. Since 2017 it is: what you wrote.

What you will see: four right ways to end a tree, and what each costs. Then three that are wrong: with nothing, with
volatile, and with a __syncwarp() in each round that still is not enough.

Predict, for a block of 8 warps: how many barriers are passed, counted for each warp, when the last warp works alone
from 64 parts on? And how many accesses to shared memory do shuffles leave of 45?)");

    const auto step = [](const Predicted& predicted, const char* change) {
        return warpwise::Step<TileSums>{predicted.step, change,
                                        [kernel = predicted.kernel](TileSums& problem) { problem.run(kernel); }};
    };
    lesson.steps<TileSums>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 15},
         .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {63}, {65}, {255}, {256}, {257}, {1009}, {4099}}},
        {step(predictions[0], "a tree, a barrier before every round"),
         step(predictions[1], "the last warp alone, __syncwarp()"),
         step(predictions[2], "the last warp alone, shuffles"),
         step(predictions[3], "every warp by shuffles, then the first")});
    show_predictions(lesson);
    lesson.text(
        R"(Eight rounds with a barrier each are 64 for 8 warps. When the last warp works alone, two rounds and the way
into its part need one: 24. The rounds themselves cost the same in step 2 as in step 1: two loads and a store for each
warp that works, 12 times, the first 8 stores and the last load, 45 in all. Shuffles take 17 of them away, and when
every warp begins with them only the 8 warp sums go through memory, written by 8 stores and read by 1 load.)");

    lesson.text(
        R"(Now the same tail with less. The first two stand in many programs from before 2017; the third is what
comes of mending them in a hurry. Which of them give the right sums? And of those that do, which are right?)");
    show_tails(lesson);
    if (warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(Sums that come out right prove little here. Where they do, the lanes probably happened to stay
together, and the compiler to store and load at each round. Nobody promises that (tail_with_nothing came out wrong on an
H200, in all 4 tiles), and the next version, another flag or a branch in front of the tail may change it.
compute-sanitizer --tool racecheck finds some of these races, and the CPU device all three: run this lesson there,
with CPU_DEVICE_SEED=1 too.)");
    } else {
        lesson.text(
            R"(The CPU device is the opposite of lockstep: a lane runs until it has to wait. So with volatile lane 0
goes through all six additions before lane 1 has begun, and adds parts to which nobody has added anything yet. On an
H200 tail_with_nothing came out wrong, too, in all 4 tiles; tail_with_volatile and tail_where_all_add came out right,
probably because the lanes happened to stay together. Nobody promises that, and the next version of the compiler,
another flag or a branch in front of the tail may change it. A tail that is wrong in one order is wrong. The right
ones do not depend on the order at all.)");
    }
    show_mistakes(lesson);
    lesson.text(
        R"(What orders the memory accesses of a warp's lanes: __syncwarp(mask), the barriers of the block, and a fence
together with an atomic operation on each side. What does not: being in one warp, volatile, an `if` that all lanes enter
together, __threadfence_block() alone, and __activemask(), which tells who happens to be here and not who ought to be.
Shuffles, votes, matches and reductions with a mask do not either. They wait for the lanes of their mask and exchange
registers, but CUDA says that they imply no memory barrier.

Mistakes to avoid: a __syncwarp() in a branch that some running lanes of its mask do not enter (the others wait for
them); a value taken by shuffle from a lane that has returned, which is undefined; a shuffle as the only thing between a
store to shared memory and another lane's load of it; reading and writing the same part within one round; the early
return of threads whose data the others need (barriers do not wait for threads that have ended, so these data are
missing). Exercise warp_tail has two of these.

Try next: take the __syncwarp() out of tail_with_syncwarp and run with --check. Then put it back, but into the `if`.

    memory_model warp_synchronous_code --check
    memory_model warp_synchronous_code --lines --step tail_with_syncwarp)");
}

}  // namespace memory_model
