// Problem: values with keys, and the sum of the values of each key.
//
// A library has routines for this problem, for parts of it, and for what looks like it.
// The steps take over less and less by themselves: kernels with atomics, kernels that are
// built from the parts of CUB, and no kernel. All numbers are whole ones, so every order of
// additions gives the same sum.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifndef __CPU_DEVICE__
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#endif

#include "chapters/5_modern_cuda/libraries/kernels.cuh"
#include "chapters/5_modern_cuda/libraries/wrong.cuh"
#include "chapters/5_modern_cuda/mistakes.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/beside_record.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace modern_cuda {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

using Integers = std::vector<unsigned>;
using Storage = DeviceBuffer<unsigned char>;

Numbers numbers_of(const DeviceBuffer<unsigned>& buffer) {
    return Numbers(buffer.data(), buffer.size());
}
Sums sums_of(DeviceBuffer<unsigned>& buffer) { return Sums(buffer.data(), buffer.size()); }

// From 0 to 99, so that no sum of 2^25 of them is too large.
Integers values_for(std::size_t count) {
    Integers values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<unsigned>(warpwise::random_bits(1, i) % 100);
    return values;
}

// Keys from 0 to the largest one.
std::size_t keys_of(const Integers& keys) {
    return keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end()) + std::size_t{1};
}

// Every routine of CUB is called twice: without storage it says how much it needs. The
// storage is kept, as a program does that calls the routine more than once.
template <class Call>
void in_two_phases(Storage& storage, const Call& call) {
    std::size_t bytes = 0;
    warpwise::check(call(nullptr, bytes));
    if (storage.size() < bytes) storage = Storage(bytes);
    warpwise::check(call(storage.data(), bytes));
}

// ---- the problem ------------------------------------------------------------------------

// The sums, either one for each key, or a list of the keys that occur with their sums.
struct SumByKey {
    Integers keys, values;
    Integers expected;                      // by key
    Integers expected_keys, expected_sums;  // as a list
    DeviceBuffer<unsigned> d_keys, d_values, d_sums, d_unique, d_runs{1};
    DeviceBuffer<unsigned> d_sorted_keys, d_sorted_values;  // where a step sorts
    Storage storage;
    bool is_list = false;
    std::optional<std::size_t> told_runs;  // by a routine that returns them

    SumByKey(Integers all_keys, std::size_t least_keys)
        : keys(std::move(all_keys)),
          values(values_for(keys.size())),
          expected(std::max(least_keys, keys_of(keys))),
          d_keys(keys),
          d_values(values),
          d_sums(expected.size()),
          d_unique(expected.size()) {
        const std::size_t key_count = expected.size();
        std::vector<std::uint64_t> exact(key_count);
        std::vector<bool> occurs(key_count);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            exact[keys[i]] += values[i];
            occurs[keys[i]] = true;
        }
        for (std::size_t key = 0; key < key_count; ++key) {
            if (exact[key] > ~0u) throw std::overflow_error("a sum has more than 32 bits");
            expected[key] = static_cast<unsigned>(exact[key]);
            if (!occurs[key]) continue;
            expected_keys.push_back(static_cast<unsigned>(key));
            expected_sums.push_back(expected[key]);
        }
    }

    std::size_t count() const { return keys.size(); }

    void poison() {
        d_sums.fill_bytes(0xFF);
        d_unique.fill_bytes(0xFF);
        d_runs.fill_bytes(0xFF);
        told_runs.reset();
    }

    static warpwise::Comparison compare_numbers(const Integers& got,
                                                const Integers& wanted) {
        return warpwise::compare_each(
            got, wanted.size(),
            [&](std::size_t i) { return static_cast<double>(wanted[i]); }, {.absolute = 0});
    }

    // Places of a list beyond its end have to hold the poison as before.
    warpwise::Comparison compare() {
        Integers sums = d_sums.download();
        if (!is_list) return compare_numbers(sums, expected);
        const std::size_t runs = told_runs ? *told_runs : d_runs.download()[0];
        Integers unique = d_unique.download();
        std::size_t beyond = 0;
        for (std::size_t i = expected_keys.size(); i < unique.size(); ++i)
            beyond += (unique[i] != ~0u || sums[i] != ~0u) ? 1 : 0;
        if (runs != expected_keys.size() || beyond != 0) {
            warpwise::Comparison wrong;
            wrong.note = "a list of " + std::to_string(runs) + " keys, of " +
                         std::to_string(expected_keys.size()) + "; wrote " +
                         std::to_string(beyond) + " beyond them";
            return wrong;
        }
        unique.resize(runs);
        sums.resize(runs);
        const warpwise::Comparison of_keys = compare_numbers(unique, expected_keys);
        return of_keys.passed ? compare_numbers(sums, expected_sums) : of_keys;
    }

    warpwise::Work work() const {
        return {
            .bytes = sizeof(unsigned) * static_cast<double>(2 * count() + expected.size()),
            .operations = static_cast<double>(count())};
    }
};

// Runs of equal keys, of 1 to 127 values each. The keys are 0, 1, 2, and so on.
Integers keys_in_runs(std::size_t count) {
    Integers keys(count);
    std::size_t i = 0;
    for (unsigned key = 0; i < count; ++key) {
        const std::size_t end =
            std::min(count, i + 1 + warpwise::random_bits(2, key) % 127);
        std::fill(keys.begin() + static_cast<std::ptrdiff_t>(i),
                  keys.begin() + static_cast<std::ptrdiff_t>(end), key);
        i = end;
    }
    return keys;
}
Integers keys_in_equal_runs(std::size_t count, std::size_t length) {
    Integers keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<unsigned>(i / length);
    return keys;
}

struct InRuns : SumByKey {
    explicit InRuns(const warpwise::Size& size) : InRuns(keys_in_runs(size[0])) {}
    explicit InRuns(Integers ascending) : SumByKey(std::move(ascending), 0) {}
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 3 * size[0] * sizeof(unsigned) + (std::size_t{1} << 24);
    }
};

struct InAnyOrder : SumByKey {
    explicit InAnyOrder(const warpwise::Size& size)
        : SumByKey(random_keys(size[0]), kKeys) {}
    static Integers random_keys(std::size_t count) {
        Integers keys(count);
        for (std::size_t i = 0; i < count; ++i)
            keys[i] = static_cast<unsigned>(warpwise::random_bits(3, i) % kKeys);
        return keys;
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 6 * size[0] * sizeof(unsigned) + (std::size_t{1} << 24);
    }
};

// Step 1, the loop on one core.
void serial(SumByKey& problem) {
    Integers sums(problem.expected.size());
    for (std::size_t i = 0; i < problem.count(); ++i)
        sums[problem.keys[i]] += problem.values[i];
    problem.d_sums.upload(sums);
    problem.is_list = false;
}

// ---- with kernels -----------------------------------------------------------------------

void clear_sums(SumByKey& problem) {
    problem.is_list = false;
    if (problem.d_sums.size() == 0) return;
    warpwise::check(cudaMemsetAsync(problem.d_sums.data(), 0, problem.d_sums.bytes()));
}

void with_pointers(SumByKey& problem) {
    clear_sums(problem);
    add_each<<<warpwise::blocks_for(problem.count(), kThreads), kThreads>>>(
        problem.d_keys.data(), problem.d_values.data(), problem.count(),
        problem.d_sums.data());
    warpwise::check_launch();
}

using OfSpans = void (*)(Numbers, Numbers, Sums);

template <OfSpans Kernel, unsigned PerBlock>
void with_spans(SumByKey& problem) {
    clear_sums(problem);
    Kernel<<<warpwise::blocks_for(problem.count(), PerBlock), kThreads>>>(
        numbers_of(problem.d_keys), numbers_of(problem.d_values), sums_of(problem.d_sums));
    warpwise::check_launch();
}

void with_shared_sums(SumByKey& problem) {
    clear_sums(problem);
    const unsigned blocks = std::min(warpwise::blocks_for(problem.count(), kThreads),
                                     warpwise::blocks_that_fill(add_in_shared, kThreads));
    add_in_shared<<<blocks, kThreads>>>(
        numbers_of(problem.d_keys), numbers_of(problem.d_values), sums_of(problem.d_sums));
    warpwise::check_launch();
}

// ---- without a kernel -------------------------------------------------------------------

void reduce_by_key(SumByKey& problem) {
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(
            storage, bytes, problem.d_keys.data(), problem.d_unique.data(),
            problem.d_values.data(), problem.d_sums.data(), problem.d_runs.data(),
            cuda::std::plus<>(), problem.count());
    });
    problem.is_list = true;
}

#ifndef __CPU_DEVICE__
void thrust_reduce_by_key(SumByKey& problem) {
    const unsigned* const keys = problem.d_keys.data();
    const auto ends = thrust::reduce_by_key(thrust::device, keys, keys + problem.count(),
                                            problem.d_values.data(),
                                            problem.d_unique.data(), problem.d_sums.data());
    problem.told_runs = static_cast<std::size_t>(ends.first - problem.d_unique.data());
    problem.is_list = true;
}
#endif

// Keys in any order become runs if they are sorted.
void sort_then_reduce(SumByKey& problem) {
    if (problem.d_sorted_keys.size() != problem.count()) {
        problem.d_sorted_keys = DeviceBuffer<unsigned>(problem.count());
        problem.d_sorted_values = DeviceBuffer<unsigned>(problem.count());
    }
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(
            storage, bytes, problem.d_keys.data(), problem.d_sorted_keys.data(),
            problem.d_values.data(), problem.d_sorted_values.data(), problem.count());
    });
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(
            storage, bytes, problem.d_sorted_keys.data(), problem.d_unique.data(),
            problem.d_sorted_values.data(), problem.d_sums.data(), problem.d_runs.data(),
            cuda::std::plus<>(), problem.count());
    });
    problem.is_list = true;
}

// The keys are below 1024, so it is enough to sort by their ten lowest bits.
void sort_ten_bits(SumByKey& problem) {
    if (problem.d_sorted_keys.size() != problem.count()) {
        problem.d_sorted_keys = DeviceBuffer<unsigned>(problem.count());
        problem.d_sorted_values = DeviceBuffer<unsigned>(problem.count());
    }
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(
            storage, bytes, problem.d_keys.data(), problem.d_sorted_keys.data(),
            problem.d_values.data(), problem.d_sorted_values.data(), problem.count(), 0,
            10);
    });
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceReduce::ReduceByKey(
            storage, bytes, problem.d_sorted_keys.data(), problem.d_unique.data(),
            problem.d_sorted_values.data(), problem.d_sums.data(), problem.d_runs.data(),
            cuda::std::plus<>(), problem.count());
    });
    problem.is_list = true;
}

// ---- a matrix ---------------------------------------------------------------------------

// The sums of the rows. A row is a run, whose begin and end are known without looking at
// keys.
struct RowSums {
    std::size_t rows, cols;
    Integers matrix;    // by rows
    Integers expected;  // of each row
    DeviceBuffer<unsigned> d_matrix, d_transposed, d_sums;
    DeviceBuffer<int> d_offsets;  // of the rows, and the end of the last one
    Storage storage;

    explicit RowSums(const warpwise::Size& size)
        : rows(size[0] / columns_for(size[0])),
          cols(columns_for(size[0])),
          matrix(values_for(rows * cols)),
          expected(rows),
          d_matrix(matrix),
          d_transposed(rows * cols),
          d_sums(rows) {
        Integers transposed(rows * cols);
        std::vector<int> offsets(rows + 1);
        for (std::size_t row = 0; row < rows; ++row) {
            offsets[row] = static_cast<int>(row * cols);
            for (std::size_t col = 0; col < cols; ++col) {
                expected[row] += matrix[row * cols + col];
                transposed[col * rows + row] = matrix[row * cols + col];
            }
        }
        offsets[rows] = static_cast<int>(rows * cols);
        d_transposed.upload(transposed);
        d_offsets = DeviceBuffer<int>(offsets);
    }

    // 2048 where rows of them fit, else an awkward number.
    static std::size_t columns_for(std::size_t count) {
        return count % 2048 == 0 ? 2048 : std::min(count, 1 + count % 300);
    }

    void poison() { d_sums.fill_bytes(0xFF); }
    warpwise::Comparison compare() {
        return SumByKey::compare_numbers(d_sums.download(), expected);
    }
    warpwise::Work work() const {
        return {.bytes = sizeof(unsigned) * static_cast<double>(rows * cols + rows),
                .operations = static_cast<double>(rows * cols)};
    }
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 4 * size[0] * sizeof(unsigned) + (std::size_t{1} << 24);
    }
};

template <class Layout>
void add_rows_of(RowSums& problem, const DeviceBuffer<unsigned>& d_matrix) {
    const Matrix<Layout> matrix(d_matrix.data(), problem.rows, problem.cols);
    add_rows<Layout><<<warpwise::blocks_for(problem.rows, 1), kThreads>>>(
        matrix, sums_of(problem.d_sums));
    warpwise::check_launch();
}

void by_rows(RowSums& problem) {
    add_rows_of<cuda::std::layout_right>(problem, problem.d_matrix);
}
void by_columns(RowSums& problem) {
    add_rows_of<cuda::std::layout_left>(problem, problem.d_transposed);
}

void segmented_reduce(RowSums& problem) {
    const int* const begins = problem.d_offsets.data();
    in_two_phases(problem.storage, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSegmentedReduce::Sum(
            storage, bytes, problem.d_matrix.data(), problem.d_sums.data(),
            static_cast<std::int64_t>(problem.rows), begins, begins + 1);
    });
}

// ---- all of them ------------------------------------------------------------------------

struct Method {
    const char* name;
    const char* change;
    void (*run)(SumByKey&);
};

const std::vector<Method> kMethods = {
    {"add_each", "an atomic per value", with_pointers},
    {"add_each_of_span", "the same with spans", with_spans<add_each_of_span, kThreads>},
    {"add_by_warps", "cub::WarpReduce: an atomic per run and warp",
     with_spans<add_by_warps, kThreads>},
    {"add_by_tiles", "cub::BlockScan: an atomic per run and tile",
     with_spans<add_by_tiles, kTile>},
#ifndef __CPU_DEVICE__
    {"thrust", "no kernel: thrust::reduce_by_key", thrust_reduce_by_key},
#endif
    {"cub", "no kernel: cub::DeviceReduce::ReduceByKey", reduce_by_key},
};

const std::vector<Method> kUnsorted = {
    {"add_unsorted", "an atomic per value", with_spans<add_each_of_span, kThreads>},
    {"add_in_shared", "sums of each block in shared memory", with_shared_sums},
    {"sort_then_reduce", "no kernel: SortPairs, ReduceByKey", sort_then_reduce},
    {"sort_ten_bits", "no kernel: sort by the bits that differ", sort_ten_bits},
};

template <class Problem>
std::vector<warpwise::Step<Problem>> steps_of(const char* first,
                                              const std::vector<Method>& methods) {
    std::vector<warpwise::Step<Problem>> steps = {
        {first, "a loop, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
    return steps;
}

void expect_right(warpwise::Lesson& lesson, const std::string& what, SumByKey& problem,
                  void (*run)(SumByKey&)) {
    problem.poison();
    run(problem);
    const warpwise::Comparison comparison = problem.compare();
    lesson.expect(comparison.passed, what + ": " + comparison.summary());
}

// ---- additions, as the lesson predicts them ---------------------------------------------

constexpr std::size_t kCounted = 6 * kTile;
constexpr std::size_t kLength = 64;  // of each run

void show_additions(warpwise::Lesson& lesson) {
    InRuns problem(keys_in_equal_runs(kCounted, kLength));
    struct Predicted {
        const char* step;
        std::size_t additions;
    };
    const std::array<Predicted, 4> predicted = {{{"add_each", kCounted},
                                                 {"add_each_of_span", kCounted},
                                                 {"add_by_warps", kCounted / 32},
                                                 {"add_by_tiles", kCounted / kLength}}};
    std::vector<std::vector<std::string>> rows;
    for (const Predicted& each : predicted) {
        const auto method =
            std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& candidate) {
                return std::string(candidate.name) == each.step;
            });
        problem.poison();
        const auto counts = lesson.count([&] { method->run(problem); });
        std::string additions = std::to_string(each.additions);
        if (counts) {
            lesson.expect(problem.compare().passed,
                          std::string(each.step) + ": right when counted");
            lesson.expect(
                counts->global_atomic.lanes == static_cast<double>(each.additions),
                std::string(each.step) + ": additions as predicted");
            additions = text_of("%.0f", counts->global_atomic.lanes);
        }
        rows.push_back({each.step, additions});
    }
    lesson.table({"additions", "Atomic additions for " + std::to_string(kCounted) +
                                   " values in runs of " + std::to_string(kLength)},
                 {"step", "additions"}, rows);
}

// ---- two phases -------------------------------------------------------------------------

// Without storage nothing is computed, and with too little of it neither.
void expect_two_phases(warpwise::Lesson& lesson) {
    InRuns problem(warpwise::Size{20011});
    problem.poison();
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
        return cub::DeviceReduce::ReduceByKey(
            storage, bytes, problem.d_keys.data(), problem.d_unique.data(),
            problem.d_values.data(), problem.d_sums.data(), problem.d_runs.data(),
            cuda::std::plus<>(), problem.count());
    };
    lesson.expect(call(nullptr) == cudaSuccess && bytes > 0, "the first call says a size");
    Storage storage(bytes);
    bytes = 1;
    lesson.expect(call(storage.data()) == cudaErrorInvalidValue,
                  "too little storage is refused");
    (void)cudaGetLastError();
    lesson.expect(problem.d_runs.download()[0] == ~0u, "and nothing was written");
}

// ---- what each step costs whoever writes it ---------------------------------------------

// Lines of a function or structure in a file of this lesson, its comment not counted; 0
// where the file is not there.
unsigned lines_of(const std::string& file, const std::string& name) {
    std::string path = __FILE__;
    path = path.substr(0, path.rfind('/') + 1) + file;
    std::ifstream source(path);
    unsigned lines = 0;
    for (std::string line; std::getline(source, line);) {
        const bool is_function = !line.empty() && line[0] != ' ' && line[0] != '/' &&
                                 line.find(" " + name + "(") != std::string::npos;
        const bool begins = lines == 0 && (is_function || line == "struct " + name + " {");
        if (begins || lines > 0) ++lines;
        if (lines > 0 && !line.empty() && line[0] == '}') break;
    }
    return lines;
}

struct Effort {
    const char* step;
    std::vector<std::pair<const char*, const char*>> functions;  // files and names
    void (*run)(SumByKey&);
};

const std::vector<Effort> kEfforts = {
    {"add_each_of_span",
     {{"kernels.cuh", "add_each_of_span"}, {"lesson.cu", "with_spans"}},
     with_spans<add_each_of_span, kThreads>},
    {"add_by_warps",
     {{"kernels.cuh", "add_by_warps"}, {"lesson.cu", "with_spans"}},
     with_spans<add_by_warps, kThreads>},
    {"add_by_tiles",
     {{"kernels.cuh", "Part"},
      {"kernels.cuh", "AddParts"},
      {"kernels.cuh", "add_by_tiles"},
      {"lesson.cu", "with_spans"}},
     with_spans<add_by_tiles, kTile>},
#ifndef __CPU_DEVICE__
    {"thrust", {{"lesson.cu", "thrust_reduce_by_key"}}, thrust_reduce_by_key},
#endif
    {"cub", {{"lesson.cu", "reduce_by_key"}}, reduce_by_key},
};

constexpr std::size_t kLarge = std::size_t{1} << 28;

// kLarge, or as many as the free memory has room for.
std::size_t large_count() {
    return warpwise::halve_to_fit(
        kLarge, kCounted, [](std::size_t count) { return InRuns::device_bytes({count}); });
}

void show_effort(warpwise::Lesson& lesson) {
    InRuns problem(warpwise::Size{lesson.measures() ? large_count() : kCounted});
    std::vector<std::vector<std::string>> rows;
    for (const Effort& each : kEfforts) {
        unsigned lines = 0;
        for (const auto& [file, function] : each.functions)
            lines += lines_of(file, function);
        problem.storage = Storage();
        expect_right(lesson, each.step, problem, each.run);
        const bool hides_it = std::string(each.step) == "thrust";
        rows.push_back({each.step, lines == 0 ? "-" : std::to_string(lines),
                        hides_it ? "its own" : std::to_string(problem.storage.size())});
    }
    warpwise::table_beside_record(lesson, {"effort", "Own code, and temporary storage"},
                                  {"step", "lines", "storage, bytes"}, rows,
                                  "storage, bytes");
}

// ---- other lengths, and other sizes, on a GPU -------------------------------------------

std::vector<std::string> measured_row(warpwise::Lesson& lesson, const std::string& name,
                                      SumByKey& problem) {
    std::vector<warpwise::Candidate> candidates;
    for (const Method& method : kMethods)
        candidates.push_back({[&method, &problem] { method.run(problem); }});
    std::vector<std::string> row = {name};
    for (const warpwise::Timing& timing :
         warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2}))
        row.push_back(text_of("%.1f", timing.median * 1e6));
    for (const Method& method : kMethods)
        expect_right(lesson, std::string(method.name) + ", after timing", problem,
                     method.run);
    return row;
}

std::vector<std::string> header_of(const std::string& first) {
    std::vector<std::string> header = {first};
    for (const Method& method : kMethods)
        header.push_back(std::string(method.name) + ", us");
    return header;
}

void show_lengths(warpwise::Lesson& lesson) {
    const std::array<std::size_t, 6> lengths = {1, 4, 16, 64, 1024, 65536};
    if (!lesson.measures()) {
        for (const std::size_t length : lengths) {
            InRuns problem(keys_in_equal_runs(20011, length));
            for (const Method& method : kMethods)
                expect_right(
                    lesson,
                    std::string(method.name) + ", runs of " + std::to_string(length),
                    problem, method.run);
        }
        lesson.show_recorded("lengths");
        return;
    }
    const std::size_t count = std::min<std::size_t>(large_count(), std::size_t{1} << 26);
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t length : lengths) {
        InRuns problem(keys_in_equal_runs(count, length));
        rows.push_back(measured_row(lesson, std::to_string(length), problem));
    }
    lesson.table({"lengths", std::to_string(count) + " values in runs of equal length"},
                 header_of("length"), rows);
}

void show_sizes(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("sizes");
        return;
    }
    std::vector<std::vector<std::string>> rows;
    for (unsigned bits = 10; bits <= 26; bits += 4) {
        InRuns problem(warpwise::Size{std::size_t{1} << bits});
        rows.push_back(measured_row(lesson, "2^" + std::to_string(bits), problem));
    }
    lesson.table({"sizes", "Values in runs of 1 to 127"}, header_of("values"), rows);
}

// ---- mistakes that the CPU device finds -------------------------------------------------

template <void (*Kernel)(const unsigned*, unsigned*)>
void run_wrong() {
    DeviceBuffer<unsigned> d_in(values_for(64)), d_out(2);
    Kernel<<<1, 64>>>(d_in.data(), d_out.data());
    (void)cudaDeviceSynchronize();
}

// WRONG: there are 16 runs, and room for 15 sums.
void too_few_sums() {
    DeviceBuffer<unsigned> d_keys(keys_in_equal_runs(64, 4)), d_values(values_for(64));
    DeviceBuffer<unsigned> d_unique(16), d_sums(15), d_runs(1);
    Storage storage;
    std::size_t bytes = 0;
    for (int phase = 0; phase < 2; ++phase) {
        (void)cub::DeviceReduce::ReduceByKey(
            phase == 0 ? nullptr : storage.data(), bytes, d_keys.data(), d_unique.data(),
            d_values.data(), d_sums.data(), d_runs.data(), cuda::std::plus<>(), 64);
        storage = Storage(bytes);
    }
}

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        {"storage_used_again", "two reductions, no barrier between them",
         run_wrong<storage_used_again>, "data_race"},
        {"reduce_in_branch", "half of the block does not come", run_wrong<reduce_in_branch>,
         "divergent_barrier"},
        {"reduce_for_another_block", "made for 128 threads, and there are 64",
         run_wrong<reduce_for_another_block>, "kernel_trap"},
        {"too_few_sums", "an output with room for 15 of 16 sums", too_few_sums,
         "out_of_bounds"},
    };
    return all;
}

}  // namespace

void libraries(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Each value has a key, equal keys stand together in runs, and the sum of each run
is wanted. You can write the kernel, build it from parts that others have written, or call
a routine that does it all. What does each of these cost, and what does it give?)");
    lesson.predict(
        {.question = R"(12288 values stand in runs of 64. In add_by_warps each warp of 32
values adds once to memory for each run that it has a part of. How many atomic additions
are these?)",
         .answer = warpwise::Number{.value = 384,
                                    .unit = "additions",
                                    .shown_by =
                                        warpwise::TableCell{
                                            "additions", {"add_by_warps"}, "additions"}},
         .because = R"(Each of the 12288 / 32 warps has a part of one run only. A tile of
2048 values has whole runs: 12288 / 64 = 192 additions.)"});
    lesson.predict(
        {.question = R"(What does cub::DeviceReduce::ReduceByKey do if the pointer to its
temporary storage is null?)",
         .answer = warpwise::Choice{.choices = {"it allocates storage and computes",
                                                "it says how much it needs, no more",
                                                "it returns an error"},
                                    .right = 1},
         .because = R"(So the program decides where the storage comes from, and can use it
again in the next call. Nothing is launched in this first phase.)"});
    lesson.predict(
        {.question = R"(Which of these is the fastest on a GPU, for 2^28 values in runs of
1 to 127?)",
         .answer = warpwise::Fastest{{"add_each", "add_by_warps", "add_by_tiles", "cub"}},
         .because = R"(Eight bytes per value have to be read in any case. The steps differ
in how many additions wait for each other, and in how many loads a thread has in
flight.)"});
    lesson.steps<InRuns>({.gpu = {kLarge},
                          .cpu = {kCounted},
                          .awkward = {{0},
                                      {1},
                                      {2},
                                      {31},
                                      {32},
                                      {33},
                                      {255},
                                      {257},
                                      {1009},
                                      {kTile - 1},
                                      {kTile},
                                      {kTile + 1},
                                      {20011}}},
                         steps_of<InRuns>("serial", kMethods));
    show_additions(lesson);
    lesson.conclusion(
        R"(WarpReduce, BlockScan, and BlockLoad are parts of kernels: you decide what a
block does, and they know how a block does it fast. ReduceByKey is the whole solution. It
takes any keys, and tells which keys there are. The kernels before it rely on keys that are
places in the output.)");

    lesson.question(
        R"(How many lines do you write for each of these, how much memory do they need
besides input and output, and how do they compare for other runs and other sizes? On a GPU
the tables show the times.)");
    expect_two_phases(lesson);
    show_effort(lesson);
    show_lengths(lesson);
    show_sizes(lesson);
    lesson.conclusion(
        R"(A routine costs a handful of lines, and some storage. Those lines are the same
for every type and operator, and somebody else has tuned what they call, for your GPU and
for the next one. A kernel of your own pays where you know something about the data that
the routine does not.)");

    lesson.question(
        R"(Now the keys come in any order, and there are 1024 of them. A routine for runs
can be had by sorting first. Is that a good idea?)");
    lesson.predict(
        {.question = R"(2^28 values with 1024 keys in any order: which of these is the
fastest on a GPU?)",
         .answer = warpwise::Fastest{{"add_unsorted", "add_in_shared", "sort_then_reduce",
                                      "sort_ten_bits"}},
         .because = R"(A sort reads and writes all pairs several times before anything is
added up, once for each digit of the keys. 1024 sums fit into the shared memory of every
block.)"});
    lesson.steps<InAnyOrder>({.gpu = {kLarge},
                              .cpu = {kCounted},
                              .awkward = {{0}, {1}, {31}, {33}, {257}, {1009}, {20011}}},
                             steps_of<InAnyOrder>("serial_unsorted", kUnsorted));
    lesson.conclusion(
        R"(Sorting is the general way: it takes any number of keys, and works with any
operator. That there are few keys is something you know, and the routine does not. So look
for a routine that is made for your problem, before you bring your problem into the form of
another one.)");

    lesson.question(
        R"(The rows of a matrix are runs whose ends are known. add_rows takes an mdspan, so
it does not say where an element lies. What does it load if the matrix is stored by
columns?)");
    lesson.predict(
        {.question = R"(add_rows_left is add_rows for a matrix that is stored by columns,
with at least 8 rows. The 32 lanes of a warp take 32 neighboring columns of a row. How many
sectors does a load touch?)",
         .answer =
             warpwise::Number{.value = 32,
                              .unit = "sectors",
                              .shown_by = warpwise::sectors_per_load("add_rows_left")},
         .because = R"(Neighboring columns are a whole column apart in memory, and each
lane touches a sector of its own. By rows there would be 4.)"});
    std::vector<warpwise::Step<RowSums>> of_rows = {
        {"add_rows", "mdspan and cub::BlockReduce, by rows", by_rows},
        {"add_rows_left", "the same kernel, by columns", by_columns},
        {"segmented_reduce", "no kernel: cub::DeviceSegmentedReduce", segmented_reduce}};
    lesson.steps<RowSums>(
        {.gpu = {std::size_t{1} << 27},
         .cpu = {16 * 2048},
         .awkward = {{0}, {1}, {15}, {33}, {300}, {599}, {1009}, {7967}, {20011}, {63519}}},
        of_rows);
    lesson.conclusion(
        R"(An mdspan takes the arithmetic of indices out of the kernel. It does not take
away what a layout costs: which index the lanes of a warp should run along is still your
choice.)");

    lesson.question(
        R"(The parts of CUB have rules: all threads of the block take part, and storage may
be used again only after a barrier. Four programs break a rule. How can these mistakes be
found?)");
    show_mistakes(lesson, "program", mistakes(), "storage_used_again");
    lesson.conclusion(
        warpwise::can_instrument()
            ? R"(The search for errors sees what CUB's primitives store and load in shared
memory, and who comes to their barriers. It checks the arrays that a routine is given
before the routine runs.)"
            : R"(By the search for errors of the CPU device, which this program does not
have. Run this lesson there, without --no-counters.)");
}

}  // namespace modern_cuda
