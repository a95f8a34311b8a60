// Solvers for dense matrices: the counterpart of the older interface of cuSOLVER's dense part, with LAPACK's results.
// Work is done inside the call, by the LAPACK of the host (sudo apt install liblapack3, or libopenblas0). Where there
// is none, the functions say so and return CUSOLVER_STATUS_NOT_SUPPORTED.
//
// Matrices are stored by columns. A function that is missing is named when the program is built, if the program calls
// it.
#pragma once

#define CUSOLVERDN_H_

#include "cuComplex.h"
#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "cusolver_common.h"
#include "library_types.h"

typedef struct cusolverDnContext* cusolverDnHandle_t;

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* streamId);
cusolverStatus_t cusolverGetVersion(int* version);

// One line for each function; T is the type of the matrix, and R that of its absolute values.
#define CPU_DEVICE_SOLVERS(P, T, R)                                                                                    \
    /* A = P L U; without pivots where devIpiv is null */                                                              \
    cusolverStatus_t cusolverDn##P##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T* A, int lda,           \
                                                     int* Lwork);                                                      \
    cusolverStatus_t cusolverDn##P##getrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* Workspace,        \
                                          int* devIpiv, int* devInfo);                                                 \
    cusolverStatus_t cusolverDn##P##getrs(cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs,         \
                                          const T* A, int lda, const int* devIpiv, T* B, int ldb, int* devInfo);       \
    /* A = L L^H */                                                                                                    \
    cusolverStatus_t cusolverDn##P##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A,    \
                                                     int lda, int* Lwork);                                             \
    cusolverStatus_t cusolverDn##P##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* A, int lda,      \
                                          T* Workspace, int Lwork, int* devInfo);                                      \
    cusolverStatus_t cusolverDn##P##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,           \
                                          const T* A, int lda, T* B, int ldb, int* devInfo);                           \
    cusolverStatus_t cusolverDn##P##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T* Aarray[], \
                                                 int lda, int* infoArray, int batchSize);                              \
    cusolverStatus_t cusolverDn##P##potrsBatched(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,    \
                                                 T* A[], int lda, T* B[], int ldb, int* d_info, int batchSize);        \
    /* A = Q R */                                                                                                      \
    cusolverStatus_t cusolverDn##P##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T* A, int lda,           \
                                                     int* lwork);                                                      \
    cusolverStatus_t cusolverDn##P##geqrf(cusolverDnHandle_t handle, int m, int n, T* A, int lda, T* TAU,              \
                                          T* Workspace, int Lwork, int* devInfo);                                      \
    /* A = U S V^H */                                                                                                  \
    cusolverStatus_t cusolverDn##P##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int* lwork);             \
    cusolverStatus_t cusolverDn##P##gesvd(cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m,       \
                                          int n, T* A, int lda, R* S, T* U, int ldu, T* VT, int ldvt, T* work,         \
                                          int lwork, R* rwork, int* info);
CPU_DEVICE_SOLVERS(S, float, float)
CPU_DEVICE_SOLVERS(D, double, double)
CPU_DEVICE_SOLVERS(C, cuComplex, float)
CPU_DEVICE_SOLVERS(Z, cuDoubleComplex, double)
#undef CPU_DEVICE_SOLVERS

// The same for what has different names for real and for complex numbers.
#define CPU_DEVICE_SOLVERS(P, Q, M, E, T, R)                                                                          \
    /* the matrix Q of geqrf, and products with it */                                                                 \
    cusolverStatus_t cusolverDn##P##Q_bufferSize(cusolverDnHandle_t handle, int m, int n, int k, const T* A, int lda, \
                                                 const T* tau, int* lwork);                                           \
    cusolverStatus_t cusolverDn##P##Q(cusolverDnHandle_t handle, int m, int n, int k, T* A, int lda, const T* tau,    \
                                      T* work, int lwork, int* info);                                                 \
    cusolverStatus_t cusolverDn##P##M_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side,                    \
                                                 cublasOperation_t trans, int m, int n, int k, const T* A, int lda,   \
                                                 const T* tau, const T* C, int ldc, int* lwork);                      \
    cusolverStatus_t cusolverDn##P##M(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans,      \
                                      int m, int n, int k, const T* A, int lda, const T* tau, T* C, int ldc, T* work, \
                                      int lwork, int* devInfo);                                                       \
    /* A = V W V^H */                                                                                                 \
    cusolverStatus_t cusolverDn##P##E##evd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t jobz,              \
                                                      cublasFillMode_t uplo, int n, const T* A, int lda, const R* W,  \
                                                      int* lwork);                                                    \
    cusolverStatus_t cusolverDn##P##E##evd(cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo,  \
                                           int n, T* A, int lda, R* W, T* work, int lwork, int* info);
CPU_DEVICE_SOLVERS(S, orgqr, ormqr, sy, float, float)
CPU_DEVICE_SOLVERS(D, orgqr, ormqr, sy, double, double)
CPU_DEVICE_SOLVERS(C, ungqr, unmqr, he, cuComplex, float)
CPU_DEVICE_SOLVERS(Z, ungqr, unmqr, he, cuDoubleComplex, double)
#undef CPU_DEVICE_SOLVERS

}  // extern "C"
