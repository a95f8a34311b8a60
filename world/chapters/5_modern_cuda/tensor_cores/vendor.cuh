// What a user would call instead: cuBLASLt. For a product of these extents and types, its
// heuristics list algorithms, the most promising one first. A program that multiplies often
// can time them all, and take the best.
#pragma once

#ifndef __CPU_DEVICE__

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "chapters/5_modern_cuda/tensor_cores/formats.h"
#include "chapters/5_modern_cuda/tensor_cores/launches.cuh"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"

namespace modern_cuda {
namespace {

constexpr int kRequested = 32;  // algorithms
constexpr std::size_t kWorkspace = std::size_t{64} << 20;

// A product that cuBLASLt has been asked about, with the algorithms that it lists. cuBLAS
// counts down the columns: our rows of C are its columns of C transposed = B' A'. There our
// B transposed is a k x n matrix of columns that has to be transposed, and A is as it
// should be.
template <class Format>
class VendorProduct {
public:
    VendorProduct(std::size_t m, std::size_t n, std::size_t k) {
        using Sum = typename Format::Sum;
        constexpr bool exact = std::is_same_v<Sum, int>;
        constexpr cudaDataType_t type = std::is_same_v<Format, Fp16>   ? CUDA_R_16F
                                        : std::is_same_v<Format, Bf16> ? CUDA_R_16BF
                                        : std::is_same_v<Format, Tf32> ? CUDA_R_32F
                                        : std::is_same_v<Format, Int8> ? CUDA_R_8I
                                                                       : CUDA_R_8F_E4M3;
        constexpr cudaDataType_t sum_type = exact ? CUDA_R_32I : CUDA_R_32F;
        constexpr cublasComputeType_t compute = exact ? CUBLAS_COMPUTE_32I
                                                : std::is_same_v<Format, Tf32>
                                                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                    : CUBLAS_COMPUTE_32F;
        using warpwise::check_cublas;
        check_cublas(cublasLtMatmulDescCreate(&operation_, compute, sum_type));
        const cublasOperation_t transposed = CUBLAS_OP_T, as_it_is = CUBLAS_OP_N;
        check_cublas(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                    &transposed, sizeof transposed));
        check_cublas(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSB,
                                                    &as_it_is, sizeof as_it_is));
        if (std::is_same_v<Format, Fp8>) {
            // Sums that stay in the tensor cores, as those of the steps do. Otherwise
            // cuBLASLt adds them to floats outside from time to time, which takes longer.
            const std::int8_t fast = 1;
            check_cublas(cublasLtMatmulDescSetAttribute(
                operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
        }
        const auto leading = static_cast<std::int64_t>(k);
        check_cublas(cublasLtMatrixLayoutCreate(&b_, type, k, n, leading));
        check_cublas(cublasLtMatrixLayoutCreate(&a_, type, k, m, leading));
        check_cublas(
            cublasLtMatrixLayoutCreate(&c_, sum_type, n, m, static_cast<std::int64_t>(n)));
        cublasLtMatmulPreference_t preference = nullptr;
        check_cublas(cublasLtMatmulPreferenceCreate(&preference));
        check_cublas(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
            sizeof kWorkspace));
        std::array<cublasLtMatmulHeuristicResult_t, kRequested> found;
        int count = 0;
        const cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(handle(), operation_, b_, a_, c_, c_, preference,
                                           kRequested, found.data(), &count);
        if (status != CUBLAS_STATUS_NOT_SUPPORTED) check_cublas(status);
        check_cublas(cublasLtMatmulPreferenceDestroy(preference));
        for (int i = 0; i < count; ++i)
            if (found[i].state == CUBLAS_STATUS_SUCCESS)
                algorithms_.push_back(found[i].algo);
        if (algorithms_.empty())
            throw std::runtime_error("cuBLASLt has no algorithm for this product");
    }
    ~VendorProduct() {
        cublasLtMatmulDescDestroy(operation_);
        for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
            cublasLtMatrixLayoutDestroy(layout);
    }
    VendorProduct(const VendorProduct&) = delete;
    VendorProduct& operator=(const VendorProduct&) = delete;

    std::size_t algorithms() const { return algorithms_.size(); }

    // False where an algorithm turns out not to run. Device pointers.
    bool multiply(std::size_t algorithm, const void* a, const void* b, void* c) const {
        static DeviceBuffer<unsigned char> workspace(kWorkspace);
        const typename Format::Sum one = 1, zero = 0;
        return cublasLtMatmul(handle(), operation_, &one, b, b_, a, a_, &zero, c, c_, c, c_,
                              &algorithms_[algorithm], workspace.data(), kWorkspace,
                              nullptr) == CUBLAS_STATUS_SUCCESS;
    }

    // The algorithm that took the shortest time in any of three rounds.
    std::size_t fastest(const void* a, const void* b, void* c) const {
        cudaEvent_t begin = nullptr, end = nullptr;
        check(cudaEventCreate(&begin));
        check(cudaEventCreate(&end));
        std::vector<float> shortest(algorithms(), std::numeric_limits<float>::infinity());
        for (int round = 0; round < 4; ++round) {
            for (std::size_t i = 0; i < algorithms(); ++i) {
                check(cudaEventRecord(begin));
                const bool ran = multiply(i, a, b, c);
                check(cudaEventRecord(end));
                check(cudaEventSynchronize(end));
                float milliseconds = 0;
                check(cudaEventElapsedTime(&milliseconds, begin, end));
                // The first round loads the kernels.
                if (ran && round > 0) shortest[i] = std::min(shortest[i], milliseconds);
            }
        }
        check(cudaEventDestroy(begin));
        check(cudaEventDestroy(end));
        return static_cast<std::size_t>(std::min_element(shortest.begin(), shortest.end()) -
                                        shortest.begin());
    }

private:
    static cublasLtHandle_t handle() {
        static const cublasLtHandle_t created = [] {
            cublasLtHandle_t one = nullptr;
            warpwise::check_cublas(cublasLtCreate(&one));
            return one;
        }();
        return created;
    }

    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
    std::vector<cublasLtMatmulAlgo_t> algorithms_;
};

enum class Choice { first, best };

// Extents that cuBLASLt does not take as they are (bytes want multiples of 16, and others
// rows of whole chunks) are padded, and C is cut to size afterwards.
template <class Format, Choice choice>
void vendor(Product<Format>& problem) {
    using Sum = typename Format::Sum;
    constexpr std::size_t unit = element_bytes<Format> == 1 ? 16 : 1;
    with_operands(
        problem, unit, kChunk, [](const Operand& a, const Operand& b, const auto& c) {
            const std::size_t k = a.row_bytes / element_bytes<Format>;
            static std::map<std::tuple<std::size_t, std::size_t, std::size_t>,
                            VendorProduct<Format>>
                known;
            static std::map<const VendorProduct<Format>*, std::size_t> chosen;
            const VendorProduct<Format>& product =
                known.try_emplace({a.rows, b.rows, k}, a.rows, b.rows, k).first->second;
            static DeviceBuffer<Sum> padded;
            const bool fits = a.rows == c.rows && b.rows == c.cols;
            if (!fits && padded.size() < a.rows * b.rows)
                padded = DeviceBuffer<Sum>(a.rows * b.rows);
            Sum* const to = fits ? c.data : padded.data();
            // A small product is only checked, so that nothing has to be timed.
            std::size_t algorithm = 0;
            if (choice == Choice::best && 2.0 * a.rows * b.rows * k > 1e10) {
                const auto [place, is_new] = chosen.try_emplace(&product, 0);
                if (is_new) place->second = product.fastest(a.data, b.data, to);
                algorithm = place->second;
            }
            if (!product.multiply(algorithm, a.data, b.data, to))
                throw std::runtime_error("cuBLASLt does not run its algorithm " +
                                         std::to_string(algorithm));
            if (!fits)
                check(cudaMemcpy2DAsync(c.data, c.cols * sizeof(Sum), to,
                                        b.rows * sizeof(Sum), c.cols * sizeof(Sum), c.rows,
                                        cudaMemcpyDeviceToDevice));
        });
}

}  // namespace
}  // namespace modern_cuda

#endif
