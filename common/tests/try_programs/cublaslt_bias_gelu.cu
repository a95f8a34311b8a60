// cuBLASLt: a product with a bias and GELU behind it, as layers of neural networks have it; and numbers of 8 bits.
#include <cublasLt.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                             \
    do {                                                                        \
        const cublasStatus_t status = (call);                                   \
        if (status != CUBLAS_STATUS_SUCCESS) printf("%s: %d\n", #call, status); \
    } while (0)

__global__ void through_fp8(const float* in, float* out) {
    out[threadIdx.x] = static_cast<float>(__nv_fp8_e4m3(in[threadIdx.x]));
    out[threadIdx.x + 8] = static_cast<float>(__nv_fp8_e5m2(in[threadIdx.x]));
}

float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

int main() {
    const int m = 5, n = 4, k = 3;
    float *a, *b, *bias, *d;
    cudaMallocManaged(&a, k * m * sizeof(float));
    cudaMallocManaged(&b, k * n * sizeof(float));
    cudaMallocManaged(&bias, m * sizeof(float));
    cudaMallocManaged(&d, m * n * sizeof(float));
    for (int i = 0; i < k * m; ++i) a[i] = static_cast<float>(i % 4) - 1;
    for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 3) - 1;
    for (int i = 0; i < m; ++i) bias[i] = 0.5f * static_cast<float>(i);

    cublasLtHandle_t handle;
    CHECK(cublasLtCreate(&handle));
    cublasLtMatmulDesc_t product;
    CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t turned = CUBLAS_OP_T;
    CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    CHECK(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    cublasLtMatrixLayout_t of_a, of_b, of_d;
    CHECK(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, k, m, k));
    CHECK(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, k, n, k));
    CHECK(cublasLtMatrixLayoutCreate(&of_d, CUDA_R_32F, m, n, m));
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulHeuristicResult_t heuristic;
    int results = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, of_a, of_b, of_d, of_d, preference, 1, &heuristic, &results));
    printf("%d algorithm\n", results);
    const float one = 1, zero = 0;
    CHECK(cublasLtMatmul(handle, product, &one, a, of_a, b, of_b, &zero, d, of_d, d, of_d, &heuristic.algo, nullptr, 0,
                         nullptr));
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
            float sum = bias[row];
            for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
            wrong += std::abs(d[column * m + row] - gelu(sum)) > 1e-5f;
        }
    }
    printf("%d wrong elements\n", wrong);
    CHECK(cublasLtMatmulPreferenceDestroy(preference));
    for (cublasLtMatrixLayout_t layout : {of_a, of_b, of_d}) CHECK(cublasLtMatrixLayoutDestroy(layout));
    CHECK(cublasLtMatmulDescDestroy(product));
    CHECK(cublasLtDestroy(handle));

    float *in, *out;
    cudaMallocManaged(&in, 8 * sizeof(float));
    cudaMallocManaged(&out, 16 * sizeof(float));
    const float values[8] = {1, 1.0625f, 1.1875f, 0.3f, 1000, 0.001f, -448, 70000};
    for (int i = 0; i < 8; ++i) in[i] = values[i];
    through_fp8<<<1, 8>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 16; ++i) printf("%g%s", out[i], i % 8 == 7 ? "\n" : " ");
    for (void* memory : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(bias), static_cast<void*>(d),
                         static_cast<void*>(in), static_cast<void*>(out)})
        cudaFree(memory);
    return wrong;
}
