// cuSPARSE's generic interface. Each function checks what it is given, reads the sparse matrix into a list of its
// entries, and computes in double precision.
#include "cusparse.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"

using namespace cpu_device;

struct cusparseContext {
    cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
    cudaStream_t stream = nullptr;
};
struct cusparseMatDescr {};  // only functions that have left cuSPARSE ask what it says
struct cusparseSpSVDescr {};
struct cusparseDnVecDescr {
    std::int64_t size;
    void* values;
    cudaDataType type;
};
struct cusparseDnMatDescr {
    std::int64_t rows, columns, ld;
    void* values;
    cudaDataType type;
    cusparseOrder_t order;

    std::int64_t place(std::int64_t i, std::int64_t j) const {
        return order == CUSPARSE_ORDER_ROW ? i * ld + j : i + j * ld;
    }
    std::int64_t length() const { return rows == 0 || columns == 0 ? 0 : place(rows - 1, columns - 1) + 1; }
};
/// Of CSR and CSC, `offsets` are those of the rows or columns, and `indices` say the other; of COO, they are both.
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    std::int64_t rows, columns, entries;
    void* offsets;
    void* indices;
    void* values;
    cusparseIndexType_t offsets_type, indices_type;
    int base;
    cudaDataType type;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;

    std::int64_t offsets_count() const {
        if (format == CUSPARSE_FORMAT_COO) return entries;
        return (format == CUSPARSE_FORMAT_CSR ? rows : columns) + 1;
    }
};

namespace {

using Status = cusparseStatus_t;

template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;

double conjugate(double value) { return value; }
std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }

std::size_t size_of_value(cudaDataType type) {
    switch (type) {
        case CUDA_R_32F:
            return sizeof(float);
        case CUDA_R_64F:
        case CUDA_C_32F:
            return sizeof(double);
        case CUDA_C_64F:
            return sizeof(std::complex<double>);
        default:
            return 0;
    }
}
std::size_t size_of_index(cusparseIndexType_t type) {
    return type == CUSPARSE_INDEX_32I ? sizeof(std::int32_t) : type == CUSPARSE_INDEX_64I ? sizeof(std::int64_t) : 0;
}
std::int64_t index_at(const void* indices, cusparseIndexType_t type, std::int64_t i) {
    return type == CUSPARSE_INDEX_32I ? static_cast<const std::int32_t*>(indices)[i]
                                      : static_cast<const std::int64_t*>(indices)[i];
}
void set_index(void* indices, cusparseIndexType_t type, std::int64_t i, std::int64_t value) {
    if (type == CUSPARSE_INDEX_32I) {
        static_cast<std::int32_t*>(indices)[i] = static_cast<std::int32_t>(value);
    } else {
        static_cast<std::int64_t*>(indices)[i] = value;
    }
}

/// Calls `body` with a null pointer to the type.
template <class Body>
Status with_type(cudaDataType type, const Body& body) {
    switch (type) {
        case CUDA_R_32F:
            return body(static_cast<float*>(nullptr));
        case CUDA_R_64F:
            return body(static_cast<double*>(nullptr));
        case CUDA_C_32F:
            return body(static_cast<std::complex<float>*>(nullptr));
        case CUDA_C_64F:
            return body(static_cast<std::complex<double>*>(nullptr));
        default:
            return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
}

/// What every function does with its arguments. The first thing that is wrong decides what it returns.
class SparseCall {
public:
    SparseCall(cusparseHandle_t handle, const char* function, const void* code)
        : handle_(handle), call_{function, {}, code} {
        if (handle == nullptr) {
            fail(CUSPARSE_STATUS_NOT_INITIALIZED);
        } else {
            if (is_captured(handle->stream)) {
                unsupported("the capture of cuSPARSE in a graph", place_of(call_));
                fail(CUSPARSE_STATUS_NOT_SUPPORTED);
            }
            (void)finish_stream(handle->stream);
        }
        if (device_is_lost()) fail(CUSPARSE_STATUS_EXECUTION_FAILED);
    }

    SparseCall& require(bool is_valid) {
        if (!is_valid) fail(CUSPARSE_STATUS_INVALID_VALUE);
        return *this;
    }
    SparseCall& memory(const char* role, const void* pointer, std::int64_t count, std::size_t size) {
        if (status_ == CUSPARSE_STATUS_SUCCESS &&
            !is_for_device(call_, role, pointer, static_cast<std::size_t>(count) * size))
            fail(CUSPARSE_STATUS_EXECUTION_FAILED);
        return *this;
    }
    SparseCall& uses(cusparseConstSpMatDescr_t A, bool has_entries = true) {
        if (!require(A != nullptr)) return *this;
        memory("matrix A's offsets", A->offsets, A->offsets_count(), size_of_index(A->offsets_type));
        if (!has_entries) return *this;
        memory("matrix A's indices", A->indices, A->entries, size_of_index(A->indices_type));
        return memory("matrix A's values", A->values, A->entries, size_of_value(A->type));
    }
    SparseCall& uses(const char* role, cusparseConstDnVecDescr_t x) {
        return require(x != nullptr) ? memory(role, x->values, x->size, size_of_value(x->type)) : *this;
    }
    SparseCall& uses(const char* role, cusparseConstDnMatDescr_t B) {
        return require(B != nullptr) ? memory(role, B->values, B->length(), size_of_value(B->type)) : *this;
    }
    SparseCall& scalar(const char* role, const void* value, cudaDataType type) {
        require(value != nullptr);
        if (status_ == CUSPARSE_STATUS_SUCCESS && handle_->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE)
            memory(role, value, 1, size_of_value(type));
        return *this;
    }

    explicit operator bool() const { return status_ == CUSPARSE_STATUS_SUCCESS; }
    Status status() const { return status_; }
    Status unsupported_types() const {
        unsupported("cuSPARSE with operands of different types", place_of(call_));
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    }

private:
    void fail(Status status) {
        if (status_ == CUSPARSE_STATUS_SUCCESS) status_ = status;
    }

    cusparseHandle_t handle_;
    ApiCall call_;
    Status status_ = CUSPARSE_STATUS_SUCCESS;
};

template <class Sum>
struct Entry {
    std::int64_t row, column;
    Sum value;
};

/// The entries of op(A), in the order of memory. Indices outside of the matrix make the result false.
template <class T>
bool read_entries(const cusparseSpMatDescr& A, cusparseOperation_t operation, std::vector<Entry<SumOf<T>>>& entries) {
    const auto* const values = static_cast<const T*>(A.values);
    const bool transposes = operation != CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto add = [&](std::int64_t row, std::int64_t column, std::int64_t i) {
        if (row < 0 || row >= A.rows || column < 0 || column >= A.columns) return false;
        if (transposes) std::swap(row, column);
        const SumOf<T> value = values[i];
        entries.push_back(
            {row, column, operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(value) : value});
        return true;
    };
    entries.reserve(static_cast<std::size_t>(A.entries));
    if (A.format == CUSPARSE_FORMAT_COO) {
        for (std::int64_t i = 0; i < A.entries; ++i) {
            if (!add(index_at(A.offsets, A.offsets_type, i) - A.base, index_at(A.indices, A.indices_type, i) - A.base,
                     i))
                return false;
        }
        return true;
    }
    const std::int64_t lines = A.offsets_count() - 1;
    for (std::int64_t line = 0; line < lines; ++line) {
        const std::int64_t begin = index_at(A.offsets, A.offsets_type, line) - A.base;
        const std::int64_t end = index_at(A.offsets, A.offsets_type, line + 1) - A.base;
        if (begin < 0 || end < begin || end > A.entries) return false;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t other = index_at(A.indices, A.indices_type, i) - A.base;
            if (!(A.format == CUSPARSE_FORMAT_CSR ? add(line, other, i) : add(other, line, i))) return false;
        }
    }
    return true;
}

template <class T>
SumOf<T> read_scalar(const void* value) {
    return *static_cast<const T*>(value);
}

template <class T>
T rounded(SumOf<T> sum) {
    return static_cast<T>(sum);
}

std::int64_t rows_of(const cusparseSpMatDescr& A, cusparseOperation_t operation) {
    return operation == CUSPARSE_OPERATION_NON_TRANSPOSE ? A.rows : A.columns;
}
std::int64_t columns_of(const cusparseSpMatDescr& A, cusparseOperation_t operation) {
    return operation == CUSPARSE_OPERATION_NON_TRANSPOSE ? A.columns : A.rows;
}

Status need_no_buffer(cusparseHandle_t handle, std::size_t* bytes) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = 8;  // programs allocate what they are told, and an allocation of 0 bytes would be a null pointer
    return CUSPARSE_STATUS_SUCCESS;
}

template <class Description>
Status destroy(Description* description) {
    if (description == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    delete description;
    return CUSPARSE_STATUS_SUCCESS;
}

/// `code`: where the program made the call.
Status unsupported_type(const char* function, const void* code) {
    unsupported("cuSPARSE with values or indices of this type", place_of(ApiCall{function, {}, code}));
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

Status create_sparse(cusparseSpMatDescr_t* made, const cusparseSpMatDescr& what, const char* function,
                     const void* code) {
    if (made == nullptr || what.rows < 0 || what.columns < 0 || what.entries < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    if (size_of_index(what.offsets_type) == 0 || size_of_index(what.indices_type) == 0 || size_of_value(what.type) == 0)
        return unsupported_type(function, code);
    *made = new cusparseSpMatDescr(what);
    return CUSPARSE_STATUS_SUCCESS;
}

Status set_pointers(cusparseSpMatDescr_t A, cusparseFormat_t format, void* offsets, void* indices, void* values) {
    if (A == nullptr || A->format != format) return CUSPARSE_STATUS_INVALID_VALUE;
    A->offsets = offsets;
    A->indices = indices;
    A->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

/// The places of the elements of a dense matrix that are not zero, in the order of the format.
template <class T>
std::vector<std::int64_t> places_of_entries(const cusparseDnMatDescr& A, cusparseFormat_t format,
                                            std::vector<std::int64_t>& lines, std::vector<std::int64_t>& others) {
    std::vector<std::int64_t> places;
    const bool by_column = format == CUSPARSE_FORMAT_CSC;
    for (std::int64_t line = 0; line < (by_column ? A.columns : A.rows); ++line) {
        for (std::int64_t other = 0; other < (by_column ? A.rows : A.columns); ++other) {
            const std::int64_t place = by_column ? A.place(other, line) : A.place(line, other);
            if (static_cast<const T*>(A.values)[place] == T(0)) continue;
            places.push_back(place);
            lines.push_back(line);
            others.push_back(other);
        }
    }
    return places;
}

}  // namespace

#define HERE(handle, name) SparseCall(handle, name, __builtin_return_address(0))

// ---- handles ------------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
    if (handle == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *handle = new cusparseContext;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return destroy(handle); }
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (version == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->stream = streamId;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* streamId) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (streamId == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *streamId = handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (mode == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *mode = handle->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

const char* cusparseGetErrorName(cusparseStatus_t status) {
    constexpr const char* names[] = {"CUSPARSE_STATUS_SUCCESS",
                                     "CUSPARSE_STATUS_NOT_INITIALIZED",
                                     "CUSPARSE_STATUS_ALLOC_FAILED",
                                     "CUSPARSE_STATUS_INVALID_VALUE",
                                     "CUSPARSE_STATUS_ARCH_MISMATCH",
                                     "CUSPARSE_STATUS_MAPPING_ERROR",
                                     "CUSPARSE_STATUS_EXECUTION_FAILED",
                                     "CUSPARSE_STATUS_INTERNAL_ERROR",
                                     "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                     "CUSPARSE_STATUS_ZERO_PIVOT",
                                     "CUSPARSE_STATUS_NOT_SUPPORTED",
                                     "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
    const auto i = static_cast<std::size_t>(status);
    return i < std::size(names) ? names[i] : "unrecognized error code";
}
const char* cusparseGetErrorString(cusparseStatus_t status) {
    constexpr const char* texts[] = {"success",
                                     "initialization error",
                                     "out of memory",
                                     "invalid value",
                                     "architecture mismatch",
                                     "texture memory mapping error",
                                     "kernel launch failure",
                                     "internal error",
                                     "matrix type not supported",
                                     "zero pivot",
                                     "operation not supported",
                                     "insufficient resources"};
    const auto i = static_cast<std::size_t>(status);
    return i < std::size(texts) ? texts[i] : "unrecognized error code";
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descrA) {
    if (descrA == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *descrA = new cusparseMatDescr;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA) { return destroy(descrA); }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descrA, cusparseMatrixType_t /*type*/) {
    return descrA == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descrA, cusparseIndexBase_t /*base*/) {
    return descrA == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descrA, cusparseFillMode_t /*fillMode*/) {
    return descrA == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descrA, cusparseDiagType_t /*diagType*/) {
    return descrA == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}

// ---- descriptions -------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* dnVecDescr, int64_t size, void* values,
                                     cudaDataType valueType) {
    if (dnVecDescr == nullptr || size < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    if (size_of_value(valueType) == 0) return unsupported_type("cusparseCreateDnVec", __builtin_return_address(0));
    *dnVecDescr = new cusparseDnVecDescr{size, values, valueType};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* dnVecDescr, int64_t size, const void* values,
                                          cudaDataType valueType) {
    return cusparseCreateDnVec(const_cast<cusparseDnVecDescr_t*>(dnVecDescr), size, const_cast<void*>(values),
                               valueType);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr) { return destroy(dnVecDescr); }
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t dnVecDescr, void** values) {
    if (dnVecDescr == nullptr || values == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *values = dnVecDescr->values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t dnVecDescr, void* values) {
    if (dnVecDescr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    dnVecDescr->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* dnMatDescr, int64_t rows, int64_t cols, int64_t ld,
                                     void* values, cudaDataType valueType, cusparseOrder_t order) {
    if (dnMatDescr == nullptr || rows < 0 || cols < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    if (order != CUSPARSE_ORDER_ROW && order != CUSPARSE_ORDER_COL) return CUSPARSE_STATUS_INVALID_VALUE;
    if (ld < (order == CUSPARSE_ORDER_ROW ? cols : rows)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (size_of_value(valueType) == 0) return unsupported_type("cusparseCreateDnMat", __builtin_return_address(0));
    *dnMatDescr = new cusparseDnMatDescr{rows, cols, ld, values, valueType, order};
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr) { return destroy(dnMatDescr); }
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t dnMatDescr, void* values) {
    if (dnMatDescr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    dnMatDescr->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                   void* csrRowOffsets, void* csrColInd, void* csrValues,
                                   cusparseIndexType_t csrRowOffsetsType, cusparseIndexType_t csrColIndType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create_sparse(spMatDescr,
                         {CUSPARSE_FORMAT_CSR, rows, cols, nnz, csrRowOffsets, csrColInd, csrValues, csrRowOffsetsType,
                          csrColIndType, static_cast<int>(idxBase), valueType},
                         "cusparseCreateCsr", __builtin_return_address(0));
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                        const void* csrRowOffsets, const void* csrColInd, const void* csrValues,
                                        cusparseIndexType_t csrRowOffsetsType, cusparseIndexType_t csrColIndType,
                                        cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return cusparseCreateCsr(const_cast<cusparseSpMatDescr_t*>(spMatDescr), rows, cols, nnz,
                             const_cast<void*>(csrRowOffsets), const_cast<void*>(csrColInd),
                             const_cast<void*>(csrValues), csrRowOffsetsType, csrColIndType, idxBase, valueType);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                   void* cscColOffsets, void* cscRowInd, void* cscValues,
                                   cusparseIndexType_t cscColOffsetsType, cusparseIndexType_t cscRowIndType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create_sparse(spMatDescr,
                         {CUSPARSE_FORMAT_CSC, rows, cols, nnz, cscColOffsets, cscRowInd, cscValues, cscColOffsetsType,
                          cscRowIndType, static_cast<int>(idxBase), valueType},
                         "cusparseCreateCsc", __builtin_return_address(0));
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
                                   void* cooRowInd, void* cooColInd, void* cooValues, cusparseIndexType_t cooIdxType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return create_sparse(spMatDescr,
                         {CUSPARSE_FORMAT_COO, rows, cols, nnz, cooRowInd, cooColInd, cooValues, cooIdxType, cooIdxType,
                          static_cast<int>(idxBase), valueType},
                         "cusparseCreateCoo", __builtin_return_address(0));
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr) { return destroy(spMatDescr); }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t spMatDescr, int64_t* rows, int64_t* cols,
                                      int64_t* nnz) {
    if (spMatDescr == nullptr || rows == nullptr || cols == nullptr || nnz == nullptr)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = spMatDescr->rows;
    *cols = spMatDescr->columns;
    *nnz = spMatDescr->entries;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
                                           void* data, size_t dataSize) {
    if (spMatDescr == nullptr || data == nullptr || dataSize != sizeof(cusparseFillMode_t))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE) {
        spMatDescr->fill = *static_cast<cusparseFillMode_t*>(data);
    } else {
        spMatDescr->diagonal = *static_cast<cusparseDiagType_t*>(data);
    }
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr, void* values) {
    if (spMatDescr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    spMatDescr->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t spMatDescr, void* csrRowOffsets, void* csrColInd,
                                        void* csrValues) {
    return set_pointers(spMatDescr, CUSPARSE_FORMAT_CSR, csrRowOffsets, csrColInd, csrValues);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t spMatDescr, void* cscColOffsets, void* cscRowInd,
                                        void* cscValues) {
    return set_pointers(spMatDescr, CUSPARSE_FORMAT_CSC, cscColOffsets, cscRowInd, cscValues);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr, void* cooRows, void* cooColumns,
                                        void* cooValues) {
    return set_pointers(spMatDescr, CUSPARSE_FORMAT_COO, cooRows, cooColumns, cooValues);
}

// ---- products -----------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t /*opA*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                         const void* /*beta*/, cusparseDnVecDescr_t vecY, cudaDataType /*computeType*/,
                                         cusparseSpMVAlg_t /*alg*/, size_t* bufferSize) {
    if (matA == nullptr || vecX == nullptr || vecY == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    return need_no_buffer(handle, bufferSize);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t /*opA*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t /*matA*/, cusparseConstDnVecDescr_t /*vecX*/,
                                         const void* /*beta*/, cusparseDnVecDescr_t /*vecY*/,
                                         cudaDataType /*computeType*/, cusparseSpMVAlg_t /*alg*/,
                                         void* /*externalBuffer*/) {
    return handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void* alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX, const void* beta,
                              cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpMVAlg_t /*alg*/,
                              void* /*externalBuffer*/) {
    SparseCall call = HERE(handle, "cusparseSpMV");
    call.uses(matA).uses("vector x", vecX).uses("vector y", vecY);
    call.scalar("alpha", alpha, computeType).scalar("beta", beta, computeType);
    if (!call) return call.status();
    if (vecX->size != columns_of(*matA, opA) || vecY->size != rows_of(*matA, opA)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (matA->type != computeType || vecX->type != computeType || vecY->type != computeType)
        return call.unsupported_types();
    return with_type(computeType, [&]<class T>(T*) {
        std::vector<Entry<SumOf<T>>> entries;
        if (!read_entries<T>(*matA, opA, entries)) return CUSPARSE_STATUS_EXECUTION_FAILED;
        std::vector<SumOf<T>> sums(static_cast<std::size_t>(vecY->size));
        const auto* const x = static_cast<const T*>(vecX->values);
        auto* const y = static_cast<T*>(vecY->values);
        for (const auto& entry : entries)
            sums[static_cast<std::size_t>(entry.row)] += entry.value * SumOf<T>(x[entry.column]);
        const SumOf<T> a = read_scalar<T>(alpha), b = read_scalar<T>(beta);
        for (std::int64_t i = 0; i < vecY->size; ++i) {
            const SumOf<T> product = a * sums[static_cast<std::size_t>(i)];
            y[i] = rounded<T>(b == SumOf<T>(0) ? product : product + b * SumOf<T>(y[i]));
        }
        note_result(y, static_cast<std::size_t>(vecY->size) * sizeof(T));
        return CUSPARSE_STATUS_SUCCESS;
    });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t /*opA*/,
                                         cusparseOperation_t /*opB*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                         const void* /*beta*/, cusparseDnMatDescr_t matC, cudaDataType /*computeType*/,
                                         cusparseSpMMAlg_t /*alg*/, size_t* bufferSize) {
    if (matA == nullptr || matB == nullptr || matC == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    return need_no_buffer(handle, bufferSize);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t /*opA*/,
                                         cusparseOperation_t /*opB*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t /*matA*/, cusparseConstDnMatDescr_t /*matB*/,
                                         const void* /*beta*/, cusparseDnMatDescr_t /*matC*/,
                                         cudaDataType /*computeType*/, cusparseSpMMAlg_t /*alg*/,
                                         void* /*externalBuffer*/) {
    return handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                              const void* alpha, cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                              const void* beta, cusparseDnMatDescr_t matC, cudaDataType computeType,
                              cusparseSpMMAlg_t /*alg*/, void* /*externalBuffer*/) {
    SparseCall call = HERE(handle, "cusparseSpMM");
    call.uses(matA).uses("matrix B", matB).uses("matrix C", matC);
    call.scalar("alpha", alpha, computeType).scalar("beta", beta, computeType);
    if (!call) return call.status();
    const bool turns_b = opB != CUSPARSE_OPERATION_NON_TRANSPOSE;
    if ((turns_b ? matB->columns : matB->rows) != columns_of(*matA, opA) ||
        (turns_b ? matB->rows : matB->columns) != matC->columns || matC->rows != rows_of(*matA, opA))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (matA->type != computeType || matB->type != computeType || matC->type != computeType)
        return call.unsupported_types();
    return with_type(computeType, [&]<class T>(T*) {
        std::vector<Entry<SumOf<T>>> entries;
        if (!read_entries<T>(*matA, opA, entries)) return CUSPARSE_STATUS_EXECUTION_FAILED;
        const auto* const B = static_cast<const T*>(matB->values);
        auto* const C = static_cast<T*>(matC->values);
        const SumOf<T> a = read_scalar<T>(alpha), b = read_scalar<T>(beta);
        std::vector<SumOf<T>> sums(static_cast<std::size_t>(matC->rows));
        for (std::int64_t j = 0; j < matC->columns; ++j) {
            std::fill(sums.begin(), sums.end(), SumOf<T>(0));
            for (const auto& entry : entries) {
                SumOf<T> value = B[turns_b ? matB->place(j, entry.column) : matB->place(entry.column, j)];
                if (opB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value = conjugate(value);
                sums[static_cast<std::size_t>(entry.row)] += entry.value * value;
            }
            for (std::int64_t i = 0; i < matC->rows; ++i) {
                T& element = C[matC->place(i, j)];
                const SumOf<T> product = a * sums[static_cast<std::size_t>(i)];
                element = rounded<T>(b == SumOf<T>(0) ? product : product + b * SumOf<T>(element));
            }
        }
        note_result(C, static_cast<std::size_t>(matC->length()) * sizeof(T));
        return CUSPARSE_STATUS_SUCCESS;
    });
}

// ---- triangular solves --------------------------------------------------------------------------------------------

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descr) {
    if (descr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    *descr = new cusparseSpSVDescr;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr) { return destroy(descr); }
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t /*opA*/, const void* /*alpha*/,
                                         cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t /*vecX*/,
                                         cusparseDnVecDescr_t /*vecY*/, cudaDataType /*computeType*/,
                                         cusparseSpSVAlg_t /*alg*/, cusparseSpSVDescr_t spsvDescr, size_t* bufferSize) {
    if (matA == nullptr || spsvDescr == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    return need_no_buffer(handle, bufferSize);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t /*opA*/, const void* /*alpha*/,
                                       cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t /*vecX*/,
                                       cusparseDnVecDescr_t /*vecY*/, cudaDataType /*computeType*/,
                                       cusparseSpSVAlg_t /*alg*/, cusparseSpSVDescr_t spsvDescr,
                                       void* /*externalBuffer*/) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    return matA == nullptr || spsvDescr == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t opA, const void* alpha,
                                    cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                                    cusparseDnVecDescr_t vecY, cudaDataType computeType, cusparseSpSVAlg_t /*alg*/,
                                    cusparseSpSVDescr_t /*spsvDescr*/) {
    SparseCall call = HERE(handle, "cusparseSpSV_solve");
    call.uses(matA).uses("vector x", vecX).uses("vector y", vecY).scalar("alpha", alpha, computeType);
    if (!call) return call.status();
    const std::int64_t n = matA->rows;
    if (matA->columns != n || vecX->size != n || vecY->size != n) return CUSPARSE_STATUS_INVALID_VALUE;
    if (matA->type != computeType || vecX->type != computeType || vecY->type != computeType)
        return call.unsupported_types();
    return with_type(computeType, [&]<class T>(T*) {
        std::vector<Entry<SumOf<T>>> entries;
        if (!read_entries<T>(*matA, opA, entries)) return CUSPARSE_STATUS_EXECUTION_FAILED;
        // What lies in the other triangle does not count.
        const bool turned = opA != CUSPARSE_OPERATION_NON_TRANSPOSE;
        const bool is_lower = (matA->fill == CUSPARSE_FILL_MODE_LOWER) != turned;
        std::vector<std::vector<Entry<SumOf<T>>>> rows(static_cast<std::size_t>(n));
        std::vector<SumOf<T>> diagonal(static_cast<std::size_t>(n), SumOf<T>(0));
        for (const auto& entry : entries) {
            const auto row = static_cast<std::size_t>(entry.row);
            if (entry.row == entry.column) diagonal[row] += entry.value;
            if (is_lower ? entry.column < entry.row : entry.column > entry.row) rows[row].push_back(entry);
        }
        if (matA->diagonal == CUSPARSE_DIAG_TYPE_UNIT) std::fill(diagonal.begin(), diagonal.end(), SumOf<T>(1));
        const auto* const x = static_cast<const T*>(vecX->values);
        auto* const y = static_cast<T*>(vecY->values);
        const SumOf<T> a = read_scalar<T>(alpha);
        std::vector<SumOf<T>> solution(static_cast<std::size_t>(n));
        for (std::int64_t step = 0; step < n; ++step) {
            const auto row = static_cast<std::size_t>(is_lower ? step : n - 1 - step);
            SumOf<T> value = a * SumOf<T>(x[row]);
            for (const auto& entry : rows[row]) value -= entry.value * solution[static_cast<std::size_t>(entry.column)];
            solution[row] = value / diagonal[row];
        }
        for (std::int64_t i = 0; i < n; ++i) y[i] = rounded<T>(solution[static_cast<std::size_t>(i)]);
        note_result(y, static_cast<std::size_t>(n) * sizeof(T));
        return CUSPARSE_STATUS_SUCCESS;
    });
}

// ---- conversions --------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                                  cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t /*alg*/,
                                                  size_t* bufferSize) {
    if (matA == nullptr || matB == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    return need_no_buffer(handle, bufferSize);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                       cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t /*alg*/,
                                       void* /*externalBuffer*/) {
    SparseCall call = HERE(handle, "cusparseSparseToDense");
    call.uses(matA).uses("matrix B", matB);
    if (!call) return call.status();
    if (matA->rows != matB->rows || matA->columns != matB->columns || matA->type != matB->type)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return with_type(matA->type, [&]<class T>(T*) {
        std::vector<Entry<SumOf<T>>> entries;
        if (!read_entries<T>(*matA, CUSPARSE_OPERATION_NON_TRANSPOSE, entries)) return CUSPARSE_STATUS_EXECUTION_FAILED;
        auto* const B = static_cast<T*>(matB->values);
        for (std::int64_t i = 0; i < matB->rows; ++i)
            for (std::int64_t j = 0; j < matB->columns; ++j) B[matB->place(i, j)] = T(0);
        for (const auto& entry : entries) B[matB->place(entry.row, entry.column)] = rounded<T>(entry.value);
        note_result(B, static_cast<std::size_t>(matB->length()) * sizeof(T));
        return CUSPARSE_STATUS_SUCCESS;
    });
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                                  cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t /*alg*/,
                                                  size_t* bufferSize) {
    if (matA == nullptr || matB == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
    return need_no_buffer(handle, bufferSize);
}
/// Counts the entries, and writes the offsets where the format has some.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                                cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t /*alg*/,
                                                void* /*externalBuffer*/) {
    SparseCall call = HERE(handle, "cusparseDenseToSparse_analysis");
    call.uses("matrix A", matA).require(matB != nullptr);
    if (!call) return call.status();
    if (matA->rows != matB->rows || matA->columns != matB->columns || matA->type != matB->type)
        return CUSPARSE_STATUS_INVALID_VALUE;
    const bool has_offsets = matB->format != CUSPARSE_FORMAT_COO;
    if (has_offsets && !call.uses(matB, false)) return call.status();
    return with_type(matA->type, [&]<class T>(T*) {
        std::vector<std::int64_t> lines, others;
        matB->entries = static_cast<std::int64_t>(places_of_entries<T>(*matA, matB->format, lines, others).size());
        if (!has_offsets) return CUSPARSE_STATUS_SUCCESS;
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(matB->offsets_count()), matB->base);
        for (const std::int64_t line : lines) ++offsets[static_cast<std::size_t>(line) + 1];
        for (std::size_t i = 1; i < offsets.size(); ++i) {
            offsets[i] += offsets[i - 1] - matB->base;
            set_index(matB->offsets, matB->offsets_type, static_cast<std::int64_t>(i), offsets[i]);
        }
        set_index(matB->offsets, matB->offsets_type, 0, matB->base);
        note_result(matB->offsets, offsets.size() * size_of_index(matB->offsets_type));
        return CUSPARSE_STATUS_SUCCESS;
    });
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t matA,
                                               cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t /*alg*/,
                                               void* /*externalBuffer*/) {
    SparseCall call = HERE(handle, "cusparseDenseToSparse_convert");
    call.uses("matrix A", matA).uses(matB);
    if (!call) return call.status();
    if (matA->rows != matB->rows || matA->columns != matB->columns || matA->type != matB->type)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return with_type(matA->type, [&]<class T>(T*) {
        std::vector<std::int64_t> lines, others;
        const std::vector<std::int64_t> places = places_of_entries<T>(*matA, matB->format, lines, others);
        if (static_cast<std::int64_t>(places.size()) != matB->entries) return CUSPARSE_STATUS_INVALID_VALUE;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            if (matB->format == CUSPARSE_FORMAT_COO)
                set_index(matB->offsets, matB->offsets_type, at, lines[i] + matB->base);
            set_index(matB->indices, matB->indices_type, at, others[i] + matB->base);
            static_cast<T*>(matB->values)[i] = static_cast<const T*>(matA->values)[places[i]];
        }
        if (matB->format == CUSPARSE_FORMAT_COO)
            note_result(matB->offsets, places.size() * size_of_index(matB->offsets_type));
        note_result(matB->indices, places.size() * size_of_index(matB->indices_type));
        note_result(matB->values, places.size() * sizeof(T));
        return CUSPARSE_STATUS_SUCCESS;
    });
}

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* cooRowInd, int nnz, int m, int* csrSortedRowPtr,
                                  cusparseIndexBase_t idxBase) {
    SparseCall call = HERE(handle, "cusparseXcoo2csr");
    call.require(nnz >= 0 && m >= 0).memory("cooRowInd", cooRowInd, nnz, sizeof(int));
    call.memory("csrSortedRowPtr", csrSortedRowPtr, m + 1, sizeof(int));
    if (!call) return call.status();
    const int base = static_cast<int>(idxBase);
    for (int row = 0; row <= m; ++row) {
        csrSortedRowPtr[row] =
            static_cast<int>(std::lower_bound(cooRowInd, cooRowInd + nnz, row + base) - cooRowInd) + base;
    }
    note_result(csrSortedRowPtr, (static_cast<std::size_t>(m) + 1) * sizeof(int));
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* csrSortedRowPtr, int nnz, int m, int* cooRowInd,
                                  cusparseIndexBase_t idxBase) {
    SparseCall call = HERE(handle, "cusparseXcsr2coo");
    call.require(nnz >= 0 && m >= 0).memory("csrSortedRowPtr", csrSortedRowPtr, m + 1, sizeof(int));
    call.memory("cooRowInd", cooRowInd, nnz, sizeof(int));
    if (!call) return call.status();
    const int base = static_cast<int>(idxBase);
    for (int row = 0; row < m; ++row) {
        for (int i = std::max(0, csrSortedRowPtr[row] - base); i < csrSortedRowPtr[row + 1] - base && i < nnz; ++i)
            cooRowInd[i] = row + base;
    }
    note_result(cooRowInd, static_cast<std::size_t>(nnz) * sizeof(int));
    return CUSPARSE_STATUS_SUCCESS;
}
