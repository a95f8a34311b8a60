// What libraries make of attention, to compare the steps with: cuBLAS, which multiplies
// matrices and leaves the softmax to us, and the fused attention of cuDNN. Neither is on
// the CPU device, where nothing is added. Both take problems without a mask only.
//
//     add_library_steps(steps);
#pragma once

#include <vector>

#include "chapters/4_examples/attention/problem.h"
#include "common/lesson/lesson.h"

#ifndef __CPU_DEVICE__

#include <cublas_v2.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "chapters/4_examples/attention/step_01_scores_in_memory.cuh"
#include "common/helpers/cublas.h"
#include "common/helpers/cudnn.h"
#include "common/helpers/launch_shape.h"

#endif

namespace examples {
namespace {

#ifndef __CPU_DEVICE__

// The softmax between the two products: one warp per row. Tensor cores take both operands
// in bf16, so the weights are rounded.
__global__ void __launch_bounds__(kThreads)
    weights_of_scores(Heads x, const float* scores, Bf16* weights) {
    const std::size_t row = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
    if (row >= std::size_t{x.heads} * x.tokens) return;
    const float* const from = scores + row * x.tokens;
    Bf16* const to = weights + row * x.tokens;
    const unsigned lane = threadIdx.x % kLanes;
    float largest = kLowest, sum = 0;
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        largest = fmaxf(largest, from[key]);
    largest = largest_over_lanes<kLanes>(largest);
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        sum += expf(from[key] - largest);
    const float factor = 1 / sum_over_lanes<kLanes>(sum);
    for (unsigned key = lane; key < x.tokens; key += kLanes)
        to[key] = __float2bfloat16(expf(from[key] - largest) * factor);
}

using PlainAttention = Attention<Mask::none>;

// Two products by cuBLAS, with scores and weights in memory between them. cuBLAS counts
// down the columns: our rows of queries, keys, and values are its columns.
void cublas_products(PlainAttention& p) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    p.rounds_weights = true;
    if (p.is_empty()) return;
    if (p.d_weights.size() != p.d_scores.size())
        p.d_weights = DeviceBuffer<Bf16>(p.d_scores.size());
    const int n = warpwise::cublas_extent(p.tokens), d = kDim;
    const int heads = warpwise::cublas_extent(p.heads);
    const long long rows = static_cast<long long>(n) * d,
                    square = static_cast<long long>(n) * n;
    const float scale = kScale, one = 1, zero = 0;
    warpwise::check_cublas(cublasGemmStridedBatchedEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, d, &scale, p.d_keys.data(), CUDA_R_16BF, d,
        rows, p.d_queries.data(), CUDA_R_16BF, d, rows, &zero, p.d_scores.data(),
        CUDA_R_32F, n, square, heads, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    weights_of_scores<<<warpwise::blocks_for(p.heads * p.tokens, kThreads / kLanes),
                        kThreads>>>(p.on_device(), p.d_scores.data(), p.d_weights.data());
    warpwise::check_launch();
    warpwise::check_cublas(cublasGemmStridedBatchedEx(
        handle, CUBLAS_OP_N, CUBLAS_OP_N, d, n, n, &one, p.d_values.data(), CUDA_R_16BF, d,
        rows, p.d_weights.data(), CUDA_R_16BF, n, square, &zero, p.d_out.data(), CUDA_R_32F,
        d, rows, heads, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

// The fused attention is an operation of cuDNN's graph API since version 9.13.
#if defined(WARPWISE_CUDNN) && CUDNN_VERSION >= 91300
#define WARPWISE_CUDNN_ATTENTION

class CudnnAttention {
public:
    // Throws std::runtime_error where cuDNN has no plan for so many heads and tokens.
    CudnnAttention(std::size_t heads, std::size_t tokens) : heads_(heads), tokens_(tokens) {
        // It finds a plan for 70001 heads, whose launch then fails.
        if (heads > 65535) throw std::runtime_error("cuDNN does not run so many heads");
        static const cudnnHandle_t handle = warpwise::make_cudnn_handle();
        handle_ = handle;
        const cudnnBackendDescriptor_t queries = rows(kQueries), keys = rows(kKeys),
                                       values = rows(kValues), out = rows(kOut);
        const cudnnBackendDescriptor_t factor =
            tensor(kFactor, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, true);
        const cudnnBackendDescriptor_t attention =
            make(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
        set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, queries);
        set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, keys);
        set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, values);
        set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, out);
        set(attention, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, factor);
        finalize(attention);
        const cudnnBackendDescriptor_t graph =
            make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, attention);
        set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
        finalize(graph);
        find_plan(graph);
        std::int64_t bytes = 0;
        warpwise::check_cudnn(
            cudnnBackendGetAttribute(plan_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                     CUDNN_TYPE_INT64, 1, nullptr, &bytes));
        workspace_ = DeviceBuffer<unsigned char>(static_cast<std::size_t>(bytes));
    }

    bool is_for(const PlainAttention& p) const {
        return p.heads == heads_ && p.tokens == tokens_;
    }

    void run(PlainAttention& p) {
        const cudnnBackendDescriptor_t pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        const std::array<std::int64_t, 5> ids = {kQueries, kKeys, kValues, kOut, kFactor};
        std::array<void*, 5> data = {p.d_queries.data(), p.d_keys.data(), p.d_values.data(),
                                     p.d_out_bf16.data(), &factor_};
        void* workspace = workspace_.data();
        set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids.size(),
            ids.data());
        set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data.size(),
            data.data());
        set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        finalize(pack);
        warpwise::check_cudnn(cudnnBackendExecute(handle_, plan_, pack));
        made_.pop_back();  // the pack
    }

private:
    enum Id : std::int64_t { kQueries = 1, kKeys, kValues, kOut, kFactor };
    using Four = std::array<std::int64_t, 4>;
    struct Destroy {
        void operator()(void* made) const { (void)cudnnBackendDestroyDescriptor(made); }
    };

    cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type) {
        cudnnBackendDescriptor_t made = nullptr;
        warpwise::check_cudnn(cudnnBackendCreateDescriptor(type, &made));
        made_.emplace_back(made);
        return made;
    }
    static void set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, std::size_t count, const void* from) {
        warpwise::check_cudnn(cudnnBackendSetAttribute(
            of, name, type, static_cast<std::int64_t>(count), from));
    }
    static void set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                    cudnnBackendDescriptor_t to) {
        set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
    }
    static void finalize(cudnnBackendDescriptor_t made) {
        warpwise::check_cudnn(cudnnBackendFinalize(made));
    }

    cudnnBackendDescriptor_t tensor(std::int64_t id, cudnnDataType_t type,
                                    const Four& extents, const Four& strides,
                                    bool on_host) {
        const std::int64_t alignment = on_host ? sizeof(float) : 16;
        const cudnnBackendDescriptor_t made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
        set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
        set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
        set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, extents.data());
        set(made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides.data());
        set(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
        set(made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &on_host);
        finalize(made);
        return made;
    }
    // Batches, heads, tokens, elements.
    cudnnBackendDescriptor_t rows(std::int64_t id) {
        const auto h = static_cast<std::int64_t>(heads_),
                   n = static_cast<std::int64_t>(tokens_);
        const std::int64_t d = kDim;
        return tensor(id, CUDNN_DATA_BFLOAT16, {1, h, n, d}, {h * n * d, n * d, d, 1},
                      false);
    }

    // Of the configurations that cuDNN proposes, the first that works.
    void find_plan(cudnnBackendDescriptor_t graph) {
        const cudnnBackendDescriptor_t search = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
        set(search, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        set(search, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
        finalize(search);
        std::int64_t count = 0;
        warpwise::check_cudnn(
            cudnnBackendGetAttribute(search, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
        std::vector<cudnnBackendDescriptor_t> found(static_cast<std::size_t>(count));
        for (cudnnBackendDescriptor_t& one : found)
            one = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        warpwise::check_cudnn(cudnnBackendGetAttribute(
            search, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
            &count, found.data()));
        found.resize(static_cast<std::size_t>(count));
        for (const cudnnBackendDescriptor_t one : found) {
            const cudnnBackendDescriptor_t plan =
                make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
            set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle_);
            set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, one);
            if (cudnnBackendFinalize(plan) != CUDNN_STATUS_SUCCESS) continue;
            plan_ = plan;
            return;
        }
        throw std::runtime_error("cuDNN has no plan for this attention");
    }

    std::size_t heads_, tokens_;
    cudnnHandle_t handle_ = nullptr;
    std::vector<std::unique_ptr<void, Destroy>> made_;
    cudnnBackendDescriptor_t plan_ = nullptr;  // one of made_
    DeviceBuffer<unsigned char> workspace_;
    float factor_ = kScale;
};

// The plan for the problem, kept for the next call. None where cuDNN has none.
CudnnAttention* plan_for(const PlainAttention& p) {
    static std::unique_ptr<CudnnAttention> plan;
    if (plan && plan->is_for(p)) return plan.get();
    plan.reset();
    try {
        plan = std::make_unique<CudnnAttention>(p.heads, p.tokens);
    } catch (const std::runtime_error&) {
        // Problems that cuDNN does not take are left to cuBLAS.
    }
    return plan.get();
}

void cudnn_attention(PlainAttention& p) {
    CudnnAttention* const plan = p.is_empty() ? nullptr : plan_for(p);
    if (plan == nullptr) return cublas_products(p);
    p.rounds_weights = p.rounds_results = true;
    if (p.d_out_bf16.size() != p.d_out.size()) {
        p.d_out_bf16 = DeviceBuffer<Bf16>(p.d_out.size());
        p.d_out_bf16.fill_bytes(0xFF);
    }
    plan->run(p);
}

#endif  // cuDNN

void add_library_steps(std::vector<warpwise::Step<PlainAttention>>& steps) {
    steps.push_back({"cublas", "two products by cublasGemmStridedBatchedEx, our softmax",
                     cublas_products, warpwise::StepKind::vendor});
#ifdef WARPWISE_CUDNN_ATTENTION
    steps.push_back({"cudnn", "fused attention, results in bf16", cudnn_attention,
                     warpwise::StepKind::vendor});
#endif
}

#else

void add_library_steps(std::vector<warpwise::Step<Attention<Mask::none>>>&) {}

#endif

}  // namespace
}  // namespace examples
