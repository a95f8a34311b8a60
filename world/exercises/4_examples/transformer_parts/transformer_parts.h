// The functions that the grader calls: the parts of one block of GPT-2, and the block.
//
// All pointers are device memory, and all matrices are stored row after row. No array
// overlaps another one. What a function writes may hold anything before.
#pragma once

#include <cstddef>

/// out[row][col] = (x[row][col] - mean) / sqrt(variance + 1e-5) * gamma[col] + beta[col],
/// with the mean and the variance (over `cols`) of each row.
void layer_norm(const float* d_x, const float* d_gamma, const float* d_beta, float* d_out,
                int rows, int cols);

/// A product of matrices and what follows it: `d_in` has `rows` rows of `ins` floats,
/// `d_weights` has `ins` rows of `outs` floats, and `d_bias` has `outs` floats.
struct Product {
    const float *d_in, *d_weights, *d_bias;
    int rows, ins, outs;
};
/// out = in weights + bias
void linear(const Product& product, float* d_out);
/// out = gelu(in weights + bias), with gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x +
/// 0.044715 * x^3)))
void linear_gelu(const Product& product, float* d_out);
/// out = in weights + bias + residual; `d_residual` is as large as the result.
void linear_residual(const Product& product, const float* d_residual, float* d_out);

/// A row of `d_qkv` has the queries of all heads, then the keys of all heads, then the
/// values of all heads: 3 * heads * head floats. For each head, out[query] is the sum of
/// weight[key] * value[key] over all keys <= query, where the weights are the softmax of
/// the scores (q . k) / sqrt(head) of these keys. A row of `d_out` has heads * head floats;
/// `head` is 1 to 64. `d_scores` is room for heads * tokens * tokens floats, to be used or
/// not.
void attention(const float* d_qkv, float* d_scores, float* d_out, int tokens, int heads,
               int head);

/// The weights of a block. The biases have as many floats as their matrices have columns.
struct Weights {
    const float *d_gamma1, *d_beta1;                // width floats
    const float *d_qkv, *d_qkv_bias;                // width x 3 width
    const float *d_projection, *d_projection_bias;  // width x width
    const float *d_gamma2, *d_beta2;                // width floats
    const float *d_up, *d_up_bias;                  // width x 4 width
    const float *d_down, *d_down_bias;              // 4 width x width
};

/// Room for what the parts hand to each other.
struct Workspace {
    float* d_normed;    // tokens x width
    float* d_qkv;       // tokens x 3 width
    float* d_scores;    // heads x tokens x tokens
    float* d_attended;  // tokens x width
    float* d_middle;    // tokens x width
    float* d_inner;     // tokens x 4 width
};

/// middle = x + attention(norm1(x) qkv + bias) projection + bias
/// out = middle + gelu(norm2(middle) up + bias) down + bias
void transformer_block(const float* d_x, const Weights& weights, const Workspace& room,
                       float* d_out, int tokens, int width, int heads);
