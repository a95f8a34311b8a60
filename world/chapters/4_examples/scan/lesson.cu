// Problem: the prefix sums of n floats, y[i] = x[0] + ... + x[i] for each i. This is called
// an inclusive scan.
//
// Each result needs all elements before it, so a scan looks like one long chain. Within a
// block it is not: a few rounds are enough, as in a reduction. Between blocks the question
// is how a tile learns the sum of all tiles before it, and how often the floats move
// through memory meanwhile. Each float has to be read and written at least once: two words
// per float. The steps go from four words to three, and to two.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_scan.cuh>
#endif

#include "chapters/4_examples/scan/kernels.cuh"
#include "chapters/4_examples/scan/look_back.cuh"
#include "chapters/4_examples/scan/operators.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kSmallestTile = 512;  // of the single passes that are timed

// The floats, their prefix sums in double, and memory for the steps. In place, a step reads
// the floats from where it writes its results. All steps allow that, because a block has
// loaded all of its tile before it stores the first result, and no block reads the tile of
// another one.
struct Scan {
    std::size_t count;
    std::vector<float> values;
    std::vector<double> reference;
    double squares = 0;
    DeviceBuffer<float> d_in, d_out, d_sums;
    DeviceBuffer<Word> d_words;  // the counter of tiles, and then a word for each tile
    DeviceBuffer<unsigned char> d_vendor_storage;
    bool in_place = false, exclusive = false;
    std::size_t chain = 0;  // the longest chain of additions behind a result

    explicit Scan(const warpwise::Size& size)
        : Scan(warpwise::uniform<float>(size[0], 1)) {}

    explicit Scan(std::vector<float> floats)
        : count(floats.size()),
          values(std::move(floats)),
          reference(count),
          d_in(values),
          d_out(count),
          d_sums(room_for_sums(count)),
          d_words(warpwise::blocks_for(count, kSmallestTile) + 1) {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = values[i];
            sum += value;
            squares += value * value;
            reference[i] = sum;
        }
    }

    void poison() {
        d_out.fill_bytes(0xFF);
        d_sums.fill_bytes(0xFF);
        d_words.fill_bytes(0xFF);
        in_place = exclusive = false;
        chain = 0;
    }

    const float* input() const { return in_place ? d_out.data() : d_in.data(); }

    // Each addition rounds its sum s by at most eps / 2 * |s|, up or down. We take these
    // errors for independent, so their squares add up. Every sum in a scan is that of
    // neighboring floats, and a float goes through at most `chain` additions, so the sums
    // can be sorted into `chain` groups in which no float appears twice. For floats of
    // either sign and mean 0, the square of a sum is on average the sum of the squares.
    // Hence the typical error is at most eps / 2 * sqrt(chain * squares), and eight times
    // as much is allowed. (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
    // sections 2.8 and 4.2.)
    double tolerance() const {
        constexpr double epsilon = std::numeric_limits<float>::epsilon();
        return 4 * epsilon * std::sqrt(static_cast<double>(chain) * squares);
    }

    warpwise::Comparison compare_within(double tolerance) {
        return warpwise::compare_each(d_out.download(), count,
                                      [&](std::size_t i) {
                                          if (!exclusive) return reference[i];
                                          return i == 0 ? 0.0 : reference[i - 1];
                                      },
                                      {.absolute = tolerance});
    }

    warpwise::Comparison compare() { return compare_within(tolerance()); }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * static_cast<double>(count),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 * size[0] + room_for_sums(size[0])) * sizeof(float) +
               size[0] / kSmallestTile * sizeof(Word) + (std::size_t{1} << 20);
    }

    // Of all levels; each begins at a multiple of 16 bytes.
    static std::size_t room_for_sums(std::size_t count) { return count / 128 + 32; }
};

// Step 1, the loop on one core, in double.
void serial(Scan& problem) {
    std::vector<float> sums(problem.count);
    double sum = 0;
    for (std::size_t i = 0; i < problem.count; ++i) {
        sum += problem.values[i];
        sums[i] = static_cast<float>(sum);
    }
    problem.d_out.upload(sums);
    problem.chain = 1;
}

// ---- steps 2 to 7, several launches -----------------------------------------------------

using TileScan = void (*)(const float*, float*, std::size_t, float*);
using SumAdder = void (*)(float*, std::size_t, const float*);

// One launch scans the tiles. Their sums are scanned in the same way, in place, and a last
// launch adds them. If a single block can scan the sums, there are three launches. More
// sums are an array like the first one, with one more level. Returns the number of levels.
template <TileScan Kernel, unsigned Tile, SumAdder AddSums>
std::size_t scan_in_levels(const float* d_in, float* d_out, std::size_t count,
                           float* d_sums) {
    const unsigned tiles = warpwise::blocks_for(count, Tile);
    Kernel<<<tiles, kThreads>>>(d_in, d_out, count, d_sums);
    warpwise::check_launch();
    if (tiles == 1) return 1;
    float* const d_sums_of_sums = d_sums + warpwise::ceil_div(tiles, 4) * 4;
    const std::size_t levels =
        scan_in_levels<Kernel, Tile, AddSums>(d_sums, d_sums, tiles, d_sums_of_sums);
    AddSums<<<tiles, kThreads>>>(d_out, count, d_sums);
    warpwise::check_launch();
    return levels + 1;
}

// In a tile a float goes through at most 18 additions, those of the tree, or 3 of a lane, 5
// of a warp, and those over rows and warps.
constexpr std::size_t kChainOfTile = 24;

template <TileScan Kernel, unsigned Tile, SumAdder AddSums>
void in_levels(Scan& problem) {
    const std::size_t levels = scan_in_levels<Kernel, Tile, AddSums>(
        problem.input(), problem.d_out.data(), problem.count, problem.d_sums.data());
    problem.chain = levels * kChainOfTile;
}

void reduce_then_scan(Scan& problem) {
    const unsigned tiles = warpwise::blocks_for(problem.count, kTile);
    float* const d_sums = problem.d_sums.data();
    sum_tiles<<<tiles, kThreads>>>(problem.input(), problem.count, d_sums);
    warpwise::check_launch();
    const std::size_t levels = scan_in_levels<scan_float4, kTile, add_sums_float4>(
        d_sums, d_sums, tiles, d_sums + warpwise::ceil_div(tiles, 4) * 4);
    scan_after_sums<<<tiles, kThreads>>>(problem.input(), problem.d_out.data(),
                                         problem.count, d_sums);
    warpwise::check_launch();
    problem.chain = (levels + 1) * kChainOfTile;
}

// ---- steps 8 to 10, a single pass -------------------------------------------------------

using SinglePass = void (*)(const float*, float*, std::size_t, Word*, Word*);

template <SinglePass Kernel, unsigned Tile, unsigned Threads = kThreads>
void in_one_pass(Scan& problem) {
    const unsigned tiles = warpwise::blocks_for(problem.count, Tile);
    Word* const d_words = problem.d_words.data();
    warpwise::check(cudaMemsetAsync(d_words, 0, (tiles + 1) * sizeof(Word)));
    Kernel<<<tiles, Threads>>>(problem.input(), problem.d_out.data(), problem.count,
                               d_words + 1, d_words);
    warpwise::check_launch();
    problem.chain = kChainOfTile + tiles;  // each prefix may be that of the tile before
}

template <class Numbers, bool Inclusive = true>
void tuned(Scan& problem) {
    in_one_pass<scan_tuned<Numbers, Inclusive>, Numbers::tile, Numbers::threads>(problem);
    problem.exclusive = !Inclusive;
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Its workspace is allocated once, as its users do.
void vendor(Scan& problem) {
    std::size_t needed = 0;
    warpwise::check(cub::DeviceScan::InclusiveSum(nullptr, needed, problem.input(),
                                                  problem.d_out.data(), problem.count));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(cub::DeviceScan::InclusiveSum(problem.d_vendor_storage.data(), needed,
                                                  problem.input(), problem.d_out.data(),
                                                  problem.count));
    // It does not say how it adds.
    problem.chain = kChainOfTile + warpwise::ceil_div(problem.count, 1024);
}
#endif

// ---- all of them ------------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(Scan&);
};
const std::vector<Method> methods = {
    {"scan_rounds", "three launches, rounds in a block",
     in_levels<scan_rounds, kThreads, add_sums<kThreads>>},
    {"scan_tree", "a tree: up, and down again",
     in_levels<scan_tree, kTreeTile, add_sums<kTreeTile>>},
    {"scan_tree_padded", "a tree without bank conflicts",
     in_levels<scan_tree_padded, kTreeTile, add_sums<kTreeTile>>},
    {"scan_shuffles", "warps scan from register to register",
     in_levels<scan_shuffles, kThreads, add_sums<kThreads>>},
    {"scan_float4", "16 floats per thread, 4 per load",
     in_levels<scan_float4, kTile, add_sums_float4>},
    {"reduce_then_scan", "only the sums first, then results", reduce_then_scan},
    {"scan_look_back", "one launch: a thread looks back",
     in_one_pass<scan_look_back, kTile>},
    {"scan_look_back_warp", "a warp looks back, 32 tiles at once",
     in_one_pass<scan_look_back_warp, kTile>},
    {"scan_tuned", "tuning: larger tiles, pauses", tuned<Tuned>},
};

// Whole numbers from -8 to 8. Floats add them exactly, so results have to be exact, and a
// float that is left out or added twice shows, however small the tolerance of others is.
std::vector<float> whole_numbers(std::size_t count) {
    const std::vector<int> numbers = warpwise::uniform_integers(count, 2, -8, 8);
    return {numbers.begin(), numbers.end()};
}

const std::vector<std::size_t> kAwkward = {0,
                                           1,
                                           31,
                                           32,
                                           33,
                                           255,
                                           257,
                                           511,
                                           513,
                                           1009,
                                           kTile - 1,
                                           kTile,
                                           kTile + 1,
                                           4099,
                                           Tuned::tile - 1,
                                           Tuned::tile,
                                           Tuned::tile + 1,
                                           65536,
                                           65537,
                                           100003};

void expect_exact(warpwise::Lesson& lesson, const std::string& name, Scan& problem,
                  void (*run)(Scan&)) {
    for (const bool in_place : {false, true}) {
        problem.poison();
        problem.in_place = in_place;
        if (in_place) problem.d_out.upload(problem.values);
        run(problem);
        lesson.expect(problem.compare_within(0).passed,
                      name + (in_place ? ", in place" : "") + ": exact for " +
                          warpwise::counted(problem.count, "whole number"));
    }
}

void expect_any_size(warpwise::Lesson& lesson) {
    for (const std::size_t count : kAwkward) {
        Scan problem(whole_numbers(count));
        for (const Method& method : methods)
            expect_exact(lesson, method.name, problem, method.run);
        expect_exact(lesson, "scan_tuned, exclusive", problem, tuned<Tuned, false>);
    }
}

// More blocks than 65,535, which were once the limit of a grid, and a third level of sums.
void expect_many_blocks(warpwise::Lesson& lesson) {
    Scan problem(whole_numbers(std::size_t{65536} * kThreads + 1));
    const Method& method = methods[3];
    problem.poison();
    method.run(problem);
    lesson.expect(problem.compare_within(0).passed,
                  std::string(method.name) + ": exact with more than 65,536 blocks");
}

// ---- predictions, held against the counters ---------------------------------------------

// 24,576 floats are 96, 48, 6, or 3 whole tiles, whose sums fit into one tile. The grids of
// the single passes are small enough for one core of the CPU device, where each tile finds
// the prefix of the tile before it at its first look. So the counts are the same in every
// run.
constexpr std::size_t kCounted = 24576;

struct Predicted {
    double launches, load_sectors, store_sectors, barriers, conflicts, atomics;
};

// A kernel with one word per lane: the sums of `tiles` tiles are in `tiles` / 8 sectors. In
// the last launch, each of 8 warps of a block loads the sum before its tile.
Predicted of_three_launches(double tiles, double barriers, double conflicts) {
    const double sectors = kCounted / 8.0, of_sums = std::ceil(tiles / 8);
    const double added = sectors * (tiles - 1) / tiles;
    return {.launches = 3,
            .load_sectors = sectors + of_sums + added + kWarps * (tiles - 1),
            .store_sectors = sectors + tiles + of_sums + 1 + added,
            .barriers = (tiles + 1) * kWarps * barriers,
            .conflicts = (tiles + 1) * conflicts,
            .atomics = 0};
}

std::vector<Predicted> predictions() {
    const double sectors = kCounted / 8.0;
    // With distance d, min(256, 256 / d) threads access words that are 2 d apart. A round
    // makes three accesses on the way up, and four on the way down.
    double of_tree = 0;
    for (unsigned distance = 1; distance < kTreeTile; distance *= 2) {
        const unsigned threads = kThreads / distance;
        const unsigned lanes = std::min(threads, 32u), warps = (threads + 31) / 32;
        const unsigned per_bank = std::max(1u, lanes * std::min(2 * distance, 32u) / 32);
        of_tree += 7.0 * warps * (per_bank - 1);
    }
    Predicted of_fours = of_three_launches(6, 1, 0);
    // The six sums are loaded and stored float by float: in four requests of one sector.
    of_fours.load_sectors += 3;
    of_fours.store_sectors += 3;
    return {of_three_launches(96, 8, 0),
            of_three_launches(48, 19, of_tree),
            of_three_launches(48, 19, 0),
            of_three_launches(96, 1, 0),
            of_fours,
            {.launches = 3,
             .load_sectors = 2 * sectors + 4 + kWarps * 5,
             .store_sectors = sectors + 6 + 4 + 1,
             .barriers = 13 * kWarps,
             .conflicts = 0,
             .atomics = 0},
            // Five tiles look once; six tell their prefixes, and five their sums before.
            {.launches = 1,
             .load_sectors = sectors + 5,
             .store_sectors = sectors + 11,
             .barriers = 6 * 3 * kWarps,
             .conflicts = 0,
             .atomics = 6},
            // The words of one to five tiles are in 1, 1, 1, 2, and 2 sectors.
            {.launches = 1,
             .load_sectors = sectors + 7,
             .store_sectors = sectors + 11,
             .barriers = 6 * 3 * kWarps,
             .conflicts = 0,
             .atomics = 6},
            {.launches = 1,
             .load_sectors = sectors + 2,
             .store_sectors = sectors + 5,
             .barriers = 3 * 3 * kWarps,
             .conflicts = 0,
             .atomics = 3}};
}

void show_predictions(warpwise::Lesson& lesson) {
    Scan problem(warpwise::Size{kCounted});
    const std::vector<Predicted> all = predictions();
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const std::string step = methods[k].name;
        const Predicted& predicted = all[k];
        const double words =
            8 * (predicted.load_sectors + predicted.store_sectors) / kCounted;
        rows.push_back({step, warpwise::count_text(predicted.launches),
                        text_of("%.1f", words), warpwise::count_text(predicted.barriers),
                        warpwise::count_text(predicted.conflicts),
                        warpwise::count_text(predicted.atomics)});
        problem.poison();
        const auto counts = lesson.count([&] { methods[k].run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": the sums are right");
        lesson.expect(counts->global_load.sectors == predicted.load_sectors,
                      step + ": sectors loaded");
        lesson.expect(counts->global_store.sectors == predicted.store_sectors,
                      step + ": sectors stored");
        lesson.expect(counts->barriers == predicted.barriers, step + ": barriers");
        lesson.expect(counts->shared().conflicts() == predicted.conflicts,
                      step + ": bank conflicts");
        lesson.expect(counts->global_atomic.requests == predicted.atomics,
                      step + ": atomics");
    }
    lesson.table({"counts", "Predicted for 24576 floats"},
                 {"step", "launches", "words/float", "barriers", "conflicts", "atomics"},
                 rows);
}

// ---- other operators --------------------------------------------------------------------

constexpr std::size_t kCombined = 10007;

// How many results of the kernel differ from those of a loop on the host.
template <class Operator>
std::size_t wrong_results(const std::vector<typename Operator::Value>& values,
                          const std::vector<typename Operator::Value>& expected) {
    using Value = typename Operator::Value;
    const unsigned tiles = warpwise::blocks_for(values.size(), kValueTile);
    DeviceBuffer<Value> d_in(values), d_out(values.size()), d_sums(tiles),
        d_prefixes(tiles);
    DeviceBuffer<unsigned> d_states(tiles + 1);
    d_out.fill_bytes(0xFF);
    d_states.fill_bytes(0);
    scan_with<Operator>
        <<<tiles, kThreads>>>(d_in.data(), d_out.data(), values.size(),
                              Tiles<Value>{d_states.data() + 1, d_states.data(),
                                           d_sums.data(), d_prefixes.data()});
    warpwise::check_launch();
    const std::vector<Value> results = d_out.download();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += !(results[i] == expected[i]);
    return wrong;
}

template <class Operator>
void show_operator(warpwise::Lesson& lesson, std::vector<std::vector<std::string>>& rows,
                   const std::string& name, bool commutative,
                   const std::vector<typename Operator::Value>& values) {
    std::vector<typename Operator::Value> expected;
    typename Operator::Value result = Operator::identity();
    for (const auto& value : values) {
        result = Operator::combine(result, value);
        expected.push_back(result);
    }
    const std::size_t wrong = wrong_results<Operator>(values, expected);
    const std::size_t exchanged = wrong_results<Exchanged<Operator>>(values, expected);
    lesson.expect(wrong == 0, name + ": right");
    lesson.expect((exchanged == 0) == commutative, name + ": with operands exchanged");
    rows.push_back({name, commutative ? "yes" : "no", std::to_string(wrong),
                    std::to_string(exchanged)});
}

void show_operators(warpwise::Lesson& lesson) {
    std::vector<float> sparse(kCombined);
    std::vector<Map> maps(kCombined);
    for (std::size_t i = 0; i < kCombined; ++i) {
        const auto bits = warpwise::random_bits(3, i);
        sparse[i] = bits % 4 != 0 ? 0.0f : static_cast<float>(1 + bits / 4 % 1000);
        maps[i] = {static_cast<unsigned>(bits), static_cast<unsigned>(bits >> 32)};
    }
    std::vector<std::vector<std::string>> rows;
    show_operator<Add>(lesson, rows, "sum", true, whole_numbers(kCombined));
    show_operator<KeepLast>(lesson, rows, "last that is not 0", false, sparse);
    show_operator<Compose>(lesson, rows, "maps x -> a x + b", false, maps);
    lesson.table({"operators", "Wrong results of 10007, one kernel"},
                 {"operator", "commutative", "as written", "exchanged"}, rows);
}

// ---- other numbers, on a GPU ------------------------------------------------------------

const std::vector<Method> kTimed = {
    {"reduce_then_scan", "", reduce_then_scan},
    {"scan_look_back", "", in_one_pass<scan_look_back, kTile>},
    {"scan_look_back_warp", "", in_one_pass<scan_look_back_warp, kTile>},
    {"scan_tuned", "", tuned<Tuned>},
    {"  without a pause", "", tuned<Tuning<256, 8, 0>>},
    {"  with a pause of 500 ns", "", tuned<Tuning<256, 8, 500>>},
    {"  with 128 threads, 6 loads", "", tuned<Tuning<128, 6, 100>>},
    {"  with 128 threads, 8 loads", "", tuned<Tuning<128, 8, 100>>},
    {"  with 256 threads, 4 loads", "", tuned<Tuning<256, 4, 100>>},
    {"  with 256 threads, 6 loads", "", tuned<Tuning<256, 6, 100>>},
    {"  with 512 threads, 4 loads", "", tuned<Tuning<512, 4, 100>>},
    {"  with 512 threads, 6 loads", "", tuned<Tuning<512, 6, 100>>},
#ifndef __CPU_DEVICE__
    {"cub::DeviceScan", "", vendor},
#endif
};

constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(
        kLarge, kSmall, [](std::size_t count) { return Scan::device_bytes({count}); });
}

std::vector<double> measure(warpwise::Lesson& lesson, std::size_t count) {
    Scan problem(warpwise::Size{count});
    std::vector<warpwise::Candidate> candidates;
    for (const Method& each : kTimed)
        candidates.push_back({[&each, &problem] { each.run(problem); }});
    std::vector<double> seconds;
    for (const warpwise::Timing& timing :
         warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
        seconds.push_back(timing.median);
    }
    for (const Method& each : kTimed) {
        problem.poison();
        each.run(problem);
        lesson.expect(problem.compare().passed,
                      std::string(each.name) + ": right after timing");
    }
    return seconds;
}

void show_tuning(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        Scan problem(whole_numbers(20011));
        for (const Method& each : kTimed)
            expect_exact(lesson, each.name, problem, each.run);
        lesson.show_recorded("tuning");
        return;
    }
    const std::size_t count = large_count();
    const std::vector<double> small = measure(lesson, kSmall),
                              large = measure(lesson, count);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < kTimed.size(); ++i) {
        rows.push_back({kTimed[i].name, text_of("%.1f", small[i] * 1e6),
                        text_of("%.1f", large[i] * 1e6),
                        text_of("%.0f", 8e-9 * static_cast<double>(count) / large[i]),
                        text_of("%.3f", large.back() / large[i])});
    }
    lesson.table({"tuning", "2^20 floats, and " + std::to_string(count)},
                 {"step", "2^20, us", "large, us", "large, GB/s", "of CUB"}, rows);
}

}  // namespace

void scan(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A scan computes y[i] = x[0] + ... + x[i] for each i. A loop does it in one chain
of additions. How do the threads of a block share this work, how does a block learn the sum
of all blocks before it, and how often do the floats move through memory meanwhile?
`words/float` counts loads and stores together, in words of 4 bytes.)");
    lesson.predict(
        {.question = R"(A loop scans 256 floats with 255 additions. scan_rounds has eight
rounds. In the round with distance d, each thread from thread d on adds once. How many
additions are these for 256 threads?)",
         .answer = warpwise::Number{.value = 1793, .unit = "additions"},
         .because = R"(8 * 256 minus the threads that do not add: 1 + 2 + 4 + ... + 128 =
255. The number of additions grows like n log n. The tree needs about 2 n.)"});
    lesson.predict(
        {.question = R"(In scan_tree, the round with distance 8 has 32 threads with work.
Thread t accesses word 16 t + 15 of shared memory, which has 32 banks. How many wavefronts
does that request take?)",
         .answer = warpwise::Number{.value = 16, .unit = "wavefronts"},
         .because = R"(Words that are 16 apart lie in only two banks, here 15 and 31.
Each of them has to deliver 16 words, one per wavefront.)"});
    lesson.predict(
        {.question = R"(reduce_then_scan reads the floats to add up each tile, scans the
sums of the tiles, reads the floats again, and writes the results. How many words per float
move, if the sums hardly count?)",
         .answer = warpwise::Number{.value = 3,
                                    .unit = "words",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "counts", {"reduce_then_scan"}, "words/float"}},
         .because = R"(Two loads and one store. The steps before store each result twice
and load it again in between: four words.)"});
    show_predictions(lesson);
    lesson.conclusion(
        R"(The tree makes fewer additions, but more than twice as many barriers, and bank
conflicts, which one unused word after every 32 words removes. With shuffles, one barrier
is left per launch. Four words per float move in the steps with three launches (scan_float4
moves less here, because its first tile, a sixth of these floats, needs no addition), three
when only sums are computed first, and two in a single pass.)");

    std::vector<warpwise::Step<Scan>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceScan", vendor, warpwise::StepKind::vendor});
#endif
    lesson.question(
        R"(Which of these steps matter for a long array? Steps 2 to 5 change how a block
scans its tile. Step 6 gives a thread more floats. Steps 7 and 8 move fewer words: from
step 8 on, a block looks back at the tiles before it, until it finds one that knows its
prefix, which is the sum of everything up to its end.)");
    lesson.predict(
        {.question = R"(A warp of scan_look_back_warp looks at 32 tiles at once. The
nearest tile that knows its prefix is 70 tiles before. How many looks does the warp need,
if all others know their own sums?)",
         .answer = warpwise::Number{.value = 3, .unit = "looks"},
         .because = R"(32 tiles, 32 more, and then 6 more with the prefix among them. A
single thread needs 70 looks, one after the other.)"});
    lesson.predict(
        {.question = R"(How many barriers does a warp of scan_tree pass in all three
launches together? The first two launches scan tiles, and the third one adds. There are
nine rounds up and nine rounds down.)",
         .answer = warpwise::Number{.value = 38,
                                    .unit = "barriers",
                                    .shown_by = warpwise::barriers_per_warp("scan_tree")},
         .because = R"(Each round begins with a barrier, and one more stands before the
results are read: 19, in two of the launches.)"});
    lesson.predict(
        {.question = R"(reduce_then_scan moves three words per float, and scan_tuned two.
How many times as fast is scan_tuned on a GPU, for 2^28 floats?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"reduce_then_scan", "scan_tuned"},
                                .unit = "times",
                                .factor = 1.15},
         .because = R"(If both were limited by the bytes alone, it would be 1.5 times. What
is missing or more is due to launches, waiting, and bytes in flight.)"});
    std::vector<warpwise::Size> awkward;
    for (const std::size_t count : kAwkward) awkward.push_back({count});
    lesson.steps<Scan>({.gpu = {kLarge}, .cpu = {kCounted}, .awkward = awkward}, steps);
    expect_any_size(lesson);
    expect_many_blocks(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(A single pass moves the fewest words per float, but it gains from that only
once enough bytes are in flight: compare steps 7 to 10. Results of the single passes may
differ from run to run in their last digits: which prefix a block finds first depends on
the order in which blocks get ready.)"
            : R"(The CPU device runs the blocks of so small a grid one after the other, so
each tile finds the prefix of the tile before it at its first look. On a GPU hundreds of
blocks are in the middle of their work, and look back much further. Only a time can tell
what that costs.)");

    lesson.question(
        R"(How large should a tile be, how many loads should be in flight, and how long
should a warp wait before it looks again? On a GPU the table shows scan_tuned with other
numbers, beside the vendor's routine.)");
    show_tuning(lesson);
    lesson.conclusion(
        R"(A larger tile means fewer tiles to look at, but more registers per thread and
fewer resident blocks. Which size is the best depends on the GPU, so it has to be
measured.)");

    lesson.question(
        R"(A scan works for every associative operator, because only neighbors are combined.
scan_with is a single pass for any of them. What happens to its results if the two operands
of each combination are exchanged?)");
    lesson.predict(
        {.question = R"(`last` combines two numbers: the later one unless it is 0, else
the earlier one. Of which operators does a scan still give the right results if its
operands are exchanged?)",
         .answer = warpwise::Choice{.choices = {"of the sum, and of `last`", "of the sum",
                                                "of all associative ones"},
                                    .right = 1},
         .because = R"(Addition is commutative. Exchanged, `last` becomes the first number
that is not 0: associative as before, but another operator.)"});
    show_operators(lesson);
    lesson.conclusion(
        R"(A scan needs an associative operator. It need not be commutative if the code
keeps the earlier operand on the left everywhere: in the rounds of a warp, over the warps,
and in the look-back.)");
}

}  // namespace examples
