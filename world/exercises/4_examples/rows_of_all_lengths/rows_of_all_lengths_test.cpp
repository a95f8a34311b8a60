#include "exercises/4_examples/rows_of_all_lengths/rows_of_all_lengths.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "rows_of_all_lengths"};

namespace {

constexpr std::size_t steps_per_thread = 8;
using Lengths = std::vector<int>;

std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

/// A matrix with rows of these lengths, and a vector.
struct Data {
    explicit Data(const Lengths& lengths) : first{0} {
        int all_cols = 7;
        for (const int length : lengths) {
            first.push_back(first.back() + length);
            all_cols = std::max(all_cols, 2 * length);
        }
        values = grading::random_floats(as_size(first.back()), 1);
        x = grading::random_floats(as_size(all_cols), 2);
        for (const int length : lengths)
            for (int j = 0; j < length; ++j)
                cols.push_back(static_cast<int>(std::int64_t{j} * all_cols / length));
    }

    int rows() const { return static_cast<int>(first.size()) - 1; }
    int elements() const { return first.back(); }
    std::size_t threads() const {
        return (as_size(rows()) + as_size(elements()) + steps_per_thread - 1) /
               steps_per_thread;
    }

    std::vector<double> product() const {
        std::vector<double> y(as_size(rows()));
        for (std::size_t row = 0; row < y.size(); ++row) {
            for (auto k = as_size(first[row]); k < as_size(first[row + 1]); ++k)
                y[row] += double{values[k]} * double{x[as_size(cols[k])]};
        }
        return y;
    }

    /// The rounding of the products and of their sums, in the row where it may be largest.
    warpwise::Tolerance tolerance() const {
        double largest = 0;
        for (std::size_t row = 0; row + 1 < first.size(); ++row) {
            std::vector<float> products;
            double squares = 0;
            for (auto k = as_size(first[row]); k < as_size(first[row + 1]); ++k) {
                products.push_back(values[k] * x[as_size(cols[k])]);
                squares += double{products.back()} * products.back();
            }
            const double of_products =
                6 * std::numeric_limits<float>::epsilon() / 2 * std::sqrt(squares);
            largest = std::max(largest,
                               grading::sum_tolerance_of(products).absolute + of_products);
        }
        return {.absolute = largest};
    }

    std::vector<int> first, cols;
    std::vector<float> values, x;
};

/// Lengths as in many graphs: most rows are short, few are long, and some are empty.
Lengths uneven_lengths(std::size_t rows, std::uint64_t stream) {
    Lengths lengths = grading::random_ints(rows, 1, 1000, stream);
    for (int& length : lengths) length = length % 8 == 0 ? 0 : std::min(900 / length, 500);
    return lengths;
}

/// Each element is read once, and no thread reads more than 8.
auto EightElementsPerThreadAtMost() {
    const auto judge = [](const grading::GuardedMemory& values) -> grading::Judgement {
        std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> of_threads;
        std::size_t index = 0;
        for (const grading::ElementActivity& element : grading::activity_of(values)) {
            const std::string which = "element " + std::to_string(index++);
            if (!element.all_read) return {false, which + " was not read by any kernel"};
            if (element.reads > 1)
                return {false,
                        which + " was read " + std::to_string(element.reads) + " times"};
            ++of_threads[{element.read_by.block, element.read_by.thread}];
        }
        for (const auto& [thread, elements] : of_threads) {
            if (elements > steps_per_thread)
                return {false, "a thread read " + grading::counted(elements, "element") +
                                   "; the task asks for at most 8 steps per thread"};
        }
        return {true, "at most 8 elements per thread"};
    };
    return grading::BufferMatcher(judge,
                                  "At which step does a thread begin, and at which "
                                  "one does it end?");
}

/// So many words at most are loaded from global memory.
grading::InstrumentedMatcher WordsLoadedAtMost(std::size_t words) {
    const auto judge =
        [words](const grading::Instrumented& instrumented) -> grading::Judgement {
        const double loaded =
            warpwise::sum_of(instrumented.launches).global_load.bytes / sizeof(float);
        if (loaded <= static_cast<double>(words)) return {true, "few words are loaded"};
        return {false, grading::counted(loaded, "word") + " were loaded, at most " +
                           std::to_string(words) + " allowed"};
    };
    return {judge, "How many entries does a binary search look at, among 1000 rows?"};
}

grading::Instrumented check_product(const Data& data) {
    INFO(grading::counted(data.rows(), "row")
         << " with " << grading::counted(data.elements(), "element"));
    const grading::Guarded<int> d_first(data.first), d_cols(data.cols);
    const grading::Guarded<float> d_values(data.values), d_x(data.x);
    grading::Guarded<float> d_y(as_size(data.rows()));
    const grading::Instrumented instrumented = grading::instrument([&] {
        multiply(d_first.data(), d_cols.data(), d_values.data(), data.rows(),
                 data.elements(), d_x.data(), d_y.data());
    });
    REQUIRE_THAT(
        grading::finish(),
        grading::Succeeds().when({"out of bounds", "d_y"},
                                 "Which row is a thread in after the last row has ended?"));
    CHECK_THAT(d_y,
               grading::CloseTo(data.product(), data.tolerance())
                   .when(grading::only_tail_wrong(),
                         "Only the last rows are wrong. Are there threads for the ends "
                         "of rows as well?")
                   .when(grading::equal(0), "All wrong rows are 0. Who adds to them?"));
    CHECK_THAT(d_y, grading::StaysInside());
    for (const auto* buffer : {&d_first, &d_cols})
        CHECK_THAT(*buffer, grading::Unchanged());
    for (const auto* buffer : {&d_values, &d_x}) CHECK_THAT(*buffer, grading::Unchanged());
    if (data.elements() > 0) {
        CHECK_THAT(d_values, EightElementsPerThreadAtMost());
        CHECK_THAT(instrumented,
                   grading::AtomicsAtMost(
                       static_cast<double>(as_size(data.rows()) + data.threads()),
                       "A thread adds once per row, not once per element."));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

}  // namespace

TEST_CASE("multiplies rows of equal lengths") {
    check_product(Data(Lengths(64, 7)));
    check_product(Data(Lengths(100, 32)));
}

TEST_CASE("multiplies rows of all lengths") {
    for (const std::size_t rows : grading::sizes({2, 31, 33, 257, 1009}, 2, 1500))
        check_product(Data(uneven_lengths(rows, rows)));
}

TEST_CASE("handles a row that many threads share") {
    check_product(Data({10007}));
    check_product(Data({3, 0, 5000, 1, 0, 2}));
    check_product(Data({0, 0, 2049}));
}

TEST_CASE("handles empty rows") {
    check_product(Data(Lengths(1, 0)));
    check_product(Data(Lengths(3000, 0)));
    Lengths lengths(3000, 0);
    lengths[1234] = 9;
    check_product(Data(lengths));
    lengths.back() = 1;
    check_product(Data(lengths));
    lengths.front() = 8;
    check_product(Data(lengths));
}

TEST_CASE("handles a matrix without rows") { check_product(Data(Lengths{})); }

// Three words per element, and 24 per thread: at most 12 in a search, and one per step.
TEST_CASE("searches in halves") {
    const Data data(Lengths(1000, 5));
    const grading::Instrumented instrumented = check_product(data);
    CHECK_THAT(instrumented,
               WordsLoadedAtMost(3 * as_size(data.elements()) + 24 * data.threads()));
}
