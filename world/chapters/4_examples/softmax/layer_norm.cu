// Layer norm: each row of a matrix gets mean 0 and variance 1, and then each column a
// factor (gamma) and an offset (beta) of its own. Like the softmax, each result depends on
// two numbers of its whole row, here the mean and the variance.
#include "chapters/4_examples/softmax/layer_norm.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "chapters/4_examples/softmax/layer_norm.cuh"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

struct Normed {
    std::size_t rows, cols;
    std::vector<float> in, gamma, beta;
    std::vector<double> reference;
    double largest = 0;       // of all |x| / deviation, with the deviation of the row
    double cancellation = 0;  // the largest mean^2 / deviation^2
    std::size_t chain = 0;
    bool cancels = false;  // set by a step that subtracts mean^2
    DeviceBuffer<float> d_in, d_gamma, d_beta, d_out;

    explicit Normed(const warpwise::Size& size) : Normed(size, 0) {}

    // Elements within 1 of `offset`.
    Normed(const warpwise::Size& size, float offset)
        : rows(size[0]),
          cols(size[1]),
          in(warpwise::uniform<float>(rows * cols, 61, offset - 1, offset + 1)),
          gamma(warpwise::uniform<float>(cols, 62, 0.5f, 1.5f)),
          beta(warpwise::uniform<float>(cols, 63)),
          reference(rows * cols),
          d_in(in),
          d_gamma(gamma),
          d_beta(beta),
          d_out(rows * cols) {
        std::vector<double> largests(warpwise::parallel_parts(rows)),
            cancellations(largests.size());
        warpwise::parallel_for_parts(
            rows, largests.size(),
            [&](std::size_t part, std::size_t begin, std::size_t end) {
                for (std::size_t row = begin; row < end && cols > 0; ++row)
                    prepare_row(row, largests[part], cancellations[part]);
            });
        for (const double of_part : largests) largest = std::max(largest, of_part);
        for (const double of_part : cancellations)
            cancellation = std::max(cancellation, of_part);
    }

    void poison() {
        d_out.fill_bytes(0xFF);
        chain = 0;
        cancels = false;
    }

    void rounds_like(std::size_t threads) {
        chain = warpwise::ceil_div(cols, threads) + 16;
    }

    // An error of the mean counts as a share of the deviation. One of the variance counts
    // half as a relative error of the factor.
    warpwise::Comparison compare() {
        constexpr double rounding = std::numeric_limits<float>::epsilon();
        const double of_variance = cancels ? 1 + cancellation : 1;
        return warpwise::compare(d_out.download(), reference,
                                 {.absolute = warpwise::sum_tolerance(
                                      chain, rounding, 1.5 * (1 + largest) * of_variance)});
    }

    // The largest error; NaN where a result is NaN.
    double error() const {
        const std::vector<float> out = d_out.download();
        double error = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double of_element = std::fabs(double{out[i]} - reference[i]);
            if (!(of_element <= error)) error = of_element;
            if (std::isnan(error)) break;
        }
        return error;
    }

    warpwise::Work work() const {
        return {.bytes = 8 * static_cast<double>(rows + 1) * static_cast<double>(cols)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 8 * (size[0] + 1) * size[1];
    }

private:
    void prepare_row(std::size_t row, double& of_largest, double& of_cancellation) {
        const float* const x = in.data() + row * cols;
        const double count = static_cast<double>(cols);
        double sum = 0, squares = 0, most = 0;
        for (std::size_t col = 0; col < cols; ++col) {
            sum += double{x[col]};
            most = std::max(most, std::fabs(double{x[col]}));
        }
        const double mean = sum / count;
        for (std::size_t col = 0; col < cols; ++col)
            squares += (double{x[col]} - mean) * (double{x[col]} - mean);
        const double deviation = std::sqrt(squares / count + double{kEpsilon});
        for (std::size_t col = 0; col < cols; ++col)
            reference[row * cols + col] =
                (double{x[col]} - mean) / deviation * double{gamma[col]} +
                double{beta[col]};
        of_largest = std::max(of_largest, most / deviation);
        of_cancellation = std::max(of_cancellation, std::pow(most / deviation, 2));
    }
};

// ---- steps ------------------------------------------------------------------------------

template <auto Kernel>
void run_block_per_row(Normed& p) {
    if (p.rows == 0) return;
    Kernel<<<warpwise::blocks_for(p.rows, 1), kThreads>>>(
        p.d_in.data(), p.cols, p.d_gamma.data(), p.d_beta.data(), p.d_out.data());
    warpwise::check_launch();
    p.rounds_like(kThreads);
}

void run_two_sums(Normed& p) {
    run_block_per_row<norm_two_sums>(p);
    p.cancels = true;
}

template <class Piece, unsigned Threads, unsigned Floats>
void launch_norm_in_registers(Normed& p) {
    norm_in_registers<Piece, Threads, Floats><<<warpwise::blocks_for(p.rows, 1), Threads>>>(
        p.d_in.data(), p.cols, p.d_gamma.data(), p.d_beta.data(), p.d_out.data());
    warpwise::check_launch();
    p.rounds_like(Threads);
}

template <class Piece>
void launch_norm_in_registers(Normed& p) {
    if (p.rows == 0) return;
    if (p.cols <= 1024) return launch_norm_in_registers<Piece, 256, 4>(p);
    if (p.cols <= 2048) return launch_norm_in_registers<Piece, 256, 8>(p);
    if (p.cols <= 4096) return launch_norm_in_registers<Piece, 256, 16>(p);
    if (p.cols <= 8192) return launch_norm_in_registers<Piece, 512, 16>(p);
    if (p.cols <= 16384) return launch_norm_in_registers<Piece, 512, 32>(p);
    return launch_norm_in_registers<Piece, 1024, 32>(p);
}

void run_norm_in_registers(Normed& p) {
    if (p.cols > 32768) return run_block_per_row<norm_welford>(p);
    return p.cols % kFloats<float4> == 0 ? launch_norm_in_registers<float4>(p)
                                         : launch_norm_in_registers<float>(p);
}

// ---- what cancels -----------------------------------------------------------------------

void show_cancellation(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const float offset : {0.0f, 10.0f, 100.0f, 1000.0f, 10000.0f}) {
        Normed problem({4, 1024}, offset);
        rows.push_back({warpwise::text_of("%g", offset)});
        const auto error_of = [&](void (*run)(Normed&)) {
            problem.poison();
            run(problem);
            const double error = problem.error();
            rows.back().push_back(std::isnan(error) ? "nan"
                                                    : warpwise::text_of("%.0e", error));
            return error;
        };
        const double two_sums = error_of(run_two_sums);
        const double welford = error_of(run_block_per_row<norm_welford>);
        const double in_registers = error_of(run_norm_in_registers);
        const std::string name = "elements around " + rows.back()[0] + ": ";
        if (offset == 0)
            lesson.expect(two_sums < 1e-5, name + "two sums are exact around 0");
        if (offset >= 1000)
            lesson.expect(!(two_sums < 20 * welford), name + "two sums cancel");
        if (offset == 10000)
            lesson.expect(!(two_sums < 0.1), name + "two sums have no digit left");
        lesson.expect(welford < 1e-5 + 4e-7 * double{offset}, name + "Welford is exact");
        lesson.expect(in_registers < 1e-5 + 4e-7 * double{offset},
                      name + "two passes are exact");
    }
    lesson.table({"offset", "Largest error of a layer norm, 4 rows of 1024 floats"},
                 {"elements around", "norm_two_sums", "norm_welford", "norm_in_registers"},
                 rows);
}

}  // namespace

void tell_layer_norm(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Layer norm gives each row mean 0 and variance 1. Its two numbers per row can also
be found in one pass, and combined from thread to thread. Is a row that stays in registers
still the best way?)");
    lesson.predict(
        {.question = R"(norm_welford reads a row twice and writes it once, as `online` does.
norm_in_registers reads it once. How many barriers does a warp of norm_in_registers pass?)",
         .answer =
             warpwise::Number{.value = 2,
                              .unit = "barriers",
                              .shown_by = warpwise::barriers_per_warp("norm_in_registers")},
         .because = R"(One for the sum and one for the squares: it needs the mean of the
whole row before it can square the first deviation.)"});
    lesson.steps<Normed>(
        {.gpu = {65536, 4096},
         .cpu = {64, 1000},
         .awkward = {{0, 0},    {0, 5},     {5, 0},     {1, 1},     {1, 31},    {31, 1},
                     {2, 2},    {3, 32},    {32, 33},   {33, 65},   {509, 7},   {7, 1009},
                     {5, 1024}, {3, 1025},  {2, 4096},  {2, 4099},  {1, 8192},  {3, 9001},
                     {67, 100}, {1, 16385}, {1, 32768}, {2, 32771}, {1, 100000}}},
        {{"norm_two_sums", "sums of x and of x * x", run_two_sums},
         {"norm_welford", "Welford's sum, combined pairwise",
          run_block_per_row<norm_welford>},
         {"norm_in_registers", "the row is read once and kept", run_norm_in_registers}});
    lesson.conclusion(
        R"(gamma and beta are read for each row as well, so all steps move 8 bytes per
element more than the steps of the softmax. On a GPU they come from a cache. With the row in
registers, two plain passes over it cost no memory, and Welford's divisions are not
needed.)");
    lesson.question(
        R"(Why Welford's sum at all, if two sums take fewer operations? The variance is also
the mean of the squares minus the square of the mean.)");
    lesson.predict(
        {.question = R"(The elements of a row lie between 9999 and 10001. Their squares are
near 10^8, where neighboring floats are 8 apart, and the variance is 1/3. How many digits of
it do two float sums get right?)",
         .answer = warpwise::Choice{{"all 7", "about 4", "none"}, 2},
         .because = R"(The difference of two numbers near 10^8 is a multiple of 8, or was
rounded as coarsely before. 1/3 drowns in that.)"});
    show_cancellation(lesson);
    lesson.conclusion(
        R"(Around 0 all three are exact. The farther the mean, the more of the variance is
lost by two sums: at 10000 nothing is left. Welford's sum and the second pass subtract the
mean first, while the numbers are small. What remains of their error is the rounding of the
mean itself.)");
}

}  // namespace examples
