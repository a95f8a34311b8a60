// What the kernels of the lesson softmax work on: a matrix whose rows follow each other
// without padding, and its softmax in double.
//
//     Matrix problem({64, 1000});                    // rows, columns
//     run_softmax(problem);
//     if (!problem.compare().passed) ...
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "chapters/4_examples/softmax/kernels.cuh"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

constexpr double kRounding = std::numeric_limits<float>::epsilon();

// Rows of ordinary numbers give numbers. Where the formula says 0 / 0 or infinity /
// infinity, the whole row is NaN: a row that contains NaN or infinity, and a row of nothing
// but -infinity. The steps have to give NaN there, and there only.
struct Matrix {
    std::size_t rows, cols;
    std::vector<float> in;
    std::vector<double> reference;
    double spread = 0;  // how far below its row's maximum an element is that counts
    std::size_t chain = 0;
    DeviceBuffer<float> d_in, d_out;
    DeviceBuffer<Normalizer> d_parts;

    explicit Matrix(const warpwise::Size& size)
        : Matrix(size[0], size[1], warpwise::uniform<float>(size[0] * size[1], 51, -8, 8)) {
    }

    // `values`: row after row. Those that are left over serve other shapes.
    Matrix(std::size_t all_rows, std::size_t all_cols, std::vector<float> values)
        : rows(all_rows), cols(all_cols), in(std::move(values)), d_in(in) {
        prepare();
    }

    // Takes the first of the same floats for a matrix of another shape.
    void reshape(std::size_t new_rows, std::size_t new_cols) {
        rows = new_rows, cols = new_cols;
        prepare();
    }

    std::size_t parts() const { return warpwise::ceil_div(cols, kPart); }  // of a row

    void prepare() {
        d_out = DeviceBuffer<float>(rows * cols);
        d_parts = DeviceBuffer<Normalizer>(rows * parts());
        reference.resize(rows * cols);
        std::vector<double> spreads(warpwise::parallel_parts(rows));
        warpwise::parallel_for_parts(
            rows, spreads.size(),
            [&](std::size_t part, std::size_t begin, std::size_t end) {
                double furthest = 0;
                for (std::size_t row = begin; row < end; ++row)
                    furthest = std::max(furthest, prepare_row(row));
                spreads[part] = furthest;
            });
        spread = 0;
        for (const double of_part : spreads) spread = std::max(spread, of_part);
    }

    // Not NaN but a number that no softmax has: some rows have to be NaN.
    void poison() {
        d_out.fill_bytes(0xEE);
        d_parts.fill_bytes(0xEE);
        chain = 0;
    }

    // So many threads share a row: that shortens the chain of roundings behind a sum.
    void rounds_like(std::size_t threads) {
        chain = warpwise::ceil_div(cols, threads) + 16;
    }

    warpwise::Comparison compare() {
        // An exponential has a relative error of 2 roundings, and of those of its argument.
        // All terms of the sum are positive, so in a long chain roundings may have one
        // direction: small terms are lost one after the other.
        const double of_sum = std::max(warpwise::sum_tolerance(chain, kRounding, 1),
                                       kRounding * static_cast<double>(chain) / 32);
        const warpwise::Tolerance tolerance = {
            .absolute = 10 * double{std::numeric_limits<float>::min()},
            .relative = kRounding * (spread + 10) + of_sum};
        const std::vector<float> out = d_out.download();
        // Of two numbers that are not there, none passes; so those that have to be NaN are
        // 0 if they are, and NaN if they are not.
        const auto is_nan_row = [&](std::size_t row) {
            return std::isnan(reference[row * cols]);
        };
        bool any_nan = false;
        for (std::size_t row = 0; row < rows && cols > 0; ++row) any_nan |= is_nan_row(row);
        if (!any_nan) return warpwise::compare(out, reference, tolerance);
        std::vector<float> got = out;
        std::vector<double> expected = reference;
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (!is_nan_row(i / cols)) continue;
            got[i] = std::isnan(out[i]) ? 0 : std::numeric_limits<float>::quiet_NaN();
            expected[i] = 0;
        }
        return warpwise::compare(got, expected, tolerance);
    }

    warpwise::Work work() const {
        return {.bytes = 8 * static_cast<double>(rows) * static_cast<double>(cols)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 8 * size[0] * size[1] +
               sizeof(Normalizer) * size[0] * warpwise::ceil_div(size[1], kPart);
    }

private:
    // The reference of a row; returns its spread.
    double prepare_row(std::size_t row) {
        const float* const x = in.data() + row * cols;
        double largest = -INFINITY, sum = 0, furthest = 0;
        for (std::size_t col = 0; col < cols; ++col)
            largest = std::max(largest, double{x[col]});
        for (std::size_t col = 0; col < cols; ++col) {
            const double below = largest - double{x[col]};
            sum += std::exp(-below);
            if (below <= 104) furthest = std::max(furthest, below);  // exp(-104) is 0
        }
        for (std::size_t col = 0; col < cols; ++col)
            reference[row * cols + col] = std::exp(double{x[col]} - largest) / sum;
        return furthest;
    }
};

}  // namespace
}  // namespace examples
