// Problem: the Euclidean distance of two vectors of n elements, sqrt((a[0] - b[0])^2 + ...
// + (a[n-1] - b[n-1])^2), for elements of type float, double and int.
//
// It is a dot product in disguise, two vectors in and one number out, and so it is the same
// ladder (lesson dot_product) in fewer steps. New is the type. All kernels are templates,
// and each type asks two questions anew: in which type are the squares added up, and how
// many elements are 16 bytes? A kernel that is right for float may be wrong for int, where
// the very first subtraction can overflow.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/zip_function.h>

#include <cub/device/device_reduce.cuh>
#endif

#include "chapters/4_examples/vector_distance/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/read_only.cuh"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace examples {
namespace {

using warpwise::counted;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr std::size_t kElementsPerThread = 8;  // at least, before there are more blocks
// Of 16 bytes from each vector that a thread of step 5 has in flight.
constexpr unsigned kLoads = 4;

// ---- what depends on the type -----------------------------------------------------------

template <class T>
constexpr const char* type_name = std::is_same_v<T, float>    ? "float"
                                  : std::is_same_v<T, double> ? "double"
                                                              : "int";

// float and double in [-1, 1]; ints over all of their range, so that differences pass 2^31
// and squares 2^63.
template <class T>
std::vector<T> elements(std::size_t count, std::uint64_t seed) {
    if constexpr (std::is_same_v<T, int>) {
        return warpwise::uniform_integers(count, seed, std::numeric_limits<int>::min(),
                                          std::numeric_limits<int>::max());
    } else {
        return warpwise::uniform<T>(count, seed);
    }
}

// The vectors, their distance, and memory for the steps. The counter of tickets is set to
// zero once, when it is made: each launch leaves it as it found it.
template <class T>
struct Distance {
    std::size_t count;
    std::vector<T> a, b;
    long double squares = 0;  // the reference's, in more digits than any step has
    DeviceBuffer<T> d_a, d_b;
    DeviceBuffer<Sum<T>> d_block_sums, d_distance{1};
    DeviceBuffer<unsigned> d_drawn{std::vector<unsigned>{0}};
    DeviceBuffer<unsigned char> d_vendor_storage;
    std::size_t chain = 0;   // the longest chain of roundings behind the result
    bool is_square = false;  // set by a step that leaves the square of the distance

    explicit Distance(const warpwise::Size& size)
        : Distance(elements<T>(size[0], 1), elements<T>(size[0], 2)) {}

    Distance(std::vector<T> of_a, std::vector<T> of_b)
        : count(of_a.size()),
          a(std::move(of_a)),
          b(std::move(of_b)),
          d_a(a),
          d_b(b),
          d_block_sums(warpwise::blocks_for(count, kThreads * kElementsPerThread)) {
        std::vector<long double> sums(warpwise::parallel_parts(count));
        warpwise::parallel_for_parts(
            count, sums.size(), [&](std::size_t part, std::size_t begin, std::size_t end) {
                long double sum = 0;
                for (std::size_t i = begin; i < end; ++i) {
                    const long double difference =
                        static_cast<long double>(a[i]) - static_cast<long double>(b[i]);
                    sum += difference * difference;
                }
                sums[part] = sum;
            });
        for (const long double sum : sums) squares += sum;
    }

    void poison() {
        d_distance.fill_bytes(0xFF);
        d_block_sums.fill_bytes(0xFF);
        chain = 0;
        is_square = false;
    }

    // All squares are positive, so their magnitudes add up to the sum. The root halves its
    // relative error.
    warpwise::Comparison compare() {
        std::vector<Sum<T>> result = d_distance.download();
        if (is_square) result[0] = std::sqrt(result[0]);
        constexpr double epsilon = std::numeric_limits<Sum<T>>::epsilon();
        const double relative = warpwise::sum_tolerance(chain, epsilon, 1) / 2 + epsilon;
        return warpwise::compare(result, {static_cast<double>(std::sqrt(squares))},
                                 {.relative = relative});
    }

    // A subtraction, a multiplication and an addition per element.
    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(T) * static_cast<double>(count),
                .operations = 3 * static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (2 * size[0] + size[0] / kThreads) * sizeof(T) + (std::size_t{1} << 20);
    }

    // No more blocks than fit on the device at once, and than there is room for sums.
    template <class Kernel>
    unsigned blocks(Kernel kernel,
                    std::size_t elements_per_block = kThreads * kElementsPerThread) {
        const unsigned blocks = std::min({warpwise::blocks_for(count, elements_per_block),
                                          warpwise::blocks_that_fill(kernel, kThreads),
                                          static_cast<unsigned>(d_block_sums.size())});
        // A square, the additions of a thread, and 8 rounds of a tree; the last two again
        // for the block sums.
        chain = 3 + warpwise::ceil_div(count, std::size_t{blocks} * kThreads) + 8 +
                warpwise::ceil_div(blocks, kThreads) + 8;
        return blocks;
    }
};

// ---- step 1, and launches ---------------------------------------------------------------

// Step 1, the loop on one core, in double.
template <class T>
void serial(Distance<T>& problem) {
    double sum = 0;
    for (std::size_t i = 0; i < problem.count; ++i) {
        const double difference =
            static_cast<double>(problem.a[i]) - static_cast<double>(problem.b[i]);
        sum += difference * difference;
    }
    problem.d_distance.upload({static_cast<Sum<T>>(std::sqrt(sum))});
    problem.chain = std::is_same_v<T, float> ? 4 : problem.count + 4;
}

template <class T>
void by_tree(Distance<T>& problem) {
    const unsigned blocks = problem.blocks(sum_by_tree<T>);
    sum_by_tree<T><<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                         problem.count, problem.d_block_sums.data());
    warpwise::check_launch();
    finish_by_tree<Sum<T>>
        <<<1, kThreads>>>(problem.d_block_sums.data(), blocks, problem.d_distance.data());
    warpwise::check_launch();
}

template <class T>
void by_shuffles(Distance<T>& problem) {
    const unsigned blocks = problem.blocks(sum_by_shuffles<T>);
    sum_by_shuffles<T><<<blocks, kThreads>>>(problem.d_a.data(), problem.d_b.data(),
                                             problem.count, problem.d_block_sums.data());
    warpwise::check_launch();
    finish_by_shuffles<Sum<T>>
        <<<1, kThreads>>>(problem.d_block_sums.data(), blocks, problem.d_distance.data());
    warpwise::check_launch();
}

template <class T>
void last_block(Distance<T>& problem) {
    const unsigned blocks = problem.blocks(distance_last_block<T>);
    distance_last_block<T><<<blocks, kThreads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_block_sums.data(),
        problem.d_drawn.data(), problem.d_distance.data());
    warpwise::check_launch();
}

template <class T, unsigned Loads = kLoads>
void packs(Distance<T>& problem) {
    const unsigned blocks =
        problem.blocks(distance_packs<T, Loads>, kThreads * Loads * Pack<T>::size);
    distance_packs<T, Loads><<<blocks, kThreads>>>(
        problem.d_a.data(), problem.d_b.data(), problem.count, problem.d_block_sums.data(),
        problem.d_drawn.data(), problem.d_distance.data());
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead: a sum over squares that nobody ever writes down, an
// iterator makes them where CUB looks. The root is left to the host.
template <class T>
struct SquaredDifference {
    __host__ __device__ Sum<T> operator()(T a, T b) const {
        return squared_difference(a, b);
    }
};

template <class T>
void vendor_cub(Distance<T>& problem) {
    const T *const a = problem.d_a.data(), *const b = problem.d_b.data();
    const auto squares = thrust::make_transform_iterator(
        thrust::make_zip_iterator(a, b), thrust::make_zip_function(SquaredDifference<T>()));
    std::size_t needed = 0;
    warpwise::check(cub::DeviceReduce::Sum(nullptr, needed, squares,
                                           problem.d_distance.data(), problem.count));
    if (problem.d_vendor_storage.size() < needed)
        problem.d_vendor_storage = DeviceBuffer<unsigned char>(needed);
    warpwise::check(cub::DeviceReduce::Sum(problem.d_vendor_storage.data(), needed, squares,
                                           problem.d_distance.data(), problem.count));
    problem.is_square = true;
    // It does not say how it adds.
    problem.chain = warpwise::ceil_div(problem.count, 32768) + 32;
}

// cuBLAS has no distance. Its dot product of the same vectors reads the same bytes: only a
// yardstick, not a result.
template <class T>
void vendor_dot(Distance<T>& problem) {
    static const cublasHandle_t handle =
        warpwise::make_cublas_handle(CUBLAS_POINTER_MODE_DEVICE);
    const auto count = static_cast<std::int64_t>(problem.count);
    if constexpr (std::is_same_v<T, float>) {
        warpwise::check_cublas(cublasSdot_64(handle, count, problem.d_a.data(), 1,
                                             problem.d_b.data(), 1,
                                             problem.d_distance.data()));
    } else if constexpr (std::is_same_v<T, double>) {
        warpwise::check_cublas(cublasDdot_64(handle, count, problem.d_a.data(), 1,
                                             problem.d_b.data(), 1,
                                             problem.d_distance.data()));
    }
}
#endif

// ---- the types --------------------------------------------------------------------------

constexpr std::size_t kCounted = 65536;

template <class T>
struct Method {
    const char* name;
    void (*run)(Distance<T>&);
};
template <class T>
const Method<T> methods[] = {{"distance_tree", by_tree<T>},
                             {"distance_shuffles", by_shuffles<T>},
                             {"distance_last_block", last_block<T>},
                             {"distance_packs", packs<T>}};

template <class T>
void expect_right(warpwise::Lesson& lesson, Distance<T>& problem) {
    for (const Method<T>& method : methods<T>) {
        problem.poison();
        method.run(problem);
        lesson.expect(problem.compare().passed,
                      std::string(method.name) + " of " + type_name<T> + ", " +
                          counted(problem.count, "element") + ": the distance is right");
    }
}

// Sizes around a warp, a block, a tile of packs; the largest differences that there are;
// and the distance of a vector from itself.
template <class T>
void expect_any_size(warpwise::Lesson& lesson) {
    for (const std::size_t count :
         {0, 1, 2, 31, 33, 257, 2047, 2049, 4095, 4096, 4097, 10007}) {
        Distance<T> problem(warpwise::Size{count});
        expect_right(lesson, problem);
    }
    for (const std::size_t count : {1, 2, 1009}) {
        T least = -1, most = 1;
        if constexpr (std::is_same_v<T, int>) {
            least = std::numeric_limits<int>::min();
            most = std::numeric_limits<int>::max();
        }
        Distance<T> furthest(std::vector<T>(count, least), std::vector<T>(count, most));
        expect_right(lesson, furthest);
        Distance<T> itself(std::vector<T>(count, most), std::vector<T>(count, most));
        expect_right(lesson, itself);
    }
}

// What 65536 elements ask of memory and of barriers, predicted and held against the
// counters. `blocks`: 32 in steps 2 to 4; in step 5 one for each tile of 16 KB of each
// vector. Eight warps of a block pass each barrier.
template <class T>
void show_counts(warpwise::Lesson& lesson, std::vector<std::vector<std::string>>& rows) {
    Distance<T> problem(warpwise::Size{kCounted});
    const double blocks = kCounted * sizeof(T) / (16.0 * kLoads * kThreads);
    const double loads = 2.0 * kCounted / 32, wide = loads / Pack<T>::size, w = kWarps;
    const double expected_loads[] = {loads, loads, loads, wide};
    const double barriers[] = {33 * 8 * w, 33 * w, (33 + 32) * w,
                               (blocks + 1 + blocks) * w};
    const double sectors = 2.0 * kCounted * sizeof(T) / 32;
    for (unsigned k = 0; k < 4; ++k) {
        const Method<T>& method = methods<T>[k];
        rows.push_back({type_name<T>, method.name, warpwise::count_text(expected_loads[k]),
                        warpwise::ratio_text(sectors / expected_loads[k]),
                        warpwise::count_text(barriers[k])});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + " of " + type_name<T> + ": ";
        lesson.expect(problem.compare().passed, name + "the distance is right");
        // Up to 32 block sums are read besides: one load more.
        lesson.expect(counts->global_load.requests == expected_loads[k] + 1,
                      name + "loads");
        const double of_sums = counts->global_load.sectors - sectors;
        lesson.expect(of_sums >= 1 && of_sums <= 8, name + "sectors");
        lesson.expect(counts->barriers == barriers[k], name + "barriers");
    }
}

// ---- what overflows ---------------------------------------------------------------------

void show_overflow(warpwise::Lesson& lesson) {
    constexpr int least = std::numeric_limits<int>::min(),
                  most = std::numeric_limits<int>::max();
    struct Case {
        int a, b;
        unsigned count;
        const char* text;
        bool fits_32_bits, fits_64_bits;
    };
    const Case cases[] = {{0, 3, 4, "4 differences of 3", true, true},
                          {0, 46340, 2, "2 differences of 46340", true, true},
                          {0, 65536, 4, "4 differences of 65536", false, true},
                          {least, most, 1, "INT_MIN against INT_MAX, once", false, true},
                          {least, most, 2, "INT_MIN against INT_MAX, twice", false, false}};
    std::vector<std::vector<std::string>> rows;
    for (const Case& each : cases) {
        DeviceBuffer<int> d_a(std::vector<int>(each.count, each.a)),
            d_b(std::vector<int>(each.count, each.b));
        DeviceBuffer<ThreeSums> d_sums(1);
        d_sums.fill_bytes(0xFF);  // the padding, too, which no kernel writes
        sum_three_ways<<<1, 1>>>(d_a.data(), d_b.data(), each.count, d_sums.data());
        warpwise::check_launch();
        const ThreeSums sums = d_sums.download()[0];
        const double exact = each.count * std::pow(static_cast<double>(each.b) - each.a, 2);
        const double results[] = {std::sqrt(static_cast<double>(sums.in_32_bits)),
                                  std::sqrt(static_cast<double>(sums.in_64_bits)),
                                  std::sqrt(sums.in_double)};
        const bool right[] = {each.fits_32_bits, each.fits_64_bits, true};
        rows.push_back({each.text, text_of("%.10g", std::sqrt(exact))});
        for (unsigned k = 0; k < 3; ++k) {
            const bool agrees =
                std::abs(results[k] - std::sqrt(exact)) <= 1e-15 * std::sqrt(exact);
            lesson.expect(agrees == right[k],
                          std::string(each.text) + ": way " + std::to_string(k + 1));
            rows.back().push_back(text_of("%.10g", results[k]) + (agrees ? "" : " !"));
        }
    }
    lesson.table({"ints", "The distance of a few ints"},
                 {"vectors", "exact", "in 32 bits", "in 64 bits", "in double"}, rows);
}

// ---- times, on a GPU --------------------------------------------------------------------

// Read bandwidth: reads both vectors and does nothing else.
template <class T>
void read_both(Distance<T>& problem) {
    warpwise::read_only<8>(problem.d_a.data(), problem.d_b.data(), problem.d_a.bytes(),
                           problem.d_drawn.data());
}

constexpr std::size_t kSmall = std::size_t{1} << 20;
constexpr std::size_t kLargeBytes = std::size_t{1} << 30;  // of each vector

// Half of what is free, and at most 1 GiB per vector.
template <class T>
std::size_t large_count() {
    return warpwise::halve_to_fit(kLargeBytes / sizeof(T), kSmall, [](std::size_t count) {
        return Distance<T>::device_bytes({count});
    });
}

// The steps from 4 on, step 5 with other numbers of loads, the vendor's routines, and the
// read, which comes last.
template <class T>
void measure(warpwise::Lesson& lesson, std::vector<std::vector<std::string>>& rows) {
    std::vector<Method<T>> timed = {{"distance_last_block", last_block<T>},
                                    {"distance_packs", packs<T>},
                                    {"  with 1 load", packs<T, 1>},
                                    {"  with 2 loads", packs<T, 2>},
                                    {"  with 8 loads", packs<T, 8>}};
    std::size_t unchecked = timed.size();
#ifndef __CPU_DEVICE__
    timed.push_back({"cub::DeviceReduce", vendor_cub<T>});
    unchecked = timed.size();
    if (!std::is_same_v<T, int>) timed.push_back({"cuBLAS dot product", vendor_dot<T>});
#endif
    timed.push_back({"read", read_both<T>});
    std::vector<double> microseconds, gigabytes_per_second;
    for (const bool is_small : {true, false}) {
        Distance<T> problem(warpwise::Size{is_small ? kSmall : large_count<T>()});
        std::vector<warpwise::Candidate> candidates;
        for (const Method<T>& each : timed)
            candidates.push_back({[&each, &problem] { each.run(problem); }});
        for (const warpwise::Timing& timing :
             warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2})) {
            if (is_small)
                microseconds.push_back(timing.median * 1e6);
            else
                gigabytes_per_second.push_back(problem.work().bytes / timing.median * 1e-9);
        }
        for (std::size_t k = 0; k < unchecked; ++k) {
            problem.poison();
            timed[k].run(problem);
            lesson.expect(problem.compare().passed,
                          std::string(timed[k].name) + ": right after timing");
        }
    }
    for (std::size_t k = 0; k < timed.size(); ++k) {
        rows.push_back(
            {type_name<T>, timed[k].name, text_of("%.1f", microseconds[k]),
             text_of("%.0f", gigabytes_per_second[k]),
             text_of("%.3f", gigabytes_per_second[k] / gigabytes_per_second.back())});
    }
}

void show_times(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("sizes");
        return;
    }
    std::vector<std::vector<std::string>> rows;
    measure<float>(lesson, rows);
    measure<double>(lesson, rows);
    measure<int>(lesson, rows);
    lesson.table({"sizes", "2^20 elements, and 1 GiB per vector (or what fits)"},
                 {"type", "step", "2^20, us", "large, GB/s", "of read"}, rows);
}

}  // namespace

void vector_distance(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The ladder of the dot product carries over to the distance of two vectors. Here
it is written once, as templates for float, double, and int. A template does not make a
kernel right for every type, so which type may hold a difference, its square, and
the sum?)");
    lesson.predict(
        {.question = R"(Which is the smallest positive difference of two ints whose
square is not an int any more?)",
         .answer = warpwise::Number{.value = 46341},
         .because = R"(46340 squared is 2147395600, which is below 2^31 - 1. 46341
squared is 2147488281, which is above.)"});
    show_overflow(lesson);
    lesson.conclusion(
        R"(`!` marks a wrong result, and no message warned of it. The square of 46341 is
not an int, and a difference can be 2^32 - 1. Of its squares, 64 bits hold only one. So
both elements are converted before they are subtracted, and squares of ints are added in
double.)");

    std::vector<warpwise::Step<Distance<float>>> steps = {
        {"serial", "a loop in double, one core", serial<float>, warpwise::StepKind::host},
        {"distance_tree", "a tree per block, then one block", by_tree<float>},
        {"distance_shuffles", "warps add from register to register", by_shuffles<float>},
        {"distance_last_block", "one kernel: the last block finishes", last_block<float>},
        {"distance_packs", "16 bytes per load, eight loads in flight", packs<float>},
    };
#ifndef __CPU_DEVICE__
    steps.push_back({"vendor", "cub::DeviceReduce, squares by iterator", vendor_cub<float>,
                     warpwise::StepKind::vendor});
#endif
    lesson.question(
        R"(Which steps of the ladder does a long vector notice? The steps differ in the
tree that adds up the threads of a block, in the number of kernels, and in the width of
the loads.)");
    lesson.predict(
        {.question = R"(distance_packs loads 16 bytes per lane instead of 4. How
many times as fast as distance_last_block is it for 2^28 floats on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"distance_last_block",
                                                                "distance_packs"},
                                      .unit = "times",
                                      .factor = 1.1},
         .because = R"(Wide loads keep more bytes in flight per thread. Barriers
and launches hardly matter for so many floats.)"});
    lesson.steps<Distance<float>>({.gpu = {std::size_t{1} << 28},
                                   .cpu = {std::size_t{1} << 17},
                                   .awkward = {{0},
                                               {1},
                                               {3},
                                               {31},
                                               {32},
                                               {33},
                                               {255},
                                               {257},
                                               {1009},
                                               {4095},
                                               {4096},
                                               {4099},
                                               {100003}}},
                                  steps);
    expect_any_size<float>(lesson);
    expect_any_size<double>(lesson);
    expect_any_size<int>(lesson);
    lesson.conclusion(
        R"(Steps 2 to 4 load the same bytes in the same way and differ in barriers and
launches, which matter when a vector is short. Step 5 issues a quarter of the loads and
has eight of them in flight per thread. On an H200, only this step makes a long vector much
faster.)");
    lesson.question(
        R"(What changes with the type? A double has twice as many bytes as a float or an
int, and a load of 16 bytes holds half as many of them. The vectors have 65536 elements.)");
    lesson.predict(
        {.question = R"(In step 4 each lane loads one element. How many sectors does
a load of a warp touch when the elements are doubles?)",
         .answer = warpwise::Number{.value = 8,
                                    .unit = "sectors",
                                    .shown_by = warpwise::TableCell{"counts",
                                                                    {"double",
                                                                     "distance_last_block"},
                                                                    "sectors/load"}},
         .because = R"(32 neighboring doubles are 256 bytes. A load of floats
touches 4 sectors.)"});
    std::vector<std::vector<std::string>> rows;
    show_counts<float>(lesson, rows);
    show_counts<double>(lesson, rows);
    show_counts<int>(lesson, rows);
    lesson.table({"counts", "Loads and barriers of 65536 elements, predicted"},
                 {"type", "step", "loads", "sectors/load", "barriers"}, rows);
    lesson.conclusion(
        R"(With one element per lane, a load touches 4 sectors for float and int, and 8
for double. With 16 bytes per lane it touches 16 for every type, so step 5 issues a
quarter of the loads of step 4 for float and int, and half of them for double.)");
    lesson.question(
        R"(What do the types cost in time? Each int needs a conversion to double before it
is subtracted. `read` is a kernel that reads the same bytes and adds nothing.)");
    lesson.predict(
        {.question = R"(Each int has to be converted to double before it is subtracted. For
distance_packs and large vectors, how many times the GB/s of float does int reach on a
GPU?)",
         .answer =
             warpwise::Measured{
                 .by =
                     warpwise::CellRatio{
                         {"sizes", {"int", "distance_packs"}, "large, GB/s"},
                         {"sizes", {"float", "distance_packs"}, "large, GB/s"}},
                 .unit = "times",
                 .factor = 1.1},
         .because = R"(The conversions hide behind the loads: while some warps wait for
memory, others convert.)"});
    show_times(lesson);
    lesson.conclusion(
        R"(On an H200, int is as fast as float, so the conversions hide behind the loads.
In step 4 both are further from read bandwidth than double, probably because their loads are
half as wide and leave too few bytes in flight. The vectors of 2^20 elements spend most
of their time there on starting and finishing the kernel.)");
}

}  // namespace examples
