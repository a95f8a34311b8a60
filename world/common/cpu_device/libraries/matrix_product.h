// C = alpha A B + beta C for matrices by columns, which is where cuBLAS programs spend their time.
#pragma once

#include <complex>

namespace cpu_device::blas {

/// `A` is m x k and `B` is k x n; `lda`, `ldb`, `ldc` are the distances between columns. Where `beta` is 0, C is only
/// written. For float, double, and their complex numbers.
template <class T>
void multiply(int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc);

/// Whether products are left to OpenBLAS.
bool has_openblas();

}  // namespace cpu_device::blas
