// Problem: running sums along n rows of 32 floats, out[row][col] = in[row][0] + ... +
// in[row][col], with one thread per row.
//
// Shared memory has 32 banks, each 4 bytes wide: the word at byte address a lies in bank a
// / 4 % 32. In one wavefront each bank delivers one word. Lanes that want the same word
// share it; lanes that want different words of one bank need a wavefront each. So the cost
// of an access follows from its addresses alone. This lesson computes it for strides,
// widths, and broadcasts, frees a tile of its conflicts in two ways, and ends with
// conflicts that only chance decides.
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

#include "chapters/2_memory_model/bank_conflicts/kernels.cuh"
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

constexpr unsigned kBanks = 32;

// One row of a table of wavefronts.
struct WavefrontsRow {
    std::string name;
    double predicted;                        // wavefronts per request
    std::optional<double> counted;           // the same, on the CPU device
    std::optional<warpwise::Candidate> run;  // what a GPU times
};

// Prints wavefronts as predicted, as counted (CPU device), and the times as multiples of
// the first row's (GPU).
void print_wavefronts(warpwise::Lesson& lesson, warpwise::TableTitle title,
                      const std::string& what, const std::vector<WavefrontsRow>& rows) {
    const bool measures = lesson.measures();
    const warpwise::Record& recorded = lesson.recorded();
    std::vector<std::string> header = {
        what, "wavefronts, predicted",
        measures ? "time, first = 1" : "wavefronts, counted"};
    if (recorded) header.push_back(recorded.label() + " time, first = 1");

    std::vector<warpwise::Timing> timings;
    if (measures) {
        std::vector<warpwise::Candidate> candidates;
        for (const WavefrontsRow& row : rows) candidates.push_back(*row.run);
        timings = warpwise::measure_in_turn(candidates, {.flush_l2 = false});
    }
    std::vector<std::vector<std::string>> cells;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string counted =
            rows[i].counted ? warpwise::ratio_text(*rows[i].counted) : "-";
        const std::string seen =
            measures ? text_of("%.2f", timings[i].median / timings[0].median) : counted;
        cells.push_back({rows[i].name, warpwise::ratio_text(rows[i].predicted), seen});
        if (recorded)
            cells.back().push_back(
                recorded.cell(title.name, {rows[i].name}, "time, first = 1"));
    }
    if (recorded) title.note = "times " + recorded.where();
    lesson.table(title, header, cells);
}

// ---- strides, broadcasts, widths --------------------------------------------------------

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

// Wavefronts of a warp's load in which each lane reads the T at its place: the words that
// the busiest bank has to deliver. 32 banks deliver 128 bytes in a wavefront; so 8 bytes
// per lane are served to 16 lanes at a time, and 16 bytes to 8 lanes.
template <class T>
unsigned wavefronts_of(const Places& places) {
    constexpr unsigned words = sizeof(T) / 4;
    constexpr unsigned lanes_together = kLanes / words;
    unsigned wavefronts = 0;
    for (unsigned first = 0; first < kLanes; first += lanes_together) {
        std::array<std::set<unsigned>, kBanks>
            wanted;  // words of each bank; a set, because equal words are shared
        for (unsigned lane = first; lane < first + lanes_together; ++lane) {
            for (unsigned word = places[lane] * words; word < (places[lane] + 1) * words;
                 ++word) {
                wanted[word % kBanks].insert(word);
            }
        }
        std::size_t most = 0;
        for (const std::set<unsigned>& bank : wanted) most = std::max(most, bank.size());
        wavefronts += static_cast<unsigned>(most);
    }
    return wavefronts;
}

struct Pattern {
    std::string name;
    Places places;
};

// Runs the patterns, compares their sums, and holds the prediction against the counter. One
// warp is enough to count; to measure times, the device has to be full.
template <class T>
void read_patterns(warpwise::Lesson& lesson, const warpwise::TableTitle& title,
                   const std::string& what, const std::vector<Pattern>& patterns) {
    const bool measures = lesson.measures();
    const unsigned threads = measures ? 256 : kLanes;
    const unsigned blocks =
        measures ? warpwise::blocks_that_fill(read_places<T>, threads) : 1;
    const unsigned repeats = measures ? 1024 : 8;
    DeviceBuffer<float> d_sums(std::size_t{blocks} * threads);
    std::vector<DeviceBuffer<unsigned>> d_places;
    std::vector<WavefrontsRow> rows;
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
            for (unsigned k = 0; k < repeats; ++k)
                sum += (places[i % kLanes] + k) % kElements;
            return sum * static_cast<double>(sizeof(T) / sizeof(float));
        };
        WavefrontsRow row{pattern.name, static_cast<double>(wavefronts_of<T>(places)),
                          std::nullopt, std::nullopt};
        d_sums.fill_bytes(0xFF);
        if (const auto counts = lesson.count(read)) {
            row.counted = counts->shared_load.wavefronts_per_request();
            lesson.expect(*row.counted == row.predicted,
                          pattern.name + ": as many wavefronts as predicted");
            lesson.expect(counts->shared_load.requests == repeats,
                          pattern.name + ": one request for each read");
        }
        lesson.expect(
            warpwise::compare_each(d_sums.download(), d_sums.size(), expected).passed,
            pattern.name + ": every lane reads its own place");
        if (measures) row.run = warpwise::Candidate{read, false};
        rows.push_back(std::move(row));
    }
    print_wavefronts(lesson, title, what, rows);
}

// `rows` rows of 32 floats, and room for their running sums.
struct RunningSums {
    std::size_t rows, count;
    std::vector<float> in;
    std::vector<double> expected;
    DeviceBuffer<float> d_in, d_out;

    explicit RunningSums(const warpwise::Size& size)
        : rows(size[0]),
          count(rows * kSide),
          in(warpwise::uniform<float>(count, 8)),
          d_in(in),
          d_out(count) {
        expected.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            expected[i] = (i % kSide == 0 ? 0 : expected[i - 1]) + in[i];
    }

    void poison() { d_out.fill_bytes(0xFF); }

    // At most 31 additions one after the other, each rounds a sum of at most 32 by half an
    // epsilon.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        return warpwise::compare(d_out.download(), expected,
                                 {.absolute = 31 * 32 * half_epsilon});
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count, .operations = 1.0 * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * kSide * size[0];
    }
};

using RowsKernel = void (*)(const float*, float*, std::size_t);

template <RowsKernel kernel>
void run_rows(RunningSums& problem) {
    kernel<<<warpwise::blocks_for(problem.rows, kThreads), kThreads>>>(
        problem.d_in.data(), problem.d_out.data(), problem.rows);
    warpwise::check_launch();
}

// What the lesson predicts for each full tile.
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
        lesson.expect(
            counts->global_load.sectors_per_request() == predicted.sectors_per_load,
            step + ": a load of global memory touches the predicted number of sectors");
        lesson.expect(shared.requests == tiles * predicted.shared_requests,
                      step + ": as many requests to shared memory as predicted");
        lesson.expect(shared.conflicts() == tiles * predicted.conflicts,
                      step + ": as many conflicts as predicted");
    }
}

// Wavefronts of a request whose lanes have random places: mean, and standard deviation of a
// single request.
struct RandomWavefronts {
    double mean = 0;
    double deviation = 0;
};

// Throws 32 random keys many times, and sees each time which bank has most to do. A bank
// needs a wavefront for each of its lanes; or, where lanes of one key are `merged`, for
// each of its keys that came up.
RandomWavefronts wavefronts_of_random_keys(bool merged) {
    constexpr unsigned throws = 1 << 16;
    double sum = 0, sum_of_squares = 0;
    for (std::uint64_t t = 0; t < throws; ++t) {
        std::array<bool, kBins> seen{};
        std::array<unsigned, kBanks> wavefronts_of_bank{};
        unsigned wavefronts = 0;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const std::size_t key = warpwise::random_bits(11, t * kLanes + lane) % kBins;
            if (merged && std::exchange(seen[key], true)) continue;
            wavefronts = std::max(wavefronts, ++wavefronts_of_bank[key % kBanks]);
        }
        sum += wavefronts;
        sum_of_squares += static_cast<double>(wavefronts) * wavefronts;
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
    RandomWavefronts predicted;
};

void count_by_chance(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const std::size_t count = measures ? std::size_t{1} << 26 : std::size_t{1} << 15;
    const std::vector<int> random = warpwise::uniform_integers(count, 9, 0, kBins - 1);
    const std::vector<int> random_weights = warpwise::uniform_integers(count, 10, 1, 9);
    const std::vector<unsigned> weights(random_weights.begin(), random_weights.end());
    const DeviceBuffer<unsigned char> d_random(
        std::vector<unsigned char>(random.begin(), random.end()));
    const DeviceBuffer<unsigned char> d_same(std::vector<unsigned char>(count, 'x'));
    const DeviceBuffer<unsigned> d_weights(weights);
    DeviceBuffer<unsigned> d_totals(kBins);

    const RandomWavefronts merged = wavefronts_of_random_keys(true);
    const RandomWavefronts single = wavefronts_of_random_keys(false);
    const std::vector<ChanceRow> cases = {
        {"copy per lane, weights, random keys", weigh_keys_by_lane, true, true, {1, 0}},
        {"copy per lane, weights, one key", weigh_keys_by_lane, true, false, {1, 0}},
        {"one histogram, adding 1, random keys", count_keys, false, true, merged},
        {"one histogram, adding 1, one key", count_keys, false, false, {1, 0}},
        {"one histogram, weights, random keys", weigh_keys, true, true, single},
        {"one histogram, weights, one key", weigh_keys, true, false, {32, 0}},
    };
    std::vector<WavefrontsRow> rows;
    for (const ChanceRow& c : cases) {
        const auto run = [&d_totals, &d_weights, count, kernel = c.kernel,
                          keys = c.random_keys ? d_random.data() : d_same.data()] {
            warpwise::check(cudaMemsetAsync(d_totals.data(), 0, d_totals.bytes()));
            const unsigned blocks = std::min(warpwise::blocks_for(count, kCounters),
                                             warpwise::blocks_that_fill(kernel, kCounters));
            kernel<<<blocks, kCounters>>>(keys, d_weights.data(), d_totals.data(), count);
            warpwise::check_launch();
        };
        WavefrontsRow row{c.name, c.predicted.mean, std::nullopt, std::nullopt};
        if (const auto counts = lesson.count(run)) {
            const warpwise::RequestCounts& atomics = counts->shared_atomic;
            row.counted = atomics.wavefronts_per_request();
            // Five standard deviations of a mean over so many requests; none where chance
            // has no part. What the prediction's own mean adds, over more requests, is
            // within that.
            const double tolerance =
                5 * c.predicted.deviation / std::sqrt(static_cast<double>(count) / kLanes);
            lesson.expect(std::fabs(*row.counted - c.predicted.mean) <= tolerance,
                          std::string(c.name) + ": as many wavefronts as predicted");
        }
        std::vector<double> expected(kBins);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bin =
                c.random_keys ? static_cast<std::size_t>(random[i]) : 'x';
            expected[bin] += c.weighted ? weights[i] : 1;
        }
        lesson.expect(warpwise::compare(d_totals.download(), expected).passed,
                      std::string(c.name) + ": the histogram is right");
        if (measures) row.run = warpwise::Candidate{run, false};
        rows.push_back(std::move(row));
    }
    print_wavefronts(lesson, {"atomics", "Atomic additions to 256 bins in shared memory"},
                     "histogram", rows);
    lesson.text(
        "Rows that add 1 read no weights, so they read a fifth of the bytes: compare only "
        "rows of the same kind.");
}

}  // namespace

void bank_conflicts(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Shared memory has 32 banks: word w, 4 bytes, lies in bank w % 32. In one
wavefront each bank delivers one word. Lanes that want the same word share it; different
words of one bank take a wavefront each. Which accesses collide, and how can a tile be
laid out so that none do?)");
    lesson.predict(
        {.question = R"(Lane k reads word k * stride of shared memory. How many
wavefronts does a request take with stride 4?)",
         .answer = warpwise::Number{.value = 4,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::TableCell{"loads_of_4",
                                                                    {"word 4 k"},
                                                                    "wavefronts, counted"}},
         .because = R"(Only 8 of the 32 banks have any of these words, so each of
them is asked for four words.)"});
    lesson.predict(
        {.question = R"(Lane k reads word k * stride of shared memory. How many
wavefronts does a request take with stride 33?)",
         .answer = warpwise::Number{.value = 1,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::TableCell{"loads_of_4",
                                                                    {"word 33 k"},
                                                                    "wavefronts, counted"}},
         .because = R"(Neighboring lanes read from
neighboring banks: an odd stride meets all 32 banks.)"});
    read_patterns<float>(
        lesson, {"loads_of_4", "Loads of 4 bytes"}, "lane k reads",
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
    lesson.conclusion(
        R"(Stride s takes as many wavefronts as the greatest common divisor of s and 32,
so every odd stride is free. Order and gaps do not matter. One word for all lanes is
delivered once, to all of them: a broadcast. But two words of one bank, such as words 0 and
32 for the even and the odd lanes, are two wavefronts, however many lanes want each.)");

    lesson.predict(
        {.question = R"(A wavefront brings 128 bytes, so 32 lanes that read 8 bytes each
need at least 2 wavefronts. How many does stride 2 take, where lane k reads float2 2 k?)",
         .answer = warpwise::Number{.value = 4,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::TableCell{"loads_of_8",
                                                                    {"float2 2 k"},
                                                                    "wavefronts, counted"}},
         .because = R"(Half of the banks have no word that is asked for, so twice
as many wavefronts are needed.)"});
    read_patterns<float2>(lesson, {"loads_of_8", "Loads of 8 bytes"}, "lane k reads",
                          {{"float2 k (stride 1)", strided(1)},
                           {"float2 2 k", strided(2)},
                           {"float2 3 k", strided(3)},
                           {"float2 4 k", strided(4)},
                           {"float2 16 k", strided(16)}});
    read_patterns<float4>(lesson, {"loads_of_16", "Loads of 16 bytes"}, "lane k reads",
                          {{"float4 k (stride 1)", strided(1)},
                           {"float4 2 k", strided(2)},
                           {"float4 3 k", strided(3)},
                           {"float4 4 k", strided(4)},
                           {"float4 8 k", strided(8)}});
    lesson.conclusion(
        R"(Stride 2 takes twice the least, and odd strides are free again. Lanes are
served in groups, 16 at a time for 8 bytes and 8 at a time for 16 bytes, and only lanes of
one group can collide. The worst case is 32 wavefronts again, with stride 16 and with
stride 8.)");

    lesson.question(
        R"(Each of n rows has 32 floats and wants running sums, which is the work of one
thread. Straight from global memory, every request touches 32 sectors. So a warp fetches a
tile of 32 x 32 floats row by row, each lane walks along its row in shared memory, and the
warp writes the tile back row by row.)");
    lesson.predict(
        {.question = R"(float tile[32][32]: lane k loads word 32 k + col on its way
along row k. How many wavefronts does one such load take?)",
         .answer = warpwise::Number{.value = 32, .unit = "wavefronts"},
         .because = R"(32 k + col is in bank col for every lane, so the lanes are
served one after the other.)"});
    lesson.predict(
        {.question = R"(In float tile[32][33], lane k loads word 33 k + col on its
way along row k. How many wavefronts does one such load take?)",
         .answer = warpwise::Number{.value = 1,
                                    .unit = "wavefronts",
                                    .shown_by = warpwise::wavefronts_per_shared_load(
                                        "sums_in_padded_tile")},
         .because = R"(The additional column moves each row on by one bank, so that
32 lanes meet 32 banks.)"});
    lesson.steps<RunningSums>(
        {.gpu = {std::size_t{1} << 23},
         .cpu = {std::size_t{1} << 12},
         .awkward = {{0},
                     {1},
                     {2},
                     {7},
                     {31},
                     {32},
                     {33},
                     {63},
                     {127},
                     {128},
                     {129},
                     {1009},
                     {4099}}},
        {{"sums_in_global", "no tile: each lane walks along its row",
          run_rows<sums_in_global>},
         {"sums_in_tile", "tile[32][32]; each lane walks along its row",
          run_rows<sums_in_tile>},
         {"sums_in_padded_tile", "tile[32][33]", run_rows<sums_in_padded_tile>},
         {"sums_in_swizzled_tile", "tile[32][32], column col ^ row",
          run_rows<sums_in_swizzled_tile>},
         {"sums_in_float4_tile", "the swizzle with 16 bytes per access",
          run_rows<sums_in_float4_tile>}});
    expect_predicted_tiles(lesson);
    lesson.conclusion(
        R"(Word 32 k + col lies in bank col for all lanes: 64 requests with 31 wavefronts
too many each, 1984 per tile. With 33 floats per row, lane k is in bank (k + col) % 32,
and there are none. The swizzle (row r keeps column c at place c ^ r) needs no extra
column, so rows stay aligned for float4. Where lanes have to be one row apart, give the
row an odd number of words.)");

    lesson.question(
        R"(In a histogram in shared memory, the data decide to which bank a lane goes.
Adding 1 is a special case: the hardware counts lanes with the same key in one
wavefront. When each lane adds a number of its own, it cannot.)");
    lesson.predict({.question = R"(32 lanes have the same key, and each adds a weight of
its own to the same word of shared memory. How many wavefronts does the atomic addition
take?)",
                    .answer = warpwise::Number{.value = 32,
                                               .unit = "wavefronts",
                                               .shown_by =
                                                   warpwise::TableCell{
                                                       "atomics",
                                                       {"one histogram, weights, one key"},
                                                       "wavefronts, counted"}},
                    .because = R"(The sums have to be made one lane after the other. Only
where all lanes add 1, the SM counts them together.)"});
    count_by_chance(lesson);
    lesson.conclusion(
        R"(Random keys take more than three wavefronts, because the request waits for the
busiest bank (predicted on the host, with 65536 random requests). With equal keys,
weights take 32 and adding 1 takes one. One copy of the histogram per lane always takes
one, for 32 times the memory. On an H200, three or four wavefronts do not decide the time:
the copies are slower there, probably because fewer blocks are resident. The lesson
histogram goes on from there.)");
}

}  // namespace memory_model
