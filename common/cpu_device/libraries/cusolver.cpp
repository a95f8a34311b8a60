// cuSOLVER's dense part, by the LAPACK of the host. It is found when the first function is called; nothing is linked,
// so that programs run without it, too.
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"
#include "cusolverDn.h"

using namespace cpu_device;

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};

namespace {

using Status = cusolverStatus_t;
using Handle = cusolverDnHandle_t;

// ---- LAPACK -------------------------------------------------------------------------------------------------------

void* lapack() {
    static void* const library = [] {
        void* found = nullptr;
        for (const char* name : {"liblapack.so.3", "libopenblas.so.0", "liblapack.so", "libopenblas.so"}) {
            if (found == nullptr) found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        return found;
    }();
    return library;
}

template <class T>
struct Lapack;
template <>
struct Lapack<float> {
    static constexpr char letter = 's';
    using Real = float;
    static constexpr bool is_complex = false;
};
template <>
struct Lapack<double> {
    static constexpr char letter = 'd';
    using Real = double;
    static constexpr bool is_complex = false;
};
template <>
struct Lapack<cuComplex> {
    static constexpr char letter = 'c';
    using Real = float;
    static constexpr bool is_complex = true;
};
template <>
struct Lapack<cuDoubleComplex> {
    static constexpr char letter = 'z';
    using Real = double;
    static constexpr bool is_complex = true;
};
template <class T>
using Real = typename Lapack<T>::Real;

/// Calls LAPACK's function of that name for numbers of type T. All arguments are pointers; `letters` of them are single
/// letters, whose lengths Fortran wants behind everything else. False where there is no such function.
template <class T, class... Arguments>
bool call_lapack(const std::string& name, std::size_t letters, Arguments*... arguments) {
    void* const found = lapack() == nullptr ? nullptr : dlsym(lapack(), (Lapack<T>::letter + name + '_').c_str());
    if (found == nullptr) return false;
    const std::size_t one = 1;
    switch (letters) {
        case 0:
            reinterpret_cast<void (*)(Arguments * ...)>(found)(arguments...);
            break;
        case 1:
            reinterpret_cast<void (*)(Arguments * ..., std::size_t)>(found)(arguments..., one);
            break;
        default:
            reinterpret_cast<void (*)(Arguments * ..., std::size_t, std::size_t)>(found)(arguments..., one, one);
    }
    return true;
}

// ---- a call -------------------------------------------------------------------------------------------------------

/// What every function does with its arguments. The first thing that is wrong decides what it returns.
class SolverCall {
public:
    SolverCall(Handle handle, const char* function, const void* code) : call_{function, {}, code} {
        if (handle == nullptr) {
            fail(CUSOLVER_STATUS_NOT_INITIALIZED);
        } else {
            if (is_captured(handle->stream)) {
                unsupported("the capture of cuSOLVER in a graph", place_of(call_));
                fail(CUSOLVER_STATUS_NOT_SUPPORTED);
            }
            (void)finish_stream(handle->stream);
        }
        if (device_is_lost()) fail(CUSOLVER_STATUS_EXECUTION_FAILED);
    }

    SolverCall& require(bool is_valid) {
        if (!is_valid) fail(CUSOLVER_STATUS_INVALID_VALUE);
        return *this;
    }
    template <class T>
    SolverCall& values(const char* role, const T* pointer, std::int64_t count) {
        if (status_ == CUSOLVER_STATUS_SUCCESS &&
            !is_for_device(call_, role, pointer,
                           static_cast<std::size_t>(std::max<std::int64_t>(0, count)) * sizeof(T)))
            fail(CUSOLVER_STATUS_EXECUTION_FAILED);
        return *this;
    }
    template <class T>
    SolverCall& matrix(const char* role, const T* A, int rows, int columns, int ld) {
        require(rows >= 0 && columns >= 0 && ld >= std::max(1, rows));
        return values(role, A, extent(rows, columns, ld));
    }

    explicit operator bool() const { return status_ == CUSOLVER_STATUS_SUCCESS; }

    /// Computes if nothing is wrong. `compute` is false where LAPACK has no such function.
    template <class Compute>
    Status run(const Compute& compute) {
        if (status_ != CUSOLVER_STATUS_SUCCESS) return status_;
        if (compute()) return CUSOLVER_STATUS_SUCCESS;
        unsupported("cuSOLVER without LAPACK", place_of(call_), "install it: sudo apt install liblapack3");
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    }

    static std::int64_t extent(int rows, int columns, int ld) {
        return rows <= 0 || columns <= 0 ? 0 : std::int64_t{ld} * (columns - 1) + rows;
    }

private:
    void fail(Status status) {
        if (status_ == CUSOLVER_STATUS_SUCCESS) status_ = status;
    }

    ApiCall call_;
    Status status_ = CUSOLVER_STATUS_SUCCESS;
};

template <class T>
void note_matrix(T* A, int rows, int columns, int ld) {
    note_result(A, static_cast<std::size_t>(SolverCall::extent(rows, columns, ld)) * sizeof(T));
}
template <class T>
void note_values(T* values, int count) {
    note_result(values, static_cast<std::size_t>(std::max(0, count)) * sizeof(T));
}

Status work_size(Handle handle, int* size) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (size == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    *size = 1;  // LAPACK's work areas are the library's own
    return CUSOLVER_STATUS_SUCCESS;
}

char letter_of(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L'; }
char letter_of(cublasOperation_t trans) { return trans == CUBLAS_OP_N ? 'N' : trans == CUBLAS_OP_T ? 'T' : 'C'; }

/// Runs `call(work, size)` twice: LAPACK first tells the size of its work area.
template <class T, class Call>
bool with_work_area(const Call& call) {
    T best{};
    int size = -1;
    if (!call(&best, &size)) return false;
    Real<T> wanted{};
    std::copy_n(reinterpret_cast<const Real<T>*>(&best), 1, &wanted);
    size = std::max(1, static_cast<int>(wanted));
    std::vector<T> work(static_cast<std::size_t>(size));
    return call(work.data(), &size);
}

// ---- what the functions do ----------------------------------------------------------------------------------------

/// As where the pivots are not asked for.
template <class T>
int factorize_without_pivots(int m, int n, T* matrix, int lda) {
    using Number = std::conditional_t<Lapack<T>::is_complex, std::complex<Real<T>>, T>;
    auto* const A = reinterpret_cast<Number*>(matrix);
    const auto at = [&](int i, int j) -> Number& { return A[i + static_cast<std::ptrdiff_t>(j) * lda]; };
    int info = 0;
    for (int k = 0; k < std::min(m, n); ++k) {
        if (at(k, k) == Number(0)) {
            if (info == 0) info = k + 1;
            continue;
        }
        for (int i = k + 1; i < m; ++i) at(i, k) /= at(k, k);
        for (int j = k + 1; j < n; ++j)
            for (int i = k + 1; i < m; ++i) at(i, j) -= at(i, k) * at(k, j);
    }
    return info;
}

template <class T>
Status getrf(SolverCall call, int m, int n, T* A, int lda, int* pivots, int* info) {
    call.matrix("matrix A", A, m, n, lda).values("devInfo", info, 1);
    if (pivots != nullptr) call.values("devIpiv", pivots, std::min(m, n));
    return call.run([&] {
        if (pivots == nullptr) {
            *info = factorize_without_pivots(m, n, A, lda);
        } else if (!call_lapack<T>("getrf", 0, &m, &n, A, &lda, pivots, info)) {
            return false;
        }
        note_matrix(A, m, n, lda);
        if (pivots != nullptr) note_values(pivots, std::min(m, n));
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status getrs(SolverCall call, cublasOperation_t trans, int n, int columns, const T* A, int lda, const int* pivots, T* B,
             int ldb, int* info) {
    call.matrix("matrix A", A, n, n, lda).matrix("matrix B", B, n, columns, ldb).values("devInfo", info, 1);
    if (pivots != nullptr) call.values("devIpiv", pivots, n);
    if (call && pivots != nullptr)  // LAPACK would swap with rows outside of the matrix
        call.require(std::all_of(pivots, pivots + n, [n](int pivot) { return pivot >= 1 && pivot <= n; }));
    return call.run([&] {
        std::vector<int> in_place(static_cast<std::size_t>(std::max(0, n)));
        for (int i = 0; i < n; ++i) in_place[static_cast<std::size_t>(i)] = pivots == nullptr ? i + 1 : pivots[i];
        const char operation = letter_of(trans);
        if (!call_lapack<T>("getrs", 1, &operation, &n, &columns, A, &lda, in_place.data(), B, &ldb, info))
            return false;
        note_matrix(B, n, columns, ldb);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status potrf(SolverCall call, cublasFillMode_t uplo, int n, T* A, int lda, int* info) {
    call.matrix("matrix A", A, n, n, lda).values("devInfo", info, 1);
    return call.run([&] {
        const char half = letter_of(uplo);
        if (!call_lapack<T>("potrf", 1, &half, &n, A, &lda, info)) return false;
        note_matrix(A, n, n, lda);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status potrs(SolverCall call, cublasFillMode_t uplo, int n, int columns, const T* A, int lda, T* B, int ldb,
             int* info) {
    call.matrix("matrix A", A, n, n, lda).matrix("matrix B", B, n, columns, ldb).values("devInfo", info, 1);
    return call.run([&] {
        const char half = letter_of(uplo);
        if (!call_lapack<T>("potrs", 1, &half, &n, &columns, A, &lda, B, &ldb, info)) return false;
        note_matrix(B, n, columns, ldb);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status potrf_batched(SolverCall call, cublasFillMode_t uplo, int n, T* const* A, int lda, int* info, int batch) {
    call.require(n >= 0 && batch >= 0 && lda >= std::max(1, n));
    call.values("the array of matrices", A, batch).values("infoArray", info, batch);
    for (int i = 0; i < batch && call; ++i) call.matrix("matrix A", A[i], n, n, lda);
    return call.run([&] {
        const char half = letter_of(uplo);
        for (int i = 0; i < batch; ++i) {
            if (!call_lapack<T>("potrf", 1, &half, &n, A[i], &lda, &info[i])) return false;
            note_matrix(A[i], n, n, lda);
        }
        note_values(info, batch);
        return true;
    });
}

template <class T>
Status potrs_batched(SolverCall call, cublasFillMode_t uplo, int n, int columns, T* const* A, int lda, T* const* B,
                     int ldb, int* info, int batch) {
    call.require(n >= 0 && columns >= 0 && batch >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n));
    call.values("the array of matrices A", A, batch).values("the array of matrices B", B, batch);
    call.values("d_info", info, 1);
    for (int i = 0; i < batch && call; ++i)
        call.matrix("matrix A", A[i], n, n, lda).matrix("matrix B", B[i], n, columns, ldb);
    return call.run([&] {
        const char half = letter_of(uplo);
        for (int i = 0; i < batch; ++i) {
            if (!call_lapack<T>("potrs", 1, &half, &n, &columns, A[i], &lda, B[i], &ldb, info)) return false;
            note_matrix(B[i], n, columns, ldb);
        }
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status geqrf(SolverCall call, int m, int n, T* A, int lda, T* tau, int* info) {
    call.matrix("matrix A", A, m, n, lda).values("TAU", tau, std::min(m, n)).values("devInfo", info, 1);
    return call.run([&] {
        const bool done = with_work_area<T>(
            [&](T* work, int* size) { return call_lapack<T>("geqrf", 0, &m, &n, A, &lda, tau, work, size, info); });
        if (!done) return false;
        note_matrix(A, m, n, lda);
        note_values(tau, std::min(m, n));
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status make_q(SolverCall call, int m, int n, int k, T* A, int lda, const T* tau, int* info) {
    call.require(k >= 0 && n >= k && m >= n);  // LAPACK would end the program
    call.matrix("matrix A", A, m, n, lda).values("tau", tau, k).values("info", info, 1);
    return call.run([&] {
        const std::string name = Lapack<T>::is_complex ? "ungqr" : "orgqr";
        const bool done = with_work_area<T>(
            [&](T* work, int* size) { return call_lapack<T>(name, 0, &m, &n, &k, A, &lda, tau, work, size, info); });
        if (!done) return false;
        note_matrix(A, m, n, lda);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status multiply_by_q(SolverCall call, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T* A,
                     int lda, const T* tau, T* C, int ldc, int* info) {
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    call.require(k <= order && !(Lapack<T>::is_complex && trans == CUBLAS_OP_T));  // LAPACK has only Q and Q^H
    call.matrix("matrix A", A, order, k, lda).matrix("matrix C", C, m, n, ldc);
    call.values("tau", tau, k).values("devInfo", info, 1);
    return call.run([&] {
        const std::string name = Lapack<T>::is_complex ? "unmqr" : "ormqr";
        const char at = side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
        const char operation = trans == CUBLAS_OP_N ? 'N' : Lapack<T>::is_complex ? 'C' : 'T';
        const bool done = with_work_area<T>([&](T* work, int* size) {
            return call_lapack<T>(name, 2, &at, &operation, &m, &n, &k, A, &lda, tau, C, &ldc, work, size, info);
        });
        if (!done) return false;
        note_matrix(C, m, n, ldc);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status gesvd(SolverCall call, signed char jobu, signed char jobvt, int m, int n, T* A, int lda, Real<T>* S, T* U,
             int ldu, T* VT, int ldvt, int* info) {
    const int least = std::min(m, n);
    const auto is_job = [](signed char job) { return job == 'A' || job == 'S' || job == 'O' || job == 'N'; };
    call.require(m >= n);  // as cuSOLVER wants it
    call.require(is_job(jobu) && is_job(jobvt) && !(jobu == 'O' && jobvt == 'O'));
    call.matrix("matrix A", A, m, n, lda).values("S", S, least).values("info", info, 1);
    const int columns_of_u = jobu == 'A' ? m : jobu == 'S' ? least : 0;
    const int rows_of_v = jobvt == 'A' ? n : jobvt == 'S' ? least : 0;
    if (columns_of_u > 0) call.matrix("matrix U", U, m, columns_of_u, ldu);
    if (rows_of_v > 0) call.matrix("matrix VT", VT, rows_of_v, n, ldvt);
    return call.run([&] {
        const char of_u = static_cast<char>(jobu), of_v = static_cast<char>(jobvt);
        ldu = std::max(1, ldu);
        ldvt = std::max(1, ldvt);
        std::vector<Real<T>> real_work(static_cast<std::size_t>(5 * std::max(1, least)));
        const bool done = with_work_area<T>([&](T* work, int* size) {
            if constexpr (Lapack<T>::is_complex) {
                return call_lapack<T>("gesvd", 2, &of_u, &of_v, &m, &n, A, &lda, S, U, &ldu, VT, &ldvt, work, size,
                                      real_work.data(), info);
            } else {
                return call_lapack<T>("gesvd", 2, &of_u, &of_v, &m, &n, A, &lda, S, U, &ldu, VT, &ldvt, work, size,
                                      info);
            }
        });
        if (!done) return false;
        note_matrix(A, m, n, lda);
        note_values(S, least);
        if (columns_of_u > 0) note_matrix(U, m, columns_of_u, ldu);
        if (rows_of_v > 0) note_matrix(VT, rows_of_v, n, ldvt);
        note_values(info, 1);
        return true;
    });
}

template <class T>
Status eigenvalues(SolverCall call, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, int lda, Real<T>* W,
                   int* info) {
    call.matrix("matrix A", A, n, n, lda).values("W", W, n).values("info", info, 1);
    return call.run([&] {
        const char vectors = jobz == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N', half = letter_of(uplo);
        // More than LAPACK asks for.
        int real_size = 1 + 5 * n + 2 * n * n, integer_size = 3 + 5 * n;
        std::vector<Real<T>> real_work(static_cast<std::size_t>(real_size));
        std::vector<int> integer_work(static_cast<std::size_t>(integer_size));
        int size = Lapack<T>::is_complex ? std::max(1, 2 * n + n * n) : std::max(1, 1 + 6 * n + 2 * n * n);
        std::vector<T> work(static_cast<std::size_t>(size));
        bool done = false;
        if constexpr (Lapack<T>::is_complex) {
            done = call_lapack<T>("heevd", 2, &vectors, &half, &n, A, &lda, W, work.data(), &size, real_work.data(),
                                  &real_size, integer_work.data(), &integer_size, info);
        } else {
            done = call_lapack<T>("syevd", 2, &vectors, &half, &n, A, &lda, W, work.data(), &size, integer_work.data(),
                                  &integer_size, info);
        }
        if (!done) return false;
        note_matrix(A, n, n, lda);
        note_values(W, n);
        note_values(info, 1);
        return true;
    });
}

}  // namespace

// ---- handles ------------------------------------------------------------------------------------------------------

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
    if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    *handle = new cusolverDnContext;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    handle->stream = streamId;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* streamId) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (streamId == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    *streamId = handle->stream;
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverGetVersion(int* version) {
    if (version == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
    *version = CUSOLVER_VERSION;
    return CUSOLVER_STATUS_SUCCESS;
}

// ---- the functions ------------------------------------------------------------------------------------------------

#define HERE(name) SolverCall(handle, name, __builtin_return_address(0))

#define SOLVERS(P, T, R)                                                                                               \
    cusolverStatus_t cusolverDn##P##getrf_bufferSize(Handle handle, int, int, T*, int, int* Lwork) {                   \
        return work_size(handle, Lwork);                                                                               \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##getrf(Handle handle, int m, int n, T* A, int lda, T*, int* devIpiv,                \
                                          int* devInfo) {                                                              \
        return getrf(HERE("cusolverDn" #P "getrf"), m, n, A, lda, devIpiv, devInfo);                                   \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##getrs(Handle handle, cublasOperation_t trans, int n, int nrhs, const T* A,         \
                                          int lda, const int* devIpiv, T* B, int ldb, int* devInfo) {                  \
        return getrs(HERE("cusolverDn" #P "getrs"), trans, n, nrhs, A, lda, devIpiv, B, ldb, devInfo);                 \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##potrf_bufferSize(Handle handle, cublasFillMode_t, int, T*, int, int* Lwork) {      \
        return work_size(handle, Lwork);                                                                               \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##potrf(Handle handle, cublasFillMode_t uplo, int n, T* A, int lda, T*, int,         \
                                          int* devInfo) {                                                              \
        return potrf(HERE("cusolverDn" #P "potrf"), uplo, n, A, lda, devInfo);                                         \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##potrs(Handle handle, cublasFillMode_t uplo, int n, int nrhs, const T* A, int lda,  \
                                          T* B, int ldb, int* devInfo) {                                               \
        return potrs(HERE("cusolverDn" #P "potrs"), uplo, n, nrhs, A, lda, B, ldb, devInfo);                           \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##potrfBatched(Handle handle, cublasFillMode_t uplo, int n, T* Aarray[], int lda,    \
                                                 int* infoArray, int batchSize) {                                      \
        return potrf_batched(HERE("cusolverDn" #P "potrfBatched"), uplo, n, Aarray, lda, infoArray, batchSize);        \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##potrsBatched(Handle handle, cublasFillMode_t uplo, int n, int nrhs, T* A[],        \
                                                 int lda, T* B[], int ldb, int* d_info, int batchSize) {               \
        return potrs_batched(HERE("cusolverDn" #P "potrsBatched"), uplo, n, nrhs, A, lda, B, ldb, d_info, batchSize);  \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##geqrf_bufferSize(Handle handle, int, int, T*, int, int* lwork) {                   \
        return work_size(handle, lwork);                                                                               \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##geqrf(Handle handle, int m, int n, T* A, int lda, T* TAU, T*, int, int* devInfo) { \
        return geqrf(HERE("cusolverDn" #P "geqrf"), m, n, A, lda, TAU, devInfo);                                       \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##gesvd_bufferSize(Handle handle, int, int, int* lwork) {                            \
        return work_size(handle, lwork);                                                                               \
    }                                                                                                                  \
    cusolverStatus_t cusolverDn##P##gesvd(Handle handle, signed char jobu, signed char jobvt, int m, int n, T* A,      \
                                          int lda, R* S, T* U, int ldu, T* VT, int ldvt, T*, int, R*, int* info) {     \
        return gesvd(HERE("cusolverDn" #P "gesvd"), jobu, jobvt, m, n, A, lda, S, U, ldu, VT, ldvt, info);             \
    }
SOLVERS(S, float, float)
SOLVERS(D, double, double)
SOLVERS(C, cuComplex, float)
SOLVERS(Z, cuDoubleComplex, double)
#undef SOLVERS

#define SOLVERS(P, Q, M, E, T, R)                                                                                     \
    cusolverStatus_t cusolverDn##P##Q##_bufferSize(Handle handle, int, int, int, const T*, int, const T*,             \
                                                   int* lwork) {                                                      \
        return work_size(handle, lwork);                                                                              \
    }                                                                                                                 \
    cusolverStatus_t cusolverDn##P##Q(Handle handle, int m, int n, int k, T* A, int lda, const T* tau, T*, int,       \
                                      int* info) {                                                                    \
        return make_q(HERE("cusolverDn" #P #Q), m, n, k, A, lda, tau, info);                                          \
    }                                                                                                                 \
    cusolverStatus_t cusolverDn##P##M##_bufferSize(Handle handle, cublasSideMode_t, cublasOperation_t, int, int, int, \
                                                   const T*, int, const T*, const T*, int, int* lwork) {              \
        return work_size(handle, lwork);                                                                              \
    }                                                                                                                 \
    cusolverStatus_t cusolverDn##P##M(Handle handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,    \
                                      int k, const T* A, int lda, const T* tau, T* C, int ldc, T*, int,               \
                                      int* devInfo) {                                                                 \
        return multiply_by_q(HERE("cusolverDn" #P #M), side, trans, m, n, k, A, lda, tau, C, ldc, devInfo);           \
    }                                                                                                                 \
    cusolverStatus_t cusolverDn##P##E##evd_bufferSize(Handle handle, cusolverEigMode_t, cublasFillMode_t, int,        \
                                                      const T*, int, const R*, int* lwork) {                          \
        return work_size(handle, lwork);                                                                              \
    }                                                                                                                 \
    cusolverStatus_t cusolverDn##P##E##evd(Handle handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T* A, \
                                           int lda, R* W, T*, int, int* info) {                                       \
        return eigenvalues(HERE("cusolverDn" #P #E "evd"), jobz, uplo, n, A, lda, W, info);                           \
    }
SOLVERS(S, orgqr, ormqr, sy, float, float)
SOLVERS(D, orgqr, ormqr, sy, double, double)
SOLVERS(C, ungqr, unmqr, he, cuComplex, float)
SOLVERS(Z, ungqr, unmqr, he, cuDoubleComplex, double)
#undef SOLVERS
