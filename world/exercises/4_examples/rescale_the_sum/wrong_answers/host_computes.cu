// Wrong answer: the host computes everything
// Rejected by: attends to one token
// Message: copied from host memory
#include "exercises/4_examples/rescale_the_sum/rescale_the_sum.h"

#include <cuda_runtime.h>

#include <cmath>
#include <vector>

void attend(const float* d_queries, const float* d_keys, const float* d_values,
            size_t tokens, float* d_out) {
    const size_t count = tokens * 32;
    std::vector<float> q(count), k(count), v(count), out(count);
    cudaMemcpy(q.data(), d_queries, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(k.data(), d_keys, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(v.data(), d_values, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t token = 0; token < tokens; ++token) {
        double most = -1e300, sum = 0, mean[32] = {};
        std::vector<double> scores(tokens);
        for (size_t key = 0; key < tokens; ++key) {
            for (size_t d = 0; d < 32; ++d)
                scores[key] += double{q[token * 32 + d]} * k[key * 32 + d];
            scores[key] /= std::sqrt(32.0);
            most = std::fmax(most, scores[key]);
        }
        for (size_t key = 0; key < tokens; ++key) {
            const double weight = std::exp(scores[key] - most);
            sum += weight;
            for (size_t d = 0; d < 32; ++d) mean[d] += weight * v[key * 32 + d];
        }
        for (size_t d = 0; d < 32; ++d)
            out[token * 32 + d] = static_cast<float>(mean[d] / sum);
    }
    cudaMemcpy(d_out, out.data(), count * sizeof(float), cudaMemcpyHostToDevice);
}
