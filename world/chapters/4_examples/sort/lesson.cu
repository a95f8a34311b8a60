// Problem: sort n keys of 32 bits.
//
// A comparison of two keys tells one bit. A digit of 8 bits tells eight, so sorting by
// digits goes over the keys four times, whatever their order is. Each pass is a histogram,
// a scan, and a scatter. The question is how thousands of threads agree on the place of
// each key, and how often the keys move through memory meanwhile.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cub/device/device_radix_sort.cuh>
#endif

#include "chapters/4_examples/sort/step_02_bitonic.cuh"
#include "chapters/4_examples/sort/step_03_scan_per_digit.cuh"
#include "chapters/4_examples/sort/step_04_match_any.cuh"
#include "chapters/4_examples/sort/step_05_runs.cuh"
#include "chapters/4_examples/sort/step_06_single_pass.cuh"
#include "chapters/4_examples/sort/step_07_masks.cuh"
#include "chapters/4_examples/sort/step_08_tuning.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"
#include "common/lesson/refusal.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;
using Keys = std::vector<unsigned>;

constexpr unsigned kSmallestTile = 3072;  // of the single passes that are timed
constexpr std::size_t kMost =
    (std::size_t{1} << 30) - 1;  // a word has 30 bits for a number

Keys random_keys(std::size_t count, std::uint64_t seed = 1) {
    Keys keys(count);
    warpwise::parallel_for(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            keys[i] = static_cast<unsigned>(warpwise::random_bits(seed, i));
    });
    return keys;
}

// By std::sort in parts, one for each core, which are then merged.
Keys sorted_on_host(Keys keys) {
    const std::size_t parts = warpwise::parallel_parts(keys.size());
    std::vector<std::size_t> ends(parts + 1, 0);
    const auto place = [&](std::size_t i) {
        return keys.begin() + static_cast<std::ptrdiff_t>(i);
    };
    warpwise::parallel_for_parts(keys.size(), parts,
                                 [&](std::size_t part, std::size_t begin, std::size_t end) {
                                     std::sort(place(begin), place(end));
                                     ends[part + 1] = end;
                                 });
    for (std::size_t width = 1; width < parts; width *= 2) {
        const std::size_t pairs = warpwise::ceil_div(parts, 2 * width);
        warpwise::parallel_for_parts(
            pairs, pairs, [&](std::size_t pair, std::size_t, std::size_t) {
                const auto end = [&](std::size_t part) {
                    return place(ends[std::min(part, parts)]);
                };
                std::inplace_merge(end(2 * pair * width), end((2 * pair + 1) * width),
                                   end((2 * pair + 2) * width));
            });
    }
    return keys;
}

// The keys, the same in order, and memory for the steps.
struct Sort {
    std::size_t count;
    Keys keys, reference;
    DeviceBuffer<unsigned> d_in, d_out, d_temp;
    DeviceBuffer<unsigned> d_counts, d_totals;  // a row of tiles per digit, and its sum
    DeviceBuffer<unsigned> d_starts;            // of the digits of four passes
    DeviceBuffer<unsigned> d_words;             // of all tiles, and the counter of tiles
    DeviceBuffer<unsigned char> d_vendor_storage;

    explicit Sort(const warpwise::Size& size) : Sort(random_keys(checked(size[0]))) {}

    explicit Sort(Keys values)
        : count(values.size()),
          keys(std::move(values)),
          reference(sorted_on_host(keys)),
          d_in(keys),
          d_out(count),
          d_temp(count),
          d_counts(room_for_counts(count)),
          d_totals(kDigits),
          d_starts(kPasses * kDigits),
          d_words(room_for_words(count)) {}

    void poison() {
        d_out.fill_bytes(0xA5);
        d_temp.fill_bytes(0xA5);
        d_counts.fill_bytes(0xFF);
        d_totals.fill_bytes(0xFF);
        d_starts.fill_bytes(0xFF);
        d_words.fill_bytes(0xFF);
    }

    warpwise::Comparison compare() {
        return warpwise::compare_each(d_out.download(), count, [&](std::size_t i) {
            return static_cast<double>(reference[i]);
        });
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(unsigned) * static_cast<double>(count),
                .operations = static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (3 * size[0] + room_for_counts(size[0]) + room_for_words(size[0])) *
                   sizeof(unsigned) +
               size[0] * 5 +  // the vendor's storage
               (std::size_t{1} << 20);
    }

    static std::size_t checked(std::size_t count) {
        if (count > kMost)
            throw warpwise::Refusal("sort: at most " + std::to_string(kMost) +
                                    " keys, because a word of the look-back has 30 bits "
                                    "for a number of keys");
        return count;
    }
    static std::size_t room_for_counts(std::size_t count) {
        return warpwise::blocks_for(count, kTile) * std::size_t{kDigits};
    }
    static std::size_t room_for_words(std::size_t count) {
        return warpwise::blocks_for(count, kSmallestTile) * std::size_t{kDigits} + 1;
    }
};

// Step 1, the same passes on one core: count the digits, scan the counts, and put each key
// where its digit has room next.
void serial(Sort& problem) {
    Keys keys = problem.keys, sorted(problem.count);
    for (unsigned shift = 0; shift < 32; shift += kBits) {
        std::array<std::size_t, kDigits> places{};
        for (const unsigned key : keys) ++places[key >> shift & (kDigits - 1)];
        std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
        for (const unsigned key : keys)
            sorted[places[key >> shift & (kDigits - 1)]++] = key;
        std::swap(keys, sorted);
    }
    problem.d_out.upload(keys);
}

// ---- step 2, a network ----------------------------------------------------------------

void bitonic(Sort& problem) {
    const std::size_t count = problem.count;
    unsigned* const d_keys = problem.d_out.data();
    const unsigned tiles = warpwise::blocks_for(count, kPairTile);
    sort_tiles<<<tiles, kPairThreads>>>(problem.d_in.data(), d_keys, count);
    warpwise::check_launch();
    for (std::size_t run = 2 * kPairTile; run / 2 < count; run *= 2) {
        for (std::size_t distance = run / 2; distance >= kPairTile; distance /= 2) {
            const std::size_t pairs = warpwise::ceil_div(count, 2 * distance) * distance;
            compare_far<<<warpwise::blocks_for(pairs, kPairThreads), kPairThreads>>>(
                d_keys, count, distance, distance == run / 2);
            warpwise::check_launch();
        }
        merge_tiles<<<tiles, kPairThreads>>>(d_keys, count);
        warpwise::check_launch();
    }
}

// ---- steps 3 to 5, three launches per pass --------------------------------------------

// The keys go to and fro between two arrays. There is an even number of passes, so the last
// one writes d_out.
const unsigned* source_of(unsigned pass, const unsigned* d_in, const unsigned* d_temp,
                          const unsigned* d_out) {
    if (pass == 0) return d_in;
    return pass % 2 == 1 ? d_temp : d_out;
}

// The last launch of a pass, which differs from step to step.
struct Pass {
    unsigned tiles;
    const unsigned* d_from;
    unsigned* d_to;
    std::size_t count;
    unsigned shift;
    unsigned *d_counts, *d_totals;
};
using Scatter = void (*)(const Pass&);

void by_flags(const Pass& pass) {
    scatter_by_flags<<<pass.tiles, kThreads>>>(pass.d_from, pass.d_to, pass.count,
                                               pass.shift, pass.d_counts, pass.d_totals);
}
void by_match(const Pass& pass) {
    scatter_by_match<<<pass.tiles, kThreads>>>(pass.d_from, pass.d_to, pass.count,
                                               pass.shift, pass.d_counts, pass.d_totals);
}
void in_runs(const Pass& pass) {
    scatter_in_runs<<<pass.tiles, kThreads>>>(pass.d_from, pass.d_to, pass.count,
                                              pass.shift, pass.d_counts, pass.d_totals);
}

// The first two launches.
template <unsigned Bits>
void count_and_scan(const Pass& pass) {
    count_digits<Bits>
        <<<pass.tiles, kThreads>>>(pass.d_from, pass.count, pass.shift, pass.d_counts);
    warpwise::check_launch();
    scan_counts<<<1u << Bits, kThreads>>>(pass.d_counts, pass.tiles, pass.d_totals);
    warpwise::check_launch();
}

template <unsigned Bits, Scatter Launch>
void in_three_launches(Sort& problem) {
    unsigned *const d_temp = problem.d_temp.data(), *const d_out = problem.d_out.data();
    for (unsigned k = 0; k < 32 / Bits; ++k) {
        const Pass pass{.tiles = warpwise::blocks_for(problem.count, kTile),
                        .d_from = source_of(k, problem.d_in.data(), d_temp, d_out),
                        .d_to = k % 2 == 0 ? d_temp : d_out,
                        .count = problem.count,
                        .shift = k * Bits,
                        .d_counts = problem.d_counts.data(),
                        .d_totals = problem.d_totals.data()};
        count_and_scan<Bits>(pass);
        Launch(pass);
        warpwise::check_launch();
    }
}

// ---- steps 6 to 8, one launch per pass ------------------------------------------------

template <auto SinglePass>
void in_single_passes(Sort& problem) {
    const std::size_t count = problem.count;
    const unsigned tiles = warpwise::blocks_for(count, kTile);
    const std::size_t words = std::size_t{tiles} * kDigits;
    unsigned *const d_temp = problem.d_temp.data(), *const d_out = problem.d_out.data();
    unsigned *const d_starts = problem.d_starts.data(), *const d_words =
                                                            problem.d_words.data();
    problem.d_starts.fill_bytes(0);
    count_all_digits<<<tiles, kThreads>>>(problem.d_in.data(), count, d_starts);
    warpwise::check_launch();
    scan_digits<<<kPasses, kThreads>>>(d_starts);
    warpwise::check_launch();
    for (unsigned pass = 0; pass < kPasses; ++pass) {
        warpwise::check(cudaMemsetAsync(d_words, 0, (words + 1) * sizeof(unsigned)));
        SinglePass<<<tiles, kThreads>>>(source_of(pass, problem.d_in.data(), d_temp, d_out),
                                        pass % 2 == 0 ? d_temp : d_out, count, pass * kBits,
                                        d_starts + pass * kDigits, d_words,
                                        d_words + words);
        warpwise::check_launch();
    }
}

// Keys, and values where there are any.
struct Arrays {
    const unsigned *d_in, *d_in_values;
    unsigned *d_temp, *d_temp_values, *d_out, *d_out_values;
};

template <class Numbers, class Key, bool Pairs>
void sort_arrays(const Arrays& arrays, std::size_t count, unsigned* d_starts,
                 unsigned* d_words) {
    const unsigned tiles = warpwise::blocks_for(count, Numbers::tile);
    const std::size_t words = std::size_t{tiles} * kDigits;
    warpwise::check(cudaMemsetAsync(d_starts, 0, kPasses * kDigits * sizeof(unsigned)));
    count_all_digits_uint4<Key><<<warpwise::blocks_for(count, kCountTile), kThreads>>>(
        arrays.d_in, count, d_starts);
    warpwise::check_launch();
    scan_digits<<<kPasses, kThreads>>>(d_starts);
    warpwise::check_launch();
    for (unsigned pass = 0; pass < kPasses; ++pass) {
        const bool to_temp = pass % 2 == 0;
        warpwise::check(cudaMemsetAsync(d_words, 0, (words + 1) * sizeof(unsigned)));
        sort_by_digit_tuned<Numbers, Key, Pairs><<<tiles, Numbers::threads>>>(
            source_of(pass, arrays.d_in, arrays.d_temp, arrays.d_out),
            to_temp ? arrays.d_temp : arrays.d_out,
            source_of(pass, arrays.d_in_values, arrays.d_temp_values, arrays.d_out_values),
            to_temp ? arrays.d_temp_values : arrays.d_out_values,
            static_cast<unsigned>(count), pass * kBits, d_starts + pass * kDigits, d_words,
            d_words + words);
        warpwise::check_launch();
    }
}

template <class Numbers, class Key = Unsigned>
void tuned(Sort& problem) {
    static_assert(Numbers::tile >= kSmallestTile);
    sort_arrays<Numbers, Key, false>({.d_in = problem.d_in.data(),
                                      .d_in_values = nullptr,
                                      .d_temp = problem.d_temp.data(),
                                      .d_temp_values = nullptr,
                                      .d_out = problem.d_out.data(),
                                      .d_out_values = nullptr},
                                     problem.count, problem.d_starts.data(),
                                     problem.d_words.data());
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Its workspace is allocated once, as its users do.
void vendor(Sort& problem) {
    const auto count = static_cast<int>(problem.count);
    std::size_t needed = 0;
    warpwise::check(cub::DeviceRadixSort::SortKeys(nullptr, needed, problem.d_in.data(),
                                                   problem.d_out.data(), count));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(cub::DeviceRadixSort::SortKeys(problem.d_vendor_storage.data(), needed,
                                                   problem.d_in.data(),
                                                   problem.d_out.data(), count));
}
#endif

// ---- all of them ----------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(Sort&);
};
const std::vector<Method> methods = {
    {"bitonic", "a network of comparisons", bitonic},
    {"scatter_by_flags", "8 passes of 4 bits, a scan per digit",
     in_three_launches<kFewBits, by_flags>},
    {"scatter_by_match", "4 passes of 8 bits, __match_any_sync",
     in_three_launches<kBits, by_match>},
    {"scatter_in_runs", "a tile is sorted before it is stored",
     in_three_launches<kBits, in_runs>},
    {"sort_by_digit", "one launch per pass: blocks look back",
     in_single_passes<sort_by_digit>},
    {"sort_by_masks", "masks in shared memory, not __match_any_sync",
     in_single_passes<sort_by_masks>},
    {"sort_tuned", "tuning: larger tiles, several looks at once", tuned<Tuned>},
};

const std::vector<std::size_t> kAwkward = {0,    1,    31,   32,   33,    255,
                                           257,  1009, 1023, 1025, 4095,  kTile,
                                           4097, 6143, 6145, 8209, 12289, 20011};

// Keys in a certain order, or of a certain kind.
struct Input {
    const char* name;
    Keys (*make)(std::size_t count);
};
const std::vector<Input> inputs = {
    {"random", [](std::size_t count) { return random_keys(count); }},
    {"sorted", [](std::size_t count) { return sorted_on_host(random_keys(count)); }},
    {"reversed",
     [](std::size_t count) {
         Keys keys = sorted_on_host(random_keys(count));
         std::reverse(keys.begin(), keys.end());
         return keys;
     }},
    {"all equal", [](std::size_t count) { return Keys(count, 0x01234567u); }},
    {"all the largest", [](std::size_t count) { return Keys(count, ~0u); }},
    {"16 different",
     [](std::size_t count) {
         Keys keys = random_keys(count);
         for (unsigned& key : keys) key = key % 16 * 0x11111111u;
         return keys;
     }},
};

void expect_right(warpwise::Lesson& lesson, const std::string& name, Sort& problem,
                  void (*run)(Sort&), const std::string& input) {
    problem.poison();
    run(problem);
    lesson.expect(
        problem.compare().passed,
        name + ": right for " + warpwise::counted(problem.count, "key") + ", " + input);
}

void expect_any_order(warpwise::Lesson& lesson) {
    for (const std::size_t count : {std::size_t{33}, std::size_t{10007}}) {
        for (const Input& input : inputs) {
            Sort problem(input.make(count));
            for (const Method& method : methods)
                expect_right(lesson, method.name, problem, method.run, input.name);
        }
    }
}

// ---- predictions, held against the counters -------------------------------------------

// 24,576 keys are whole tiles in most steps, 24 or 6; in sort_tuned, three tiles and a part
// of a fourth. The grids of the single passes are small enough for one core of the CPU
// device, where each tile finds the prefix of the tile before it at its first look. So the
// counts are the same in every run.
constexpr std::size_t kCounted = 24576;

struct Predicted {
    double launches;
    double loads, stores;  // words that lanes load from global memory and store there
    double barriers;       // of all warps
};

Predicted of_bitonic() {
    const double tiles = kCounted / kPairTile, warps = kPairThreads / 32;
    double far = 0, pairs = 0, stages = 0;
    for (std::size_t run = 2 * kPairTile; run / 2 < kCounted; run *= 2) {
        ++stages;
        for (std::size_t distance = run / 2; distance >= kPairTile; distance /= 2) {
            ++far;
            // Mirrored, the last group compares only places whose mirror image exists.
            for (std::size_t group = 0; group < kCounted; group += 2 * distance) {
                const std::size_t left = kCounted - group;
                if (left >= 2 * distance)
                    pairs += static_cast<double>(distance);
                else if (left > distance)
                    pairs += static_cast<double>(left - distance);
            }
        }
    }
    return {.launches = 1 + far + stages,
            .loads = kCounted * (1 + stages) + 2 * pairs,
            .stores = -1,  // depends on the keys
            .barriers = tiles * warps * (56 + 11 * stages)};
}

// With `passes` passes of `digits` digits, and so many barriers in the last launch of a
// pass.
Predicted of_three_launches(double passes, double digits, double barriers) {
    const double tiles = kCounted / kTile, table = tiles * digits;
    return {.launches = 3 * passes,
            .loads = passes * (2 * kCounted + 3 * table),
            .stores = passes * (kCounted + 2 * table + digits),
            .barriers = passes * kWarps * (2 * tiles + 2 * digits + barriers * tiles)};
}

// Tile 0 loads where the digits begin, and each other tile looks back once, at `looks`
// words. It tells two words, and tile 0 one.
Predicted of_single_passes(double tile, double warps, double barriers, double looks,
                           double blocks_that_count) {
    const double tiles = std::ceil(kCounted / tile);
    return {.launches = 2 + kPasses,
            .loads = kCounted + kPasses * kDigits +
                     kPasses * (kCounted + kDigits * (1 + looks * (tiles - 1))),
            .stores = kPasses * kDigits + kPasses * (kCounted + kDigits * (2 * tiles - 1)),
            .barriers = kWarps * (2 * blocks_that_count + kPasses) +
                        kPasses * tiles * warps * barriers};
}

std::vector<Predicted> predictions() {
    return {of_bitonic(),
            of_three_launches(8, kFewDigits, 2),
            of_three_launches(4, kDigits, 2),
            of_three_launches(4, kDigits, 4),
            of_single_passes(kTile, kWarps, 5, 1, kCounted / kTile),
            of_single_passes(kTile, kWarps, 5, 1, kCounted / kTile),
            of_single_passes(Tuned::tile, Tuned::warps, 6, Tuned::looks, 1)};
}

void show_predictions(warpwise::Lesson& lesson) {
    Sort problem(warpwise::Size{kCounted});
    const std::vector<Predicted> all = predictions();
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < methods.size(); ++k) {
        const std::string step = methods[k].name;
        const Predicted& predicted = all[k];
        rows.push_back(
            {step, warpwise::count_text(predicted.launches),
             text_of("%.2f", predicted.loads / kCounted),
             predicted.stores < 0 ? "-" : text_of("%.2f", predicted.stores / kCounted),
             warpwise::count_text(predicted.barriers)});
        problem.poison();
        const auto counts = lesson.count([&] { methods[k].run(problem); });
        if (!counts) continue;
        lesson.expect(problem.compare().passed, step + ": the keys are sorted");
        lesson.expect(counts->global_load.bytes == predicted.loads * sizeof(unsigned),
                      step + ": words loaded");
        lesson.expect(predicted.stores < 0 ||
                          counts->global_store.bytes == predicted.stores * sizeof(unsigned),
                      step + ": words stored");
        lesson.expect(counts->barriers == predicted.barriers, step + ": barriers");
    }
    lesson.table({"counts", "Predicted for 24576 keys"},
                 {"step", "launches", "loads/key", "stores/key", "barriers"}, rows);
}

// What the last launch of the first pass asks of memory.
template <unsigned Bits, Scatter Launch>
std::vector<std::string> stores_of(warpwise::Lesson& lesson, Sort& problem,
                                   const std::string& name) {
    problem.poison();
    const Pass pass{.tiles = warpwise::blocks_for(problem.count, kTile),
                    .d_from = problem.d_in.data(),
                    .d_to = problem.d_out.data(),
                    .count = problem.count,
                    .shift = 0,
                    .d_counts = problem.d_counts.data(),
                    .d_totals = problem.d_totals.data()};
    count_and_scan<Bits>(pass);
    const auto counts = lesson.count([&] { Launch(pass); });
    warpwise::check_launch();
    Keys expected = problem.keys;
    std::stable_sort(expected.begin(), expected.end(), [](unsigned a, unsigned b) {
        return a % (1u << Bits) < b % (1u << Bits);
    });
    lesson.expect(problem.d_out.download() == expected, name + ": one pass is stable");
    if (!counts) return {name, std::to_string(1u << Bits), "-", "-"};
    const double rows = static_cast<double>(problem.count) / 32;
    return {name, std::to_string(1u << Bits),
            text_of("%.1f", counts->global_store.sectors_per_request()),
            text_of("%.1f", counts->shared().wavefronts / rows)};
}

void show_stores(warpwise::Lesson& lesson) {
    Sort problem(warpwise::Size{kCounted});
    lesson.table({"stores", "One pass over 24576 random keys, last launch"},
                 {"step", "digits", "sectors/store", "wavefronts/32 keys"},
                 {stores_of<kFewBits, by_flags>(lesson, problem, "scatter_by_flags"),
                  stores_of<kBits, by_match>(lesson, problem, "scatter_by_match"),
                  stores_of<kBits, in_runs>(lesson, problem, "scatter_in_runs")});
}

// ---- pairs and floats -----------------------------------------------------------------

struct Sorted {
    Keys keys, values;
};

template <class Numbers, class Key>
Sorted sort_pairs(const Keys& keys, const Keys& values) {
    const std::size_t count = keys.size();
    DeviceBuffer<unsigned> d_in(keys), d_in_values(values), d_temp(count),
        d_temp_values(count), d_out(count), d_out_values(count),
        d_starts(kPasses * kDigits), d_words(Sort::room_for_words(count));
    d_out.fill_bytes(0xA5);
    d_out_values.fill_bytes(0xA5);
    d_words.fill_bytes(0xFF);
    sort_arrays<Numbers, Key, true>({.d_in = d_in.data(),
                                     .d_in_values = d_in_values.data(),
                                     .d_temp = d_temp.data(),
                                     .d_temp_values = d_temp_values.data(),
                                     .d_out = d_out.data(),
                                     .d_out_values = d_out_values.data()},
                                    count, d_starts.data(), d_words.data());
    return {d_out.download(), d_out_values.download()};
}

// The value of a key is its place. So values that ascend where keys are equal show that the
// sort is stable.
template <class Key>
void expect_stable(warpwise::Lesson& lesson, const std::string& name, const Keys& keys) {
    Keys places(keys.size());
    std::iota(places.begin(), places.end(), 0u);
    const Sorted sorted = sort_pairs<Tuned, Key>(keys, places);
    std::stable_sort(places.begin(), places.end(), [&](unsigned a, unsigned b) {
        return Key::ordered(keys[a]) < Key::ordered(keys[b]);
    });
    bool is_right = sorted.values == places;
    for (std::size_t i = 0; i < keys.size(); ++i)
        is_right = is_right && sorted.keys[i] == keys[places[i]];
    lesson.expect(is_right,
                  name + ": stable for " + warpwise::counted(keys.size(), "pair"));
}

void expect_pairs(warpwise::Lesson& lesson) {
    for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 1009u, Tuned::tile - 1,
                                    Tuned::tile, Tuned::tile + 1, 20011u}) {
        expect_stable<Unsigned>(lesson, "random", random_keys(count, 2));
        expect_stable<Unsigned>(lesson, "16 different", inputs.back().make(count));
        expect_stable<Float>(lesson, "floats of all bits", random_keys(count, 3));
    }
    for (const Input& input : inputs)
        expect_stable<Unsigned>(lesson, input.name, input.make(10007));
}

std::string hex_text(unsigned number) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", number);
    return text;
}

// Without `ordered`: numbers ascend, -0.0 stands before +0.0, and NaNs at the ends by sign.
bool in_order(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) {
        if (std::isnan(a) && std::signbit(a)) return true;
        return std::isnan(b) && !std::signbit(b);
    }
    return a < b || (a == b && (std::signbit(a) || !std::signbit(b)));
}

void show_floats(warpwise::Lesson& lesson) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr unsigned nan = 0x7FC00000u;
    Keys keys{nan,
              std::bit_cast<unsigned>(0.0f),
              std::bit_cast<unsigned>(-1.5f),
              std::bit_cast<unsigned>(infinity),
              nan | Float::sign,
              std::bit_cast<unsigned>(-0.0f),
              std::bit_cast<unsigned>(1.5f),
              std::bit_cast<unsigned>(-infinity)};
    const auto text = [](unsigned bits) -> std::string {
        const float value = std::bit_cast<float>(bits);
        if (std::isnan(value)) return std::signbit(value) ? "NaN, sign set" : "NaN";
        return text_of("%+.1f", static_cast<double>(value));
    };
    std::vector<std::vector<std::string>> rows;
    Keys more = random_keys(4097, 4);
    more.insert(more.end(), keys.begin(), keys.end());
    for (const Keys& some : {keys, more}) {
        Sort problem(some);
        problem.poison();
        tuned<Tuned, Float>(problem);
        const Keys sorted = problem.d_out.download();
        bool is_right = sorted_on_host(sorted) == problem.reference;  // the same keys
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            is_right = is_right && in_order(std::bit_cast<float>(sorted[i - 1]),
                                            std::bit_cast<float>(sorted[i]));
        }
        lesson.expect(is_right,
                      "floats: in order, " + warpwise::counted(some.size(), "float"));
        if (rows.empty()) {
            for (const unsigned bits : sorted)
                rows.push_back(
                    {text(bits), hex_text(bits), hex_text(Float::ordered(bits))});
        }
    }
    lesson.table({"floats", "Eight floats, sorted"},
                 {"float", "its bits", "the number that is sorted"}, rows);
}

// ---- other numbers and other keys, on a GPU -------------------------------------------

const std::vector<Method> kTimed = {
    {"scatter_in_runs", "", in_three_launches<kBits, in_runs>},
    {"sort_by_digit", "", in_single_passes<sort_by_digit>},
    {"sort_by_masks", "", in_single_passes<sort_by_masks>},
    {"sort_tuned", "", tuned<Tuned>},
    {"  with one look at a time", "", tuned<Tuning<384, 20, 1, Match::masks>>},
    {"  with 8 looks at once", "", tuned<Tuning<384, 20, 8, Match::masks>>},
    {"  with __match_any_sync", "", tuned<Tuning<384, 20, 4, Match::any>>},
    {"  with ballots", "", tuned<Tuning<384, 20, 4, Match::ballots>>},
    {"  with 256 threads, 16 keys", "", tuned<Tuning<256, 16, 4, Match::masks>>},
    {"  with 256 threads, 20 keys", "", tuned<Tuning<256, 20, 4, Match::masks>>},
    {"  with 384 threads, 12 keys", "", tuned<Tuning<384, 12, 4, Match::masks>>},
    {"  with 384 threads, 16 keys", "", tuned<Tuning<384, 16, 4, Match::masks>>},
    {"  with 384 threads, 24 keys", "", tuned<Tuning<384, 24, 4, Match::masks>>},
    {"  with 512 threads, 12 keys", "", tuned<Tuning<512, 12, 4, Match::masks>>},
    {"  with 512 threads, 16 keys", "", tuned<Tuning<512, 16, 4, Match::masks>>},
#ifndef __CPU_DEVICE__
    {"cub::DeviceRadixSort", "", vendor},
#endif
};

constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(
        kLarge, kSmall, [](std::size_t count) { return Sort::device_bytes({count}); });
}

std::vector<double> measure(warpwise::Lesson& lesson, const Keys& keys,
                            const std::vector<Method>& some) {
    Sort problem(keys);
    std::vector<warpwise::Candidate> candidates;
    for (const Method& each : some)
        candidates.push_back({[&each, &problem] { each.run(problem); }});
    std::vector<double> seconds;
    for (const warpwise::Timing& timing :
         warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
        seconds.push_back(timing.median);
    }
    for (const Method& each : some) {
        problem.poison();
        each.run(problem);
        lesson.expect(problem.compare().passed,
                      std::string(each.name) + ": right after timing");
    }
    return seconds;
}

void show_tuning(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        Sort problem(warpwise::Size{12289});
        for (const Method& each : kTimed)
            expect_right(lesson, each.name, problem, each.run, "random");
        lesson.show_recorded("tuning");
        return;
    }
    const std::size_t count = large_count();
    const std::vector<double> small = measure(lesson, random_keys(kSmall), kTimed),
                              large = measure(lesson, random_keys(count), kTimed);
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < kTimed.size(); ++i) {
        rows.push_back({kTimed[i].name, text_of("%.1f", small[i] * 1e6),
                        text_of("%.0f", large[i] * 1e6),
                        text_of("%.1f", 1e-9 * static_cast<double>(count) / large[i]),
                        text_of("%.3f", large.back() / large[i])});
    }
    lesson.table({"tuning", "2^20 random keys, and " + std::to_string(count)},
                 {"step", "2^20, us", "large, us", "Gkeys/s", "of CUB"}, rows);
}

// The times of keys that are not random.
void show_inputs(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("inputs");
        return;
    }
    std::vector<Method> some{kTimed.begin(), kTimed.begin() + 4};
    some.push_back(kTimed.back());
    const std::size_t count = large_count() / 4;
    std::vector<std::vector<std::string>> rows;
    for (const Input& input : inputs) {
        std::vector<std::string> row{input.name};
        for (const double seconds : measure(lesson, input.make(count), some))
            row.push_back(text_of("%.0f", seconds * 1e6));
        rows.push_back(row);
    }
    lesson.table(
        {"inputs", "Times in us for " + std::to_string(count) + " keys"},
        {"keys", "scatter_in_runs", "sort_by_digit", "sort_by_masks", "sort_tuned", "CUB"},
        rows);
}

}  // namespace

void sort(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A pass of a radix sort sorts by one digit: it counts the digits, scans the
counts, and stores each key where its digit begins. How do thousands of threads agree on
these places, how is the order of equal digits kept, and how often do the keys move through
memory meanwhile?)");
    lesson.predict(
        {.question = R"(A bitonic network makes sorted runs of 2, 4, 8, ... 1024 keys in
shared memory. A run of 2^k keys takes k rounds after the two runs before it are sorted. How
many rounds are these for 1024 keys?)",
         .answer = warpwise::Number{.value = 55, .unit = "rounds"},
         .because = R"(1 + 2 + 3 + ... + 10: runs of twice the length take one more round.
So the number of rounds grows like the square of the logarithm.)"});
    lesson.predict(
        {.question = R"(A pass sorts by a digit of 8 bits, but exchanges some keys whose
digit is the same. Four such passes go from the lowest digit to the highest. What is the
result?)",
         .answer = warpwise::Choice{.choices = {"sorted; only equal keys are exchanged",
                                                "sorted by the highest digit, for sure",
                                                "sorted by the lowest digit, for sure"},
                                    .right = 1},
         .because = R"(The last pass sorts by the highest digit. Keys with the same highest
digit should keep the order of the passes before, and that order is what gets lost.)"});
    lesson.predict(
        {.question = R"(Steps with three launches per pass load each key to count its
digits, load it again, and store it. How many words per key move in four passes, if tables
of counts are left out?)",
         .answer = warpwise::Number{.value = 12, .unit = "words"},
         .because = R"(Three per pass. With a single launch per pass, all digits are counted
beforehand in one read of the keys: 1 + 4 * 2 = 9 words.)"});
    show_predictions(lesson);
    lesson.conclusion(
        R"(The network needs the most launches and barriers. Longer digits halve the passes,
but the tables of counts get 16 times as long, which shows for so few keys: a tile of 4096
keys has 256 counts. From sort_by_digit on, a pass loads each key once, and the words of the
look-back take the place of the tables.)");

    lesson.question(
        R"(A store is cheap if the lanes of a warp store to the same sectors. In a pass,
each lane's place depends on its digit. How many sectors does a store of the last launch
touch?)");
    lesson.predict(
        {.question = R"(The 32 keys of a warp have random digits of 8 bits. Keys with
different digits go to places that are far apart. How many sectors does a store of
scatter_by_match touch, on average?)",
         .answer = warpwise::Number{.value = 30.4,
                                    .unit = "sectors",
                                    .factor = 1.1,
                                    .shown_by = warpwise::TableCell{"stores",
                                                                    {"scatter_by_match"},
                                                                    "sectors/store"}},
         .because = R"(Nearly all 32 digits are different, on average 256 * (1 -
(255/256)^32) = 30 of them. Two keys with the same digit may lie in two sectors.)"});
    show_stores(lesson);
    lesson.conclusion(
        R"(Sorted in shared memory first, a tile consists of runs of 16 keys on average, and
a warp's store touches the sectors of only a few runs. The price is paid in shared memory,
in wavefronts.)");

    std::vector<warpwise::Step<Sort>> steps = {
        {"serial", "four passes on one core", serial, warpwise::StepKind::host}};
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceRadixSort", vendor, warpwise::StepKind::vendor});
#endif
    lesson.question(
        R"(Which of these steps matter for many keys? Step 2 compares pairs. Steps 3 to 5
have three launches per pass, with 4 bits per digit and then 8. From step 6 on there is one
launch per pass: a block looks back, for each of 256 digits at once, at what the tiles
before it tell.)");
    lesson.predict(
        {.question = R"(How many launches does `bitonic` take for 24,576 keys? Tiles of 1024
keys are sorted in one launch. Then a run of 2048 takes one round in global memory, one of
4096 two, and so on, and each length of run ends with a launch in shared memory.)",
         .answer = warpwise::Number{.value = 21,
                                    .unit = "launches",
                                    .shown_by = warpwise::launches_of("bitonic")},
         .because = R"(Runs of 2048, 4096, 8192, 16,384, and 32,768 take 1 + 2 + 3 + 4 + 5
rounds, 5 more launches in shared memory, and one at the beginning.)"});
    lesson.predict(
        {.question = R"(scatter_in_runs moves 12 words per key and sort_tuned 9, tables left
out. How many times as fast is sort_tuned on a GPU, for 2^28 keys?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"scatter_in_runs", "sort_tuned"},
                                .unit = "times",
                                .factor = 1.25},
         .because =
             R"(If the words alone counted, it would be 1.33 times. What is missing or
more is due to tables, launches, waiting, and work in shared memory.)"});
    std::vector<warpwise::Size> awkward;
    for (const std::size_t count : kAwkward) awkward.push_back({count});
    lesson.steps<Sort>({.gpu = {kLarge}, .cpu = {kCounted}, .awkward = awkward}, steps);
    expect_any_order(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(Gop/s are billions of keys per second, and GB/s count two words per key:
what a sort would move that needed a single pass. Four passes and a count move nine.)"
            : R"(Counters show words, sectors, and wavefronts. Only a time can tell what
waiting for other blocks costs, and whether memory or shared memory sets the limit.)");

    lesson.question(
        R"(Radix sort needs digits of an unsigned integer. How can it sort floats, with
negative ones, both zeros, and NaN among them?)");
    lesson.predict(
        {.question = R"(The bits of floats are sorted as if they were unsigned integers,
unchanged. Which result is right?)",
         .answer =
             warpwise::Choice{
                 .choices = {"positive ones ascend, negative ones descend after them",
                             "all ascend, negative ones after the positive ones",
                             "negative ones descend before the positive ones"},
                 .right = 0},
         .because =
             R"(The sign bit is the highest, so negative floats come last. Their other
bits grow with the magnitude, so -1 comes before -2.)"});
    show_floats(lesson);
    expect_pairs(lesson);
    lesson.conclusion(
        R"(Some bits change, and the number has the order of the floats; the same bits
change back to give the float. The order is total: -0.0 stands before +0.0, and NaNs stand
at the ends.)");

    lesson.question(
        R"(How many keys should a thread have, how many words should it look at together,
and does the order of the keys matter? On a GPU the tables show sort_tuned with other
numbers and with other keys, beside the vendor's routine.)");
    show_tuning(lesson);
    show_inputs(lesson);
    lesson.conclusion(
        R"(Larger tiles have longer runs and fewer tiles to look back at, but need more
registers and more shared memory, so fewer blocks are resident. Which numbers are the best
depends on the GPU, so they have to be measured.)");
}

}  // namespace examples
