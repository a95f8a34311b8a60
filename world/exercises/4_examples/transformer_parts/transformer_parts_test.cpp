#include "exercises/4_examples/transformer_parts/transformer_parts.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/counts.h"

const grading::Exercise grading::exercise{"4_examples", "transformer_parts"};

namespace {

using Matrix = std::vector<double>;  // row after row
constexpr double rounding = std::numeric_limits<float>::epsilon() / 2;

std::size_t count_of(int number) { return static_cast<std::size_t>(number); }

double root_of(int number) { return std::sqrt(static_cast<double>(number)); }

Matrix in_double(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

std::vector<float> scaled(std::vector<float> values, double factor) {
    for (float& value : values) value *= static_cast<float>(factor);
    return values;
}

double largest_of(const Matrix& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::fabs(value));
    return largest;
}

// ---- the parts in double ----------------------------------------------------------------

// `gain`: 1 over the smallest deviation of a row, by which a norm multiplies errors.
Matrix normed(const Matrix& x, const std::vector<float>& gamma,
              const std::vector<float>& beta, double* gain = nullptr) {
    Matrix out(x.size());
    const std::size_t cols = gamma.size();
    for (std::size_t first = 0; first + cols <= x.size() && cols > 0; first += cols) {
        const double count = static_cast<double>(cols);
        double sum = 0, squares = 0;
        for (std::size_t col = 0; col < cols; ++col) sum += x[first + col];
        for (std::size_t col = 0; col < cols; ++col)
            squares += std::pow(x[first + col] - sum / count, 2);
        const double deviation = std::sqrt(squares / count + 1e-5);
        for (std::size_t col = 0; col < cols; ++col) {
            out[first + col] =
                (x[first + col] - sum / count) / deviation * double{gamma[col]} +
                double{beta[col]};
        }
        if (gain != nullptr && cols > 1) *gain = std::max(*gain, 1 / deviation);
    }
    return out;
}

/// A product of `ins` to `outs` columns. The squares of the weights of a column add up to
/// about a third of `size` squared.
struct Linear {
    Linear(int ins_, int outs_, std::uint64_t stream, double size = 1)
        : ins(ins_),
          outs(outs_),
          weights(scaled(grading::random_floats(count_of(ins) * count_of(outs), stream),
                         size / std::max(1.0, root_of(ins)))),
          bias(grading::random_floats(count_of(outs), stream + 1)) {}

    int ins, outs;
    std::vector<float> weights, bias;
};

Matrix times(const Matrix& in, const Linear& linear, int rows, bool with_bias = true) {
    const std::size_t ins = count_of(linear.ins), outs = count_of(linear.outs);
    Matrix out(count_of(rows) * outs);
    for (std::size_t row = 0; row < count_of(rows); ++row) {
        double* const to = out.data() + row * outs;
        if (with_bias)
            for (std::size_t col = 0; col < outs; ++col) to[col] = double{linear.bias[col]};
        for (std::size_t p = 0; p < ins; ++p)
            for (std::size_t col = 0; col < outs; ++col)
                to[col] += in[row * ins + p] * double{linear.weights[p * outs + col]};
    }
    return out;
}

Matrix gelu_of(Matrix values) {
    for (double& x : values)
        x *= 0.5 *
             (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    return values;
}

Matrix exact_gelu_of(Matrix values) {
    for (double& x : values) x *= 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    return values;
}

Matrix sum_of(Matrix a, const Matrix& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

struct Heads {
    int tokens, heads, head;
    int width() const { return heads * head; }
};

/// What some mistakes in attention do.
struct Mistakes {
    bool sees_all = false;       // later tokens as well
    bool is_not_scaled = false;  // no division by the root of `head`
    double* largest_score = nullptr;
};

Matrix attended(const Matrix& qkv, const Heads& x, const Mistakes& with = {}) {
    const std::size_t width = count_of(x.width()), head = count_of(x.head),
                      tokens = count_of(x.tokens);
    Matrix out(tokens * width);
    for (std::size_t h = 0; h < count_of(x.heads); ++h) {
        for (std::size_t query = 0; query < tokens; ++query) {
            const double* const q = qkv.data() + query * 3 * width + h * head;
            std::vector<double> weights(with.sees_all ? tokens : query + 1);
            for (std::size_t key = 0; key < weights.size(); ++key) {
                const double* const k = qkv.data() + key * 3 * width + width + h * head;
                for (std::size_t p = 0; p < head; ++p) weights[key] += q[p] * k[p];
                if (!with.is_not_scaled) weights[key] /= root_of(x.head);
                if (with.largest_score != nullptr)
                    *with.largest_score =
                        std::max(*with.largest_score, std::fabs(weights[key]));
            }
            const double largest = *std::max_element(weights.begin(), weights.end());
            double sum = 0;
            for (double& weight : weights) sum += weight = std::exp(weight - largest);
            for (std::size_t key = 0; key < weights.size(); ++key) {
                const double* const v = qkv.data() + key * 3 * width + 2 * width + h * head;
                for (std::size_t p = 0; p < head; ++p)
                    out[query * width + h * head + p] += weights[key] / sum * v[p];
            }
        }
    }
    return out;
}

// ---- calls of the answer ----------------------------------------------------------------

/// What holds for every call: at least so many threads do the work, and nothing is left
/// behind.
void check_call(const grading::Instrumented& instrumented,
                const grading::Guarded<float>& d_out, std::size_t threads) {
    CHECK_THAT(d_out, grading::StaysInside());
    if (d_out.size() > 0) CHECK_THAT(d_out, grading::WrittenByThreads(threads));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc",
                                                "cudaHostRegister"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
}

/// The elements lie within 1 of `offset`.
grading::Instrumented check_norm(int rows, int cols, float offset = 0) {
    INFO(grading::counted(rows, "row")
         << " of " << grading::counted(cols, "float") << " around " << offset);
    std::vector<float> x =
        grading::random_floats(count_of(rows) * count_of(cols), count_of(rows + cols));
    for (float& value : x) value += offset;
    const std::vector<float> gamma = grading::random_floats(count_of(cols), 1),
                             beta = grading::random_floats(count_of(cols), 2);
    double gain = 1;
    const Matrix expected = normed(in_double(x), gamma, beta, &gain);
    const Matrix without = normed(in_double(x), std::vector<float>(gamma.size(), 1.0f),
                                  std::vector<float>(beta.size(), 0.0f));
    const grading::Guarded<float> d_x(x), d_gamma(gamma), d_beta(beta);
    grading::Guarded<float> d_out(x.size());
    if (cols > 0) d_out.show_as_rows_of(count_of(cols));
    const grading::Instrumented instrumented = grading::instrument([&] {
        layer_norm(d_x.data(), d_gamma.data(), d_beta.data(), d_out.data(), rows, cols);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    // The mean may be off by some roundings of the elements; a thread may add all of them.
    const double allowed =
        rounding * (8 + 6 * root_of(cols)) * (1 + std::fabs(double{offset})) * gain;
    CHECK_THAT(d_out,
               grading::CloseTo(expected, {.absolute = allowed})
                   .when(grading::never_written(), "Which lane writes these elements?")
                   .when(grading::equals(without),
                         "What is done with gamma and beta of a column?"));
    CHECK_THAT(d_x, grading::Unchanged());
    check_call(instrumented, d_out, count_of(rows));
    return instrumented;
}

enum class Then { bias, gelu, residual };

grading::Instrumented check_product(int rows, int ins, int outs, Then then,
                                    double size = 1) {
    INFO(rows << " x " << ins << " floats times " << ins << " x " << outs);
    const std::vector<float> in =
        grading::random_floats(count_of(rows) * count_of(ins), count_of(rows + ins));
    const Linear with(ins, outs, 10, size);
    const Matrix sums = times(in_double(in), with, rows);
    const Matrix without_bias = times(in_double(in), with, rows, false);
    const std::vector<float> residual = grading::random_floats(sums.size(), 5);
    const grading::Guarded<float> d_in(in), d_weights(with.weights), d_bias(with.bias),
        d_residual(residual);
    grading::Guarded<float> d_out(sums.size());
    if (outs > 0) d_out.show_as_rows_of(count_of(outs));
    const Product product = {d_in.data(), d_weights.data(), d_bias.data(), rows, ins, outs};
    const grading::Instrumented instrumented = grading::instrument([&] {
        if (then == Then::bias) linear(product, d_out.data());
        if (then == Then::gelu) linear_gelu(product, d_out.data());
        if (then == Then::residual)
            linear_residual(product, d_residual.data(), d_out.data());
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto finished = [&](const Matrix& of) {
        return then == Then::bias   ? of
               : then == Then::gelu ? gelu_of(of)
                                    : sum_of(of, in_double(residual));
    };
    const double allowed = rounding * (10 + 6 * root_of(ins)) * std::max(1.0, size);
    const grading::Cause is_unfinished =
        then == Then::bias ? grading::Cause([](const auto&) { return false; })
                           : grading::equals(sums);
    const grading::Cause is_exact_gelu =
        then != Then::gelu ? grading::Cause([](const auto&) { return false; })
                           : grading::equals(exact_gelu_of(sums));
    CHECK_THAT(d_out,
               grading::CloseTo(finished(sums), {.absolute = allowed})
                   .when(grading::never_written(), "Which thread writes these elements?")
                   .when(grading::equals(finished(without_bias)),
                         "Which part of the result does the bias belong to?")
                   .when(is_unfinished, "What is still to be done after the bias?")
                   .when(is_exact_gelu,
                         "This is GELU with the error function. Which one "
                         "does the task ask for?"));
    CHECK_THAT(d_in, grading::Unchanged());
    CHECK_THAT(d_weights, grading::Unchanged());
    CHECK_THAT(d_residual, grading::Unchanged());
    check_call(instrumented, d_out, d_out.size() / 128);
    return instrumented;
}

/// Queries and keys are multiplied by `size`, so that scores become larger.
grading::Instrumented check_attention(const Heads& x, double size = 1,
                                      bool is_ascending = false) {
    INFO(grading::counted(x.tokens, "token")
         << ", " << grading::counted(x.heads, "head") << " of " << x.head);
    const std::size_t width = count_of(x.width()), cols = 3 * width;
    std::vector<float> qkv =
        grading::random_floats(count_of(x.tokens) * cols, count_of(x.tokens + x.width()));
    for (std::size_t i = 0; i < qkv.size(); ++i) {
        if (i % cols < 2 * width) qkv[i] *= static_cast<float>(size);
        // Keys grow from token to token, and so do their scores.
        if (is_ascending && i % cols < 2 * width)
            qkv[i] = std::fabs(qkv[i]) *
                     (i % cols < width ? 1 : static_cast<float>(i / cols + 1) / 8);
    }
    double largest_score = 0;
    const Matrix in = in_double(qkv);
    const Matrix expected = attended(in, x, {.largest_score = &largest_score});
    const grading::Guarded<float> d_qkv(qkv);
    grading::Guarded<float> d_scores(count_of(x.heads * x.tokens) * count_of(x.tokens)),
        d_out(expected.size());
    if (width > 0) d_out.show_as_rows_of(width);
    const grading::Instrumented instrumented = grading::instrument([&] {
        attention(d_qkv.data(), d_scores.data(), d_out.data(), x.tokens, x.heads, x.head);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    // A score is rounded in each of its terms; the weights add up to 1.
    const double allowed =
        rounding * (20 + 6 * root_of(x.tokens) + 2 * largest_score * (2 + root_of(x.head)));
    CHECK_THAT(d_out,
               grading::CloseTo(expected, {.absolute = allowed})
                   .when(grading::never_written(), "Which thread writes these elements?")
                   .when(grading::not_a_number(),
                         "NaN comes from a difference or a product of infinities, or from "
                         "0 / 0. Which row has no key in a tile?")
                   .when(grading::equals(attended(in, x, {.sees_all = true})),
                         "Which keys must a query not see?")
                   .when(grading::equals(attended(in, x, {.is_not_scaled = true})),
                         "By what is a score divided before the softmax?"));
    CHECK_THAT(d_qkv, grading::Unchanged());
    CHECK_THAT(d_scores, grading::StaysInside());
    check_call(instrumented, d_out, d_out.size() / 128);
    return instrumented;
}

grading::Instrumented check_block(int tokens, int width, int heads) {
    INFO(grading::counted(tokens, "token")
         << ", width " << width << ", " << grading::counted(heads, "head"));
    const std::size_t cells = count_of(tokens) * count_of(width);
    const std::vector<float> x = grading::random_floats(cells, 31);
    const std::vector<float> gamma1 = grading::random_floats(count_of(width), 32),
                             beta1 = grading::random_floats(count_of(width), 33),
                             gamma2 = grading::random_floats(count_of(width), 34),
                             beta2 = grading::random_floats(count_of(width), 35);
    const Linear qkv(width, 3 * width, 40, 2), projection(width, width, 42, 2),
        up(width, 4 * width, 44, 2), down(4 * width, width, 46, 2);
    double gain = 1;
    Matrix expected = in_double(x);
    expected = sum_of(
        expected, times(attended(times(normed(expected, gamma1, beta1, &gain), qkv, tokens),
                                 {tokens, heads, width / heads}),
                        projection, tokens));
    expected = sum_of(
        expected, times(gelu_of(times(normed(expected, gamma2, beta2, &gain), up, tokens)),
                        down, tokens));

    const grading::Guarded<float> d_x(x), d_gamma1(gamma1), d_beta1(beta1),
        d_gamma2(gamma2), d_beta2(beta2), d_qkv(qkv.weights), d_qkv_bias(qkv.bias),
        d_projection(projection.weights), d_projection_bias(projection.bias),
        d_up(up.weights), d_up_bias(up.bias), d_down(down.weights), d_down_bias(down.bias);
    grading::Guarded<float> d_normed(cells), d_room_qkv(3 * cells),
        d_scores(count_of(heads * tokens) * count_of(tokens)), d_attended(cells),
        d_middle(cells), d_inner(4 * cells), d_out(cells);
    const Weights weights = {
        d_gamma1.data(),     d_beta1.data(),           d_qkv.data(),    d_qkv_bias.data(),
        d_projection.data(), d_projection_bias.data(), d_gamma2.data(), d_beta2.data(),
        d_up.data(),         d_up_bias.data(),         d_down.data(),   d_down_bias.data()};
    const Workspace room = {d_normed.data(),   d_room_qkv.data(), d_scores.data(),
                            d_attended.data(), d_middle.data(),   d_inner.data()};
    d_out.show_as_rows_of(count_of(width));
    const grading::Instrumented instrumented = grading::instrument([&] {
        transformer_block(d_x.data(), weights, room, d_out.data(), tokens, width, heads);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    // Five parts, whose errors pass on about as large as they are, and through two norms.
    const double allowed = rounding * 6 * (10 + 3 * root_of(width) + root_of(4 * width)) *
                           std::max(1.0, largest_of(expected)) * gain;
    CHECK_THAT(d_out, grading::CloseTo(expected, {.absolute = allowed}));
    for (const grading::Guarded<float>* const buffer :
         {&d_normed, &d_room_qkv, &d_scores, &d_attended, &d_middle, &d_inner})
        CHECK_THAT(*buffer, grading::StaysInside());
    CHECK_THAT(d_x, grading::Unchanged());
    check_call(instrumented, d_out, d_out.size() / 128);
    return instrumented;
}

int random_extent(int low, int high, std::uint64_t stream) {
    return static_cast<int>(grading::random_size(count_of(low), count_of(high), stream));
}

}  // namespace

// ---- part 1: layer norm -----------------------------------------------------------------

TEST_CASE("layer norm: any number of rows and columns") {
    for (const int cols : {1, 2, 31, 32, 33, 64, 100}) check_norm(3, cols);
    for (const int rows : {1, 31, 33, 257}) check_norm(rows, 45);
    check_norm(random_extent(2, 60, 1), random_extent(2, 300, 2));
    check_norm(2, 1009);
    check_norm(0, 5);
}

TEST_CASE("layer norm: rows whose mean is not 0") {
    for (const int cols : {33, 256}) {
        check_norm(5, cols, 10);
        check_norm(5, cols, -1000);
    }
}

// ---- part 2: products -------------------------------------------------------------------

TEST_CASE("linear: any extents") {
    for (const int extent : {1, 31, 33, 64}) {
        check_product(extent, 40, 37, Then::bias);
        check_product(37, extent, 40, Then::bias);
        check_product(40, 37, extent, Then::bias);
    }
    check_product(1, 1, 1, Then::bias);
    check_product(65, 130, 129, Then::bias);
    check_product(random_extent(2, 90, 3), random_extent(2, 90, 4), random_extent(2, 90, 5),
                  Then::bias);
    check_product(0, 8, 8, Then::bias);
}

TEST_CASE("linear_gelu: any extents and sums of any size") {
    for (const auto& [rows, ins, outs] :
         {std::tuple{1, 7, 33}, {31, 33, 64}, {33, 64, 31}, {64, 17, 65}, {0, 4, 4}}) {
        check_product(rows, ins, outs, Then::gelu);
        check_product(rows, ins, outs, Then::gelu, 8);
    }
}

TEST_CASE("linear_residual: any extents") {
    for (const auto& [rows, ins, outs] :
         {std::tuple{1, 7, 33}, {31, 33, 64}, {33, 64, 31}, {64, 17, 65}, {0, 4, 4}})
        check_product(rows, ins, outs, Then::residual);
}

// ---- part 3: attention ------------------------------------------------------------------

TEST_CASE("attention: any number of tokens and heads of any width up to 64") {
    for (const int tokens : {1, 2, 31, 32, 33, 65}) check_attention({tokens, 2, 20});
    for (const int head : {1, 31, 32, 33, 64}) check_attention({37, 1, head});
    check_attention({random_extent(2, 90, 6), 3, random_extent(2, 60, 7)});
    check_attention({130, 1, 16});
    check_attention({0, 2, 8});
}

TEST_CASE("attention: large scores and scores that grow from key to key") {
    for (const int tokens : {33, 70}) {
        check_attention({tokens, 2, 24}, 12);
        check_attention({tokens, 1, 40}, 1, true);
        check_attention({tokens, 1, 40}, 4, true);
    }
}

// ---- the block --------------------------------------------------------------------------

TEST_CASE("the whole block: any sizes") {
    check_block(1, 8, 2);
    check_block(31, 30, 3);
    check_block(33, 33, 1);
    check_block(40, 48, 2);
}

namespace {

/// One line of the table.
struct Goal {
    const char* part;
    double naive, yours, most;
    bool is_met() const { return yours <= most; }
};

double floats_loaded(const warpwise::Counts& counts) {
    return (counts.global_load.bytes + counts.shared_load.bytes) / sizeof(float);
}

std::string table_of(const std::vector<Goal>& goals) {
    char line[128];
    std::snprintf(line, sizeof line, "%-45s%8s%8s%8s", "part", "naive", "yours", "goal");
    std::string text = line;
    for (const Goal& goal : goals) {
        std::snprintf(line, sizeof line, "\n%-45s%8s%8s%8s%s", goal.part,
                      warpwise::ratio_text(goal.naive).c_str(),
                      warpwise::ratio_text(goal.yours).c_str(),
                      warpwise::ratio_text(goal.most).c_str(),
                      goal.is_met() ? "  met" : "");
        text += line;
    }
    return text;
}

}  // namespace

// Launches, sectors, and floats that threads load. The norm has 64 rows of 128 floats, each
// product 128 x 64 x 256 multiply-adds, and attention 128 tokens.
TEST_CASE("every part meets its goal") {
    // Neither inputs nor the order of threads change what is counted.
    if (grading::is_further_run()) return;
    constexpr int rows = 128, ins = 64, outs = 256, tokens = 128;
    const grading::Instrumented norm = check_norm(64, 128);
    const grading::Instrumented products[] = {
        check_product(rows, ins, outs, Then::bias),
        check_product(rows, ins, outs, Then::gelu),
        check_product(rows, ins, outs, Then::residual)};
    const grading::Instrumented of_attention = check_attention({tokens, 2, 32});
    const grading::Instrumented block = check_block(tokens, 64, 2);
    if (!norm.countable) {
        grading::note_left_out();
        return;
    }
    const auto bytes_of = [](const grading::Instrumented& instrumented) {
        return warpwise::sum_of(instrumented.launches).global().bytes_moved();
    };
    constexpr double multiply_adds = 1.0 * rows * ins * outs;
    double loaded = 0, moved = 0;  // of the product that needs most
    std::size_t launches = 0;
    for (const grading::Instrumented& product : products) {
        const warpwise::Counts counts = warpwise::sum_of(product.launches);
        loaded = std::max(loaded, floats_loaded(counts) / multiply_adds);
        moved = std::max(moved, counts.global().bytes_moved() / multiply_adds);
        launches += product.launches.size();
    }
    const std::vector<Goal> goals = {
        {"layer_norm: bytes per element", 130, bytes_of(norm) / (64 * 128), 24},
        {"products: floats loaded per multiply-add", 2.06, loaded, 0.7},
        {"products: bytes per multiply-add", 5.44, moved, 0.6},
        {"products: launches of the three", 8, static_cast<double>(launches), 3},
        {"attention: bytes per query and key", 1349,
         bytes_of(of_attention) / (2 * tokens * tokens), 24},
        {"attention: launches", 3, static_cast<double>(of_attention.launches.size()), 1}};
    double met = 0;
    for (const Goal& goal : goals) {
        if (goal.is_met()) ++met;
        grading::figure(goal.part, goal.yours);
    }
    const double whole = bytes_of(block);
    grading::figure("whole block: launches", static_cast<double>(block.launches.size()));
    grading::figure("whole block: bytes moved", whole);
    INFO("The whole block: 16 launches and 79.4 MB when all parts are naive, "
         << block.launches.size() << " and " << warpwise::bytes_moved_text(whole)
         << " now");
    const auto open = std::find_if(goals.begin(), goals.end(),
                                   [](const Goal& goal) { return !goal.is_met(); });
    CHECK_THAT(grading::figure("goals that are met", met, {.lines = table_of(goals)}),
               grading::AtLeast(static_cast<double>(goals.size()),
                                open == goals.end()
                                    ? ""
                                    : std::string("What makes up \"") + open->part +
                                          "\", and which of it is not needed?"));
}
