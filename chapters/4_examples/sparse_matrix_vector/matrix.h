// The matrices of the lesson sparse_matrix_vector, made by rule, on both sides: in
// compressed rows, in groups of rows for step 4, and in slices for step 6.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/sparse_matrix_vector/step_04_adaptive.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_05_merge_path.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_06_sliced_ell.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

constexpr int kSteps = 8;         // of a thread, in step 5
constexpr int kWindow = 4096;     // rows that are sorted together, for step 6
constexpr int kLongest = 1024;    // elements of a row that a slice takes

// How many elements each row has.
enum class Rule {
    banded,     // 27, next to the diagonal
    power_law,  // few rows have many: 2 to 16384, about 8 on average
    dense_row,  // 16 in each row, but all columns in one row
    no_elements,
};

inline int length_of_row(Rule rule, int row, int rows) {
    if (rule == Rule::no_elements) return 0;
    if (rule == Rule::banded) return std::min(27, rows);
    if (rule == Rule::dense_row) return row == rows / 3 ? rows : std::min(16, rows);
    // The chance of at least n elements is about 4 / n; every eighth row is empty.
    const std::uint64_t bits = warpwise::random_bits(71, static_cast<std::uint64_t>(row));
    if (bits % 8 == 0) return 0;
    const double u = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
    return static_cast<int>(std::min({2 / u, 16384.0, static_cast<double>(rows)}));
}

// Square, with one value of x for each column.
struct Matrix {
    Rule rule = Rule::power_law;
    int rows;
    std::vector<int> first, cols;
    std::vector<float> values, x;
    std::vector<double> reference, magnitudes;
    DeviceBuffer<int> d_first, d_cols, d_groups;
    DeviceBuffer<float> d_values, d_x, d_y, d_carries;
    DeviceBuffer<int> d_carry_rows, d_slice_begin, d_slice_rows, d_slice_lengths,
        d_slice_cols, d_long_rows;
    DeviceBuffer<float> d_slice_values;
    DeviceBuffer<Crossing> d_crossings;
    int groups = 0, slices = 0, long_rows = 0;
    std::size_t padded = 0;  // places of all slices
    std::shared_ptr<void> vendor;

    explicit Matrix(const warpwise::Size& size, Rule its_rule = Rule::power_law)
        : rule(its_rule), rows(static_cast<int>(size[0])) {
        fill();
        multiply();
        group_rows();
        slice_rows();
        d_first = DeviceBuffer<int>(first);
        d_cols = DeviceBuffer<int>(cols);
        d_values = DeviceBuffer<float>(values);
        d_x = DeviceBuffer<float>(x);
        d_y = DeviceBuffer<float>(x.size());
        d_carries = DeviceBuffer<float>(path_blocks());
        d_carry_rows = DeviceBuffer<int>(path_blocks());
        d_crossings = DeviceBuffer<Crossing>(path_blocks() + 1);
    }

    int elements() const { return first.back(); }
    unsigned path_blocks() const {
        return warpwise::blocks_for(
            static_cast<std::size_t>(rows) + static_cast<std::size_t>(elements()),
            kThreads * kSteps);
    }
    Csr csr() const { return {rows, elements(), d_first.data(), d_cols.data(), d_values.data()}; }
    Slices sliced() const {
        return {slices,
                d_slice_begin.data(),
                d_slice_rows.data(),
                d_slice_lengths.data(),
                d_slice_cols.data(),
                d_slice_values.data()};
    }

    void poison() {
        d_y.fill_bytes(0xFF);
        d_carries.fill_bytes(0xFF);
        d_carry_rows.fill_bytes(0xFF);
        d_crossings.fill_bytes(0xFF);
    }

    // Each row has a tolerance of its own: the sum of the magnitudes of its products.
    warpwise::Comparison compare() const {
        std::vector<float> scaled = d_y.download();
        std::vector<double> expected = reference;
        for (std::size_t row = 0; row < scaled.size(); ++row) {
            const double allowed = tolerance_of_row(row);
            if (allowed == 0) {  // a row without elements: exactly 0
                if (!(scaled[row] == 0)) scaled[row] = std::nanf("");
                continue;
            }
            expected[row] /= allowed;
            const double got = double{scaled[row]} / allowed;
            scaled[row] = static_cast<float>(got - expected[row]);
            expected[row] = 0;
        }
        return warpwise::compare(scaled, expected, {.absolute = 1});
    }

    // Values, columns, and `first` are read once, x is read once, and y is written.
    warpwise::Work work() const {
        return {.bytes = 8.0 * elements() + 12.0 * rows + 4, .operations = 2.0 * elements()};
    }

    static std::size_t device_bytes(const warpwise::Size& size) { return 400 * size[0]; }

private:
    double tolerance_of_row(std::size_t row) const {
        const auto count = static_cast<std::size_t>(first[row + 1] - first[row]);
        return warpwise::sum_tolerance(count, std::numeric_limits<float>::epsilon(),
                                       magnitudes[row]);
    }

    void fill() {
        const auto count = static_cast<std::size_t>(rows);
        first.assign(count + 1, 0);
        std::size_t sum = 0;
        for (int row = 0; row < rows; ++row) {
            sum += static_cast<std::size_t>(length_of_row(rule, row, rows));
            if (sum > 0x7FFFFFFF - count) throw std::length_error("too many elements");
            first[static_cast<std::size_t>(row) + 1] = static_cast<int>(sum);
        }
        values = warpwise::uniform<float>(sum, 72);
        x = warpwise::uniform<float>(count, 73);
        cols.resize(sum);
        warpwise::parallel_for_parts(
            count, warpwise::parallel_parts(count),
            [&](std::size_t, std::size_t begin, std::size_t end) {
                for (std::size_t row = begin; row < end; ++row) fill_row(row, count);
            });
    }

    // Ascending columns, none of them twice.
    void fill_row(std::size_t row, std::size_t count) {
        const auto begin = static_cast<std::size_t>(first[row]);
        const auto length = static_cast<std::size_t>(first[row + 1]) - begin;
        for (std::size_t j = 0; j < length; ++j) {
            std::size_t col = 0;
            if (rule == Rule::banded) {
                const std::size_t left = row < length / 2 ? 0 : row - length / 2;
                col = std::min(left, count - length) + j;
            } else {  // one in each of `length` equal parts of the row
                const std::size_t part = j * count / length;
                const std::size_t next = (j + 1) * count / length;
                col = part + warpwise::random_bits(74, begin + j) % (next - part);
            }
            cols[begin + j] = static_cast<int>(col);
        }
    }

    void multiply() {
        reference.assign(x.size(), 0);
        magnitudes.assign(x.size(), 0);
        for (std::size_t row = 0; row < x.size(); ++row) {
            for (auto k = static_cast<std::size_t>(first[row]);
                 k < static_cast<std::size_t>(first[row + 1]); ++k) {
                const double term =
                    double{values[k]} * double{x[static_cast<std::size_t>(cols[k])]};
                reference[row] += term;
                magnitudes[row] += std::fabs(term);
            }
        }
    }

    // For step 4: as many rows as have at most kStream elements, and at most kStream rows.
    void group_rows() {
        std::vector<int> starts = {0};
        for (int row = 0; row < rows;) {
            int end = row + 1;
            while (end < rows && end - row < kStream &&
                   first[static_cast<std::size_t>(end) + 1] -
                           first[static_cast<std::size_t>(row)] <=
                       kStream)
                ++end;
            starts.push_back(row = end);
        }
        groups = static_cast<int>(starts.size()) - 1;
        d_groups = DeviceBuffer<int>(starts);
    }

    int length(int row) const {
        return first[static_cast<std::size_t>(row) + 1] - first[static_cast<std::size_t>(row)];
    }

    // For step 6.
    void slice_rows() {
        std::vector<int> order, too_long, begin, lengths, slice_cols;
        std::vector<float> slice_values;
        for (int row = 0; row < rows; ++row)
            (length(row) <= kLongest ? order : too_long).push_back(row);
        for (auto from = order.begin(); from != order.end();) {
            const auto to = from + std::min<std::ptrdiff_t>(kWindow, order.end() - from);
            std::stable_sort(from, to, [&](int a, int b) { return length(a) > length(b); });
            from = to;
        }
        order.resize((order.size() + kLanes - 1) / kLanes * kLanes, -1);
        for (std::size_t place = 0; place < order.size(); place += kLanes) {
            begin.push_back(static_cast<int>(slice_cols.size()));
            const int longest = length(order[place]);
            const std::size_t room = static_cast<std::size_t>(longest) * kLanes;
            slice_cols.resize(slice_cols.size() + room, 0);
            slice_values.resize(slice_values.size() + room, 0);
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const int row = order[place + lane];
                lengths.push_back(row < 0 ? 0 : length(row));
                for (int j = 0; row >= 0 && j < length(row); ++j) {
                    const auto from =
                        static_cast<std::size_t>(first[static_cast<std::size_t>(row)] + j);
                    const auto to = static_cast<std::size_t>(begin.back()) + lane +
                                    static_cast<std::size_t>(j) * kLanes;
                    slice_cols[to] = cols[from];
                    slice_values[to] = values[from];
                }
            }
        }
        slices = static_cast<int>(begin.size());
        long_rows = static_cast<int>(too_long.size());
        padded = slice_cols.size();
        d_slice_begin = DeviceBuffer<int>(begin);
        d_slice_rows = DeviceBuffer<int>(order);
        d_slice_lengths = DeviceBuffer<int>(lengths);
        d_slice_cols = DeviceBuffer<int>(slice_cols);
        d_slice_values = DeviceBuffer<float>(slice_values);
        d_long_rows = DeviceBuffer<int>(too_long);
    }
};

}  // namespace
}  // namespace examples
