// Problem: running sums along n rows of 32 floats, out[row][col] = in[row][0] + ... + in[row][col]; a thread a row.
//
// Shared memory has 32 banks, each 4 bytes wide: the word at byte address a lies in bank a / 4 % 32. In one pass each
// bank delivers one word. Lanes that want the same word share it; lanes that want different words of one bank need a
// pass each. So the cost of an access follows from its addresses alone. This lesson computes it for strides, widths and
// broadcasts, frees a tile of its conflicts in two ways, and ends with conflicts that only chance decides.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/helpers/benchmark.h"
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
using warpwise::text_of;

constexpr unsigned kLanes = 32;
constexpr unsigned kBanks = 32;

// One row of a table of passes.
struct PassesRow {
    std::string name;
    double predicted;                        // passes a request
    std::optional<double> counted;           // the same, on the CPU device
    std::optional<warpwise::Candidate> run;  // what a GPU times
};

// Prints passes as predicted, as counted (CPU device), and the times as multiples of the first row's (GPU).
void print_passes(warpwise::Lesson& lesson, const std::string& title, const std::string& what,
                  const std::vector<PassesRow>& rows) {
    const bool measures = lesson.measures();
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {what, "passes, predicted", measures ? "time, first = 1" : "passes, counted"};
    if (recorded) header.push_back("time on an H200, first = 1");

    std::vector<warpwise::Timing> timings;
    if (measures) {
        std::vector<warpwise::Candidate> candidates;
        for (const PassesRow& row : rows) candidates.push_back(*row.run);
        timings = warpwise::measure_in_turn(candidates, {.flush_l2 = false});
    }
    std::vector<std::vector<std::string>> cells;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string counted = rows[i].counted ? warpwise::ratio_text(*rows[i].counted) : "-";
        const std::string seen = measures ? text_of("%.2f", timings[i].median / timings[0].median) : counted;
        cells.push_back({rows[i].name, warpwise::ratio_text(rows[i].predicted), seen});
        if (recorded) cells.back().push_back(recorded.cell(title, {rows[i].name}, "time, first = 1"));
    }
    lesson.table(recorded ? title + "; times " + recorded.where() : title, header, cells);
}

// ---- strides, broadcasts, widths --------------------------------------------------------------------------------

// Which element of a shared array each lane of a warp reads.
using Places = std::array<unsigned, kLanes>;

template <class PlaceOfLane>
Places places_of(const PlaceOfLane& place_of_lane) {
    Places places{};
    for (unsigned lane = 0; lane < kLanes; ++lane) places[lane] = place_of_lane(lane);
    return places;
}

Places strided(unsigned stride) {
    return places_of([stride](unsigned lane) { return stride * lane; });
}

// Passes of a warp's load in which each lane reads the T at its place: the words that the busiest bank has to deliver.
// 32 banks deliver 128 bytes in a pass; so 8 bytes a lane are served to 16 lanes at a time, and 16 bytes to 8 lanes.
template <class T>
unsigned passes_of(const Places& places) {
    constexpr unsigned words = sizeof(T) / 4;
    constexpr unsigned lanes_together = kLanes / words;
    unsigned passes = 0;
    for (unsigned first = 0; first < kLanes; first += lanes_together) {
        std::array<std::set<unsigned>, kBanks> wanted;  // words of each bank; a set, because equal words are shared
        for (unsigned lane = first; lane < first + lanes_together; ++lane) {
            for (unsigned word = places[lane] * words; word < (places[lane] + 1) * words; ++word) {
                wanted[word % kBanks].insert(word);
            }
        }
        std::size_t most = 0;
        for (const std::set<unsigned>& bank : wanted) most = std::max(most, bank.size());
        passes += static_cast<unsigned>(most);
    }
    return passes;
}

__device__ void set(float& element, float value) { element = value; }
__device__ void set(float2& element, float value) { element = make_float2(value, value); }
__device__ void set(float4& element, float value) { element = make_float4(value, value, value, value); }
__device__ float sum_of(float element) { return element; }
__device__ float sum_of(float2 element) { return element.x + element.y; }
__device__ float sum_of(float4 element) { return (element.x + element.y) + (element.z + element.w); }

constexpr unsigned kElements = 1024;  // of the array: a multiple of 32, so that going round keeps the banks

// Every warp reads the places `repeats` times, each time one element further: that turns the banks round, and leaves
// unchanged which lanes meet in one. A lane's sum is a whole number below 2^24, so that it is exact.
template <class T>
__global__ void read_places(const unsigned* places, float* sums, unsigned repeats) {
    __shared__ T array[kElements];
    for (unsigned i = threadIdx.x; i < kElements; i += blockDim.x) set(array[i], static_cast<float>(i));
    __syncthreads();
    const unsigned place = places[threadIdx.x % kLanes];
    float sum = 0;
    for (unsigned k = 0; k < repeats; ++k) sum += sum_of(array[(place + k) % kElements]);
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Pattern {
    std::string name;
    Places places;
};

// Runs the patterns, compares their sums, and holds the prediction against the counter. One warp is enough to count, a
// clock wants a full device.
template <class T>
void read_patterns(warpwise::Lesson& lesson, const std::string& title, const std::string& what,
                   const std::vector<Pattern>& patterns) {
    const bool measures = lesson.measures();
    const unsigned threads = measures ? 256 : kLanes;
    const unsigned blocks = measures ? warpwise::blocks_that_fill(read_places<T>, threads) : 1;
    const unsigned repeats = measures ? 1024 : 8;
    DeviceBuffer<float> d_sums(std::size_t{blocks} * threads);
    std::vector<DeviceBuffer<unsigned>> d_places;
    std::vector<PassesRow> rows;
    d_places.reserve(patterns.size());
    for (const Pattern& pattern : patterns) {
        const Places& places = pattern.places;
        d_places.emplace_back(std::vector<unsigned>(places.begin(), places.end()));
        const auto read = [&d_sums, blocks, threads, repeats, d = d_places.back().data()] {
            read_places<T><<<blocks, threads>>>(d, d_sums.data(), repeats);
            warpwise::check_launch();
        };
        const auto expected = [&](std::size_t i) {
            double sum = 0;
            for (unsigned k = 0; k < repeats; ++k) sum += (places[i % kLanes] + k) % kElements;
            return sum * static_cast<double>(sizeof(T) / sizeof(float));
        };
        PassesRow row{pattern.name, static_cast<double>(passes_of<T>(places)), std::nullopt, std::nullopt};
        d_sums.fill_bytes(0xFF);
        if (const auto counts = lesson.count(read)) {
            row.counted = counts->shared_load.wavefronts_per_request();
            lesson.expect(*row.counted == row.predicted, pattern.name + ": as many passes as predicted");
            lesson.expect(counts->shared_load.requests == repeats, pattern.name + ": one request for each read");
        }
        lesson.expect(warpwise::compare_each(d_sums.download(), d_sums.size(), expected).passed,
                      pattern.name + ": every lane reads its own place");
        if (measures) row.run = warpwise::Candidate{read, false};
        rows.push_back(std::move(row));
    }
    print_passes(lesson, title, what, rows);
}

// ---- the tile -----------------------------------------------------------------------------------------------------

constexpr unsigned kSide = 32;                  // floats of a row, and rows of a tile
constexpr unsigned kWarps = 4;                  // of a block; each has a tile for itself
constexpr unsigned kThreads = kWarps * kLanes;  // one for each row

// `rows` rows of 32 floats, and room for their running sums.
struct RunningSums {
    std::size_t rows, count;
    std::vector<float> in;
    std::vector<double> expected;
    DeviceBuffer<float> d_in, d_out;

    explicit RunningSums(const warpwise::Size& size)
        : rows(size[0]), count(rows * kSide), in(warpwise::uniform<float>(count, 8)), d_in(in), d_out(count) {
        expected.resize(count);
        for (std::size_t i = 0; i < count; ++i) expected[i] = (i % kSide == 0 ? 0 : expected[i - 1]) + in[i];
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // At most 31 additions one after the other, each rounds a sum of at most 32 by half an epsilon.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare(d_out.download(), expected, {.absolute = 31 * 32 * half_epsilon});
    }

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * count, .operations = 1.0 * count}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * kSide * size[0]; }
};

using RowsKernel = void (*)(const float*, float*, std::size_t);

template <RowsKernel kernel>
void run_rows(RunningSums& problem) {
    kernel<<<warpwise::blocks_for(problem.rows, kThreads), kThreads>>>(problem.d_in.data(), problem.d_out.data(),
                                                                       problem.rows);
    warpwise::check_launch();
}

// Step 1, without shared memory: each thread walks along its row. Neighboring lanes are a row apart, 128 bytes: every
// load and every store touches 32 sectors and uses 4 bytes of each. The cache has to save what it can.
__global__ void sums_in_global(const float* in, float* out, std::size_t rows) {
    const std::size_t row = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
#pragma unroll 1
    for (unsigned col = 0; col < kSide; ++col) {
        sum += in[row * kSide + col];
        out[row * kSide + col] = sum;
    }
}

// Step 2, a tile of 32 x 32 floats for each warp. It is filled and emptied row by row, 4 sectors a request; in between,
// each lane walks along its row, in shared memory, where nothing has to be side by side.
// Better: global memory is used as it should be. Slow: lane k reads word 32 * k + col, and 32 * k is a whole number of
// times round the banks. All lanes are in bank `col`: 32 passes for every load, and for every store.
// (The loop over the columns is kept from unrolling. Otherwise nvcc may join four neighboring loads into one of 16
// bytes, and the steps would differ in more than their addresses.)
__global__ void sums_in_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;  // row of the tile
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane] = in[(first + row) * kSide + lane];
    }
    __syncwarp();  // nobody but this warp uses the tile
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col];
            tile[lane][col] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane];
    }
}

// Step 3, one more column, which nobody uses. Lane k now reads word 33 * k + col: bank (k + col) % 32, another one for
// each lane. One character of source, and all conflicts are gone.
// Slow no more. But 128 bytes of every tile lie idle, and rows of 33 floats do not begin at multiples of 16 bytes, so
// that wider accesses are out of the question.
__global__ void sums_in_padded_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide + 1];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane] = in[(first + row) * kSide + lane];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col];
            tile[lane][col] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane];
    }
}

// Step 4, a swizzle: element (row, col) is kept at column col ^ row of its row. In one row that is a permutation of the
// columns, and so it is in one column over the rows: both ways, 32 lanes are in 32 banks.
// Better than padding: not a byte is lost, and rows stay aligned. The price is an exclusive-or for each access (with
// padding, the next column is simply the next word), and that every access has to know of it.
__global__ void sums_in_swizzled_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float tiles[kWarps][kSide][kSide];
    auto& tile = tiles[threadIdx.x / kLanes];
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) tile[row][lane ^ row] = in[(first + row) * kSide + lane];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll 1
        for (unsigned col = 0; col < kSide; ++col) {
            sum += tile[lane][col ^ lane];
            tile[lane][col ^ lane] = sum;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = 0; row < kSide; ++row) {
        if (first + row < rows) out[(first + row) * kSide + lane] = tile[row][lane ^ row];
    }
}

// Step 5, the swizzle with float4s, which aligned rows allow. A row has eight of them, and eight lanes are served at a
// time: they must be in eight different groups of four banks. So float4 number `four` of a row is kept at four ^ (row %
// 8). Eight neighboring lanes fill one row, and later walk along eight rows: no conflict either way.
// Better: a quarter of the requests, to shared and to global memory, for the same bytes.
constexpr unsigned kFours = kSide / 4;  // float4s of a row

__global__ void sums_in_float4_tile(const float* in, float* out, std::size_t rows) {
    __shared__ float4 tiles[kWarps][kSide][kFours];
    auto& tile = tiles[threadIdx.x / kLanes];
    const auto* in4 = reinterpret_cast<const float4*>(in);
    auto* out4 = reinterpret_cast<float4*>(out);
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned my_four = lane % kFours;  // while the tile is filled and emptied, four rows at a time
    const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x - lane;
#pragma unroll
    for (unsigned row = lane / kFours; row < kSide; row += kLanes / kFours) {
        if (first + row < rows) tile[row][my_four ^ (row % kFours)] = in4[(first + row) * kFours + my_four];
    }
    __syncwarp();
    if (first + lane < rows) {
        float sum = 0;
#pragma unroll
        for (unsigned four = 0; four < kFours; ++four) {
            float4 values = tile[lane][four ^ (lane % kFours)];
            values.x = sum += values.x;
            values.y = sum += values.y;
            values.z = sum += values.z;
            values.w = sum += values.w;
            tile[lane][four ^ (lane % kFours)] = values;
        }
    }
    __syncwarp();
#pragma unroll
    for (unsigned row = lane / kFours; row < kSide; row += kLanes / kFours) {
        if (first + row < rows) out4[(first + row) * kFours + my_four] = tile[row][my_four ^ (row % kFours)];
    }
}

// What the text predicts for each full tile.
struct PredictedTile {
    const char* step;
    void (*run)(RunningSums&);
    double sectors_per_load;  // of global memory
    double shared_requests;   // loads and stores
    double conflicts;
};
constexpr std::array<PredictedTile, 5> predicted_tiles = {
    {{"sums_in_global", run_rows<sums_in_global>, 32, 0, 0},
     {"sums_in_tile", run_rows<sums_in_tile>, 4, 4 * 32, 2 * 32 * 31},
     {"sums_in_padded_tile", run_rows<sums_in_padded_tile>, 4, 4 * 32, 0},
     {"sums_in_swizzled_tile", run_rows<sums_in_swizzled_tile>, 4, 4 * 32, 0},
     {"sums_in_float4_tile", run_rows<sums_in_float4_tile>, 16, 4 * 8, 0}}};

void expect_predicted_tiles(warpwise::Lesson& lesson) {
    constexpr std::size_t tiles = 8;
    RunningSums problem({tiles * kSide});
    for (const PredictedTile& predicted : predicted_tiles) {
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        const std::string step = predicted.step;
        const warpwise::RequestCounts shared = counts->shared();
        lesson.expect(counts->global_load.sectors_per_request() == predicted.sectors_per_load,
                      step + ": a load of global memory touches the predicted number of sectors");
        lesson.expect(shared.requests == tiles * predicted.shared_requests,
                      step + ": as many requests to shared memory as predicted");
        lesson.expect(shared.conflicts() == tiles * predicted.conflicts, step + ": as many conflicts as predicted");
    }
}

void print_recorded_steps(warpwise::Lesson& lesson) {
    std::vector<std::string> steps;
    for (const PredictedTile& step : predicted_tiles) steps.emplace_back(step.step);
    lesson.show_recorded_steps("The same steps, 8388608 rows", steps, "GB/s", [](const warpwise::RecordedStep& step) {
        return warpwise::text_or_dash("%.0f", step.gb_per_s);
    });
}

// ---- chance: a histogram ------------------------------------------------------------------------------------------

constexpr unsigned kBins = 256;
constexpr unsigned kCounters = 256;  // threads of a block in the kernels below

// A histogram for each block in shared memory. Bins lie in the banks in turn, eight in each; where a lane goes is up to
// its key. Adding 1 is an operation of its own: lanes with the same key are counted together.
__global__ void count_keys(const unsigned char* keys, const unsigned*, unsigned* totals, std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count; i += stride) {
        atomicAdd(&bins[keys[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) atomicAdd(&totals[bin], bins[bin]);
}

// The same with a weight for each key. Lanes with the same key add different numbers, so each has its own pass.
__global__ void weigh_keys(const unsigned char* keys, const unsigned* weights, unsigned* totals, std::size_t count) {
    __shared__ unsigned bins[kBins];
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) bins[bin] = 0;
    __syncthreads();
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count; i += stride) {
        atomicAdd(&bins[keys[i]], weights[i]);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) atomicAdd(&totals[bin], bins[bin]);
}

// A copy of the histogram for each lane, 32 KB. Copy k lies in bank k: whatever the keys, no two lanes meet. When the
// copies are added up, each thread begins with another one; if all began with copy 0, 32 lanes would be in bank 0.
__global__ void weigh_keys_by_lane(const unsigned char* keys, const unsigned* weights, unsigned* totals,
                                   std::size_t count) {
    __shared__ unsigned copies[kBins][kLanes];
    for (unsigned i = threadIdx.x; i < kBins * kLanes; i += kCounters) copies[i / kLanes][i % kLanes] = 0;
    __syncthreads();
    const unsigned lane = threadIdx.x % kLanes;
    const std::size_t stride = std::size_t{gridDim.x} * kCounters;
    for (std::size_t i = std::size_t{blockIdx.x} * kCounters + threadIdx.x; i < count; i += stride) {
        atomicAdd(&copies[keys[i]][lane], weights[i]);  // lanes of the same number in other warps come here too
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < kBins; bin += kCounters) {
        unsigned sum = 0;
        for (unsigned k = 0; k < kLanes; ++k) sum += copies[bin][(k + lane) % kLanes];
        atomicAdd(&totals[bin], sum);
    }
}

// Passes of a request whose lanes have random places: mean, and standard deviation of a single request.
struct RandomPasses {
    double mean = 0;
    double deviation = 0;
};

// Throws 32 random keys many times, and sees each time which bank has most to do. A bank needs a pass for each of its
// lanes; or, where lanes of one key are `merged`, for each of its keys that came up.
RandomPasses passes_of_random_keys(bool merged) {
    constexpr unsigned throws = 1 << 16;
    double sum = 0, sum_of_squares = 0;
    for (std::uint64_t t = 0; t < throws; ++t) {
        std::array<bool, kBins> seen{};
        std::array<unsigned, kBanks> passes_of_bank{};
        unsigned passes = 0;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const std::size_t key = warpwise::random_bits(11, t * kLanes + lane) % kBins;
            if (merged && std::exchange(seen[key], true)) continue;
            passes = std::max(passes, ++passes_of_bank[key % kBanks]);
        }
        sum += passes;
        sum_of_squares += static_cast<double>(passes) * passes;
    }
    const double mean = sum / throws;
    return {mean, std::sqrt(sum_of_squares / throws - mean * mean)};
}

// A kernel with its keys, and what it should need.
struct ChanceRow {
    const char* name;
    void (*kernel)(const unsigned char*, const unsigned*, unsigned*, std::size_t);
    bool weighted;
    bool random_keys;  // otherwise all keys are the same
    RandomPasses predicted;
};

void count_by_chance(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::size_t count = measures ? std::size_t{1} << 26 : std::size_t{1} << 15;
    const std::vector<int> random = warpwise::uniform_integers(count, 9, 0, kBins - 1);
    const std::vector<int> random_weights = warpwise::uniform_integers(count, 10, 1, 9);
    const std::vector<unsigned> weights(random_weights.begin(), random_weights.end());
    const DeviceBuffer<unsigned char> d_random(std::vector<unsigned char>(random.begin(), random.end()));
    const DeviceBuffer<unsigned char> d_same(std::vector<unsigned char>(count, 'x'));
    const DeviceBuffer<unsigned> d_weights(weights);
    DeviceBuffer<unsigned> d_totals(kBins);

    const RandomPasses merged = passes_of_random_keys(true);
    const RandomPasses single = passes_of_random_keys(false);
    const std::vector<ChanceRow> cases = {
        {"copy a lane, weights, random keys", weigh_keys_by_lane, true, true, {1, 0}},
        {"copy a lane, weights, one key", weigh_keys_by_lane, true, false, {1, 0}},
        {"one histogram, adding 1, random keys", count_keys, false, true, merged},
        {"one histogram, adding 1, one key", count_keys, false, false, {1, 0}},
        {"one histogram, weights, random keys", weigh_keys, true, true, single},
        {"one histogram, weights, one key", weigh_keys, true, false, {32, 0}},
    };
    std::vector<PassesRow> rows;
    for (const ChanceRow& c : cases) {
        const auto run = [&d_totals, &d_weights, count, kernel = c.kernel,
                          keys = c.random_keys ? d_random.data() : d_same.data()] {
            warpwise::check(cudaMemsetAsync(d_totals.data(), 0, d_totals.bytes()));
            const unsigned blocks =
                std::min(warpwise::blocks_for(count, kCounters), warpwise::blocks_that_fill(kernel, kCounters));
            kernel<<<blocks, kCounters>>>(keys, d_weights.data(), d_totals.data(), count);
            warpwise::check_launch();
        };
        PassesRow row{c.name, c.predicted.mean, std::nullopt, std::nullopt};
        if (const auto counts = lesson.count(run)) {
            const warpwise::RequestCounts& atomics = counts->shared_atomic;
            row.counted = atomics.wavefronts_per_request();
            // Five standard deviations of a mean over so many requests; none where chance has no part. What the
            // prediction's own mean adds, over more requests, is within that.
            const double tolerance = 5 * c.predicted.deviation / std::sqrt(static_cast<double>(count) / kLanes);
            lesson.expect(std::fabs(*row.counted - c.predicted.mean) <= tolerance,
                          std::string(c.name) + ": as many passes as predicted");
        }
        std::vector<double> expected(kBins);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bin = c.random_keys ? static_cast<std::size_t>(random[i]) : 'x';
            expected[bin] += c.weighted ? weights[i] : 1;
        }
        lesson.expect(warpwise::compare(d_totals.download(), expected).passed,
                      std::string(c.name) + ": the histogram is right");
        if (measures) row.run = warpwise::Candidate{run, false};
        rows.push_back(std::move(row));
    }
    print_passes(lesson, "Atomic additions to 256 bins in shared memory", "histogram", rows);
}

}  // namespace

void bank_conflicts(warpwise::Lesson& lesson) {
    lesson.text(
        R"(Shared memory is dealt out to 32 banks, word by word: word w, 4 bytes, lies in bank w % 32. In one pass
every bank can deliver one word. A request whose 32 lanes want words of 32 banks takes one pass. Lanes that want the
same word share it. But two different words of one bank take two passes, and 32 of them 32.

What you will see: which accesses collide; a tile whose columns all lie in one bank, and three ways to mend that; and
keys that collide by chance.

Lane k reads word k * stride of an array. Before you look: how many passes are stride 2, 3, 4 and 32? And stride 33?)");

    read_patterns<float>(lesson, "Loads of 4 bytes", "lane k reads",
                         {{"word k (stride 1)", strided(1)},
                          {"word 2 k", strided(2)},
                          {"word 3 k", strided(3)},
                          {"word 4 k", strided(4)},
                          {"word 8 k", strided(8)},
                          {"word 32 k", strided(32)},
                          {"word 33 k", strided(33)},
                          {"word 0 (all lanes)", strided(0)},
                          {"word k / 2", places_of([](unsigned lane) { return lane / 2; })},
                          {"word 31 - k", places_of([](unsigned lane) { return 31 - lane; })},
                          {"word 13 k % 32", places_of([](unsigned lane) { return 13 * lane % 32; })},
                          {"word 0 or 32", places_of([](unsigned lane) { return lane % 2 * 32; })},
                          {"word 0, 32, 64 or 96", places_of([](unsigned lane) { return lane % 4 * 32; })}});
    lesson.text(
        R"(Stride s takes as many passes as the greatest common divisor of s and 32. Every odd stride is free: 3 and
33 visit all banks before they come back to one. Powers of two are what hurts, and programs are full of them. Order
does not matter, nor do gaps. When all lanes read one word it is delivered once, to all of them: a broadcast, the
cheapest read there is. But sharing needs the same word. Two words of one bank are two passes, however many lanes want
them.

Now 8 and 16 bytes a lane. A pass brings 128 bytes, so that 32 lanes need at least 2 and 4 of them. That is no
conflict: the lanes are served in groups, 16 and 8 at a time, and only lanes of one group can collide. What will
stride 2 cost?)");
    read_patterns<float2>(lesson, "Loads of 8 bytes", "lane k reads",
                          {{"float2 k (stride 1)", strided(1)},
                           {"float2 2 k", strided(2)},
                           {"float2 3 k", strided(3)},
                           {"float2 4 k", strided(4)},
                           {"float2 16 k", strided(16)}});
    read_patterns<float4>(lesson, "Loads of 16 bytes", "lane k reads",
                          {{"float4 k (stride 1)", strided(1)},
                           {"float4 2 k", strided(2)},
                           {"float4 3 k", strided(3)},
                           {"float4 4 k", strided(4)},
                           {"float4 8 k", strided(8)}});
    lesson.text(
        R"(The rule is the same, in other units: for 8 bytes the banks are 16 pairs, for 16 bytes 8 groups of four.
Odd strides are free, stride 2 takes twice the least, and the worst is 32 passes again, for stride 16 and 8.)");
    lesson.text(
        R"(On a GPU the times follow the passes where there are many. Where there are one or two, the other instructions
of the loop take their share, so that twice the passes need not be twice the time: on an H200, 2 passes of 4 bytes take
1.34 times as long as one, 4 take 2.53 times and 32 take 19.5 times.)");

    lesson.text(
        R"(Now a tile. Each of n rows has 32 floats, and wants running sums: each sum needs the one before it, so a
row is the work of one thread. Straight from global memory, lanes that walk along neighboring rows touch 32 sectors
with every access. So a warp fetches a tile of 32 x 32 floats as memory likes it, row by row; each lane then walks
along its row in shared memory; and the warp writes the tile back row by row.

Predict: each lane makes 32 loads and 32 stores on its way along the row. How many passes too many are that for a tile
float tile[32][32], in which lane k is at word 32 k + col? And for tile[32][33]?)");
    lesson.steps<RunningSums>(
        {.gpu = {std::size_t{1} << 23},
         .cpu = {std::size_t{1} << 12},
         .awkward = {{0}, {1}, {2}, {7}, {31}, {32}, {33}, {63}, {127}, {128}, {129}, {1009}, {4099}}},
        {{"sums_in_global", "no tile: each lane walks along its row", run_rows<sums_in_global>},
         {"sums_in_tile", "tile[32][32]; each lane walks along its row", run_rows<sums_in_tile>},
         {"sums_in_padded_tile", "tile[32][33]", run_rows<sums_in_padded_tile>},
         {"sums_in_swizzled_tile", "tile[32][32], column col ^ row", run_rows<sums_in_swizzled_tile>},
         {"sums_in_float4_tile", "the swizzle with 16 bytes an access", run_rows<sums_in_float4_tile>}});
    expect_predicted_tiles(lesson);
    print_recorded_steps(lesson);
    lesson.text(
        R"(Word 32 k + col lies in bank col, whichever k: the walk along the rows is a column access to the banks. 64
requests take 32 passes each instead of one, 31 too many: 1984 for a tile, where 64 passes for filling and emptying it
and 64 for the walk would do. With 33 floats a row, lane k is in bank (k + col) % 32, and there are none. The swizzle
col ^ row does it without the extra column, so that rows stay aligned for float4: 32 requests a tile instead of 128.

Without conflicts the tile reaches a copy, and with them a fifth of it: on an H200, 4123 and 946 GB/s. The swizzle has
as few conflicts as the padding, and still stays behind, 3602 GB/s: banks do not explain everything. What its source has
more is an exclusive-or before every access. With float4s there is one for four elements, and step 5 is where step 3 is;
but it also has fewer and wider accesses. It is not the exclusive-or itself, but the code that the compiler makes of the
loops around it: in an experiment (docs/results/causes_h200.md) in which both steps load a whole tile before they store
any of it, they are equally fast within 1 %.

Which one to take? Padding is one character and hard to get wrong. The swizzle is for tiles that fill shared memory to
the brim, for 16-byte accesses, and for the tensor memory accelerator of recent chips, which can swizzle what it
copies.)");

    lesson.text(
        R"(Last, addresses that nobody chose. A histogram of 256 bins in shared memory, and random keys: 32 lanes go
to 32 banks by chance. Chance does not spread evenly: one bank gets several lanes, and the request waits for it. How
many, on average? The prediction below was diced on the host: 32 random keys, 65536 times. Adding 1 is a special case,
for which the hardware counts lanes of the same key in one pass; when each lane adds a number of its own, it cannot.)");
    count_by_chance(lesson);
    lesson.text(
        R"(More than three passes for random keys: neither the best case nor near the worst, and no order of the bins
can change it. If all keys are equal, weights take 32 passes, one after the other, and adding 1 takes a single one. A
copy of the histogram for each lane, of which copy k has bank k to itself, takes one pass whatever comes, for 32 times
the memory. The lesson histogram goes on from there.)");
    lesson.text(
        R"(On a GPU passes are time: a multiprocessor's shared memory makes one pass a cycle, for all warps together.
What else a kernel has to wait for decides whether that shows. Here it shows only at 32 passes. Compare times of the
rows with weights, since adding 1 reads a fifth of the bytes, because it needs none. On an H200 the one histogram takes
0.72 of the time of a copy a lane, with three and a half passes instead of one; and adding 1 takes as long with random
keys as with one key, three passes or one. Probably these threads wait for their next key, not for the banks. And a
copy a lane takes 32 KB a block, so that 6 blocks of 256 threads fit on an SM instead of 8: fewer keys on their way.
Passes decide once each thread fetches more at a time; that, too, is in the lesson histogram.)");
    lesson.text(
        R"(The rule to take along: lanes next to each other, words next to each other; where lanes must be a row
apart, let the row have an odd number of words.

Mistakes to avoid: padding the number of rows, tile[33][32], instead of their length; padding by an even number of
floats where accesses have 4 bytes; padding by 1 where accesses are float4 (misaligned: pad by 4, so that a row has an
odd number of float4s); a swizzle in the store and not in the load; taking the
4 passes of a float4 for a conflict.

Try next: --lines shows which line of each step collides. Then change the padding of step 3 to 2 and to 4: how many
conflicts do you expect? (The lesson expects none, and will say that it was WRONG.)

    memory_model bank_conflicts --lines
    memory_model bank_conflicts --size 1000003 --step sums_in_padded_tile)");
}

}  // namespace memory_model
