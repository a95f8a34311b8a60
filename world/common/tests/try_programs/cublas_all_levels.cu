// cuBLAS, levels 1 to 3, against loops in double precision. Sizes are odd, leading dimensions are larger than the matrices
// need, and results begin as NaN where cuBLAS must not read them.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t error = call;                                                           \
        if (error != cudaSuccess) {                                                         \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));           \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)
#define CHECK_CUBLAS(call)                                                                  \
    do {                                                                                    \
        cublasStatus_t status = call;                                                       \
        if (status != CUBLAS_STATUS_SUCCESS) {                                              \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cublasGetStatusString(status));       \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

using Wide = std::complex<double>;

unsigned int state = 12345;
double random_value() {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 8388608.0 - 1.0;
}

template <class T>
T value_of(Wide w) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        return (T)w.real();
    } else {
        return T{(decltype(T::x))w.real(), (decltype(T::x))w.imag()};
    }
}
template <class T>
Wide wide(T v) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        return {(double)v, 0};
    } else {
        return {(double)v.x, (double)v.y};
    }
}

/// A matrix on both sides, by columns.
template <class T>
struct Matrix {
    int rows, columns, ld;
    std::vector<T> host;
    T* device = nullptr;

    Matrix(int r, int c, bool fill = true) : rows(r), columns(c), ld(r + 3), host((size_t)(r + 3) * c) {
        for (T& v : host) v = fill ? value_of<T>({random_value(), random_value()}) : value_of<T>({NAN, NAN});
        CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
        CHECK_CUBLAS(cublasSetMatrix(rows, columns, sizeof(T), host.data(), ld, device, ld));
    }
    ~Matrix() { cudaFree(device); }
    void fetch() { CHECK_CUBLAS(cublasGetMatrix(rows, columns, sizeof(T), device, ld, host.data(), ld)); }
    Wide operator()(int i, int j) const { return wide(host[i + (size_t)j * ld]); }
    Wide op(cublasOperation_t o, int i, int j) const {
        if (o == CUBLAS_OP_N) return (*this)(i, j);
        return o == CUBLAS_OP_T ? (*this)(j, i) : std::conj((*this)(j, i));
    }
};

bool all_right = true;
/// `found` and `expected` differ by no more than rounding of `terms` products.
void expect(const char* what, Wide found, Wide expected, int terms, double epsilon) {
    const bool right = std::abs(found - expected) <= 4 * epsilon * (terms + 4);
    if (!right) {
        printf("%s: got (%g, %g), expected (%g, %g)\n", what, found.real(), found.imag(), expected.real(),
               expected.imag());
        all_right = false;
    }
}

template <class T>
constexpr double epsilon_of = sizeof(T) == 4 || std::is_same_v<T, cuComplex> ? 6e-8 : 1.2e-16;

// One set of names for the four types.
#define FAMILY(T, P)                                                                                       \
    auto gemm(T) { return cublas##P##gemm; }                                                               \
    auto gemv(T) { return cublas##P##gemv; }                                                               \
    auto trsm(T) { return cublas##P##trsm; }                                                               \
    auto trmm(T) { return cublas##P##trmm; }                                                               \
    auto trsv(T) { return cublas##P##trsv; }                                                               \
    auto trmv(T) { return cublas##P##trmv; }                                                               \
    auto symm(T) { return cublas##P##symm; }                                                               \
    auto syrk(T) { return cublas##P##syrk; }                                                               \
    auto geam(T) { return cublas##P##geam; }                                                               \
    auto dgmm(T) { return cublas##P##dgmm; }                                                               \
    auto axpy(T) { return cublas##P##axpy; }                                                               \
    auto scal(T) { return cublas##P##scal; }                                                               \
    auto strided(T) { return cublas##P##gemmStridedBatched; }                                              \
    auto batched(T) { return cublas##P##gemmBatched; }
FAMILY(float, S)
FAMILY(double, D)
FAMILY(cuComplex, C)
FAMILY(cuDoubleComplex, Z)

template <class T>
void test_products(cublasHandle_t handle, const char* name) {
    const int m = 37, n = 19, k = 23;
    const double eps = epsilon_of<T>;
    const T alpha = value_of<T>({0.7, 0.3}), zero = value_of<T>({0, 0}), beta = value_of<T>({-1.5, 0.5});
    const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    for (cublasOperation_t oa : operations) {
        for (cublasOperation_t ob : operations) {
            Matrix<T> A(oa == CUBLAS_OP_N ? m : k, oa == CUBLAS_OP_N ? k : m);
            Matrix<T> B(ob == CUBLAS_OP_N ? k : n, ob == CUBLAS_OP_N ? n : k);
            for (bool keeps : {false, true}) {
                Matrix<T> C(m, n, keeps);
                const Matrix<T>& before = C;
                std::vector<T> old = before.host;
                CHECK_CUBLAS(gemm(T())(handle, oa, ob, m, n, k, &alpha, A.device, A.ld, B.device, B.ld,
                                       keeps ? &beta : &zero, C.device, C.ld));
                C.fetch();
                for (int j = 0; j < n; ++j) {
                    for (int i = 0; i < m; ++i) {
                        Wide sum = 0;
                        for (int l = 0; l < k; ++l) sum += A.op(oa, i, l) * B.op(ob, l, j);
                        Wide expected = wide(alpha) * sum;
                        if (keeps) expected += wide(beta) * wide(old[i + (size_t)j * C.ld]);
                        expect(name, C(i, j), expected, k, eps);
                    }
                }
            }
        }
    }
    // Batches.
    const int count = 3;
    Matrix<T> A(m, k * count), B(k, n * count), C(m, n * count, false), D(m, n * count, false);
    const long long sa = (long long)A.ld * k, sb = (long long)B.ld * n, sc = (long long)C.ld * n;
    CHECK_CUBLAS(strided(T())(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, A.device, A.ld, sa, B.device, B.ld, sb,
                              &zero, C.device, C.ld, sc, count));
    std::vector<T*> pointers;
    for (int i = 0; i < count; ++i) pointers.push_back(A.device + i * sa);
    for (int i = 0; i < count; ++i) pointers.push_back(B.device + i * sb);
    for (int i = 0; i < count; ++i) pointers.push_back(D.device + i * sc);
    T** d_pointers;
    CHECK(cudaMalloc(&d_pointers, pointers.size() * sizeof(T*)));
    CHECK(cudaMemcpy(d_pointers, pointers.data(), pointers.size() * sizeof(T*), cudaMemcpyHostToDevice));
    CHECK_CUBLAS(batched(T())(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, d_pointers, A.ld, d_pointers + count,
                              B.ld, &zero, d_pointers + 2 * count, D.ld, count));
    C.fetch();
    D.fetch();
    CHECK(cudaFree(d_pointers));
    for (int b = 0; b < count; ++b) {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
                Wide sum = 0;
                for (int l = 0; l < k; ++l) sum += A(i, b * k + l) * B(l, b * n + j);
                expect("strided batch", C(i, b * n + j), wide(alpha) * sum, k, eps);
                expect("batch", D(i, b * n + j), wide(alpha) * sum, k, eps);
            }
        }
    }
}

template <class T>
void test_triangles(cublasHandle_t handle) {
    const int m = 21, n = 13;
    const double eps = epsilon_of<T>;
    const T alpha = value_of<T>({0.5, -0.25}), one = value_of<T>({1, 0}), zero = value_of<T>({0, 0});
    for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
        for (cublasFillMode_t uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
            const int order = side == CUBLAS_SIDE_LEFT ? m : n;
            for (cublasOperation_t o : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
                for (cublasDiagType_t diag : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
                    Matrix<T> A(order, order), B(m, n), C(m, n, false);
                    for (int j = 0; j < order; ++j) {
                        for (int i = 0; i < order; ++i) {
                            const bool outside = uplo == CUBLAS_FILL_MODE_LOWER ? i < j : i > j;
                            // What is not in the triangle must not be read.
                            A.host[i + (size_t)j * A.ld] = outside ? value_of<T>({NAN, NAN})
                                                           : i == j && diag == CUBLAS_DIAG_UNIT
                                                               ? value_of<T>({NAN, NAN})
                                                           : i == j ? value_of<T>({2.0 + i * 0.1, 0.5})
                                                                    : value_of<T>(A(i, j) * 0.1);
                        }
                    }
                    CHECK_CUBLAS(cublasSetMatrix(order, order, sizeof(T), A.host.data(), A.ld, A.device, A.ld));
                    const auto a = [&](int i, int j) -> Wide {
                        const int r = o == CUBLAS_OP_N ? i : j, c = o == CUBLAS_OP_N ? j : i;
                        if (r == c && diag == CUBLAS_DIAG_UNIT) return 1;
                        if (uplo == CUBLAS_FILL_MODE_LOWER ? r < c : r > c) return 0;
                        return o == CUBLAS_OP_C ? std::conj(A(r, c)) : A(r, c);
                    };
                    CHECK_CUBLAS(trmm(T())(handle, side, uplo, o, diag, m, n, &alpha, A.device, A.ld, B.device, B.ld,
                                           C.device, C.ld));
                    C.fetch();
                    for (int j = 0; j < n; ++j) {
                        for (int i = 0; i < m; ++i) {
                            Wide sum = 0;
                            for (int l = 0; l < order; ++l)
                                sum += side == CUBLAS_SIDE_LEFT ? a(i, l) * B(l, j) : B(i, l) * a(l, j);
                            expect("trmm", C(i, j), wide(alpha) * sum, order, eps * 4);
                        }
                    }
                    // trsm undoes it.
                    const T inverse = value_of<T>(1.0 / wide(alpha));
                    CHECK_CUBLAS(trsm(T())(handle, side, uplo, o, diag, m, n, &inverse, A.device, A.ld, C.device, C.ld));
                    C.fetch();
                    for (int j = 0; j < n; ++j)
                        for (int i = 0; i < m; ++i) expect("trsm", C(i, j), B(i, j), order * 8, eps * 8);
                    if (side == CUBLAS_SIDE_RIGHT) continue;
                    // The same for a vector, with an increment: the first row of C.
                    Matrix<T> x(1, m);
                    const auto old = [host = x.host, ld = x.ld](int, int j) { return wide(host[(size_t)j * ld]); };
                    CHECK_CUBLAS(trmv(T())(handle, uplo, o, diag, m, A.device, A.ld, x.device, x.ld));
                    x.fetch();
                    for (int i = 0; i < m; ++i) {
                        Wide sum = 0;
                        for (int l = 0; l < m; ++l) sum += a(i, l) * old(0, l);
                        expect("trmv", x(0, i), sum, m, eps * 4);
                    }
                    CHECK_CUBLAS(trsv(T())(handle, uplo, o, diag, m, A.device, A.ld, x.device, x.ld));
                    x.fetch();
                    for (int i = 0; i < m; ++i) expect("trsv", x(0, i), old(0, i), m * 8, eps * 8);
                }
            }
            // Symmetric matrices of which one half is there.
            Matrix<T> A(order, order), B(m, n), C(m, n, false);
            CHECK_CUBLAS(symm(T())(handle, side, uplo, m, n, &one, A.device, A.ld, B.device, B.ld, &zero, C.device,
                                   C.ld));
            C.fetch();
            const auto a = [&](int i, int j) {
                return (uplo == CUBLAS_FILL_MODE_LOWER) == (i >= j) ? A(i, j) : A(j, i);
            };
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < m; ++i) {
                    Wide sum = 0;
                    for (int l = 0; l < order; ++l)
                        sum += side == CUBLAS_SIDE_LEFT ? a(i, l) * B(l, j) : B(i, l) * a(l, j);
                    expect("symm", C(i, j), sum, order, eps);
                }
            }
            for (cublasOperation_t o : {CUBLAS_OP_N, CUBLAS_OP_T}) {
                const int k = 11;
                Matrix<T> F(o == CUBLAS_OP_N ? m : k, o == CUBLAS_OP_N ? k : m), S(m, m, false);
                CHECK_CUBLAS(syrk(T())(handle, uplo, o, m, k, &alpha, F.device, F.ld, &zero, S.device, S.ld));
                S.fetch();
                for (int j = 0; j < m; ++j) {
                    for (int i = 0; i < m; ++i) {
                        if (uplo == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) {
                            if (!std::isnan(S(i, j).real())) expect("syrk wrote the other half", 0, 1, 0, 0);
                            continue;
                        }
                        Wide sum = 0;
                        for (int l = 0; l < k; ++l)
                            sum += o == CUBLAS_OP_N ? F(i, l) * F(j, l) : F(l, i) * F(l, j);
                        expect("syrk", S(i, j), wide(alpha) * sum, k, eps);
                    }
                }
            }
        }
    }
}

template <class T>
void test_vectors(cublasHandle_t handle) {
    const int m = 29, n = 17;
    const double eps = epsilon_of<T>;
    const T alpha = value_of<T>({0.7, 0.2}), beta = value_of<T>({0.5, 0}), zero = value_of<T>({0, 0});
    for (cublasOperation_t o : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        Matrix<T> A(m, n);
        const int rows = o == CUBLAS_OP_N ? m : n, columns = o == CUBLAS_OP_N ? n : m;
        Matrix<T> x(1, columns), y(1, rows, false);
        CHECK_CUBLAS(gemv(T())(handle, o, m, n, &alpha, A.device, A.ld, x.device, x.ld, &zero, y.device, y.ld));
        y.fetch();
        std::vector<Wide> first;
        for (int i = 0; i < rows; ++i) {
            Wide sum = 0;
            for (int j = 0; j < columns; ++j) sum += A.op(o, i, j) * x(0, j);
            first.push_back(wide(alpha) * sum);
            expect("gemv", y(0, i), first.back(), columns, eps);
        }
        // The other way through x, on top of half of what is there.
        CHECK_CUBLAS(gemv(T())(handle, o, m, n, &alpha, A.device, A.ld, x.device, -x.ld, &beta, y.device, y.ld));
        y.fetch();
        for (int i = 0; i < rows; ++i) {
            Wide sum = 0;
            for (int j = 0; j < columns; ++j) sum += A.op(o, i, j) * x(0, columns - 1 - j);
            expect("gemv, backwards", y(0, i), wide(alpha) * sum + 0.5 * first[i], columns, eps * 2);
        }
        Matrix<T> C(rows, columns, false);
        CHECK_CUBLAS(geam(T())(handle, o, CUBLAS_OP_N, rows, columns, &alpha, A.device, A.ld, &zero, nullptr, rows,
                               C.device, C.ld));
        C.fetch();
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) expect("geam", C(i, j), wide(alpha) * A.op(o, i, j), 1, eps);
    }
    Matrix<T> A(m, n), d(1, n), C(m, n, false);
    CHECK_CUBLAS(dgmm(T())(handle, CUBLAS_SIDE_RIGHT, m, n, A.device, A.ld, d.device, d.ld, C.device, C.ld));
    C.fetch();
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) expect("dgmm", C(i, j), A(i, j) * d(0, j), 1, eps);
    Matrix<T> x(m, 1), y(m, 1);
    const std::vector<T> old = y.host;
    CHECK_CUBLAS(axpy(T())(handle, m, &alpha, x.device, 1, y.device, 1));
    CHECK_CUBLAS(scal(T())(handle, m, &beta, y.device, 1));
    y.fetch();
    for (int i = 0; i < m; ++i)
        expect("axpy, scal", y(i, 0), wide(beta) * (wide(alpha) * x(i, 0) + wide(old[i])), 2, eps);
}

void test_results(cublasHandle_t handle) {
    const int n = 1003;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
        x[i] = (float)random_value();
        y[i] = (float)random_value();
    }
    x[777] = -3;
    float *d_x, *d_y, *d_result;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMalloc(&d_result, sizeof(float)));
    CHECK_CUBLAS(cublasSetVector(n, sizeof(float), x.data(), 1, d_x, 1));
    CHECK_CUBLAS(cublasSetVector(n, sizeof(float), y.data(), 1, d_y, 1));
    double dot = 0, sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
        dot += (double)x[i] * y[i];
        sum += std::fabs(x[i]);
        squares += (double)x[i] * x[i];
    }
    float found = NAN;
    int index = -1;
    CHECK_CUBLAS(cublasSdot(handle, n, d_x, 1, d_y, 1, &found));
    expect("dot", found, dot, 40, 6e-8);
    CHECK_CUBLAS(cublasSasum(handle, n, d_x, 1, &found));
    expect("asum", found, sum, 1000, 6e-8);
    CHECK_CUBLAS(cublasSnrm2(handle, n, d_x, 1, &found));
    expect("nrm2", found, std::sqrt(squares), 100, 6e-8);
    CHECK_CUBLAS(cublasIsamax(handle, n, d_x, 1, &index));
    expect("amax", index, 778, 0, 1e-9);
    CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    CHECK_CUBLAS(cublasSdot(handle, n, d_x, 1, d_y, 1, d_result));
    CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CHECK(cudaMemcpy(&found, d_result, sizeof found, cudaMemcpyDeviceToHost));
    expect("dot with its result on the device", found, dot, 40, 6e-8);
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_result));
}

/// A, B and C as half, sums in float: exact for small integers. And TF32, which keeps 10 bits of a factor's fraction.
void test_mixed_types(cublasHandle_t handle) {
    const int m = 17, n = 9, k = 33;
    std::vector<__half> a(m * k), b(k * n), c(m * n);
    for (int i = 0; i < m * k; ++i) a[i] = __float2half((float)(i % 7 - 3));
    for (int i = 0; i < k * n; ++i) b[i] = __float2half((float)(i % 5 - 2));
    __half *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, a.size() * sizeof(__half)));
    CHECK(cudaMalloc(&d_b, b.size() * sizeof(__half)));
    CHECK(cudaMalloc(&d_c, c.size() * sizeof(__half)));
    CHECK(cudaMemcpy(d_a, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice));
    const float one = 1, zero = 0;
    CHECK_CUBLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, d_a, CUDA_R_16F, m, d_b, CUDA_R_16F, k,
                              &zero, d_c, CUDA_R_16F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    CHECK(cudaMemcpy(c.data(), d_c, c.size() * sizeof(__half), cudaMemcpyDeviceToHost));
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            double sum = 0;
            for (int l = 0; l < k; ++l) sum += __half2float(a[i + l * m]) * __half2float(b[l + j * k]);
            expect("GemmEx of halves", __half2float(c[i + j * m]), sum, 0, 1e-9);
        }
    }
    const float factors[2] = {1.0f + 1.0f / 1024 + 1.0f / 4096, 1.0f};
    float *d_factors, *d_product, product;
    CHECK(cudaMalloc(&d_factors, sizeof factors));
    CHECK(cudaMalloc(&d_product, sizeof(float)));
    CHECK(cudaMemcpy(d_factors, factors, sizeof factors, cudaMemcpyHostToDevice));
    CHECK_CUBLAS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
    CHECK_CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, d_factors, 1, d_factors + 1, 1, &zero,
                             d_product, 1));
    CHECK_CUBLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    CHECK(cudaMemcpy(&product, d_product, sizeof product, cudaMemcpyDeviceToHost));
    expect("TF32", product, 1.0 + 1.0 / 1024, 0, 1e-12);
    for (void* p : {(void*)d_a, (void*)d_b, (void*)d_c, (void*)d_factors, (void*)d_product}) CHECK(cudaFree(p));
}

__global__ void add_one(float* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

int main() {
    cublasHandle_t handle;
    CHECK_CUBLAS(cublasCreate(&handle));
    test_products<float>(handle, "Sgemm");
    test_products<double>(handle, "Dgemm");
    test_products<cuComplex>(handle, "Cgemm");
    test_products<cuDoubleComplex>(handle, "Zgemm");
    printf("products: %s\n", all_right ? "right" : "WRONG");
    test_triangles<float>(handle);
    test_triangles<double>(handle);
    test_triangles<cuComplex>(handle);
    test_triangles<cuDoubleComplex>(handle);
    printf("triangles: %s\n", all_right ? "right" : "WRONG");
    test_vectors<float>(handle);
    test_vectors<double>(handle);
    test_vectors<cuComplex>(handle);
    test_vectors<cuDoubleComplex>(handle);
    test_results(handle);
    test_mixed_types(handle);
    printf("vectors and mixed types: %s\n", all_right ? "right" : "WRONG");

    // A kernel reads what cuBLAS has written: no read of uninitialized memory.
    const int n = 1000;
    Matrix<float> A(n, 1), C(n, 1, false);
    const float two = 2, zero = 0, one = 1;
    CHECK_CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, 1, 1, &two, A.device, A.ld, A.device, A.ld, &zero,
                             C.device, C.ld));
    add_one<<<4, 256>>>(C.device, n);
    C.fetch();
    for (int i = 0; i < n; ++i) expect("kernel after gemm", C(i, 0), 2.0 * A(i, 0) * A(0, 0) + 1.0, 1, 6e-8);
    printf("a kernel after cuBLAS: %s\n", all_right ? "right" : "WRONG");

    // What cuBLAS refuses.
    printf("%s\n", cublasGetStatusName(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, 1, 1, &two, A.device, n - 1,
                                                   A.device, A.ld, &one, C.device, C.ld)));
    printf("%s\n", cublasGetStatusName(cublasSaxpy(nullptr, n, &two, A.device, 1, C.device, 1)));
    CHECK_CUBLAS(cublasDestroy(handle));
    return all_right ? 0 : 1;
}
