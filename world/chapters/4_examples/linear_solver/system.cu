// The system of equations of the lesson linear_solver: made on the host, and judged there
// in double.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/linear_solver/system.h"
#include "common/helpers/check.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"

namespace examples {
namespace {

using warpwise::text_of;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// Refuses what the blocked solver cannot take.
unsigned checked_size(const warpwise::Size& size) {
    if (size[0] > most_unknowns()) {
        throw warpwise::Refusal(
            "linear_solver takes at most " + std::to_string(most_unknowns()) +
            " unknowns on this device: all rows of a panel are in registers at once");
    }
    return static_cast<unsigned>(size[0]);
}

std::size_t pitch_for(unsigned n) {
    return warpwise::ceil_div(std::size_t{n} + 1, 32) * 32;
}

// Calls `body(row)` for all rows of the host's matrix.
template <class Body>
void for_each_row(unsigned n, const Body& body) {
    warpwise::parallel_for(n, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) body(row);
    });
}

double largest_magnitude(const std::vector<float>& values) {
    double largest = 0;
    for (const float value : values)
        largest = std::max(largest, std::fabs(double{value}));  // NaN is passed over
    return largest;
}

}  // namespace

LinearSystem::LinearSystem(const warpwise::Size& size)
    : LinearSystem(checked_size(size), warpwise::uniform<float>(size[0] * size[0], 31),
                   warpwise::uniform<float>(size[0], 32)) {}

LinearSystem::LinearSystem(unsigned unknowns, std::vector<float> a, std::vector<float> b)
    : n(unknowns),
      pitch(pitch_for(n)),
      matrix(std::move(a)),
      right(std::move(b)),
      column_maxima(n),
      d_original(n * pitch),
      d_work(n * pitch),
      d_x(n),
      d_pivots(n),
      d_keys(n),
      d_block_maxima(n == 0 ? 0 : warpwise::ceil_div(n, 256)),
      d_column_of_row(n),
      d_words(n == 0 ? 0
                     : 2 * warpwise::ceil_div(n, tuning.panel_threads) *
                           tuning.words_per_block),
      d_moves(3 * tuning.panel) {
    if (n == 0) return;
    std::vector<double> sums(n);
    for_each_row(n, [&](std::size_t row) {
        for (std::size_t col = 0; col < n; ++col)
            sums[row] += std::fabs(double{matrix[row * n + col]});
    });
    norm = *std::max_element(sums.begin(), sums.end());
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t col = 0; col < n; ++col) {
            column_maxima[col] =
                std::max(column_maxima[col], std::fabs(double{matrix[row * n + col]}));
        }
    }
    constexpr std::size_t width = sizeof(float);
    d_original.fill_bytes(0);
    warpwise::check(cudaMemcpy2D(d_original.data(), pitch * width, matrix.data(), n * width,
                                 n * width, n, cudaMemcpyHostToDevice));
    warpwise::check(cudaMemcpy2D(d_original.data() + n, pitch * width, right.data(), width,
                                 width, n, cudaMemcpyHostToDevice));
}

void LinearSystem::poison() {
    d_x.fill_bytes(0xFF);
    d_pivots.fill_bytes(0xFF);
}

// No x is exact, and how near it comes to the true one depends on the matrix more than on
// the solver. What a solver can be held to is the residual: each equation has to hold up to
// rounding errors of the size of A and x.
warpwise::Comparison LinearSystem::compare() {
    const std::vector<float> x = d_x.download();
    std::vector<double> left(n);
    for_each_row(n, [&](std::size_t row) {
        double sum = 0;
        for (std::size_t col = 0; col < n; ++col)
            sum += double{matrix[row * n + col]} * double{x[col]};
        left[row] = sum;
    });
    const double scale = norm * largest_magnitude(x);
    const warpwise::Comparison result =
        warpwise::compare_each(left, n, [&](std::size_t row) { return double{right[row]}; },
                               {.absolute = tolerance() * scale});
    backward_error_ = scale == 0 ? result.largest_error : result.largest_error / scale;
    return result;
}

double LinearSystem::tolerance() const {
    return 4 * std::sqrt(static_cast<double>(n)) * kEpsilon;
}

double LinearSystem::backward_error() {
    (void)compare();
    return backward_error_;
}

warpwise::Work LinearSystem::work() const {
    return {.operations = 2.0 / 3.0 * std::pow(static_cast<double>(n), 3)};
}

std::vector<warpwise::Figure> LinearSystem::figures() const {
    return {{"backward error", backward_error_}};
}

std::size_t LinearSystem::device_bytes(const warpwise::Size& size) {
    const std::size_t n = size[0];
    return (2 * n * (n + 32) + 16 * n) * sizeof(float);
}

std::string Solvability::text() const {
    if (kind == Kind::solved) return "solved";
    return (kind == Kind::singular ? "singular: column " : "nearly singular: column ") +
           std::to_string(column);
}

Solvability solvability_of(const LinearSystem& system) {
    const std::vector<float> pivots = system.d_pivots.download();
    for (unsigned column = 0; column < system.n; ++column) {
        const double magnitude = std::fabs(double{pivots[column]});
        if (!(magnitude > 0) || std::isinf(magnitude))
            return {Solvability::Kind::singular, column};
    }
    for (unsigned column = 0; column < system.n; ++column) {
        const double nothing = system.n * kEpsilon * system.column_maxima[column];
        if (std::fabs(double{pivots[column]}) <= nothing)
            return {Solvability::Kind::nearly_singular, column};
    }
    return {};
}

void copy_to_work(LinearSystem& system, std::size_t pitch) {
    constexpr std::size_t width = sizeof(float);
    // Of a row.
    const std::size_t floats = pitch == system.pitch ? pitch : system.n + std::size_t{1};
    warpwise::check(cudaMemcpy2DAsync(system.d_work.data(), pitch * width,
                                      system.d_original.data(), system.pitch * width,
                                      floats * width, system.n, cudaMemcpyDeviceToDevice));
}

// ---- matrices of all kinds --------------------------------------------------------------

namespace {

template <class Element>
std::vector<float> matrix_of(unsigned n, const Element& element) {
    std::vector<float> matrix(std::size_t{n} * n);
    for (unsigned row = 0; row < n; ++row) {
        for (unsigned col = 0; col < n; ++col)
            matrix[std::size_t{row} * n + col] = element(row, col);
    }
    return matrix;
}

}  // namespace

std::vector<NamedMatrix> matrices_of_all_kinds(unsigned n) {
    using Kind = Solvability::Kind;
    constexpr unsigned signs = 64, hilbert = 8;
    const std::vector<float> values = warpwise::uniform<float>(std::size_t{n} * n, 33);
    const auto random = [&](unsigned row, unsigned col) {
        return values[std::size_t{row} * n + col];
    };
    const auto unit = [&](unsigned i, int bits) {  // from 2^-bits to 2^bits
        return std::ldexp(1.0f, static_cast<int>(2 * bits * i / n) - bits);
    };
    std::vector<NamedMatrix> all;
    const auto add = [&](const char* name, unsigned size, Kind kind,
                         std::optional<unsigned> column, const auto& element) {
        all.push_back({name, size, matrix_of(size, element), kind, column});
    };
    add("random", n, Kind::solved, {}, random);
    add("diagonally dominant", n, Kind::solved, {}, [&](unsigned row, unsigned col) {
        return random(row, col) + (row == col ? static_cast<float>(n) : 0);
    });
    add("a permutation", n, Kind::solved, {},
        [&](unsigned row, unsigned col) { return (row + 1) % n == col ? 1.0f : 0.0f; });
    add("all 1 or -1, n = 64", signs, Kind::solved, {}, [](unsigned row, unsigned col) {
        return __builtin_parity(row & col) ? -1.0f : 1.0f;
    });
    add("columns in other units", n, Kind::solved, {},
        [&](unsigned row, unsigned col) { return random(row, col) * unit(col, 8); });
    add("rows in other units", n, Kind::nearly_singular, {},
        [&](unsigned row, unsigned col) { return random(row, col) * unit(row, 30); });
    add("Hilbert, n = 8", hilbert, Kind::nearly_singular, {},
        [](unsigned row, unsigned col) {
            return 1.0f / static_cast<float>(row + col + 1);
        });
    add("two rows nearly alike", n, Kind::nearly_singular, n - 1,
        [&](unsigned row, unsigned col) {
            return random(row == 7 ? 3 : row, col) + (row == 7 && col == 2 ? 1e-6f : 0);
        });
    add("a row of zeros", n, Kind::singular, n - 1,
        [&](unsigned row, unsigned col) { return row == 7 ? 0 : random(row, col); });
    add("a column of zeros", n, Kind::singular, 5,
        [&](unsigned row, unsigned col) { return col == 5 ? 0 : random(row, col); });
    return all;
}

LinearSystem system_of_ones(const NamedMatrix& named) {
    const std::size_t n = named.n;
    std::vector<float> right(n);
    for (std::size_t row = 0; row < n; ++row) {
        double sum = 0;
        for (std::size_t col = 0; col < n; ++col)
            sum += double{named.matrix[row * n + col]};
        right[row] = static_cast<float>(sum);
    }
    return LinearSystem(named.n, named.matrix, right);
}

// Solves each system by each method: what is found of it has to be what was expected, and
// the backward error within bounds.
void show_matrices_of_all_kinds(warpwise::Lesson& lesson,
                                const std::vector<Method>& methods) {
    const unsigned n = lesson.measures() ? 400 : 40;
    std::vector<std::string> header = {"matrix", "verdict"};
    for (const Method& method : methods) header.push_back(method.name);
    header.push_back("error of x");
    std::vector<std::vector<std::string>> rows;
    for (const NamedMatrix& named : matrices_of_all_kinds(n)) {
        LinearSystem system = system_of_ones(named);
        Solvability solvability;
        std::string error_of_x = "-";
        rows.push_back({named.name, ""});
        for (const Method& method : methods) {
            const std::string what = named.name + ", " + method.name + ": ";
            system.poison();
            method.solve(system);
            solvability = solvability_of(system);
            const bool right_column = !named.column || solvability.column == *named.column;
            lesson.expect(solvability.kind == named.kind && right_column,
                          what + "the outcome is right");
            if (solvability.kind == Solvability::Kind::singular) {
                rows.back().push_back("-");
                continue;
            }
            const double error = system.backward_error();
            rows.back().push_back(text_of("%.1e", error));
            lesson.expect(error <= system.tolerance(),
                          what + "the backward error is small");
            double largest = 0;
            for (const float x : system.d_x.download())
                largest = std::max(largest, std::fabs(x - 1.0));
            error_of_x = text_of("%.1e", largest);
        }
        rows.back()[1] = solvability.text();
        rows.back().push_back(error_of_x);
    }
    lesson.table({"backward_error", "Backward error, n = " + std::to_string(n)}, header,
                 rows);
}

}  // namespace examples
