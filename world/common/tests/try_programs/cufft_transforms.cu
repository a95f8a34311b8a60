// cuFFT against the definition of the transform, in double precision: lengths with small and with large prime factors, one
// to three dimensions, batches, strides, real and complex, in place and not.
#include <cuda_runtime.h>
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
    do {                                                                           \
        cudaError_t error = call;                                                  \
        if (error != cudaSuccess) {                                                \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                               \
        }                                                                          \
    } while (0)
#define CHECK_CUFFT(call)                                                          \
    do {                                                                           \
        cufftResult result = call;                                                 \
        if (result != CUFFT_SUCCESS) {                                             \
            printf("%s:%d: cufft result %d\n", __FILE__, __LINE__, (int)result);   \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

using Wide = std::complex<double>;
const double pi = 3.14159265358979323846;

unsigned int state = 99;
float random_value() {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 8388608.0f - 1.0f;
}

/// The definition, for values with the last index fastest.
std::vector<Wide> transformed(const std::vector<Wide>& in, int n0, int n1, int n2, int sign) {
    std::vector<Wide> out(in.size());
    for (int a = 0; a < n0; ++a)
        for (int b = 0; b < n1; ++b)
            for (int c = 0; c < n2; ++c) {
                Wide sum = 0;
                for (int i = 0; i < n0; ++i)
                    for (int j = 0; j < n1; ++j)
                        for (int k = 0; k < n2; ++k) {
                            const double turns = (double)(a * i % n0) / n0 + (double)(b * j % n1) / n1 +
                                                 (double)((long long)c * k % n2) / n2;
                            sum += in[(i * n1 + j) * n2 + k] * std::polar(1.0, sign * 2 * pi * turns);
                        }
                out[(a * n1 + b) * n2 + c] = sum;
            }
    return out;
}

template <class T>
T* on_device(const std::vector<T>& values) {
    T* pointer;
    CHECK(cudaMalloc(&pointer, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}
template <class T>
std::vector<T> on_host(const T* pointer, size_t n) {
    std::vector<T> values(n);
    CHECK(cudaMemcpy(values.data(), pointer, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

int wrong = 0;
void expect(Wide found, Wide expected, double tolerance) { wrong += !(std::abs(found - expected) <= tolerance); }
void report(const char* what) { printf("%s: %s\n", what, wrong == 0 ? "right" : "WRONG"); }

template <class T>
std::vector<Wide> random_numbers(std::vector<T>& values) {
    std::vector<Wide> wide;
    for (T& v : values) {
        v = {random_value(), random_value()};
        wide.push_back({v.x, v.y});
    }
    return wide;
}

__global__ void scale(cufftComplex* values, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = {values[i].x * factor, values[i].y * factor};
}

int main() {
    // One dimension, in batches: back and forth.
    for (int n : {1, 2, 3, 8, 12, 17, 37, 74, 210, 1000, 1009}) {
        const int batch = 3;
        std::vector<cufftComplex> values(n * batch);
        const std::vector<Wide> wide = random_numbers(values);
        cufftComplex *d_in = on_device(values), *d_out;
        CHECK(cudaMalloc(&d_out, values.size() * sizeof(cufftComplex)));
        cufftHandle plan;
        CHECK_CUFFT(cufftPlan1d(&plan, n, CUFFT_C2C, batch));
        CHECK_CUFFT(cufftExecC2C(plan, d_in, d_out, CUFFT_FORWARD));
        const std::vector<cufftComplex> found = on_host(d_out, values.size());
        for (int b = 0; b < batch; ++b) {
            const std::vector<Wide> expected =
                transformed(std::vector<Wide>(wide.begin() + b * n, wide.begin() + (b + 1) * n), 1, 1, n, -1);
            for (int k = 0; k < n; ++k)
                expect({found[b * n + k].x, found[b * n + k].y}, expected[k], 2e-6 * std::sqrt(n) * 4);
        }
        CHECK_CUFFT(cufftExecC2C(plan, d_out, d_out, CUFFT_INVERSE));  // in place
        scale<<<(n * batch + 127) / 128, 128>>>(d_out, n * batch, 1.0f / n);
        const std::vector<cufftComplex> back = on_host(d_out, values.size());
        for (int i = 0; i < n * batch; ++i) expect({back[i].x, back[i].y}, wide[i], 1e-5);
        CHECK_CUFFT(cufftDestroy(plan));
        CHECK(cudaFree(d_in));
        CHECK(cudaFree(d_out));
    }
    report("one dimension");

    {  // Three dimensions, double precision.
        const int n0 = 3, n1 = 4, n2 = 5;
        std::vector<cufftDoubleComplex> values(n0 * n1 * n2);
        const std::vector<Wide> wide = random_numbers(values);
        cufftDoubleComplex* d = on_device(values);
        cufftHandle plan;
        CHECK_CUFFT(cufftPlan3d(&plan, n0, n1, n2, CUFFT_Z2Z));
        CHECK_CUFFT(cufftExecZ2Z(plan, d, d, CUFFT_INVERSE));
        const std::vector<cufftDoubleComplex> found = on_host(d, values.size());
        const std::vector<Wide> expected = transformed(wide, n0, n1, n2, 1);
        for (size_t i = 0; i < values.size(); ++i) expect({found[i].x, found[i].y}, expected[i], 1e-12);
        CHECK_CUFFT(cufftDestroy(plan));
        CHECK(cudaFree(d));
    }
    report("three dimensions");

    for (bool in_place : {false, true}) {  // Real to complex and back, two dimensions, odd and even.
        for (int n1 : {9, 10}) {
            const int n0 = 6, half = n1 / 2 + 1, row = in_place ? 2 * half : n1;
            std::vector<float> values(n0 * row, NAN);
            std::vector<Wide> wide;
            for (int i = 0; i < n0; ++i)
                for (int j = 0; j < n1; ++j) {
                    values[i * row + j] = random_value();
                    wide.push_back(values[i * row + j]);
                }
            float* d_real = on_device(values);
            cufftComplex* d_complex = (cufftComplex*)d_real;
            if (!in_place) CHECK(cudaMalloc(&d_complex, n0 * half * sizeof(cufftComplex)));
            cufftHandle forward, backward;
            CHECK_CUFFT(cufftPlan2d(&forward, n0, n1, CUFFT_R2C));
            CHECK_CUFFT(cufftPlan2d(&backward, n0, n1, CUFFT_C2R));
            CHECK_CUFFT(cufftExecR2C(forward, d_real, d_complex));
            const std::vector<cufftComplex> found = on_host(d_complex, n0 * half);
            const std::vector<Wide> expected = transformed(wide, 1, n0, n1, -1);
            for (int i = 0; i < n0; ++i)
                for (int j = 0; j < half; ++j)
                    expect({found[i * half + j].x, found[i * half + j].y}, expected[i * n1 + j], 1e-5);
            CHECK_CUFFT(cufftExecC2R(backward, d_complex, d_real));
            const std::vector<float> back = on_host(d_real, values.size());
            for (int i = 0; i < n0; ++i)
                for (int j = 0; j < n1; ++j) expect(back[i * row + j] / (n0 * n1), wide[i * n1 + j], 1e-5);
            CHECK_CUFFT(cufftDestroy(forward));
            CHECK_CUFFT(cufftDestroy(backward));
            CHECK(cudaFree(d_real));
            if (!in_place) CHECK(cudaFree(d_complex));
        }
    }
    report("real and complex");

    {  // The columns of a matrix of 7 x 5: strides.
        int n = 7;
        const int columns = 5;
        std::vector<cufftComplex> values(n * columns);
        const std::vector<Wide> wide = random_numbers(values);
        cufftComplex* d = on_device(values);
        cufftHandle plan;
        CHECK_CUFFT(cufftPlanMany(&plan, 1, &n, &n, columns, 1, &n, columns, 1, CUFFT_C2C, columns));
        CHECK_CUFFT(cufftExecC2C(plan, d, d, CUFFT_FORWARD));
        const std::vector<cufftComplex> found = on_host(d, values.size());
        for (int c = 0; c < columns; ++c) {
            std::vector<Wide> column;
            for (int i = 0; i < n; ++i) column.push_back(wide[i * columns + c]);
            const std::vector<Wide> expected = transformed(column, 1, 1, n, -1);
            for (int i = 0; i < n; ++i)
                expect({found[i * columns + c].x, found[i * columns + c].y}, expected[i], 1e-5);
        }
        cufftDoubleComplex* other = nullptr;
        printf("another type: %s\n",
               cufftExecZ2Z(plan, other, other, CUFFT_FORWARD) == CUFFT_INVALID_TYPE ? "refused" : "NOT REFUSED");
        CHECK_CUFFT(cufftDestroy(plan));
        CHECK(cudaFree(d));
    }
    report("columns");
    return wrong == 0 ? 0 : 1;
}
