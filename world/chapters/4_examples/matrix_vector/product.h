// What the kernels of the lesson matrix_vector work on: a pitched matrix, a vector, and
// their product in double. The kernels are in step_02_thread_per_row.cuh to
// step_08_rows_of_a_range.cuh, one per file. lesson.cu launches them, and has the function
// that picks one of them for a shape.
//
//     Product problem({1000, 200});                 // rows, columns
//     multiply(problem);
//     if (!problem.compare().passed) ...
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

constexpr unsigned kLanes = 32;
constexpr unsigned kThreads = 256;  // of a block
constexpr unsigned kWarps = kThreads / kLanes;
constexpr unsigned kMostRows = 8;  // of a block of step 6, at a time

// What may be tuned in the last two steps.
struct Tuning {
    unsigned loads;  // 16-byte loads of the matrix that a thread has in flight
    unsigned
        row_blocks;  // step 6: with fewer rows than so many blocks want, blocks share rows
    unsigned
        lane_blocks;  // step 7: at most so many blocks, whose warps go on to further rows
};
#ifdef __CPU_DEVICE__  // few, so that warps go on to further rows in a small matrix too
constexpr Tuning kTuning = {.loads = 8, .row_blocks = 16, .lane_blocks = 2};
#else  // 132 multiprocessors
constexpr Tuning kTuning = {.loads = 8, .row_blocks = 16 * 132, .lane_blocks = 0xFFFFFFFF};
#endif

// Floats from row to row. cudaMallocPitch would put rows of 16 floats 512 bytes apart, and
// 7 of 8 bytes would be padding. So a short row is padded to 16 bytes, as float4 wants it,
// and a long one to whole sectors.
std::size_t pitch_for(std::size_t cols) {
    const std::size_t unit = cols < 64 ? 4 : 8;
    return warpwise::ceil_div(cols, unit) * unit;
}

// The matrix, the vector, their product in double, and memory for the steps. The padding
// after the columns of a row is NaN: a kernel that reads it spoils the sum. The tickets are
// zero once; each launch leaves them as it found them.
struct Product {
    std::size_t rows, cols, pitch;
    std::vector<float> matrix, x;
    std::vector<double> reference;
    double magnitude = 0;  // the largest sum of the magnitudes of a row's products
    std::size_t chain = 0;
    DeviceBuffer<float> d_matrix, d_x, d_y, d_parts{2 * kTuning.row_blocks * kMostRows};
    DeviceBuffer<unsigned> d_drawn{std::vector<unsigned>(kTuning.row_blocks)};

    explicit Product(const warpwise::Size& size)
        : Product(size[0], size[1], pitch_for(size[1])) {}

    Product(std::size_t all_rows, std::size_t all_cols, std::size_t floats_apart)
        : rows(all_rows),
          cols(all_cols),
          pitch(floats_apart),
          matrix(warpwise::uniform<float>(rows * pitch, 1)) {
        for (std::size_t row = 0; row < rows && pitch > cols; ++row) {
            std::fill_n(&matrix[row * pitch + cols], pitch - cols,
                        std::numeric_limits<float>::quiet_NaN());
        }
        d_matrix = DeviceBuffer<float>(matrix);
        prepare();
    }

    // Takes the same floats for a matrix of another shape.
    void reshape(std::size_t new_rows, std::size_t new_cols, std::size_t floats_apart) {
        rows = new_rows, cols = new_cols, pitch = floats_apart;
        prepare();
    }

    void prepare() {
        x = warpwise::uniform<float>(cols, 2);
        d_x = DeviceBuffer<float>(x);
        d_y = DeviceBuffer<float>(rows);
        reference.assign(rows, 0);
        const std::size_t parts = warpwise::parallel_parts(rows);
        std::vector<double> magnitudes(parts);
        warpwise::parallel_for_parts(
            rows, parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
                for (std::size_t row = begin; row < end; ++row) {
                    double sum = 0, sum_of_magnitudes = 0;
                    for (std::size_t col = 0; col < cols; ++col) {
                        const double product =
                            double{matrix[row * pitch + col]} * double{x[col]};
                        sum += product;
                        sum_of_magnitudes += std::fabs(product);
                    }
                    reference[row] = sum;
                    magnitudes[part] = std::max(magnitudes[part], sum_of_magnitudes);
                }
            });
        magnitude =
            parts == 0 ? 0 : *std::max_element(magnitudes.begin(), magnitudes.end());
    }

    void poison() {
        d_y.fill_bytes(0xFF);
        chain = 0;
    }

    // `threads` share a row, or several rows: so many roundings are in a sum.
    void rounds_like(std::size_t threads, std::size_t blocks = 1) {
        chain = 1 + warpwise::ceil_div(cols, threads * blocks) + std::bit_width(threads) +
                blocks;
    }

    warpwise::Comparison compare() {
        constexpr double epsilon = std::numeric_limits<float>::epsilon();
        return warpwise::compare(
            d_y.download(), reference,
            {.absolute = warpwise::sum_tolerance(chain, epsilon, magnitude)});
    }

    warpwise::Work work() const {
        const double elements = static_cast<double>(rows) * static_cast<double>(cols);
        return {.bytes = 4 * (elements + static_cast<double>(rows + cols)),
                .operations = 2 * elements};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 4 * (size[0] * pitch_for(size[1]) + size[0] + size[1]) +
               (std::size_t{1} << 20);
    }
};

}  // namespace
}  // namespace examples
