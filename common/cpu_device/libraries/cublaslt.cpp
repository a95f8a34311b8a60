// cuBLASLt: products by cublasGemmStridedBatchedEx, and what may follow them.
#include "cublasLt.h"

#include <cmath>
#include <cstring>

#include "common/cpu_device/src/capture.h"
#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"
#include "cpu_device/runtime_api.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "size_of_type.h"

struct cublasLtContext {};  // several threads may use one at a time

namespace {

using cpu_device::ApiCall;

template <class T>
cublasStatus_t read_attribute(T& value, const void* buffer, std::size_t bytes) {
    if (buffer == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&value, buffer, sizeof(T));
    return CUBLAS_STATUS_SUCCESS;
}

template <class Description>
cublasStatus_t destroy(Description* description) {
    if (description == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    delete description;
    return CUBLAS_STATUS_SUCCESS;
}

bool has_bias(cublasLtEpilogue_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
bool has_relu(cublasLtEpilogue_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0; }
bool has_gelu(cublasLtEpilogue_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_GELU) != 0; }
bool is_known(cublasLtEpilogue_t epilogue) {
    switch (epilogue) {
        case CUBLASLT_EPILOGUE_DEFAULT:
        case CUBLASLT_EPILOGUE_BIAS:
        case CUBLASLT_EPILOGUE_RELU:
        case CUBLASLT_EPILOGUE_RELU_BIAS:
        case CUBLASLT_EPILOGUE_GELU:
        case CUBLASLT_EPILOGUE_GELU_BIAS:
            return true;
        default:
            return false;
    }
}

/// GELU as cuBLASLt computes it: by tanh.
float gelu(float x) {
    const float inner = 0.7978845608F * (x + 0.044715F * x * x * x);
    return 0.5F * x * (1.0F + std::tanh(inner));
}

/// Adds the bias to each column, and applies the function, in single precision.
template <class T>
void finish(const cublasLtMatmulDescOpaque_t& what, T* D, const cublasLtMatrixLayoutOpaque_t& layout) {
    const auto* const bias = static_cast<const T*>(what.bias);
    for (std::int32_t batch = 0; batch < layout.batch; ++batch) {
        T* const matrix = D + batch * layout.stride;
        for (std::uint64_t column = 0; column < layout.columns; ++column) {
            for (std::uint64_t row = 0; row < layout.rows; ++row) {
                T& element = matrix[row + column * static_cast<std::uint64_t>(layout.ld)];
                float value = static_cast<float>(element);
                if (has_bias(what.epilogue)) value += static_cast<float>(bias[row]);
                if (has_relu(what.epilogue)) value = value < 0 ? 0 : value;
                if (has_gelu(what.epilogue)) value = gelu(value);
                element = static_cast<T>(value);
            }
        }
    }
}

/// What alpha and beta are for cublasGemmStridedBatchedEx.
cudaDataType scale_type_of(cublasComputeType_t compute, cudaDataType factors) {
    if (factors == CUDA_C_32F || factors == CUDA_C_64F) return factors;
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return CUDA_R_16F;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return CUDA_R_64F;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return CUDA_R_32I;
        default:
            return CUDA_R_32F;
    }
}

using Layout = cublasLtMatrixLayoutOpaque_t;

/// Whether op(A) op(B) has the shape of C and D.
bool fit(const cublasLtMatmulDescOpaque_t& what, const Layout& A, const Layout& B, const Layout& C, const Layout& D) {
    const bool turns_a = what.on_a != CUBLAS_OP_N, turns_b = what.on_b != CUBLAS_OP_N;
    return (turns_a ? A.columns : A.rows) == D.rows && (turns_b ? B.rows : B.columns) == D.columns &&
           (turns_a ? A.rows : A.columns) == (turns_b ? B.columns : B.rows) && C.rows == D.rows &&
           C.columns == D.columns && A.batch == D.batch && B.batch == D.batch && C.batch == D.batch;
}

/// Column by column: what lies between the columns of D is not D's.
void copy_matrix(void* to, const Layout& D, const void* from, const Layout& C) {
    const std::size_t size = cpu_device::size_of_type(D.type);
    for (std::int32_t batch = 0; batch < D.batch; ++batch) {
        for (std::uint64_t column = 0; column < D.columns; ++column) {
            const auto place = [&](const Layout& layout) {
                return (batch * layout.stride + static_cast<std::int64_t>(column) * layout.ld) *
                       static_cast<std::int64_t>(size);
            };
            std::memcpy(static_cast<char*>(to) + place(D), static_cast<const char*>(from) + place(C), D.rows * size);
        }
    }
}

/// Of the matrix with all its batches.
std::size_t bytes_of(const cublasLtMatrixLayoutOpaque_t& layout) {
    if (layout.rows == 0 || layout.columns == 0) return 0;
    const auto last = static_cast<std::uint64_t>((layout.batch - 1) * layout.stride);
    return (last + (layout.columns - 1) * static_cast<std::uint64_t>(layout.ld) + layout.rows) *
           cpu_device::size_of_type(layout.type);
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* lightHandle) {
    if (lightHandle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *lightHandle = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
    if (lightHandle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete lightHandle;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType scaleType) {
    if (matmulDesc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *matmulDesc = new cublasLtMatmulDescOpaque_t{
        computeType, scaleType, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, 0, 0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) { return destroy(matmulDesc); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              const void* buf, size_t sizeInBytes) {
    if (matmulDesc == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attr) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
            return read_attribute(matmulDesc->compute, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
            return read_attribute(matmulDesc->scale_type, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_POINTER_MODE:
            return read_attribute(matmulDesc->pointer_mode, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return read_attribute(matmulDesc->on_a, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return read_attribute(matmulDesc->on_b, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_TRANSC:
            return read_attribute(matmulDesc->on_c, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return read_attribute(matmulDesc->epilogue, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return read_attribute(matmulDesc->bias, buf, sizeInBytes);
        case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
            return CUBLAS_STATUS_SUCCESS;
        case CUBLASLT_MATMUL_DESC_FILL_MODE: {
            cublasFillMode_t fill = CUBLAS_FILL_MODE_FULL;
            const cublasStatus_t status = read_attribute(fill, buf, sizeInBytes);
            if (fill != CUBLAS_FILL_MODE_FULL) matmulDesc->unknown = static_cast<int>(attr);
            return status;
        }
        default:
            matmulDesc->unknown = static_cast<int>(attr);
            return CUBLAS_STATUS_SUCCESS;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matLayout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
    if (matLayout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *matLayout = new cublasLtMatrixLayoutOpaque_t{type, rows, cols, ld, CUBLASLT_ORDER_COL, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) { return destroy(matLayout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void* buf, size_t sizeInBytes) {
    if (matLayout == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attr) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE:
            return read_attribute(matLayout->type, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            return read_attribute(matLayout->order, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_ROWS:
            return read_attribute(matLayout->rows, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_COLS:
            return read_attribute(matLayout->columns, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_LD:
            return read_attribute(matLayout->ld, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return read_attribute(matLayout->batch, buf, sizeInBytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return read_attribute(matLayout->stride, buf, sizeInBytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* pref) {
    if (pref == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *pref = new cublasLtMatmulPreferenceOpaque_t{0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) { return destroy(pref); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t /*attr*/, const void* buf,
                                                    size_t /*sizeInBytes*/) {
    return pref == nullptr || buf == nullptr ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
                                              cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
                                              cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
                                              cublasLtMatmulPreference_t /*preference*/, int requestedAlgoCount,
                                              cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                              int* returnAlgoCount) {
    if (lightHandle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (operationDesc == nullptr || Adesc == nullptr || Bdesc == nullptr || Cdesc == nullptr || Ddesc == nullptr ||
        requestedAlgoCount < 1 || heuristicResultsArray == nullptr || returnAlgoCount == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    heuristicResultsArray[0] = {};
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc, const void* alpha,
                              const void* A, cublasLtMatrixLayout_t Adesc, const void* B, cublasLtMatrixLayout_t Bdesc,
                              const void* beta, const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* /*algo*/, void* /*workspace*/,
                              size_t /*workspaceSizeInBytes*/, cudaStream_t stream) {
    if (lightHandle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (computeDesc == nullptr || Adesc == nullptr || Bdesc == nullptr || Cdesc == nullptr || Ddesc == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    const ApiCall call{"cublasLtMatmul", {}, __builtin_return_address(0)};
    const bool by_columns = Adesc->order == CUBLASLT_ORDER_COL && Bdesc->order == CUBLASLT_ORDER_COL &&
                            Cdesc->order == CUBLASLT_ORDER_COL && Ddesc->order == CUBLASLT_ORDER_COL;
    const bool has_own_type = Ddesc->type == CUDA_R_32F || Ddesc->type == CUDA_R_16F || Ddesc->type == CUDA_R_16BF;
    const bool needs_no_more = computeDesc->epilogue == CUBLASLT_EPILOGUE_DEFAULT;
    const bool has_known_scalars = (computeDesc->pointer_mode == 0 || computeDesc->pointer_mode == 1) &&
                                   computeDesc->scale_type == scale_type_of(computeDesc->compute, Adesc->type);
    if (computeDesc->unknown != 0 || !is_known(computeDesc->epilogue) || computeDesc->on_c != CUBLAS_OP_N ||
        !by_columns || !has_known_scalars || Cdesc->type != Ddesc->type || (!needs_no_more && !has_own_type)) {
        cpu_device::unsupported("cublasLtMatmul with these attributes", place_of(call));
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (!fit(*computeDesc, *Adesc, *Bdesc, *Cdesc, *Ddesc)) return CUBLAS_STATUS_INVALID_VALUE;
    if (cpu_device::is_captured(stream)) {
        cpu_device::unsupported("the capture of cuBLASLt in a graph", place_of(call));
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    (void)cpu_device::finish_stream(stream);
    if (C != D && D != nullptr && C != nullptr) {
        if (!is_for_device(call, "matrix C", C, bytes_of(*Cdesc)) ||
            !is_for_device(call, "matrix D", D, bytes_of(*Ddesc)))
            return CUBLAS_STATUS_EXECUTION_FAILED;
        copy_matrix(D, *Ddesc, C, *Cdesc);
    }
    cublasHandle_t blas = nullptr;
    if (const cublasStatus_t status = cublasCreate(&blas); status != CUBLAS_STATUS_SUCCESS) return status;
    cublasSetStream(blas, stream);
    cublasSetPointerMode(blas, computeDesc->pointer_mode == 0 ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE);
    const bool turned = computeDesc->on_a != CUBLAS_OP_N;
    const auto k = static_cast<int>(turned ? Adesc->rows : Adesc->columns);
    const cublasStatus_t status = cublasGemmStridedBatchedEx(
        blas, computeDesc->on_a, computeDesc->on_b, static_cast<int>(Ddesc->rows), static_cast<int>(Ddesc->columns), k,
        alpha, A, Adesc->type, static_cast<int>(Adesc->ld), Adesc->stride, B, Bdesc->type, static_cast<int>(Bdesc->ld),
        Bdesc->stride, beta, D, Ddesc->type, static_cast<int>(Ddesc->ld), Ddesc->stride, Ddesc->batch,
        computeDesc->compute, CUBLAS_GEMM_DEFAULT);
    cublasDestroy(blas);
    if (status != CUBLAS_STATUS_SUCCESS || needs_no_more) return status;
    if (has_bias(computeDesc->epilogue) &&
        !is_for_device(call, "the bias", computeDesc->bias, Ddesc->rows * cpu_device::size_of_type(Ddesc->type)))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (Ddesc->type == CUDA_R_32F) {
        finish(*computeDesc, static_cast<float*>(D), *Ddesc);
    } else if (Ddesc->type == CUDA_R_16F) {
        finish(*computeDesc, static_cast<__half*>(D), *Ddesc);
    } else {
        finish(*computeDesc, static_cast<__nv_bfloat16*>(D), *Ddesc);
    }
    return CUBLAS_STATUS_SUCCESS;
}
