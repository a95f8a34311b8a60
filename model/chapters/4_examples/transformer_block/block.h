// What the steps of the lesson transformer_block work on: the numbers of one block of GPT-2
// on host and device, by rule, and what the block makes of them, in double.
//
//     Block block({1024, 768, 12});                 // tokens, width, heads
//     run_block(block, ...);
//     if (!block.compare().passed) ...
//
// The block, for a matrix x of one row of `width` floats per token:
//
//     y   = x + attention(norm(x) W_qkv + b_qkv) W_out + b_out
//     out = y + gelu(norm(y) W_up + b_up) W_down + b_down
//
// W_qkv is width x 3 width, W_out width x width, W_up width x 4 width, W_down 4 width x
// width. Each norm has a gamma and a beta of its own.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/parallel_for.h"
#include "common/lesson/lesson.h"
#include "common/lesson/refusal.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;

// The weights and the bias of a product, which takes rows of `in` floats to rows of `out`.
// The squares of the weights of an output add up to about 1, as in a network that was
// initialized with care: numbers stay of the same size from part to part.
struct Linear {
    Linear(std::size_t ins, std::size_t outs, std::uint64_t seed)
        : in(ins),
          out(outs),
          weights(warpwise::uniform<float>(in * out, seed, -limit(), limit())),
          bias(warpwise::uniform<float>(out, seed + 1, -0.5f, 0.5f)),
          d_weights(weights),
          d_bias(bias) {}

    float limit() const { return std::sqrt(3 / static_cast<float>(in)); }

    std::size_t in, out;
    std::vector<float> weights, bias;
    DeviceBuffer<float> d_weights, d_bias;
};

// The factor and the offset of each column, after a layer norm.
struct Norm {
    Norm(std::size_t width, std::uint64_t seed)
        : gamma(warpwise::uniform<float>(width, seed, 0.5f, 1.5f)),
          beta(warpwise::uniform<float>(width, seed + 1, -0.5f, 0.5f)),
          d_gamma(gamma),
          d_beta(beta) {}

    std::vector<float> gamma, beta;
    DeviceBuffer<float> d_gamma, d_beta;
};

struct Block {
    std::size_t tokens, width, heads;
    std::vector<float> x;
    Norm first_norm, second_norm;
    Linear qkv, projection, up, down;
    DeviceBuffer<float> d_x;
    DeviceBuffer<float> d_normed, d_qkv, d_attended, d_middle, d_inner, d_out;
    // Of the naive steps only: sums of products, the same with a bias, and scores.
    DeviceBuffer<float> d_sums, d_biased, d_scores;
    std::vector<double> reference;

    static constexpr std::size_t kWidestHead = 64;

    explicit Block(const warpwise::Size& size)
        : tokens(size[0]),
          width(checked(size)),
          heads(size[2]),
          x(warpwise::uniform<float>(tokens * width, 61, -2, 2)),
          first_norm(width, 62),
          second_norm(width, 64),
          qkv(width, 3 * width, 66),
          projection(width, width, 68),
          up(width, 4 * width, 70),
          down(4 * width, width, 72),
          d_x(x),
          d_normed(tokens * width),
          d_qkv(tokens * 3 * width),
          d_attended(tokens * width),
          d_middle(tokens * width),
          d_inner(tokens * 4 * width),
          d_out(tokens * width),
          d_sums(tokens * 4 * width),
          d_biased(tokens * 4 * width),
          d_scores(heads * tokens * tokens) {
        prepare();
    }

    std::size_t head() const { return width / heads; }

    // All that a step may have left, so that no step profits from the one before.
    void poison() {
        for (DeviceBuffer<float>* const buffer :
             {&d_normed, &d_qkv, &d_attended, &d_middle, &d_inner, &d_out, &d_sums,
              &d_biased, &d_scores})
            buffer->fill_bytes(0xFF);
    }

    // A sum of k terms with signs and weights as above errs by about as many halves of the
    // last place as the root of k. Such an error reaches the end about as large as it is,
    // but a norm divides it by the deviation of the row.
    warpwise::Comparison compare() {
        const double roots = 4 * std::sqrt(static_cast<double>(width)) +
                             std::sqrt(static_cast<double>(4 * width)) + 8;
        constexpr double rounding = std::numeric_limits<float>::epsilon() / 2;
        return warpwise::compare(
            d_out.download(), reference,
            {.absolute = rounding * roots * largest_ * std::max(1.0, gain_)});
    }

    // The least bytes: x, all weights, and the result. Operations: of the products, and of
    // the scores that are not masked.
    warpwise::Work work() const {
        const double t = static_cast<double>(tokens), w = static_cast<double>(width);
        return {.bytes = 4 * (2 * t * w + 12 * w * w + 13 * w),
                .operations = 24 * t * w * w + 2 * t * (t + 1) * w};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        const std::size_t t = size[0], w = size[1];
        return sizeof(float) * (20 * t * w + size[2] * t * t + 12 * w * w + 13 * w);
    }

private:
    double largest_ = 1;  // magnitude of a result
    double gain_ = 1;     // 1 over the smallest deviation of a row that a norm got

    static std::size_t checked(const warpwise::Size& size) {
        const std::size_t width = size[1], heads = size[2];
        if (heads == 0 || width == 0 || width % heads != 0 || width / heads > kWidestHead) {
            throw warpwise::Refusal(
                "transformer_block: the width has to be a multiple of the heads, with 1 to "
                "64 floats per head, as in 1024x768x12");
        }
        return width;
    }

    using Matrix = std::vector<double>;  // one row per token

    Matrix normed(const Matrix& in, const Norm& norm) {
        Matrix out(in.size());
        for (std::size_t row = 0; row < tokens; ++row) {
            const double* const from = in.data() + row * width;
            const double count = static_cast<double>(width);
            double sum = 0, squares = 0;
            for (std::size_t col = 0; col < width; ++col) sum += from[col];
            const double mean = sum / count;
            for (std::size_t col = 0; col < width; ++col)
                squares += (from[col] - mean) * (from[col] - mean);
            const double deviation = std::sqrt(squares / count + 1e-5);
            for (std::size_t col = 0; col < width; ++col) {
                out[row * width + col] =
                    (from[col] - mean) / deviation * double{norm.gamma[col]} +
                    double{norm.beta[col]};
            }
            if (width > 1) gain_ = std::max(gain_, 1 / deviation);
        }
        return out;
    }

    // On all cores where a token is work enough.
    template <class Body>
    void for_each_token(std::size_t operations, const Body& body) const {
        if (tokens == 0) return;
        warpwise::parallel_for_parts(
            tokens, std::min(tokens, warpwise::parallel_parts(tokens * operations)),
            [&](std::size_t, std::size_t begin, std::size_t end) {
                for (std::size_t token = begin; token < end; ++token) body(token);
            });
    }

    Matrix times(const Matrix& in, const Linear& linear) const {
        Matrix out(tokens * linear.out);
        for_each_token(linear.in * linear.out, [&](std::size_t row) {
            double* const to = out.data() + row * linear.out;
            for (std::size_t col = 0; col < linear.out; ++col)
                to[col] = double{linear.bias[col]};
            for (std::size_t p = 0; p < linear.in; ++p) {
                const double factor = in[row * linear.in + p];
                const float* const weights = linear.weights.data() + p * linear.out;
                for (std::size_t col = 0; col < linear.out; ++col)
                    to[col] += factor * double{weights[col]};
            }
        });
        return out;
    }

    // Each head has its own columns of queries, keys, and values. A token sees itself and
    // those before it.
    Matrix attention(const Matrix& all) const {
        Matrix out(tokens * width);
        for_each_token(tokens * width, [&](std::size_t query) {
            for (std::size_t h = 0; h < heads; ++h) {
                const double* const q = all.data() + query * 3 * width + h * head();
                std::vector<double> weights(query + 1);
                for (std::size_t key = 0; key <= query; ++key) {
                    const double* const k =
                        all.data() + key * 3 * width + width + h * head();
                    for (std::size_t p = 0; p < head(); ++p) weights[key] += q[p] * k[p];
                    weights[key] /= std::sqrt(static_cast<double>(head()));
                }
                const double largest = *std::max_element(weights.begin(), weights.end());
                double sum = 0;
                for (double& weight : weights) sum += weight = std::exp(weight - largest);
                double* const to = out.data() + query * width + h * head();
                for (std::size_t key = 0; key <= query; ++key) {
                    const double* const v =
                        all.data() + key * 3 * width + 2 * width + h * head();
                    for (std::size_t p = 0; p < head(); ++p)
                        to[p] += weights[key] / sum * v[p];
                }
            }
        });
        return out;
    }

    static void add_to(Matrix& sum, const Matrix& other) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    }

    void prepare() {
        Matrix stream(x.begin(), x.end());
        add_to(stream,
               times(attention(times(normed(stream, first_norm), qkv)), projection));
        Matrix inner = times(normed(stream, second_norm), up);
        for (double& value : inner) {
            const double root = std::sqrt(2 / std::acos(-1.0));
            value *=
                0.5 * (1 + std::tanh(root * (value + 0.044715 * value * value * value)));
        }
        add_to(stream, times(inner, down));
        reference = std::move(stream);
        for (const double value : reference)
            largest_ = std::max(largest_, std::fabs(value));
    }
};

}  // namespace
}  // namespace examples
