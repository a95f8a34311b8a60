// cuBLAS. Each function checks its arguments as cuBLAS does, then the memory that it is given, and computes. Products
// of matrices end in blas::multiply; symmetric and triangular matrices are written out in full for that.
#include "cublas_v2.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "common/cpu_device/src/allocations.h"
#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"
#include "cpu_device/runtime_api.h"
#include "matrix_product.h"
#include "size_of_type.h"

using namespace cpu_device;

struct cublasContext {
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
    cudaStream_t stream = nullptr;
};

namespace {

using Status = cublasStatus_t;
using Handle = cublasHandle_t;

// ---- types --------------------------------------------------------------------------------------------------------

template <class T>
struct NumberOf {
    using type = T;
};
template <>
struct NumberOf<float2> {
    using type = std::complex<float>;
};
template <>
struct NumberOf<double2> {
    using type = std::complex<double>;
};
/// With arithmetic: std::complex for CUDA's pairs.
template <class T>
using Number = typename NumberOf<std::remove_const_t<T>>::type;

template <class T>
const Number<T>* numbers(const T* values) {
    return reinterpret_cast<const Number<T>*>(values);
}
template <class T>
Number<T>* numbers(T* values) {
    return reinterpret_cast<Number<T>*>(values);
}

template <class T>
T conjugate(T x) {
    return x;
}
template <class T>
std::complex<T> conjugate(std::complex<T> x) {
    return std::conj(x);
}

/// |re| + |im|, as cuBLAS measures complex numbers.
template <class T>
double size_of(T x) {
    return std::abs(static_cast<double>(x));
}
template <class T>
double size_of(std::complex<T> x) {
    return size_of(x.real()) + size_of(x.imag());
}

/// In which sums of many products are taken.
template <class T>
struct SumOf {
    using type = double;
};
template <class T>
struct SumOf<std::complex<T>> {
    using type = std::complex<double>;
};
template <class T>
using Sum = typename SumOf<T>::type;

// ---- vectors and matrices -----------------------------------------------------------------------------------------

/// Element i of n; with a negative increment the vector begins at its last element.
template <class T>
struct Vector {
    T* data;
    int n;
    int increment;

    T& operator[](int i) const {
        const std::ptrdiff_t place = increment >= 0 ? i : i - (n - 1);
        return data[place * increment];
    }
    std::size_t bytes() const {
        return n <= 0
                   ? 0
                   : (static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(std::abs(increment)) + 1) * sizeof(T);
    }
};

/// As it lies in memory: by columns, `ld` elements apart.
template <class T>
struct Matrix {
    T* data;
    int rows;
    int columns;
    int ld;

    T& operator()(int i, int j) const { return data[i + static_cast<std::ptrdiff_t>(j) * ld]; }
    std::size_t bytes() const {
        if (rows <= 0 || columns <= 0) return 0;
        return (static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(rows)) *
               sizeof(T);
    }
    bool is_shaped() const { return rows >= 0 && columns >= 0 && ld >= std::max(1, rows); }
};

/// A matrix of the library's own.
template <class T>
class Full {
public:
    Full(int rows, int columns)
        : values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)), rows_(rows), columns_(columns) {}

    Matrix<T> all() { return {values_.data(), rows_, columns_, std::max(1, rows_)}; }

private:
    std::vector<T> values_;
    int rows_;
    int columns_;
};

bool is_operation(cublasOperation_t operation) { return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_CONJG; }
bool transposes(cublasOperation_t operation) { return operation == CUBLAS_OP_T || operation == CUBLAS_OP_C; }
bool conjugates(cublasOperation_t operation) { return operation == CUBLAS_OP_C || operation == CUBLAS_OP_CONJG; }

template <class T>
std::remove_const_t<T> element(Matrix<T> A, cublasOperation_t operation, int i, int j) {
    const T value = transposes(operation) ? A(j, i) : A(i, j);
    return conjugates(operation) ? conjugate(value) : value;
}

/// op(A), written out.
template <class T>
Full<std::remove_const_t<T>> written_out(Matrix<T> A, cublasOperation_t operation) {
    const bool turned = transposes(operation);
    Full<std::remove_const_t<T>> full(turned ? A.columns : A.rows, turned ? A.rows : A.columns);
    const auto all = full.all();
    for (int j = 0; j < A.columns; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            const T value = conjugates(operation) ? conjugate(A(i, j)) : A(i, j);
            (turned ? all(j, i) : all(i, j)) = value;
        }
    }
    return full;
}

/// Both halves of a matrix of which one is stored.
template <class T>
Full<std::remove_const_t<T>> with_both_halves(Matrix<T> A, cublasFillMode_t uplo, bool is_hermitian) {
    Full<std::remove_const_t<T>> full(A.rows, A.rows);
    const auto all = full.all();
    for (int j = 0; j < A.rows; ++j) {
        for (int i = j; i < A.rows; ++i) {
            const T stored = uplo == CUBLAS_FILL_MODE_LOWER ? A(i, j) : A(j, i);
            const T mirrored = is_hermitian ? conjugate(stored) : stored;
            all(i, j) = uplo == CUBLAS_FILL_MODE_LOWER ? stored : mirrored;
            all(j, i) = uplo == CUBLAS_FILL_MODE_LOWER ? mirrored : stored;
            if (i == j && is_hermitian) all(i, i) = (stored + conjugate(stored)) / T(2);  // its real part
        }
    }
    return full;
}

/// A triangle with zeros in the other half.
template <class T>
Full<std::remove_const_t<T>> triangle(Matrix<T> A, cublasFillMode_t uplo, cublasDiagType_t diag) {
    Full<std::remove_const_t<T>> full(A.rows, A.rows);
    const auto all = full.all();
    for (int j = 0; j < A.rows; ++j) {
        const int begin = uplo == CUBLAS_FILL_MODE_LOWER ? j : 0;
        const int end = uplo == CUBLAS_FILL_MODE_LOWER ? A.rows : j + 1;
        for (int i = begin; i < end; ++i) all(i, j) = A(i, j);
        if (diag == CUBLAS_DIAG_UNIT) all(j, j) = T(1);
    }
    return full;
}

template <class T, class U, class V>
void product(T alpha, Matrix<U> A, Matrix<V> B, T beta, Matrix<T> C) {
    blas::multiply<T>(C.rows, C.columns, A.columns, alpha, A.data, A.ld, B.data, B.ld, beta, C.data, C.ld);
}

/// C = alpha op(A) op(B) + beta C.
template <class T>
void product(T alpha, Matrix<const T> A, cublasOperation_t on_a, Matrix<const T> B, cublasOperation_t on_b, T beta,
             Matrix<T> C) {
    if (on_a == CUBLAS_OP_N && on_b == CUBLAS_OP_N) return product(alpha, A, B, beta, C);
    if (on_a == CUBLAS_OP_N) {
        auto b = written_out(B, on_b);
        return product(alpha, A, b.all(), beta, C);
    }
    auto a = written_out(A, on_a);
    if (on_b == CUBLAS_OP_N) return product(alpha, a.all(), B, beta, C);
    auto b = written_out(B, on_b);
    product(alpha, a.all(), b.all(), beta, C);
}

// ---- a call -------------------------------------------------------------------------------------------------------

/// What every function does with its arguments. The first thing that is wrong decides what it returns.
class Call {
public:
    Call(Handle handle, const char* function, const void* code) : handle_(handle), call_{function, {}, code} {
        if (handle == nullptr) {
            fail(CUBLAS_STATUS_NOT_INITIALIZED);
        } else {
            if (is_captured(handle->stream)) {
                unsupported("the capture of cuBLAS in a graph");
                fail(CUBLAS_STATUS_NOT_SUPPORTED);
            }
            (void)finish_stream(handle->stream);  // an operation of NCCL, say, whose other ranks come later
        }
        if (device_is_lost()) fail(CUBLAS_STATUS_EXECUTION_FAILED);
    }

    Call& require(bool is_valid) {
        if (!is_valid) fail(CUBLAS_STATUS_INVALID_VALUE);
        return *this;
    }
    /// `is_used`: some functions have nothing to do for some sizes and factors.
    template <class T>
    Call& uses(const char* role, Matrix<T> A) {
        require(A.is_shaped());
        return memory(role, A.data, A.bytes());
    }
    template <class T>
    Call& uses(const char* role, Vector<T> x) {
        require(x.increment != 0);
        const auto* first = x.data;
        return memory(role, first, x.bytes());
    }
    /// alpha, beta: of the host, or of the device where the handle says so.
    template <class T>
    Call& scalar(const char* role, const T* value) {
        require(value != nullptr);
        if (status_ != CUBLAS_STATUS_SUCCESS) return *this;
        if (handle_->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return memory(role, value, sizeof(T));
        if (const auto allocation = find_for_host(value); allocation && allocation->kind == MemoryKind::device) {
            report_misuse(
                DiagnosticKind::host_memory, call_,
                std::string("was given ") + describe(*allocation) + " as its " + role +
                    ", which the host reads and writes in this pointer mode",
                "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) says that scalars are on the device",
                allocation->display_name());
            fail(CUBLAS_STATUS_EXECUTION_FAILED);
        }
        return *this;
    }
    Call& memory(const char* role, const void* pointer, std::size_t bytes) {
        if (status_ == CUBLAS_STATUS_SUCCESS && !is_for_device(call_, role, pointer, bytes))
            fail(CUBLAS_STATUS_EXECUTION_FAILED);
        return *this;
    }

    Status unsupported(const char* feature) {
        cpu_device::unsupported(feature, place_of(call_));
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    cublasMath_t math_mode() const { return handle_->math_mode; }

    /// Computes if nothing is wrong, and notes what has been written.
    template <class Compute, class Result>
    Status run(const Compute& compute, Result result) const {
        if (status_ != CUBLAS_STATUS_SUCCESS) return status_;
        compute();
        note_result(result.data, result.bytes());
        return CUBLAS_STATUS_SUCCESS;
    }

    explicit operator bool() const { return status_ == CUBLAS_STATUS_SUCCESS; }
    Status status() const { return status_; }

private:
    void fail(Status status) {
        if (status_ == CUBLAS_STATUS_SUCCESS) status_ = status;
    }

    Handle handle_;
    ApiCall call_;
    Status status_ = CUBLAS_STATUS_SUCCESS;
};

/// One value as a result.
template <class T>
Vector<T> one(T* value) {
    return {value, 1, 1};
}

// ---- vectors ------------------------------------------------------------------------------------------------------

template <class T>
Status axpy(Call call, int n, const T* alpha, Vector<const T> x, Vector<T> y) {
    call.scalar("alpha", alpha).uses("vector x", x).uses("vector y", y);
    return call.run(
        [&] {
            for (int i = 0; i < n; ++i) y[i] += *alpha * x[i];
        },
        y);
}

template <class T>
Status copy(Call call, int n, Vector<const T> x, Vector<T> y) {
    call.uses("vector x", x).uses("vector y", y);
    return call.run(
        [&] {
            for (int i = 0; i < n; ++i) y[i] = x[i];
        },
        y);
}

template <class T>
Status swap(Call call, int n, Vector<T> x, Vector<T> y) {
    call.uses("vector x", x).uses("vector y", y);
    return call.run(
        [&] {
            for (int i = 0; i < n; ++i) std::swap(x[i], y[i]);
        },
        y);
}

template <class Factor, class T>
Status scal(Call call, int n, const Factor* alpha, Vector<T> x) {
    call.scalar("alpha", alpha).uses("vector x", x);
    return call.run(
        [&] {
            for (int i = 0; i < n; ++i) x[i] *= *alpha;
        },
        x);
}

/// The first of the largest or smallest elements, counted from 1; 0 of none.
template <class T>
Status extreme(Call call, int n, Vector<const T> x, int* result, bool largest) {
    call.scalar("result", result).uses("vector x", x);
    return call.run(
        [&] {
            int best = 0;
            for (int i = 1; i < n; ++i) {
                const bool better = largest ? size_of(x[i]) > size_of(x[best]) : size_of(x[i]) < size_of(x[best]);
                if (better) best = i;
            }
            *result = n > 0 ? best + 1 : 0;
        },
        one(result));
}

template <class T, class Real>
Status asum(Call call, int n, Vector<const T> x, Real* result) {
    call.scalar("result", result).uses("vector x", x);
    return call.run(
        [&] {
            double sum = 0;
            for (int i = 0; i < n; ++i) sum += size_of(x[i]);
            *result = static_cast<Real>(sum);
        },
        one(result));
}

template <class T, class Real>
Status nrm2(Call call, int n, Vector<const T> x, Real* result) {
    call.scalar("result", result).uses("vector x", x);
    return call.run(
        [&] {
            double largest = 0;
            for (int i = 0; i < n; ++i) largest = std::max(largest, size_of(x[i]));
            double sum = 0;  // of squares that can neither overflow nor vanish
            for (int i = 0; i < n; ++i) sum += std::norm(static_cast<Sum<T>>(x[i]) / (largest == 0 ? 1.0 : largest));
            *result = static_cast<Real>(largest * std::sqrt(sum));
            for (int i = 0; i < n; ++i)
                if (std::isnan(size_of(x[i]))) *result = static_cast<Real>(size_of(x[i]));
        },
        one(result));
}

template <class T>
Status dot(Call call, int n, Vector<const T> x, Vector<const T> y, T* result, bool of_conjugate) {
    call.scalar("result", result).uses("vector x", x).uses("vector y", y);
    return call.run(
        [&] {
            Sum<T> sum{};
            for (int i = 0; i < n; ++i) {
                sum += static_cast<Sum<T>>(of_conjugate ? conjugate(x[i]) : x[i]) * static_cast<Sum<T>>(y[i]);
            }
            *result = static_cast<T>(sum);
        },
        one(result));
}

template <class T>
Status rot(Call call, int n, Vector<T> x, Vector<T> y, const T* c, const T* s) {
    call.scalar("c", c).scalar("s", s).uses("vector x", x).uses("vector y", y);
    if (!call) return call.status();
    const T cosine = *c, sine = *s;
    for (int i = 0; i < n; ++i) {
        const T before = x[i];
        x[i] = cosine * before + sine * y[i];
        y[i] = cosine * y[i] - sine * before;
    }
    note_result(x.data, x.bytes());
    return call.run([] {}, y);
}

/// The rotation that turns (a, b) into (r, 0): a becomes r, and b a number from which c and s can be had again.
template <class T>
Status rotg(Call call, T* a, T* b, T* c, T* s) {
    call.scalar("a", a).scalar("b", b).scalar("c", c).scalar("s", s);
    if (!call) return call.status();
    const T larger = std::abs(*a) > std::abs(*b) ? *a : *b;
    const T r = std::copysign(std::hypot(*a, *b), larger);
    const T cosine = r == 0 ? T(1) : *a / r, sine = r == 0 ? T(0) : *b / r;
    const bool by_sine = std::abs(*a) > std::abs(*b);
    *b = by_sine ? sine : cosine != 0 ? 1 / cosine : T(1);
    *a = r;
    *c = cosine;
    *s = sine;
    for (T* value : {a, b, c, s}) note_result(value, sizeof(T));
    return CUBLAS_STATUS_SUCCESS;
}

// ---- a matrix and vectors -----------------------------------------------------------------------------------------

/// y = alpha op(A) x + beta y.
template <class T>
void multiply_vector(T alpha, Matrix<const T> A, cublasOperation_t operation, Vector<const T> x, T beta, Vector<T> y) {
    std::vector<Sum<T>> sums(static_cast<std::size_t>(y.n));
    for (int j = 0; j < A.columns; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            const Sum<T> value = static_cast<Sum<T>>(conjugates(operation) ? conjugate(A(i, j)) : A(i, j));
            const int to = transposes(operation) ? j : i, from = transposes(operation) ? i : j;
            sums[static_cast<std::size_t>(to)] += value * static_cast<Sum<T>>(x[from]);
        }
    }
    for (int i = 0; i < y.n; ++i) {
        const Sum<T> sum = static_cast<Sum<T>>(alpha) * sums[static_cast<std::size_t>(i)];
        y[i] = static_cast<T>(beta == T(0) ? sum : sum + static_cast<Sum<T>>(beta) * static_cast<Sum<T>>(y[i]));
    }
}

template <class T>
Status gemv(Call call, cublasOperation_t operation, const T* alpha, Matrix<const T> A, Vector<const T> x, const T* beta,
            Vector<T> y) {
    call.require(is_operation(operation)).scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", A).uses("vector x", x).uses("vector y", y);
    return call.run([&] { multiply_vector(*alpha, A, operation, x, *beta, y); }, y);
}

template <class T>
Status ger(Call call, const T* alpha, Vector<const T> x, Vector<const T> y, Matrix<T> A, bool of_conjugate) {
    call.scalar("alpha", alpha).uses("vector x", x).uses("vector y", y).uses("matrix A", A);
    return call.run(
        [&] {
            for (int j = 0; j < A.columns; ++j) {
                const T factor = *alpha * (of_conjugate ? conjugate(y[j]) : y[j]);
                for (int i = 0; i < A.rows; ++i) A(i, j) += x[i] * factor;
            }
        },
        A);
}

template <class T>
Status symv(Call call, cublasFillMode_t uplo, const T* alpha, Matrix<const T> A, Vector<const T> x, const T* beta,
            Vector<T> y, bool is_hermitian) {
    call.scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", A).uses("vector x", x).uses("vector y", y);
    return call.run(
        [&] {
            auto full = with_both_halves(A, uplo, is_hermitian);
            const Matrix<T> all = full.all();
            multiply_vector<T>(*alpha, {all.data, all.rows, all.columns, all.ld}, CUBLAS_OP_N, x, *beta, y);
        },
        y);
}

template <class T>
Status syr(Call call, cublasFillMode_t uplo, const T* alpha, Vector<const T> x, Matrix<T> A) {
    call.scalar("alpha", alpha).uses("vector x", x).uses("matrix A", A);
    return call.run(
        [&] {
            for (int j = 0; j < A.columns; ++j) {
                const int begin = uplo == CUBLAS_FILL_MODE_LOWER ? j : 0;
                const int end = uplo == CUBLAS_FILL_MODE_LOWER ? A.rows : j + 1;
                for (int i = begin; i < end; ++i) A(i, j) += *alpha * x[i] * x[j];
            }
        },
        A);
}

template <class T>
Status trmv(Call call, cublasFillMode_t uplo, cublasOperation_t operation, cublasDiagType_t diag, Matrix<const T> A,
            Vector<T> x) {
    call.require(is_operation(operation)).uses("matrix A", A).uses("vector x", x);
    return call.run(
        [&] {
            auto full = triangle(A, uplo, diag);
            const Matrix<T> all = full.all();
            std::vector<T> before(static_cast<std::size_t>(x.n));
            for (int i = 0; i < x.n; ++i) before[static_cast<std::size_t>(i)] = x[i];
            multiply_vector<T>(T(1), {all.data, all.rows, all.columns, all.ld}, operation, {before.data(), x.n, 1},
                               T(0), x);
        },
        x);
}

/// Solves op(A) x = b in place. `x(i)` is its i-th element.
template <class T, class Element>
void solve(Matrix<const T> A, cublasFillMode_t uplo, cublasOperation_t operation, cublasDiagType_t diag,
           const Element& x) {
    const int n = A.rows;
    const bool from_the_top = (uplo == CUBLAS_FILL_MODE_LOWER) != transposes(operation);
    for (int step = 0; step < n; ++step) {
        const int i = from_the_top ? step : n - 1 - step;
        Sum<T> sum = static_cast<Sum<T>>(x(i));
        for (int j = from_the_top ? 0 : i + 1; j < (from_the_top ? i : n); ++j) {
            sum -= static_cast<Sum<T>>(element(A, operation, i, j)) * static_cast<Sum<T>>(x(j));
        }
        if (diag == CUBLAS_DIAG_NON_UNIT) sum /= static_cast<Sum<T>>(element(A, operation, i, i));
        x(i) = static_cast<T>(sum);
    }
}

template <class T>
Status trsv(Call call, cublasFillMode_t uplo, cublasOperation_t operation, cublasDiagType_t diag, Matrix<const T> A,
            Vector<T> x) {
    call.require(is_operation(operation)).uses("matrix A", A).uses("vector x", x);
    return call.run([&] { solve(A, uplo, operation, diag, [&](int i) -> T& { return x[i]; }); }, x);
}

// ---- matrices -----------------------------------------------------------------------------------------------------

template <class T>
Matrix<T> factor(T* data, cublasOperation_t operation, int rows, int columns, int ld) {
    return transposes(operation) ? Matrix<T>{data, columns, rows, ld} : Matrix<T>{data, rows, columns, ld};
}

float rounded_to_tf32(float x) {
    if (!std::isfinite(x)) return x;
    // 10 of 23 bits stay; a half is rounded away from zero.
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x1000u) & ~0x1fffu);
}

/// The factors as the math mode makes them.
template <class T>
Full<T> rounded(Matrix<const T> A, float (*round)(float)) {
    Full<T> full(A.rows, A.columns);
    const auto all = full.all();
    for (int j = 0; j < A.columns; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            if constexpr (std::is_same_v<T, std::complex<float>>) {
                all(i, j) = {round(A(i, j).real()), round(A(i, j).imag())};
            } else {
                all(i, j) = static_cast<T>(round(static_cast<float>(A(i, j))));
            }
        }
    }
    return full;
}

template <class T>
Matrix<const T> constant(Matrix<T> A) {
    return {A.data, A.rows, A.columns, A.ld};
}

template <class T>
void product_in_mode(cublasMath_t mode, T alpha, Matrix<const T> A, cublasOperation_t on_a, Matrix<const T> B,
                     cublasOperation_t on_b, T beta, Matrix<T> C) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>) {
        if ((mode & 15) == CUBLAS_TF32_TENSOR_OP_MATH) {
            auto a = rounded(A, rounded_to_tf32);
            auto b = rounded(B, rounded_to_tf32);
            return product(alpha, constant(a.all()), on_a, constant(b.all()), on_b, beta, C);
        }
    }
    product(alpha, A, on_a, B, on_b, beta, C);
}

template <class T>
Status gemm(Call call, cublasOperation_t on_a, cublasOperation_t on_b, int m, int n, int k, const T* alpha, const T* A,
            int lda, const T* B, int ldb, const T* beta, T* C, int ldc) {
    const Matrix<const T> a = factor(A, on_a, m, k, lda), b = factor(B, on_b, k, n, ldb);
    const Matrix<T> c = {C, m, n, ldc};
    call.require(is_operation(on_a) && is_operation(on_b) && m >= 0 && n >= 0 && k >= 0);
    call.scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", a).uses("matrix B", b).uses("matrix C", c);
    return call.run([&] { product_in_mode(call.math_mode(), *alpha, a, on_a, b, on_b, *beta, c); }, c);
}

template <class T>
Status gemm_batched(Call call, cublasOperation_t on_a, cublasOperation_t on_b, int m, int n, int k, const T* alpha,
                    const T* const A[], int lda, const T* const B[], int ldb, const T* beta, T* const C[], int ldc,
                    int count) {
    call.require(count >= 0);
    if (!call) return call.status();
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(void*);
    call.memory("array of matrices A", A, bytes).memory("array of matrices B", B, bytes);
    call.memory("array of matrices C", C, bytes);
    for (int i = 0; i < count && call; ++i) {
        const Status status = gemm<T>(call, on_a, on_b, m, n, k, alpha, A[i], lda, B[i], ldb, beta, C[i], ldc);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return call.status();
}

template <class T>
Status gemm_strided(Call call, cublasOperation_t on_a, cublasOperation_t on_b, int m, int n, int k, const T* alpha,
                    const T* A, int lda, long long a_stride, const T* B, int ldb, long long b_stride, const T* beta,
                    T* C, int ldc, long long c_stride, int count) {
    call.require(count >= 0);
    for (int i = 0; i < count && call; ++i) {
        const Status status = gemm<T>(call, on_a, on_b, m, n, k, alpha, A + i * a_stride, lda, B + i * b_stride, ldb,
                                      beta, C + i * c_stride, ldc);
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return call.status();
}

/// C = alpha op(A) + beta op(B). C may be A or B.
template <class T>
Status geam(Call call, cublasOperation_t on_a, cublasOperation_t on_b, int m, int n, const T* alpha, const T* A,
            int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {
    const Matrix<const T> a = factor(A, on_a, m, n, lda), b = factor(B, on_b, m, n, ldb);
    const Matrix<T> c = {C, m, n, ldc};
    call.require(is_operation(on_a) && is_operation(on_b)).scalar("alpha", alpha).scalar("beta", beta);
    if (!call) return call.status();
    const bool uses_a = *alpha != T(0), uses_b = *beta != T(0);
    if (uses_a) call.uses("matrix A", a);
    if (uses_b) call.uses("matrix B", b);
    call.uses("matrix C", c);
    return call.run(
        [&] {
            Full<T> sum(m, n);
            const auto all = sum.all();
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < m; ++i) {
                    if (uses_a) all(i, j) += *alpha * element(a, on_a, i, j);
                    if (uses_b) all(i, j) += *beta * element(b, on_b, i, j);
                }
            }
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < m; ++i) c(i, j) = all(i, j);
        },
        c);
}

/// Each row or column of A times an element of x.
template <class T>
Status dgmm(Call call, cublasSideMode_t side, Matrix<const T> A, const T* x, int incx, Matrix<T> C) {
    const bool rows = side == CUBLAS_SIDE_LEFT;
    const Vector<const T> factors = {x, rows ? A.rows : A.columns, incx};
    call.uses("matrix A", A).uses("vector x", factors).uses("matrix C", C);
    return call.run(
        [&] {
            for (int j = 0; j < A.columns; ++j)
                for (int i = 0; i < A.rows; ++i) C(i, j) = A(i, j) * factors[rows ? i : j];
        },
        C);
}

template <class T>
Status symm(Call call, cublasSideMode_t side, cublasFillMode_t uplo, const T* alpha, const T* A, int lda,
            Matrix<const T> B, const T* beta, Matrix<T> C, bool is_hermitian) {
    const int order = side == CUBLAS_SIDE_LEFT ? C.rows : C.columns;
    const Matrix<const T> a = {A, order, order, lda};
    call.scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", a).uses("matrix B", B).uses("matrix C", C);
    return call.run(
        [&] {
            auto full = with_both_halves(a, uplo, is_hermitian);
            if (side == CUBLAS_SIDE_LEFT) {
                product(*alpha, full.all(), B, *beta, C);
            } else {
                product(*alpha, B, full.all(), *beta, C);
            }
        },
        C);
}

/// One half of C: of alpha op(A) op(B)^T + beta C, and of the same with A and B exchanged where `both`.
template <class T>
void update_half(cublasFillMode_t uplo, cublasOperation_t operation, T alpha, Matrix<const T> A, Matrix<const T> B,
                 T beta, Matrix<T> C, bool both, bool is_hermitian) {
    const bool turned = operation != CUBLAS_OP_N;
    const cublasOperation_t other = is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    Full<T> sum(C.rows, C.columns);
    const Matrix<T> all = sum.all();
    const auto add = [&](T factor, Matrix<const T> left, Matrix<const T> right, T before) {
        if (turned) {
            product(factor, left, other, right, CUBLAS_OP_N, before, all);
        } else {
            product(factor, left, CUBLAS_OP_N, right, other, before, all);
        }
    };
    add(alpha, A, B, T(0));
    if (both) add(is_hermitian ? conjugate(alpha) : alpha, B, A, T(1));
    for (int j = 0; j < C.columns; ++j) {
        const int begin = uplo == CUBLAS_FILL_MODE_LOWER ? j : 0;
        const int end = uplo == CUBLAS_FILL_MODE_LOWER ? C.rows : j + 1;
        for (int i = begin; i < end; ++i) C(i, j) = beta == T(0) ? all(i, j) : all(i, j) + beta * C(i, j);
    }
}

template <class T>
Status syrk(Call call, cublasFillMode_t uplo, cublasOperation_t operation, int n, int k, const T* alpha, const T* A,
            int lda, const T* beta, T* C, int ldc) {
    const Matrix<const T> a = factor(A, operation, n, k, lda);
    const Matrix<T> c = {C, n, n, ldc};
    call.require(is_operation(operation) && n >= 0 && k >= 0).scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", a).uses("matrix C", c);
    return call.run([&] { update_half<T>(uplo, operation, *alpha, a, a, *beta, c, false, false); }, c);
}

template <class T, class Real>
Status herk(Call call, cublasFillMode_t uplo, cublasOperation_t operation, int n, int k, const Real* alpha, const T* A,
            int lda, const Real* beta, T* C, int ldc) {
    const Matrix<const T> a = factor(A, operation, n, k, lda);
    const Matrix<T> c = {C, n, n, ldc};
    call.require(is_operation(operation) && n >= 0 && k >= 0).scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", a).uses("matrix C", c);
    return call.run(
        [&] {
            update_half<T>(uplo, operation, T(*alpha), a, a, T(*beta), c, false, true);
            for (int i = 0; i < n; ++i) c(i, i) = T(c(i, i).real());
        },
        c);
}

template <class T>
Status syr2k(Call call, cublasFillMode_t uplo, cublasOperation_t operation, int n, int k, const T* alpha, const T* A,
             int lda, const T* B, int ldb, const T* beta, T* C, int ldc) {
    const Matrix<const T> a = factor(A, operation, n, k, lda), b = factor(B, operation, n, k, ldb);
    const Matrix<T> c = {C, n, n, ldc};
    call.require(is_operation(operation) && n >= 0 && k >= 0).scalar("alpha", alpha).scalar("beta", beta);
    call.uses("matrix A", a).uses("matrix B", b).uses("matrix C", c);
    return call.run([&] { update_half<T>(uplo, operation, *alpha, a, b, *beta, c, true, false); }, c);
}

/// Not in place, as in other libraries: C may be B, and need not.
template <class T>
Status trmm(Call call, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t operation, cublasDiagType_t diag,
            const T* alpha, const T* A, int lda, Matrix<const T> B, Matrix<T> C) {
    const int order = side == CUBLAS_SIDE_LEFT ? C.rows : C.columns;
    const Matrix<const T> a = {A, order, order, lda};
    call.require(is_operation(operation)).scalar("alpha", alpha);
    call.uses("matrix A", a).uses("matrix B", B).uses("matrix C", C);
    return call.run(
        [&] {
            auto half = triangle(a, uplo, diag);
            auto turned = written_out(constant(half.all()), operation);
            Full<T> result(C.rows, C.columns);
            if (side == CUBLAS_SIDE_LEFT) {
                product(*alpha, turned.all(), B, T(0), result.all());
            } else {
                product(*alpha, B, turned.all(), T(0), result.all());
            }
            for (int j = 0; j < C.columns; ++j)
                for (int i = 0; i < C.rows; ++i) C(i, j) = result.all()(i, j);
        },
        C);
}

/// Solves op(A) X = alpha B, or X op(A) = alpha B, in place of B.
template <class T>
Status trsm(Call call, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t operation, cublasDiagType_t diag,
            const T* alpha, const T* A, int lda, Matrix<T> B) {
    const int order = side == CUBLAS_SIDE_LEFT ? B.rows : B.columns;
    const Matrix<const T> a = {A, order, order, lda};
    call.require(is_operation(operation)).scalar("alpha", alpha).uses("matrix A", a).uses("matrix B", B);
    return call.run(
        [&] {
            for (int j = 0; j < B.columns; ++j)
                for (int i = 0; i < B.rows; ++i) B(i, j) = *alpha == T(0) ? T(0) : *alpha * B(i, j);
            if (side == CUBLAS_SIDE_LEFT) {
                for (int j = 0; j < B.columns; ++j)
                    solve(a, uplo, operation, diag, [&](int i) -> T& { return B(i, j); });
                return;
            }
            // X op(A) = B is op(A)^T X^T = B^T.
            auto turned = written_out(a, operation);
            auto half = written_out(constant(turned.all()), CUBLAS_OP_T);
            const bool is_lower = (uplo == CUBLAS_FILL_MODE_LOWER) != transposes(operation);  // op(A)
            for (int i = 0; i < B.rows; ++i) {
                solve(constant(half.all()), is_lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                      diag, [&](int j) -> T& { return B(i, j); });
            }
        },
        B);
}

// ---- matrices of mixed types --------------------------------------------------------------------------------------

float rounded_to_half(float x) { return __half2float(__float2half_rn(x)); }
float rounded_to_bfloat16(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }

/// A matrix whose element type is known only now.
struct AnyMatrix {
    const void* data;
    cudaDataType type;
    int rows;
    int columns;
    int ld;
};

template <class T>
T value_at(const void* data, cudaDataType type, std::ptrdiff_t place) {
    switch (type) {
        case CUDA_R_8I:
            return static_cast<T>(static_cast<const std::int8_t*>(data)[place]);
        case CUDA_R_16F:
            return static_cast<T>(__half2float(static_cast<const __half*>(data)[place]));
        case CUDA_R_16BF:
            return static_cast<T>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[place]));
        case CUDA_R_32F:
            return static_cast<T>(static_cast<const float*>(data)[place]);
        case CUDA_R_32I:
            return static_cast<T>(static_cast<const std::int32_t*>(data)[place]);
        default:
            return static_cast<T>(static_cast<const double*>(data)[place]);
    }
}

template <class T>
void set_value(void* data, cudaDataType type, std::ptrdiff_t place, T value) {
    switch (type) {
        case CUDA_R_16F:
            static_cast<__half*>(data)[place] = __float2half_rn(static_cast<float>(value));
            break;
        case CUDA_R_16BF:
            static_cast<__nv_bfloat16*>(data)[place] = __float2bfloat16_rn(static_cast<float>(value));
            break;
        case CUDA_R_32F:
            static_cast<float*>(data)[place] = static_cast<float>(value);
            break;
        case CUDA_R_32I:  // sums of bytes fit into a double exactly; the result wraps
            static_cast<std::int32_t*>(data)[place] = static_cast<std::int32_t>(static_cast<std::int64_t>(value));
            break;
        default:
            static_cast<double*>(data)[place] = static_cast<double>(value);
    }
}

template <class T>
Full<T> values_of(const AnyMatrix& A, float (*round)(float)) {
    Full<T> full(A.rows, A.columns);
    const auto all = full.all();
    for (int j = 0; j < A.columns; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            T value = value_at<T>(A.data, A.type, i + static_cast<std::ptrdiff_t>(j) * A.ld);
            if (round != nullptr) value = static_cast<T>(round(static_cast<float>(value)));
            all(i, j) = value;
        }
    }
    return full;
}

/// In which type products are summed and what alpha and beta are.
struct ComputeType {
    bool known = false;
    cudaDataType scale = CUDA_R_32F;
    bool in_double = false;
    float (*round)(float) = nullptr;  ///< of the factors
};

ComputeType compute_type_of(cublasComputeType_t type, cudaDataType factors, cublasMath_t mode) {
    switch (type) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return {true, CUDA_R_16F, false, nullptr};
        case CUBLAS_COMPUTE_32F: {
            const bool tf32 = (mode & 15) == CUBLAS_TF32_TENSOR_OP_MATH && factors == CUDA_R_32F;
            return {true, CUDA_R_32F, false, tf32 ? rounded_to_tf32 : nullptr};
        }
        case CUBLAS_COMPUTE_32F_PEDANTIC:
        case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
            return {true, CUDA_R_32F, false, nullptr};
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            return {true, CUDA_R_32F, false, rounded_to_tf32};
        case CUBLAS_COMPUTE_32F_FAST_16F:
            return {true, CUDA_R_32F, false, rounded_to_half};
        case CUBLAS_COMPUTE_32F_FAST_16BF:
            return {true, CUDA_R_32F, false, rounded_to_bfloat16};
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return {true, CUDA_R_64F, true, nullptr};
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return {true, CUDA_R_32I, true, nullptr};
    }
    return {};
}

template <class T>
void mixed_product(const ComputeType& compute, const void* alpha, const AnyMatrix& A, cublasOperation_t on_a,
                   const AnyMatrix& B, cublasOperation_t on_b, const void* beta, const AnyMatrix& C, void* result) {
    auto a = values_of<T>(A, compute.round);
    auto b = values_of<T>(B, compute.round);
    const T factor = value_at<T>(alpha, compute.scale, 0), keep = value_at<T>(beta, compute.scale, 0);
    auto c = keep == T(0) ? Full<T>(C.rows, C.columns) : values_of<T>(C, nullptr);
    product(factor, constant(a.all()), on_a, constant(b.all()), on_b, keep, c.all());
    for (int j = 0; j < C.columns; ++j)
        for (int i = 0; i < C.rows; ++i)
            set_value(result, C.type, i + static_cast<std::ptrdiff_t>(j) * C.ld, c.all()(i, j));
}

struct MixedProduct {
    cublasOperation_t on_a, on_b;
    int m, n, k;
    const void* alpha;
    const void* A;
    cudaDataType a_type;
    int lda;
    const void* B;
    cudaDataType b_type;
    int ldb;
    const void* beta;
    void* C;
    cudaDataType c_type;
    int ldc;
    cublasComputeType_t compute;
};

Status gemm_mixed(Call call, const MixedProduct& p) {
    call.require(is_operation(p.on_a) && is_operation(p.on_b));
    if (!call) return call.status();
    if (p.a_type == CUDA_C_32F || p.a_type == CUDA_C_64F) {  // then all are of this type
        if (p.a_type == CUDA_C_32F) {
            using T = std::complex<float>;
            return gemm<T>(call, p.on_a, p.on_b, p.m, p.n, p.k, static_cast<const T*>(p.alpha),
                           static_cast<const T*>(p.A), p.lda, static_cast<const T*>(p.B), p.ldb,
                           static_cast<const T*>(p.beta), static_cast<T*>(p.C), p.ldc);
        }
        using T = std::complex<double>;
        return gemm<T>(call, p.on_a, p.on_b, p.m, p.n, p.k, static_cast<const T*>(p.alpha), static_cast<const T*>(p.A),
                       p.lda, static_cast<const T*>(p.B), p.ldb, static_cast<const T*>(p.beta), static_cast<T*>(p.C),
                       p.ldc);
    }
    const ComputeType compute = compute_type_of(p.compute, p.a_type, call.math_mode());
    const auto is_real = [](cudaDataType type) {
        return size_of_type(type) != 0 && type != CUDA_C_32F && type != CUDA_C_64F;
    };
    if (!compute.known || !is_real(p.a_type) || !is_real(p.b_type) || !is_real(p.c_type) || p.c_type == CUDA_R_8I)
        return call.unsupported("cublasGemmEx with these data types");
    const auto memory = [&](const char* role, const void* data, cudaDataType type, bool turned, int rows, int columns,
                            int ld) {
        const AnyMatrix A = {data, type, turned ? columns : rows, turned ? rows : columns, ld};
        call.require(A.rows >= 0 && A.columns >= 0 && A.ld >= std::max(1, A.rows));
        const std::size_t elements = A.rows <= 0 || A.columns <= 0
                                         ? 0
                                         : static_cast<std::size_t>(A.columns - 1) * static_cast<std::size_t>(A.ld) +
                                               static_cast<std::size_t>(A.rows);
        call.memory(role, data, elements * size_of_type(type));
        return A;
    };
    const AnyMatrix a = memory("matrix A", p.A, p.a_type, transposes(p.on_a), p.m, p.k, p.lda);
    const AnyMatrix b = memory("matrix B", p.B, p.b_type, transposes(p.on_b), p.k, p.n, p.ldb);
    const AnyMatrix c = memory("matrix C", p.C, p.c_type, false, p.m, p.n, p.ldc);
    call.scalar("alpha", static_cast<const char*>(p.alpha)).scalar("beta", static_cast<const char*>(p.beta));
    if (!call) return call.status();
    if (compute.in_double) {
        mixed_product<double>(compute, p.alpha, a, p.on_a, b, p.on_b, p.beta, c, p.C);
    } else {
        mixed_product<float>(compute, p.alpha, a, p.on_a, b, p.on_b, p.beta, c, p.C);
    }
    if (p.m > 0 && p.n > 0) {
        const std::size_t elements =
            static_cast<std::size_t>(p.n - 1) * static_cast<std::size_t>(p.ldc) + static_cast<std::size_t>(p.m);
        note_result(p.C, elements * size_of_type(p.c_type));
    }
    return CUBLAS_STATUS_SUCCESS;
}

// ---- copies -------------------------------------------------------------------------------------------------------

Status copy_rows(int rows, int columns, int size, const void* from, int from_ld, void* to, int to_ld,
                 cudaMemcpyKind kind) {
    if (rows < 0 || columns < 0 || size <= 0 || from_ld <= 0 || to_ld <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
    const auto bytes = [size](int count) { return static_cast<std::size_t>(count) * static_cast<std::size_t>(size); };
    const cudaError_t error =
        cudaMemcpy2D(to, bytes(to_ld), from, bytes(from_ld), bytes(rows), static_cast<std::size_t>(columns), kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

struct StatusName {
    cublasStatus_t status;
    const char* name;
    const char* text;
};
constexpr StatusName status_names[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality requested is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the functionality requested requires some license"},
};

}  // namespace

#define CALL(name) \
    Call { handle, name, __builtin_return_address(0) }

// ---- the handle and its settings ----------------------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t /*handle*/, int* version) {
    if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    if (value == nullptr || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* /*workspace*/, size_t /*bytes*/) {
    return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->pointer_mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->atomics_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->atomics_mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->math_mode;
    return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusName(cublasStatus_t status) {
    for (const StatusName& known : status_names)
        if (known.status == status) return known.name;
    return "unrecognized error code";
}
const char* cublasGetStatusString(cublasStatus_t status) {
    for (const StatusName& known : status_names)
        if (known.status == status) return known.text;
    return "unrecognized error code";
}

// ---- copies -------------------------------------------------------------------------------------------------------

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* devicePtr, int incy) {
    return copy_rows(1, n, elemSize, x, incx, devicePtr, incy, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
    return copy_rows(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy) {
    return copy_rows(1, n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
    return copy_rows(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* x, int incx, void* devicePtr, int incy,
                                    cudaStream_t /*stream*/) {
    return copy_rows(1, n, elemSize, x, incx, devicePtr, incy, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t /*stream*/) {
    return copy_rows(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* x, int incx, void* y, int incy,
                                    cudaStream_t /*stream*/) {
    return copy_rows(1, n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t /*stream*/) {
    return copy_rows(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}

// ---- vectors, matrices --------------------------------------------------------------------------------------------

cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                           int incy) {
    return axpy<float>(CALL("cublasSaxpy"), n, numbers(alpha), Vector<const Number<float>>{numbers(x), n, incx},
                       Vector<Number<float>>{numbers(y), n, incy});
}
cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy) {
    return copy<float>(CALL("cublasScopy"), n, Vector<const Number<float>>{numbers(x), n, incx},
                       Vector<Number<float>>{numbers(y), n, incy});
}
cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy) {
    return swap<float>(CALL("cublasSswap"), n, Vector<Number<float>>{numbers(x), n, incx},
                       Vector<Number<float>>{numbers(y), n, incy});
}
cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float* alpha, float* x, int incx) {
    return scal(CALL("cublasSscal"), n, numbers(alpha), Vector<Number<float>>{numbers(x), n, incx});
}
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
    return extreme<float>(CALL("cublasIsamax"), n, Vector<const Number<float>>{numbers(x), n, incx}, result, true);
}
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
    return extreme<float>(CALL("cublasIsamin"), n, Vector<const Number<float>>{numbers(x), n, incx}, result, false);
}
cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx, double* y,
                           int incy) {
    return axpy<double>(CALL("cublasDaxpy"), n, numbers(alpha), Vector<const Number<double>>{numbers(x), n, incx},
                        Vector<Number<double>>{numbers(y), n, incy});
}
cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy) {
    return copy<double>(CALL("cublasDcopy"), n, Vector<const Number<double>>{numbers(x), n, incx},
                        Vector<Number<double>>{numbers(y), n, incy});
}
cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy) {
    return swap<double>(CALL("cublasDswap"), n, Vector<Number<double>>{numbers(x), n, incx},
                        Vector<Number<double>>{numbers(y), n, incy});
}
cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double* alpha, double* x, int incx) {
    return scal(CALL("cublasDscal"), n, numbers(alpha), Vector<Number<double>>{numbers(x), n, incx});
}
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
    return extreme<double>(CALL("cublasIdamax"), n, Vector<const Number<double>>{numbers(x), n, incx}, result, true);
}
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
    return extreme<double>(CALL("cublasIdamin"), n, Vector<const Number<double>>{numbers(x), n, incx}, result, false);
}
cublasStatus_t cublasCaxpy(cublasHandle_t handle, int n, const cuComplex* alpha, const cuComplex* x, int incx,
                           cuComplex* y, int incy) {
    return axpy<std::complex<float>>(CALL("cublasCaxpy"), n, numbers(alpha),
                                     Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                     Vector<Number<cuComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasCcopy(cublasHandle_t handle, int n, const cuComplex* x, int incx, cuComplex* y, int incy) {
    return copy<std::complex<float>>(CALL("cublasCcopy"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                     Vector<Number<cuComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasCswap(cublasHandle_t handle, int n, cuComplex* x, int incx, cuComplex* y, int incy) {
    return swap<std::complex<float>>(CALL("cublasCswap"), n, Vector<Number<cuComplex>>{numbers(x), n, incx},
                                     Vector<Number<cuComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasCscal(cublasHandle_t handle, int n, const cuComplex* alpha, cuComplex* x, int incx) {
    return scal(CALL("cublasCscal"), n, numbers(alpha), Vector<Number<cuComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasIcamax(cublasHandle_t handle, int n, const cuComplex* x, int incx, int* result) {
    return extreme<std::complex<float>>(CALL("cublasIcamax"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                        result, true);
}
cublasStatus_t cublasIcamin(cublasHandle_t handle, int n, const cuComplex* x, int incx, int* result) {
    return extreme<std::complex<float>>(CALL("cublasIcamin"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                        result, false);
}
cublasStatus_t cublasZaxpy(cublasHandle_t handle, int n, const cuDoubleComplex* alpha, const cuDoubleComplex* x,
                           int incx, cuDoubleComplex* y, int incy) {
    return axpy<std::complex<double>>(CALL("cublasZaxpy"), n, numbers(alpha),
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx},
                                      Vector<Number<cuDoubleComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasZcopy(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, cuDoubleComplex* y,
                           int incy) {
    return copy<std::complex<double>>(CALL("cublasZcopy"), n,
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx},
                                      Vector<Number<cuDoubleComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasZswap(cublasHandle_t handle, int n, cuDoubleComplex* x, int incx, cuDoubleComplex* y, int incy) {
    return swap<std::complex<double>>(CALL("cublasZswap"), n, Vector<Number<cuDoubleComplex>>{numbers(x), n, incx},
                                      Vector<Number<cuDoubleComplex>>{numbers(y), n, incy});
}
cublasStatus_t cublasZscal(cublasHandle_t handle, int n, const cuDoubleComplex* alpha, cuDoubleComplex* x, int incx) {
    return scal(CALL("cublasZscal"), n, numbers(alpha), Vector<Number<cuDoubleComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasIzamax(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, int* result) {
    return extreme<std::complex<double>>(CALL("cublasIzamax"), n,
                                         Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, result, true);
}
cublasStatus_t cublasIzamin(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, int* result) {
    return extreme<std::complex<double>>(CALL("cublasIzamin"), n,
                                         Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, result, false);
}
cublasStatus_t cublasCsscal(cublasHandle_t handle, int n, const float* alpha, cuComplex* x, int incx) {
    return scal(CALL("cublasCsscal"), n, numbers(alpha), Vector<Number<cuComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasZdscal(cublasHandle_t handle, int n, const double* alpha, cuDoubleComplex* x, int incx) {
    return scal(CALL("cublasZdscal"), n, numbers(alpha), Vector<Number<cuDoubleComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
    return asum<float>(CALL("cublasSasum"), n, Vector<const Number<float>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
    return nrm2<float>(CALL("cublasSnrm2"), n, Vector<const Number<float>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
    return asum<double>(CALL("cublasDasum"), n, Vector<const Number<double>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
    return nrm2<double>(CALL("cublasDnrm2"), n, Vector<const Number<double>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasScasum(cublasHandle_t handle, int n, const cuComplex* x, int incx, float* result) {
    return asum<std::complex<float>>(CALL("cublasScasum"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                     result);
}
cublasStatus_t cublasScnrm2(cublasHandle_t handle, int n, const cuComplex* x, int incx, float* result) {
    return nrm2<std::complex<float>>(CALL("cublasScnrm2"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                     result);
}
cublasStatus_t cublasDzasum(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, double* result) {
    return asum<std::complex<double>>(CALL("cublasDzasum"), n,
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasDznrm2(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, double* result) {
    return nrm2<std::complex<double>>(CALL("cublasDznrm2"), n,
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, result);
}
cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                          float* result) {
    return dot<float>(CALL("cublasSdot"), n, Vector<const Number<float>>{numbers(x), n, incx},
                      Vector<const Number<float>>{numbers(y), n, incy}, numbers(result), false);
}
cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy,
                          double* result) {
    return dot<double>(CALL("cublasDdot"), n, Vector<const Number<double>>{numbers(x), n, incx},
                       Vector<const Number<double>>{numbers(y), n, incy}, numbers(result), false);
}
cublasStatus_t cublasCdotu(cublasHandle_t handle, int n, const cuComplex* x, int incx, const cuComplex* y, int incy,
                           cuComplex* result) {
    return dot<std::complex<float>>(CALL("cublasCdotu"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                    Vector<const Number<cuComplex>>{numbers(y), n, incy}, numbers(result), false);
}
cublasStatus_t cublasCdotc(cublasHandle_t handle, int n, const cuComplex* x, int incx, const cuComplex* y, int incy,
                           cuComplex* result) {
    return dot<std::complex<float>>(CALL("cublasCdotc"), n, Vector<const Number<cuComplex>>{numbers(x), n, incx},
                                    Vector<const Number<cuComplex>>{numbers(y), n, incy}, numbers(result), true);
}
cublasStatus_t cublasZdotu(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, const cuDoubleComplex* y,
                           int incy, cuDoubleComplex* result) {
    return dot<std::complex<double>>(CALL("cublasZdotu"), n, Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx},
                                     Vector<const Number<cuDoubleComplex>>{numbers(y), n, incy}, numbers(result),
                                     false);
}
cublasStatus_t cublasZdotc(cublasHandle_t handle, int n, const cuDoubleComplex* x, int incx, const cuDoubleComplex* y,
                           int incy, cuDoubleComplex* result) {
    return dot<std::complex<double>>(CALL("cublasZdotc"), n, Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx},
                                     Vector<const Number<cuDoubleComplex>>{numbers(y), n, incy}, numbers(result), true);
}
cublasStatus_t cublasSrot(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy, const float* c,
                          const float* s) {
    return rot<float>(CALL("cublasSrot"), n, Vector<Number<float>>{numbers(x), n, incx},
                      Vector<Number<float>>{numbers(y), n, incy}, c, s);
}
cublasStatus_t cublasSrotg(cublasHandle_t handle, float* a, float* b, float* c, float* s) {
    return rotg<float>(CALL("cublasSrotg"), a, b, c, s);
}
cublasStatus_t cublasDrot(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy, const double* c,
                          const double* s) {
    return rot<double>(CALL("cublasDrot"), n, Vector<Number<double>>{numbers(x), n, incx},
                       Vector<Number<double>>{numbers(y), n, incy}, c, s);
}
cublasStatus_t cublasDrotg(cublasHandle_t handle, double* a, double* b, double* c, double* s) {
    return rotg<double>(CALL("cublasDrotg"), a, b, c, s);
}
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                           const float* A, int lda, const float* x, int incx, const float* beta, float* y, int incy) {
    return gemv<float>(CALL("cublasSgemv"), trans, numbers(alpha), Matrix<const Number<float>>{numbers(A), m, n, lda},
                       Vector<const Number<float>>{numbers(x), transposes(trans) ? m : n, incx}, numbers(beta),
                       Vector<Number<float>>{numbers(y), transposes(trans) ? n : m, incy});
}
cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float* alpha, const float* x, int incx,
                          const float* y, int incy, float* A, int lda) {
    return ger<float>(CALL("cublasSger"), numbers(alpha), Vector<const Number<float>>{numbers(x), m, incx},
                      Vector<const Number<float>>{numbers(y), n, incy}, Matrix<Number<float>>{numbers(A), m, n, lda},
                      false);
}
cublasStatus_t cublasSsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float* alpha, const float* A,
                           int lda, const float* x, int incx, const float* beta, float* y, int incy) {
    return symv<float>(CALL("cublasSsymv"), uplo, numbers(alpha), Matrix<const Number<float>>{numbers(A), n, n, lda},
                       Vector<const Number<float>>{numbers(x), n, incx}, numbers(beta),
                       Vector<Number<float>>{numbers(y), n, incy}, false);
}
cublasStatus_t cublasSsyr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const float* alpha, const float* x,
                          int incx, float* A, int lda) {
    return syr<float>(CALL("cublasSsyr"), uplo, numbers(alpha), Vector<const Number<float>>{numbers(x), n, incx},
                      Matrix<Number<float>>{numbers(A), n, n, lda});
}
cublasStatus_t cublasStrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const float* A, int lda, float* x, int incx) {
    return trmv<float>(CALL("cublasStrmv"), uplo, trans, diag, Matrix<const Number<float>>{numbers(A), n, n, lda},
                       Vector<Number<float>>{numbers(x), n, incx});
}
cublasStatus_t cublasStrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const float* A, int lda, float* x, int incx) {
    return trsv<float>(CALL("cublasStrsv"), uplo, trans, diag, Matrix<const Number<float>>{numbers(A), n, n, lda},
                       Vector<Number<float>>{numbers(x), n, incx});
}
cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha,
                           const double* A, int lda, const double* x, int incx, const double* beta, double* y,
                           int incy) {
    return gemv<double>(CALL("cublasDgemv"), trans, numbers(alpha), Matrix<const Number<double>>{numbers(A), m, n, lda},
                        Vector<const Number<double>>{numbers(x), transposes(trans) ? m : n, incx}, numbers(beta),
                        Vector<Number<double>>{numbers(y), transposes(trans) ? n : m, incy});
}
cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double* alpha, const double* x, int incx,
                          const double* y, int incy, double* A, int lda) {
    return ger<double>(CALL("cublasDger"), numbers(alpha), Vector<const Number<double>>{numbers(x), m, incx},
                       Vector<const Number<double>>{numbers(y), n, incy}, Matrix<Number<double>>{numbers(A), m, n, lda},
                       false);
}
cublasStatus_t cublasDsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double* alpha, const double* A,
                           int lda, const double* x, int incx, const double* beta, double* y, int incy) {
    return symv<double>(CALL("cublasDsymv"), uplo, numbers(alpha), Matrix<const Number<double>>{numbers(A), n, n, lda},
                        Vector<const Number<double>>{numbers(x), n, incx}, numbers(beta),
                        Vector<Number<double>>{numbers(y), n, incy}, false);
}
cublasStatus_t cublasDsyr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const double* alpha, const double* x,
                          int incx, double* A, int lda) {
    return syr<double>(CALL("cublasDsyr"), uplo, numbers(alpha), Vector<const Number<double>>{numbers(x), n, incx},
                       Matrix<Number<double>>{numbers(A), n, n, lda});
}
cublasStatus_t cublasDtrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const double* A, int lda, double* x, int incx) {
    return trmv<double>(CALL("cublasDtrmv"), uplo, trans, diag, Matrix<const Number<double>>{numbers(A), n, n, lda},
                        Vector<Number<double>>{numbers(x), n, incx});
}
cublasStatus_t cublasDtrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const double* A, int lda, double* x, int incx) {
    return trsv<double>(CALL("cublasDtrsv"), uplo, trans, diag, Matrix<const Number<double>>{numbers(A), n, n, lda},
                        Vector<Number<double>>{numbers(x), n, incx});
}
cublasStatus_t cublasCgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const cuComplex* alpha,
                           const cuComplex* A, int lda, const cuComplex* x, int incx, const cuComplex* beta,
                           cuComplex* y, int incy) {
    return gemv<std::complex<float>>(
        CALL("cublasCgemv"), trans, numbers(alpha), Matrix<const Number<cuComplex>>{numbers(A), m, n, lda},
        Vector<const Number<cuComplex>>{numbers(x), transposes(trans) ? m : n, incx}, numbers(beta),
        Vector<Number<cuComplex>>{numbers(y), transposes(trans) ? n : m, incy});
}
cublasStatus_t cublasCgeru(cublasHandle_t handle, int m, int n, const cuComplex* alpha, const cuComplex* x, int incx,
                           const cuComplex* y, int incy, cuComplex* A, int lda) {
    return ger<std::complex<float>>(
        CALL("cublasCgeru"), numbers(alpha), Vector<const Number<cuComplex>>{numbers(x), m, incx},
        Vector<const Number<cuComplex>>{numbers(y), n, incy}, Matrix<Number<cuComplex>>{numbers(A), m, n, lda}, false);
}
cublasStatus_t cublasCgerc(cublasHandle_t handle, int m, int n, const cuComplex* alpha, const cuComplex* x, int incx,
                           const cuComplex* y, int incy, cuComplex* A, int lda) {
    return ger<std::complex<float>>(
        CALL("cublasCgerc"), numbers(alpha), Vector<const Number<cuComplex>>{numbers(x), m, incx},
        Vector<const Number<cuComplex>>{numbers(y), n, incy}, Matrix<Number<cuComplex>>{numbers(A), m, n, lda}, true);
}
cublasStatus_t cublasCsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuComplex* alpha,
                           const cuComplex* A, int lda, const cuComplex* x, int incx, const cuComplex* beta,
                           cuComplex* y, int incy) {
    return symv<std::complex<float>>(CALL("cublasCsymv"), uplo, numbers(alpha),
                                     Matrix<const Number<cuComplex>>{numbers(A), n, n, lda},
                                     Vector<const Number<cuComplex>>{numbers(x), n, incx}, numbers(beta),
                                     Vector<Number<cuComplex>>{numbers(y), n, incy}, false);
}
cublasStatus_t cublasChemv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuComplex* alpha,
                           const cuComplex* A, int lda, const cuComplex* x, int incx, const cuComplex* beta,
                           cuComplex* y, int incy) {
    return symv<std::complex<float>>(CALL("cublasChemv"), uplo, numbers(alpha),
                                     Matrix<const Number<cuComplex>>{numbers(A), n, n, lda},
                                     Vector<const Number<cuComplex>>{numbers(x), n, incx}, numbers(beta),
                                     Vector<Number<cuComplex>>{numbers(y), n, incy}, true);
}
cublasStatus_t cublasCtrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const cuComplex* A, int lda, cuComplex* x, int incx) {
    return trmv<std::complex<float>>(CALL("cublasCtrmv"), uplo, trans, diag,
                                     Matrix<const Number<cuComplex>>{numbers(A), n, n, lda},
                                     Vector<Number<cuComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasCtrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const cuComplex* A, int lda, cuComplex* x, int incx) {
    return trsv<std::complex<float>>(CALL("cublasCtrsv"), uplo, trans, diag,
                                     Matrix<const Number<cuComplex>>{numbers(A), n, n, lda},
                                     Vector<Number<cuComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasZgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const cuDoubleComplex* alpha,
                           const cuDoubleComplex* A, int lda, const cuDoubleComplex* x, int incx,
                           const cuDoubleComplex* beta, cuDoubleComplex* y, int incy) {
    return gemv<std::complex<double>>(
        CALL("cublasZgemv"), trans, numbers(alpha), Matrix<const Number<cuDoubleComplex>>{numbers(A), m, n, lda},
        Vector<const Number<cuDoubleComplex>>{numbers(x), transposes(trans) ? m : n, incx}, numbers(beta),
        Vector<Number<cuDoubleComplex>>{numbers(y), transposes(trans) ? n : m, incy});
}
cublasStatus_t cublasZgeru(cublasHandle_t handle, int m, int n, const cuDoubleComplex* alpha, const cuDoubleComplex* x,
                           int incx, const cuDoubleComplex* y, int incy, cuDoubleComplex* A, int lda) {
    return ger<std::complex<double>>(CALL("cublasZgeru"), numbers(alpha),
                                     Vector<const Number<cuDoubleComplex>>{numbers(x), m, incx},
                                     Vector<const Number<cuDoubleComplex>>{numbers(y), n, incy},
                                     Matrix<Number<cuDoubleComplex>>{numbers(A), m, n, lda}, false);
}
cublasStatus_t cublasZgerc(cublasHandle_t handle, int m, int n, const cuDoubleComplex* alpha, const cuDoubleComplex* x,
                           int incx, const cuDoubleComplex* y, int incy, cuDoubleComplex* A, int lda) {
    return ger<std::complex<double>>(CALL("cublasZgerc"), numbers(alpha),
                                     Vector<const Number<cuDoubleComplex>>{numbers(x), m, incx},
                                     Vector<const Number<cuDoubleComplex>>{numbers(y), n, incy},
                                     Matrix<Number<cuDoubleComplex>>{numbers(A), m, n, lda}, true);
}
cublasStatus_t cublasZsymv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuDoubleComplex* alpha,
                           const cuDoubleComplex* A, int lda, const cuDoubleComplex* x, int incx,
                           const cuDoubleComplex* beta, cuDoubleComplex* y, int incy) {
    return symv<std::complex<double>>(CALL("cublasZsymv"), uplo, numbers(alpha),
                                      Matrix<const Number<cuDoubleComplex>>{numbers(A), n, n, lda},
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, numbers(beta),
                                      Vector<Number<cuDoubleComplex>>{numbers(y), n, incy}, false);
}
cublasStatus_t cublasZhemv(cublasHandle_t handle, cublasFillMode_t uplo, int n, const cuDoubleComplex* alpha,
                           const cuDoubleComplex* A, int lda, const cuDoubleComplex* x, int incx,
                           const cuDoubleComplex* beta, cuDoubleComplex* y, int incy) {
    return symv<std::complex<double>>(CALL("cublasZhemv"), uplo, numbers(alpha),
                                      Matrix<const Number<cuDoubleComplex>>{numbers(A), n, n, lda},
                                      Vector<const Number<cuDoubleComplex>>{numbers(x), n, incx}, numbers(beta),
                                      Vector<Number<cuDoubleComplex>>{numbers(y), n, incy}, true);
}
cublasStatus_t cublasZtrmv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const cuDoubleComplex* A, int lda, cuDoubleComplex* x, int incx) {
    return trmv<std::complex<double>>(CALL("cublasZtrmv"), uplo, trans, diag,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(A), n, n, lda},
                                      Vector<Number<cuDoubleComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasZtrsv(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int n, const cuDoubleComplex* A, int lda, cuDoubleComplex* x, int incx) {
    return trsv<std::complex<double>>(CALL("cublasZtrsv"), uplo, trans, diag,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(A), n, n, lda},
                                      Vector<Number<cuDoubleComplex>>{numbers(x), n, incx});
}
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                           const float* beta, float* C, int ldc) {
    return gemm(CALL("cublasSgemm"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* const A[], int lda,
                                  const float* const B[], int ldb, const float* beta, float* const C[], int ldc,
                                  int batchCount) {
    return gemm_batched<float>(CALL("cublasSgemmBatched"), transa, transb, m, n, k, numbers(alpha), A, lda, B, ldb,
                               numbers(beta), C, ldc, batchCount);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb, long long int strideB,
                                         const float* beta, float* C, int ldc, long long int strideC, int batchCount) {
    return gemm_strided(CALL("cublasSgemmStridedBatched"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda,
                        strideA, numbers(B), ldb, strideB, numbers(beta), numbers(C), ldc, strideC, batchCount);
}
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const float* alpha, const float* A, int lda, const float* beta, const float* B, int ldb,
                           float* C, int ldc) {
    return geam(CALL("cublasSgeam"), transa, transb, m, n, numbers(alpha), numbers(A), lda, numbers(beta), numbers(B),
                ldb, numbers(C), ldc);
}
cublasStatus_t cublasSdgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const float* A, int lda,
                           const float* x, int incx, float* C, int ldc) {
    return dgmm<float>(CALL("cublasSdgmm"), mode, Matrix<const Number<float>>{numbers(A), m, n, lda}, numbers(x), incx,
                       Matrix<Number<float>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasSsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const float* alpha, const float* A, int lda, const float* B, int ldb, const float* beta,
                           float* C, int ldc) {
    return symm<float>(CALL("cublasSsymm"), side, uplo, numbers(alpha), numbers(A), lda,
                       Matrix<const Number<float>>{numbers(B), m, n, ldb}, numbers(beta),
                       Matrix<Number<float>>{numbers(C), m, n, ldc}, false);
}
cublasStatus_t cublasSsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const float* alpha, const float* A, int lda, const float* beta, float* C, int ldc) {
    return syrk(CALL("cublasSsyrk"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(beta), numbers(C),
                ldc);
}
cublasStatus_t cublasSsyr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                            const float* alpha, const float* A, int lda, const float* B, int ldb, const float* beta,
                            float* C, int ldc) {
    return syr2k(CALL("cublasSsyr2k"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                 numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasStrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const float* alpha, const float* A, int lda,
                           const float* B, int ldb, float* C, int ldc) {
    return trmm<float>(CALL("cublasStrmm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                       Matrix<const Number<float>>{numbers(B), m, n, ldb},
                       Matrix<Number<float>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasStrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const float* alpha, const float* A, int lda, float* B,
                           int ldb) {
    return trsm<float>(CALL("cublasStrsm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                       Matrix<Number<float>>{numbers(B), m, n, ldb});
}
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const double* alpha, const double* A, int lda, const double* B, int ldb,
                           const double* beta, double* C, int ldc) {
    return gemm(CALL("cublasDgemm"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const double* alpha, const double* const A[], int lda,
                                  const double* const B[], int ldb, const double* beta, double* const C[], int ldc,
                                  int batchCount) {
    return gemm_batched<double>(CALL("cublasDgemmBatched"), transa, transb, m, n, k, numbers(alpha), A, lda, B, ldb,
                                numbers(beta), C, ldc, batchCount);
}
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const double* alpha, const double* A, int lda,
                                         long long int strideA, const double* B, int ldb, long long int strideB,
                                         const double* beta, double* C, int ldc, long long int strideC,
                                         int batchCount) {
    return gemm_strided(CALL("cublasDgemmStridedBatched"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda,
                        strideA, numbers(B), ldb, strideB, numbers(beta), numbers(C), ldc, strideC, batchCount);
}
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const double* alpha, const double* A, int lda, const double* beta, const double* B, int ldb,
                           double* C, int ldc) {
    return geam(CALL("cublasDgeam"), transa, transb, m, n, numbers(alpha), numbers(A), lda, numbers(beta), numbers(B),
                ldb, numbers(C), ldc);
}
cublasStatus_t cublasDdgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const double* A, int lda,
                           const double* x, int incx, double* C, int ldc) {
    return dgmm<double>(CALL("cublasDdgmm"), mode, Matrix<const Number<double>>{numbers(A), m, n, lda}, numbers(x),
                        incx, Matrix<Number<double>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasDsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const double* alpha, const double* A, int lda, const double* B, int ldb, const double* beta,
                           double* C, int ldc) {
    return symm<double>(CALL("cublasDsymm"), side, uplo, numbers(alpha), numbers(A), lda,
                        Matrix<const Number<double>>{numbers(B), m, n, ldb}, numbers(beta),
                        Matrix<Number<double>>{numbers(C), m, n, ldc}, false);
}
cublasStatus_t cublasDsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const double* alpha, const double* A, int lda, const double* beta, double* C, int ldc) {
    return syrk(CALL("cublasDsyrk"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(beta), numbers(C),
                ldc);
}
cublasStatus_t cublasDsyr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                            const double* alpha, const double* A, int lda, const double* B, int ldb, const double* beta,
                            double* C, int ldc) {
    return syr2k(CALL("cublasDsyr2k"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                 numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasDtrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const double* alpha, const double* A, int lda,
                           const double* B, int ldb, double* C, int ldc) {
    return trmm<double>(CALL("cublasDtrmm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                        Matrix<const Number<double>>{numbers(B), m, n, ldb},
                        Matrix<Number<double>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasDtrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const double* alpha, const double* A, int lda,
                           double* B, int ldb) {
    return trsm<double>(CALL("cublasDtrsm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                        Matrix<Number<double>>{numbers(B), m, n, ldb});
}
cublasStatus_t cublasCgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* B, int ldb,
                           const cuComplex* beta, cuComplex* C, int ldc) {
    return gemm(CALL("cublasCgemm"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasCgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const cuComplex* alpha, const cuComplex* const A[], int lda,
                                  const cuComplex* const B[], int ldb, const cuComplex* beta, cuComplex* const C[],
                                  int ldc, int batchCount) {
    return gemm_batched<std::complex<float>>(CALL("cublasCgemmBatched"), transa, transb, m, n, k, numbers(alpha),
                                             reinterpret_cast<const std::complex<float>* const*>(A), lda,
                                             reinterpret_cast<const std::complex<float>* const*>(B), ldb, numbers(beta),
                                             reinterpret_cast<std::complex<float>* const*>(C), ldc, batchCount);
}
cublasStatus_t cublasCgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const cuComplex* alpha, const cuComplex* A, int lda,
                                         long long int strideA, const cuComplex* B, int ldb, long long int strideB,
                                         const cuComplex* beta, cuComplex* C, int ldc, long long int strideC,
                                         int batchCount) {
    return gemm_strided(CALL("cublasCgemmStridedBatched"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda,
                        strideA, numbers(B), ldb, strideB, numbers(beta), numbers(C), ldc, strideC, batchCount);
}
cublasStatus_t cublasCgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* beta,
                           const cuComplex* B, int ldb, cuComplex* C, int ldc) {
    return geam(CALL("cublasCgeam"), transa, transb, m, n, numbers(alpha), numbers(A), lda, numbers(beta), numbers(B),
                ldb, numbers(C), ldc);
}
cublasStatus_t cublasCdgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const cuComplex* A, int lda,
                           const cuComplex* x, int incx, cuComplex* C, int ldc) {
    return dgmm<std::complex<float>>(CALL("cublasCdgmm"), mode, Matrix<const Number<cuComplex>>{numbers(A), m, n, lda},
                                     numbers(x), incx, Matrix<Number<cuComplex>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasCsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* B, int ldb,
                           const cuComplex* beta, cuComplex* C, int ldc) {
    return symm<std::complex<float>>(CALL("cublasCsymm"), side, uplo, numbers(alpha), numbers(A), lda,
                                     Matrix<const Number<cuComplex>>{numbers(B), m, n, ldb}, numbers(beta),
                                     Matrix<Number<cuComplex>>{numbers(C), m, n, ldc}, false);
}
cublasStatus_t cublasChemm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* B, int ldb,
                           const cuComplex* beta, cuComplex* C, int ldc) {
    return symm<std::complex<float>>(CALL("cublasChemm"), side, uplo, numbers(alpha), numbers(A), lda,
                                     Matrix<const Number<cuComplex>>{numbers(B), m, n, ldb}, numbers(beta),
                                     Matrix<Number<cuComplex>>{numbers(C), m, n, ldc}, true);
}
cublasStatus_t cublasCsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* beta, cuComplex* C,
                           int ldc) {
    return syrk(CALL("cublasCsyrk"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(beta), numbers(C),
                ldc);
}
cublasStatus_t cublasCsyr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                            const cuComplex* alpha, const cuComplex* A, int lda, const cuComplex* B, int ldb,
                            const cuComplex* beta, cuComplex* C, int ldc) {
    return syr2k(CALL("cublasCsyr2k"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                 numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasCtrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const cuComplex* alpha, const cuComplex* A, int lda,
                           const cuComplex* B, int ldb, cuComplex* C, int ldc) {
    return trmm<std::complex<float>>(CALL("cublasCtrmm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                                     Matrix<const Number<cuComplex>>{numbers(B), m, n, ldb},
                                     Matrix<Number<cuComplex>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasCtrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const cuComplex* alpha, const cuComplex* A, int lda,
                           cuComplex* B, int ldb) {
    return trsm<std::complex<float>>(CALL("cublasCtrsm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                                     Matrix<Number<cuComplex>>{numbers(B), m, n, ldb});
}
cublasStatus_t cublasZgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda,
                           const cuDoubleComplex* B, int ldb, const cuDoubleComplex* beta, cuDoubleComplex* C,
                           int ldc) {
    return gemm(CALL("cublasZgemm"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasZgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const cuDoubleComplex* alpha, const cuDoubleComplex* const A[], int lda,
                                  const cuDoubleComplex* const B[], int ldb, const cuDoubleComplex* beta,
                                  cuDoubleComplex* const C[], int ldc, int batchCount) {
    return gemm_batched<std::complex<double>>(CALL("cublasZgemmBatched"), transa, transb, m, n, k, numbers(alpha),
                                              reinterpret_cast<const std::complex<double>* const*>(A), lda,
                                              reinterpret_cast<const std::complex<double>* const*>(B), ldb,
                                              numbers(beta), reinterpret_cast<std::complex<double>* const*>(C), ldc,
                                              batchCount);
}
cublasStatus_t cublasZgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                                         int lda, long long int strideA, const cuDoubleComplex* B, int ldb,
                                         long long int strideB, const cuDoubleComplex* beta, cuDoubleComplex* C,
                                         int ldc, long long int strideC, int batchCount) {
    return gemm_strided(CALL("cublasZgemmStridedBatched"), transa, transb, m, n, k, numbers(alpha), numbers(A), lda,
                        strideA, numbers(B), ldb, strideB, numbers(beta), numbers(C), ldc, strideC, batchCount);
}
cublasStatus_t cublasZgeam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda, const cuDoubleComplex* beta,
                           const cuDoubleComplex* B, int ldb, cuDoubleComplex* C, int ldc) {
    return geam(CALL("cublasZgeam"), transa, transb, m, n, numbers(alpha), numbers(A), lda, numbers(beta), numbers(B),
                ldb, numbers(C), ldc);
}
cublasStatus_t cublasZdgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const cuDoubleComplex* A,
                           int lda, const cuDoubleComplex* x, int incx, cuDoubleComplex* C, int ldc) {
    return dgmm<std::complex<double>>(CALL("cublasZdgmm"), mode,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(A), m, n, lda}, numbers(x), incx,
                                      Matrix<Number<cuDoubleComplex>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasZsymm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda, const cuDoubleComplex* B,
                           int ldb, const cuDoubleComplex* beta, cuDoubleComplex* C, int ldc) {
    return symm<std::complex<double>>(CALL("cublasZsymm"), side, uplo, numbers(alpha), numbers(A), lda,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(B), m, n, ldb}, numbers(beta),
                                      Matrix<Number<cuDoubleComplex>>{numbers(C), m, n, ldc}, false);
}
cublasStatus_t cublasZhemm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda, const cuDoubleComplex* B,
                           int ldb, const cuDoubleComplex* beta, cuDoubleComplex* C, int ldc) {
    return symm<std::complex<double>>(CALL("cublasZhemm"), side, uplo, numbers(alpha), numbers(A), lda,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(B), m, n, ldb}, numbers(beta),
                                      Matrix<Number<cuDoubleComplex>>{numbers(C), m, n, ldc}, true);
}
cublasStatus_t cublasZsyrk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda, const cuDoubleComplex* beta,
                           cuDoubleComplex* C, int ldc) {
    return syrk(CALL("cublasZsyrk"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(beta), numbers(C),
                ldc);
}
cublasStatus_t cublasZsyr2k(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                            const cuDoubleComplex* alpha, const cuDoubleComplex* A, int lda, const cuDoubleComplex* B,
                            int ldb, const cuDoubleComplex* beta, cuDoubleComplex* C, int ldc) {
    return syr2k(CALL("cublasZsyr2k"), uplo, trans, n, k, numbers(alpha), numbers(A), lda, numbers(B), ldb,
                 numbers(beta), numbers(C), ldc);
}
cublasStatus_t cublasZtrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                           int lda, const cuDoubleComplex* B, int ldb, cuDoubleComplex* C, int ldc) {
    return trmm<std::complex<double>>(CALL("cublasZtrmm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                                      Matrix<const Number<cuDoubleComplex>>{numbers(B), m, n, ldb},
                                      Matrix<Number<cuDoubleComplex>>{numbers(C), m, n, ldc});
}
cublasStatus_t cublasZtrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const cuDoubleComplex* alpha, const cuDoubleComplex* A,
                           int lda, cuDoubleComplex* B, int ldb) {
    return trsm<std::complex<double>>(CALL("cublasZtrsm"), side, uplo, trans, diag, numbers(alpha), numbers(A), lda,
                                      Matrix<Number<cuDoubleComplex>>{numbers(B), m, n, ldb});
}
cublasStatus_t cublasCherk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const float* alpha, const cuComplex* A, int lda, const float* beta, cuComplex* C, int ldc) {
    return herk(CALL("cublasCherk"), uplo, trans, n, k, alpha, numbers(A), lda, beta, numbers(C), ldc);
}
cublasStatus_t cublasZherk(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                           const double* alpha, const cuDoubleComplex* A, int lda, const double* beta,
                           cuDoubleComplex* C, int ldc) {
    return herk(CALL("cublasZherk"), uplo, trans, n, k, alpha, numbers(A), lda, beta, numbers(C), ldc);
}
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half* alpha, const __half* A, int lda, const __half* B, int ldb,
                           const __half* beta, __half* C, int ldc) {
    return gemm_mixed(CALL("cublasHgemm"), {transa, transb, m, n, k, alpha, A, CUDA_R_16F, lda, B, CUDA_R_16F, ldb,
                                            beta, C, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F});
}
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc) {
    return gemm_mixed(CALL("cublasSgemmEx"), {transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C,
                                              Ctype, ldc, CUBLAS_COMPUTE_32F});
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t /*algo*/) {
    return gemm_mixed(CALL("cublasGemmEx"),
                      {transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, computeType});
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t /*algo*/) {
    Call call = CALL("cublasGemmStridedBatchedEx");
    call.require(batchCount >= 0);
    const auto moved = [](auto* data, cudaDataType type, long long elements) {
        return data + elements * static_cast<long long>(size_of_type(type));
    };
    for (int i = 0; i < batchCount && call; ++i) {
        const Status status =
            gemm_mixed(call, {transa, transb, m, n, k, alpha, moved(static_cast<const char*>(A), Atype, i * strideA),
                              Atype, lda, moved(static_cast<const char*>(B), Btype, i * strideB), Btype, ldb, beta,
                              moved(static_cast<char*>(C), Ctype, i * strideC), Ctype, ldc, computeType});
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return call.status();
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const A[], cudaDataType Atype, int lda,
                                   const void* const B[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const C[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t /*algo*/) {
    Call call = CALL("cublasGemmBatchedEx");
    call.require(batchCount >= 0);
    if (!call) return call.status();
    const std::size_t bytes = static_cast<std::size_t>(batchCount) * sizeof(void*);
    call.memory("array of matrices A", A, bytes).memory("array of matrices B", B, bytes);
    call.memory("array of matrices C", C, bytes);
    for (int i = 0; i < batchCount && call; ++i) {
        const Status status = gemm_mixed(call, {transa, transb, m, n, k, alpha, A[i], Atype, lda, B[i], Btype, ldb,
                                                beta, C[i], Ctype, ldc, computeType});
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return call.status();
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cudaDataType computeType, cublasGemmAlgo_t /*algo*/) {
    const cublasComputeType_t compute = computeType == CUDA_R_16F                                ? CUBLAS_COMPUTE_16F
                                        : computeType == CUDA_R_64F || computeType == CUDA_C_64F ? CUBLAS_COMPUTE_64F
                                        : computeType == CUDA_R_32I                              ? CUBLAS_COMPUTE_32I
                                                                                                 : CUBLAS_COMPUTE_32F;
    return gemm_mixed(CALL("cublasGemmEx"),
                      {transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, compute});
}
