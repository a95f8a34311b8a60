#include "exercises/4_examples/remainder_of_a_row/remainder_of_a_row.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"4_examples", "remainder_of_a_row"};

namespace {

constexpr int lanes = 8;
using Lengths = std::vector<int>;

std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

/// A matrix with rows of these lengths, and a vector.
struct Data {
    /// `neighbors`: a row has neighboring columns, and begins with a column that is a
    /// multiple of 8.
    explicit Data(const Lengths& lengths, bool neighbors = false) : first{0} {
        int longest = 0;
        for (const int length : lengths) {
            first.push_back(first.back() + length);
            longest = std::max(longest, length);
        }
        const int all_cols = longest + 200;
        values = grading::random_floats(as_size(first.back()), 1);
        x = grading::random_floats(as_size(all_cols), 2);
        for (std::size_t row = 0; row < lengths.size(); ++row) {
            const int spare = all_cols - lengths[row];
            const int shift = static_cast<int>(grading::random_size(0, 190, row)) / 8 * 8;
            for (int j = 0; j < lengths[row]; ++j)
                cols.push_back(neighbors ? shift + j
                                         : j + static_cast<int>(std::int64_t{j} * spare /
                                                                lengths[row]));
        }
    }

    int rows() const { return static_cast<int>(first.size()) - 1; }

    /// The product, of the first `taken(length)` elements of each row.
    template <class Taken>
    std::vector<double> product_of(Taken taken) const {
        std::vector<double> y(as_size(rows()));
        for (std::size_t row = 0; row < y.size(); ++row) {
            const int end = first[row] + taken(first[row + 1] - first[row]);
            for (auto k = as_size(first[row]); k < as_size(end); ++k)
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

Lengths random_lengths(std::size_t rows, int longest, std::uint64_t stream) {
    return grading::random_ints(rows, 0, longest, stream);
}

/// Eight lanes read the elements of a row, each element once, and no lane reads for two
/// rows.
auto ReadByEightLanesPerRow(const std::vector<int>& first) {
    const auto judge = [first](const grading::GuardedMemory& values) -> grading::Judgement {
        const std::vector<grading::ElementActivity> elements = grading::activity_of(values);
        if (elements.empty()) return {true, "nobody saw who read"};
        std::set<std::pair<std::uint64_t, std::uint32_t>> all;
        for (std::size_t row = 0; row + 1 < first.size(); ++row) {
            std::set<std::pair<std::uint64_t, std::uint32_t>> readers;
            for (auto k = as_size(first[row]); k < as_size(first[row + 1]); ++k) {
                const std::string place = "element " + std::to_string(k) + ", of row " +
                                          std::to_string(row) + ",";
                if (!elements[k].all_read)
                    return {false, place + " was not read by any kernel"};
                if (elements[k].reads > 1)
                    return {false, place + " was read " +
                                       std::to_string(elements[k].reads) + " times"};
                readers.insert({elements[k].read_by.block, elements[k].read_by.thread});
            }
            const auto length = as_size(first[row + 1] - first[row]);
            const std::size_t wanted = std::min<std::size_t>(lanes, length);
            if (readers.size() != wanted)
                return {false, "row " + std::to_string(row) + " has " +
                                   grading::counted(length, "element") +
                                   " and was read by " +
                                   grading::counted(readers.size(), "thread") +
                                   "; the task asks for " + std::to_string(wanted)};
            for (const auto& reader : readers) {
                if (!all.insert(reader).second)
                    return {false, "a thread read elements of row " + std::to_string(row) +
                                       " and of another row"};
            }
        }
        return {true, "eight lanes read each row"};
    };
    return grading::BufferMatcher(judge, "Which elements of its row does a lane take?");
}

grading::InstrumentedMatcher UsesNoSharedMemory() {
    const auto judge = [](const grading::Instrumented& instrumented) -> grading::Judgement {
        const double requests = warpwise::sum_of(instrumented.launches).shared().requests;
        if (requests == 0) return {true, "no shared memory"};
        return {false, grading::counted(requests, "request") +
                           " to shared memory; shuffles do without"};
    };
    return {judge, "Which values does a lane need from other lanes of its row?"};
}

grading::Instrumented check_product(const Data& data) {
    INFO(grading::counted(data.rows(), "row")
         << " with " << grading::counted(data.first.back(), "element"));
    const grading::Guarded<int> d_first(data.first), d_cols(data.cols);
    const grading::Guarded<float> d_values(data.values), d_x(data.x);
    grading::Guarded<float> d_y(as_size(data.rows()));
    const grading::Instrumented instrumented = grading::instrument([&] {
        multiply(d_first.data(), d_cols.data(), d_values.data(), data.rows(), d_x.data(),
                 d_y.data());
    });
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds()
                     .when({"undefined shuffle value"},
                           "Which lanes of the row have left before the shuffle?")
                     .when({"out of bounds"},
                           "Which lanes have no element in the last round of a row?"));
    const auto all = [](int length) { return length; };
    const auto in_whole_rounds = [](int length) { return length / lanes * lanes; };
    CHECK_THAT(d_y,
               grading::CloseTo(data.product_of(all), data.tolerance())
                   .when(grading::equals(data.product_of(in_whole_rounds)),
                         "The last length % 8 elements of the row are missing. Which lanes "
                         "take them?"));
    CHECK_THAT(d_y, grading::StaysInside());
    for (const auto* buffer : {&d_first, &d_cols})
        CHECK_THAT(*buffer, grading::Unchanged());
    for (const auto* buffer : {&d_values, &d_x}) CHECK_THAT(*buffer, grading::Unchanged());
    if (data.rows() > 0) {
        CHECK_THAT(d_y, grading::WrittenByKernels());
        CHECK_THAT(d_values, ReadByEightLanesPerRow(data.first));
        CHECK_THAT(instrumented, grading::EveryLaunchHas(
                                     {static_cast<unsigned>(data.rows() + 31) / 32, 1, 1},
                                     {0, 0, 1}, "A block of 256 threads has 32 rows."));
        CHECK_THAT(instrumented, grading::BarriersAtMost(0, "Shuffles suffice."));
        CHECK_THAT(instrumented, UsesNoSharedMemory());
        CHECK_THAT(instrumented, grading::AtomicsAtMost(0));
    }
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    return instrumented;
}

}  // namespace

TEST_CASE("multiplies rows of whole rounds") {
    check_product(Data(Lengths(32, 8)));
    check_product(Data(Lengths(96, 24)));
}

TEST_CASE("multiplies rows of any length") {
    Lengths each;
    for (int length = 0; length < 64; ++length) each.push_back(length);
    check_product(Data(each));
    check_product(Data(random_lengths(320, 40, 3)));
    check_product(Data(Lengths(64, 5)));
}

TEST_CASE("handles any number of rows") {
    for (const std::size_t rows : grading::sizes({1, 2, 3, 5, 31, 33, 127, 1009}, 3, 2000))
        check_product(Data(random_lengths(rows, 20, rows)));
}

TEST_CASE("handles empty rows and long rows") {
    check_product(Data(Lengths(40, 0)));
    Lengths last_only(65, 0);
    last_only.back() = 3;
    check_product(Data(last_only));
    check_product(Data({0, 10007, 0, 1, 0}));
    check_product(Data({4099}));
}

TEST_CASE("handles a matrix without rows") { check_product(Data(Lengths{})); }

TEST_CASE("reads whole sectors") {
    const grading::Instrumented instrumented = check_product(Data(Lengths(256, 64), true));
    CHECK_THAT(instrumented,
               grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::loads));
}
