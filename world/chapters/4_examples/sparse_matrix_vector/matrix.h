// The matrices of the lesson sparse_matrix_vector, made by rule, on both sides: in
// compressed rows, in groups of rows for step 4, and in slices for step 6.
//
//     Matrix problem({3000, 2000}, Rule::banded);    // rows, columns
//     run_thread_per_row(problem);
//     if (!problem.compare().passed) ...
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "chapters/4_examples/sparse_matrix_vector/step_04_adaptive.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_05_merge_path.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_06_sliced_ell.cuh"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"
#include "common/lesson/refusal.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

// How many elements a row has.
enum class Rule {
    banded,     // 27 in each row, around the diagonal
    power_law,  // at least n in 7 / 4n of the rows, at most 16384; one row in eight is
                // empty
    dense_row,  // 16 in each row, but all columns in one row
    last_row,   // all columns in the last row, and no element before
    no_elements,
};

inline int length_of_row(Rule rule, int row, int rows, int cols) {
    if (rule == Rule::no_elements) return 0;
    if (rule == Rule::banded) return std::min(27, cols);
    if (rule == Rule::dense_row) return row == rows / 3 ? cols : std::min(16, cols);
    if (rule == Rule::last_row) return row == rows - 1 ? cols : 0;
    const std::uint64_t bits = warpwise::random_bits(71, static_cast<std::uint64_t>(row));
    if (bits % 8 == 0) return 0;
    const double u = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
    return static_cast<int>(std::min({2 / u, 16384.0, static_cast<double>(cols)}));
}

// For step 6: `begin` is the place of each slice's first element, and the other arrays have
// an entry for each lane of a slice, or for each place.
struct SlicesOnHost {
    std::vector<int> begin, rows, lengths, cols;
    std::vector<float> values;
    std::vector<int> part_rows, part_begins;  // of rows that are too long

    int longest(std::size_t slice) const {  // sorted, so that the first row is the longest
        return lengths[slice * kLanes];
    }
};

struct Matrix {
    Rule rule;
    int rows, cols;
    std::vector<int> first, element_cols;
    std::vector<float> values, x;
    std::vector<double> reference, magnitudes;  // of each row: sums of products, and of |.|
    std::vector<int> groups;
    SlicesOnHost slices;
    DeviceBuffer<int> d_first, d_cols, d_groups;
    DeviceBuffer<float> d_values, d_x, d_y;
    DeviceBuffer<int> d_crossing_rows, d_carry_rows;
    DeviceBuffer<float> d_carries;
    DeviceBuffer<int> d_slice_begin, d_slice_rows, d_slice_lengths, d_slice_cols;
    DeviceBuffer<float> d_slice_values;
    DeviceBuffer<int> d_part_rows, d_part_begins;
    std::shared_ptr<void> vendors[2];  // what cuSPARSE keeps, for each of its algorithms

    explicit Matrix(const warpwise::Size& size, Rule its_rule = Rule::power_law)
        : rule(its_rule),
          rows(static_cast<int>(size[0])),
          cols(static_cast<int>(size[1])),
          x(warpwise::uniform<float>(size[1], 73)) {
        fill();
        multiply();
        group_rows();
        slice_rows();
        upload();
    }

    int elements() const { return first.back(); }
    int length(int row) const { return first_of(row + 1) - first_of(row); }
    int first_of(int row) const { return first[static_cast<std::size_t>(row)]; }
    std::size_t row_count() const { return static_cast<std::size_t>(rows); }
    int group_count() const { return static_cast<int>(groups.size()) - 1; }
    int slice_count() const { return static_cast<int>(slices.begin.size()); }

    // Of step 5, with so many steps per thread.
    unsigned path_blocks(unsigned steps) const {
        return warpwise::blocks_for(row_count() + values.size(), kThreads * steps);
    }

    Csr csr() const {
        return {rows, elements(), d_first.data(), d_cols.data(), d_values.data()};
    }
    Slices sliced() const {
        return {slice_count(),          d_slice_begin.data(), d_slice_rows.data(),
                d_slice_lengths.data(), d_slice_cols.data(),  d_slice_values.data()};
    }

    void poison() {
        d_y.fill_bytes(0xFF);
        d_crossing_rows.fill_bytes(0xFF);
        d_carry_rows.fill_bytes(0xFF);
        d_carries.fill_bytes(0xFF);
    }

    // Each row has a tolerance of its own, by the magnitudes of its products. Results are
    // compared in units of it. A row without products has to be exactly 0.
    warpwise::Comparison compare() const {
        const std::vector<float> got = d_y.download();
        std::vector<double> scaled(got.size()), expected(got.size());
        for (std::size_t row = 0; row < got.size(); ++row) {
            const double allowed = tolerance_of_row(row);
            if (allowed > 0) {
                scaled[row] = double{got[row]} / allowed;
                expected[row] = reference[row] / allowed;
            } else {
                scaled[row] = got[row] == 0 ? 0 : std::nan("");
            }
        }
        return warpwise::compare(scaled, expected, {.absolute = 1});
    }

    // Values, columns, `first`, and x are read once, and y is written.
    warpwise::Work work() const {
        return {.bytes = 8.0 * elements() + 8.0 * rows + 4 + 4.0 * cols,
                .operations = 2.0 * elements()};
    }

    // For at most 20 elements per row, on average.
    static std::size_t device_bytes(const warpwise::Size& size) {
        return 500 * size[0] + 4 * size[1] + (std::size_t{1} << 20);
    }

private:
    double tolerance_of_row(std::size_t row) const {
        return warpwise::sum_tolerance(
            static_cast<std::size_t>(length(static_cast<int>(row))),
            std::numeric_limits<float>::epsilon(), magnitudes[row]);
    }

    // Rows that are computed on all cores of the host.
    template <class Body>
    void for_each_row(const Body& body) const {
        warpwise::parallel_for(row_count(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) body(static_cast<int>(row));
        });
    }

    void fill() {
        first.assign(row_count() + 1, 0);
        std::size_t sum = 0;
        for (int row = 0; row < rows; ++row) {
            sum += static_cast<std::size_t>(length_of_row(rule, row, rows, cols));
            if (sum + row_count() > 0x7FFFFFFF)
                throw warpwise::Refusal(
                    "sparse_matrix_vector: rows and elements must be "
                    "fewer than 2^31 together");
            first[static_cast<std::size_t>(row) + 1] = static_cast<int>(sum);
        }
        values = warpwise::uniform<float>(sum, 72);
        element_cols.resize(sum);
        for_each_row([&](int row) { fill_row(row); });
    }

    // Columns ascend, and none of them appears twice.
    void fill_row(int row) {
        const auto begin = static_cast<std::size_t>(first_of(row));
        const auto count = static_cast<std::size_t>(length(row));
        const auto width = static_cast<std::size_t>(cols);
        const std::size_t diagonal = static_cast<std::size_t>(row) * width / row_count();
        const std::size_t left = diagonal - std::min(diagonal, count / 2);
        for (std::size_t j = 0; j < count; ++j) {
            std::size_t col = std::min(left, width - count) + j;
            if (rule != Rule::banded) {  // one in each of `count` equal parts of the row
                const std::size_t part = j * width / count, next = (j + 1) * width / count;
                col = part + warpwise::random_bits(74, begin + j) % (next - part);
            }
            element_cols[begin + j] = static_cast<int>(col);
        }
    }

    void multiply() {
        reference.assign(row_count(), 0);
        magnitudes.assign(row_count(), 0);
        for_each_row([&](int row) {
            for (int k = first_of(row); k < first_of(row + 1); ++k) {
                const auto at = static_cast<std::size_t>(k);
                const double term = double{values[at]} *
                                    double{x[static_cast<std::size_t>(element_cols[at])]};
                reference[static_cast<std::size_t>(row)] += term;
                magnitudes[static_cast<std::size_t>(row)] += std::fabs(term);
            }
        });
    }

    // At most kStream elements and kStream rows together, or a single row.
    void group_rows() {
        groups = {0};
        for (int row = 0; row < rows;) {
            int end = row + 1;
            while (end < rows && end - row < kStream &&
                   first_of(end + 1) - first_of(row) <= kStream)
                ++end;
            groups.push_back(row = end);
        }
    }

    int length_in_slice(int row) const {
        return row < 0 || length(row) > kLongest ? 0 : length(row);
    }

    void slice_rows() {
        std::vector<int>& order = slices.rows;
        for (int row = 0; row < rows; ++row) {
            order.push_back(row);
            if (length_in_slice(row) == length(row)) continue;
            for (int part = first_of(row); part < first_of(row + 1); part += kPart) {
                slices.part_rows.push_back(row);
                slices.part_begins.push_back(part);
            }
        }
        for (auto from = order.begin(); from != order.end();) {
            const auto to = from + std::min<std::ptrdiff_t>(kWindow, order.end() - from);
            std::stable_sort(from, to, [&](int a, int b) {
                return length_in_slice(a) > length_in_slice(b);
            });
            from = to;
        }
        order.resize(warpwise::ceil_div(order.size(), kLanes) * kLanes, -1);
        std::size_t places = 0;
        for (std::size_t place = 0; place < order.size(); ++place) {
            slices.lengths.push_back(length_in_slice(order[place]));
            if (place % kLanes != 0) continue;
            slices.begin.push_back(static_cast<int>(places));
            places += static_cast<std::size_t>(slices.lengths.back()) * kLanes;
            if (places > 0x7FFFFFFF)
                throw warpwise::Refusal("sparse_matrix_vector: too many places in slices");
        }
        slices.cols.assign(places, 0);
        slices.values.assign(places, 0);
        warpwise::parallel_for(order.size(), [&](std::size_t from, std::size_t to) {
            for (std::size_t place = from; place < to; ++place) fill_lane(place);
        });
    }

    void fill_lane(std::size_t place) {
        if (slices.lengths[place] == 0) return;
        auto to = static_cast<std::size_t>(slices.begin[place / kLanes]) + place % kLanes;
        auto from = static_cast<std::size_t>(first_of(slices.rows[place]));
        for (int j = 0; j < slices.lengths[place]; ++j, to += kLanes, ++from) {
            slices.cols[to] = element_cols[from];
            slices.values[to] = values[from];
        }
    }

    void upload() {
        d_first = DeviceBuffer<int>(first);
        d_cols = DeviceBuffer<int>(element_cols);
        d_values = DeviceBuffer<float>(values);
        d_x = DeviceBuffer<float>(x);
        d_y = DeviceBuffer<float>(row_count());
        d_groups = DeviceBuffer<int>(groups);
        const std::size_t most_blocks = path_blocks(1);
        d_crossing_rows = DeviceBuffer<int>(most_blocks + 1);
        d_carry_rows = DeviceBuffer<int>(most_blocks);
        d_carries = DeviceBuffer<float>(most_blocks);
        d_slice_begin = DeviceBuffer<int>(slices.begin);
        d_slice_rows = DeviceBuffer<int>(slices.rows);
        d_slice_lengths = DeviceBuffer<int>(slices.lengths);
        d_slice_cols = DeviceBuffer<int>(slices.cols);
        d_slice_values = DeviceBuffer<float>(slices.values);
        d_part_rows = DeviceBuffer<int>(slices.part_rows);
        d_part_begins = DeviceBuffer<int>(slices.part_begins);
    }
};

}  // namespace
}  // namespace examples
