// Libraries do their work inside the call, so they cannot be recorded in a graph: they have to say so.
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "cpu_device/diagnostics.h"

TEST_CASE("functions of libraries in a captured stream are refused by name") {
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    float* values = nullptr;
    REQUIRE(cudaMalloc(&values, 8 * sizeof(float)) == cudaSuccess);
    REQUIRE(cudaMemset(values, 0, 8 * sizeof(float)) == cudaSuccess);
    cublasHandle_t blas = nullptr;
    REQUIRE(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS);
    cufftHandle plan = 0;
    REQUIRE(cufftPlan1d(&plan, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS);
    REQUIRE(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
    curandGenerator_t generator = nullptr;
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandSetStream(generator, stream) == CURAND_STATUS_SUCCESS);
    (void)cpu_device::take_diagnostics();

    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    const float two = 2;
    CHECK(cublasSscal(blas, 8, &two, values, 1) == CUBLAS_STATUS_NOT_SUPPORTED);
    auto* const complex = reinterpret_cast<cufftComplex*>(values);
    CHECK(cufftExecC2C(plan, complex, complex, CUFFT_FORWARD) == CUFFT_NOT_SUPPORTED);
    CHECK(curandGenerateUniform(generator, values, 8) != CURAND_STATUS_SUCCESS);
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    std::string messages;
    for (const cpu_device::Diagnostic& diagnostic : cpu_device::take_diagnostics()) messages += diagnostic.message;
    for (const char* name : {"cuBLAS", "cuFFT", "cuRAND"})
        CHECK_THAT(messages, Catch::Matchers::ContainsSubstring(name));

    CHECK(cublasSscal(blas, 8, &two, values, 1) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    REQUIRE(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    REQUIRE(cufftDestroy(plan) == CUFFT_SUCCESS);
    REQUIRE(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cudaFree(values) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}
