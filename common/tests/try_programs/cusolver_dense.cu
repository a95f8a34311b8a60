// cuSOLVER's dense part: systems of equations by LU, Cholesky, and QR, eigenvalues, singular values.
#include <cusolverDn.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                               \
    do {                                                                          \
        const cusolverStatus_t status = (call);                                   \
        if (status != CUSOLVER_STATUS_SUCCESS) printf("%s: %d\n", #call, status); \
    } while (0)

template <class T>
struct OnDevice {
    T* data = nullptr;
    size_t count;
    explicit OnDevice(const std::vector<T>& values) : count(values.size()) {
        cudaMalloc(&data, count * sizeof(T));
        cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~OnDevice() { cudaFree(data); }
    std::vector<T> values() const {
        std::vector<T> all(count);
        cudaMemcpy(all.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return all;
    }
};

template <class T>
void print(const char* name, const OnDevice<T>& what) {
    printf("%s:", name);
    for (T value : what.values()) printf(" %.3f", std::abs(static_cast<double>(value)) < 5e-4 ? 0.0 : static_cast<double>(value));
    printf("\n");
}

int main() {
    cusolverDnHandle_t handle;
    CHECK(cusolverDnCreate(&handle));
    OnDevice<int> info({7});
    int size = 0;

    // By columns: 1 4 7 / 2 5 8 / 3 6 10, and a right side whose solution is 1 2 3.
    {
        OnDevice<double> A({1, 4, 7, 2, 5, 8, 3, 6, 10}), b({14, 32, 53});
        OnDevice<int> pivots({0, 0, 0});
        CHECK(cusolverDnDgetrf_bufferSize(handle, 3, 3, A.data, 3, &size));
        OnDevice<double> work{std::vector<double>(size)};
        CHECK(cusolverDnDgetrf(handle, 3, 3, A.data, 3, work.data, pivots.data, info.data));
        CHECK(cusolverDnDgetrs(handle, CUBLAS_OP_N, 3, 1, A.data, 3, pivots.data, b.data, 3, info.data));
        print("LU", b);
        print("info", info);
    }
    {
        OnDevice<double> A({1, 4, 7, 2, 5, 8, 3, 6, 10}), b({14, 32, 53}), work({0});
        CHECK(cusolverDnDgetrf(handle, 3, 3, A.data, 3, work.data, nullptr, info.data));
        CHECK(cusolverDnDgetrs(handle, CUBLAS_OP_N, 3, 1, A.data, 3, nullptr, b.data, 3, info.data));
        print("LU without pivots", b);
    }
    {
        OnDevice<float> A({4, 2, 2, 3}), b({8, 8});
        CHECK(cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 2, A.data, 2, &size));
        OnDevice<float> work{std::vector<float>(size)};
        CHECK(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, 2, A.data, 2, work.data, size, info.data));
        CHECK(cusolverDnSpotrs(handle, CUBLAS_FILL_MODE_LOWER, 2, 1, A.data, 2, b.data, 2, info.data));
        print("Cholesky", b);
        OnDevice<float> wrong({1, 2, 2, 1});
        CHECK(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, 2, wrong.data, 2, work.data, size, info.data));
        print("not positive definite, info", info);
    }
    {
        OnDevice<double> A({3, 4, 0, 0, 0, 5}), tau({0, 0}), b({3, 4, 10}), work({0});
        CHECK(cusolverDnDgeqrf(handle, 3, 2, A.data, 3, tau.data, work.data, 1, info.data));
        CHECK(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 3, 1, 2, A.data, 3, tau.data, b.data, 3, work.data,
                               1, info.data));
        const std::vector<double> r = A.values(), y = b.values();
        const double x1 = y[1] / r[4];
        printf("QR: %.3f %.3f\n", (y[0] - r[3] * x1) / r[0], x1);
    }
    {
        OnDevice<double> A({2, 1, 1, 2}), w({0, 0}), work({0});
        CHECK(cusolverDnDsyevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, A.data, 2, w.data,
                                          &size));
        CHECK(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, A.data, 2, w.data, work.data,
                               size, info.data));
        print("eigenvalues", w);
        OnDevice<cuDoubleComplex> H(std::vector<cuDoubleComplex>{{2, 0}, {0, 1}, {0, -1}, {2, 0}}), area(std::vector<cuDoubleComplex>(1));
        CHECK(cusolverDnZheevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 2, H.data, 2, w.data,
                               area.data, 1, info.data));
        print("of a Hermitian matrix", w);
    }
    {
        OnDevice<double> A({3, 0, 0, 0, 4, 0}), s({0, 0}), u(std::vector<double>(9)), v(std::vector<double>(4)),
            work({0});
        CHECK(cusolverDnDgesvd_bufferSize(handle, 3, 2, &size));
        CHECK(cusolverDnDgesvd(handle, 'A', 'A', 3, 2, A.data, 3, s.data, u.data, 3, v.data, 2, work.data, size, nullptr,
                               info.data));
        print("singular values", s);
    }
    CHECK(cusolverDnDestroy(handle));
    return 0;
}
