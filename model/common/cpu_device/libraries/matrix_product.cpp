#include "matrix_product.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "common/helpers/parallel_for.h"

namespace cpu_device::blas {
namespace {

// ---- OpenBLAS, where it is installed ------------------------------------------------------------------------------

constexpr int column_major = 102;  // of its C interface
constexpr int not_transposed = 111;

/// Found when the first product is computed; nothing is linked, so that programs run without it, too.
void* openblas() {
    static void* const library = [] {
        void* found = nullptr;
        for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
            if (found == nullptr) found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        return found;
    }();
    return library;
}

template <class Function>
Function* function_of_openblas(const char* name) {
    return openblas() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(openblas(), name));
}

template <class T>
using RealProduct = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
using ComplexProduct = void(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                            void*, int);

/// False where there is no such function.
template <class T>
bool multiply_by_openblas(const char* name, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb,
                          T beta, T* C, int ldc) {
    static auto* const product = function_of_openblas<RealProduct<T>>(name);
    if (product == nullptr) return false;
    product(column_major, not_transposed, not_transposed, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    return true;
}
template <class T>
bool multiply_by_openblas(const char* name, int m, int n, int k, std::complex<T> alpha, const std::complex<T>* A,
                          int lda, const std::complex<T>* B, int ldb, std::complex<T> beta, std::complex<T>* C,
                          int ldc) {
    static auto* const product = function_of_openblas<ComplexProduct>(name);
    if (product == nullptr) return false;
    product(column_major, not_transposed, not_transposed, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    return true;
}

template <class T>
constexpr const char* product_name = nullptr;
template <>
constexpr const char* product_name<float> = "cblas_sgemm";
template <>
constexpr const char* product_name<double> = "cblas_dgemm";
template <>
constexpr const char* product_name<std::complex<float>> = "cblas_cgemm";
template <>
constexpr const char* product_name<std::complex<double>> = "cblas_zgemm";

// ---- without it ---------------------------------------------------------------------------------------------------

constexpr int rows_at_a_time = 512;  // of four columns of C: they stay in the first cache
constexpr int columns_at_a_time = 4;

/// a * b without the recovery of infinities that std::complex makes.
template <class T>
T times(T a, T b) {
    return a * b;
}
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Adds alpha A B to the columns `begin` to `end` of C.
template <class T>
void add_product(int m, int begin, int end, int k, T alpha, const T* A, int lda, const T* B, int ldb, T* C, int ldc) {
    const auto column = [](auto* matrix, int j, int ld) { return matrix + static_cast<std::ptrdiff_t>(j) * ld; };
    for (int first_row = 0; first_row < m; first_row += rows_at_a_time) {
        const int rows = std::min(rows_at_a_time, m - first_row);
        int j = begin;
        for (; j + columns_at_a_time <= end; j += columns_at_a_time) {
            T* const c0 = column(C, j, ldc) + first_row;
            T* const c1 = column(C, j + 1, ldc) + first_row;
            T* const c2 = column(C, j + 2, ldc) + first_row;
            T* const c3 = column(C, j + 3, ldc) + first_row;
            for (int l = 0; l < k; ++l) {
                const T* const a = column(A, l, lda) + first_row;
                const T b0 = times(alpha, column(B, j, ldb)[l]), b1 = times(alpha, column(B, j + 1, ldb)[l]);
                const T b2 = times(alpha, column(B, j + 2, ldb)[l]), b3 = times(alpha, column(B, j + 3, ldb)[l]);
#pragma GCC ivdep
                for (int i = 0; i < rows; ++i) {
                    c0[i] += times(a[i], b0);
                    c1[i] += times(a[i], b1);
                    c2[i] += times(a[i], b2);
                    c3[i] += times(a[i], b3);
                }
            }
        }
        for (; j < end; ++j) {
            T* const c = column(C, j, ldc) + first_row;
            for (int l = 0; l < k; ++l) {
                const T* const a = column(A, l, lda) + first_row;
                const T b = times(alpha, column(B, j, ldb)[l]);
#pragma GCC ivdep
                for (int i = 0; i < rows; ++i) c[i] += times(a[i], b);
            }
        }
    }
}

template <class T>
void scale(int m, int n, T beta, T* C, int ldc) {
    for (int j = 0; j < n; ++j) {
        T* const c = C + static_cast<std::ptrdiff_t>(j) * ldc;
        for (int i = 0; i < m; ++i) c[i] = beta == T(0) ? T(0) : times(beta, c[i]);
    }
}

}  // namespace

bool has_openblas() { return openblas() != nullptr; }

template <class T>
void multiply(int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) {
    // Here and not by the library: C may hold NaN where beta is 0.
    if (beta != T(1)) scale(m, n, beta, C, ldc);
    if (m == 0 || n == 0 || k == 0 || alpha == T(0)) return;
    if (multiply_by_openblas(product_name<T>, m, n, k, alpha, A, lda, B, ldb, T(1), C, ldc)) return;
    constexpr double worth_a_thread = 1e6;
    if (static_cast<double>(m) * n * k < worth_a_thread) return add_product(m, 0, n, k, alpha, A, lda, B, ldb, C, ldc);
    const int groups = (n + columns_at_a_time - 1) / columns_at_a_time;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    warpwise::parallel_for_parts(
        static_cast<std::size_t>(groups), std::min<std::size_t>(static_cast<std::size_t>(groups), cores),
        [&](std::size_t, std::size_t begin, std::size_t end) {
            add_product(m, static_cast<int>(begin) * columns_at_a_time,
                        std::min(n, static_cast<int>(end) * columns_at_a_time), k, alpha, A, lda, B, ldb, C, ldc);
        });
}

template void multiply(int, int, int, float, const float*, int, const float*, int, float, float*, int);
template void multiply(int, int, int, double, const double*, int, const double*, int, double, double*, int);
template void multiply(int, int, int, std::complex<float>, const std::complex<float>*, int, const std::complex<float>*,
                       int, std::complex<float>, std::complex<float>*, int);
template void multiply(int, int, int, std::complex<double>, const std::complex<double>*, int,
                       const std::complex<double>*, int, std::complex<double>, std::complex<double>*, int);

}  // namespace cpu_device::blas
