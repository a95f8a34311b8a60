// Where errors show: at the call, at the launch, or at the next call that waits for the device.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#ifdef __CPU_DEVICE__
#include "cpu_device/diagnostics.h"
#endif

namespace {

__global__ void count_threads(int* counter) { atomicAdd(counter, 1); }

__global__ void scale(float* data, float factor, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] *= factor;
}

/// CUDA 13 calls a launch shape that the device cannot have an invalid value, CUDA 12 an invalid configuration.
bool is_refused_shape(cudaError_t error) {
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

/// One counter in device memory.
class Counter {
public:
    Counter() {
        REQUIRE(cudaMalloc(&device_, sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMemset(device_, 0, sizeof(int)) == cudaSuccess);
    }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    ~Counter() { cudaFree(device_); }

    int* device() const { return device_; }
    int value() const {
        int host = -1;
        REQUIRE(cudaMemcpy(&host, device_, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
        return host;
    }

private:
    int* device_ = nullptr;
};

}  // namespace

TEST_CASE("errors have names and descriptions") {
    CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
    CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) == "an illegal memory access was encountered");
    CHECK(std::string(cudaGetErrorString(cudaErrorLaunchFailure)) == "unspecified launch failure");
    CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12345))) == "unrecognized error code");
}

TEST_CASE("the last error is kept until it is asked for") {
    CHECK(cudaFree(reinterpret_cast<void*>(16)) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a launch that the device cannot have is refused and does nothing") {
    Counter counter;
    const struct {
        dim3 grid;
        dim3 block;
    } wrong[] = {{0, 1}, {1, 0}, {1, 1025}, {dim3(1, 65536), 1}, {1, dim3(1, 1, 65)}, {1, dim3(32, 33)}};
    for (const auto& shape : wrong) {
        count_threads<<<shape.grid, shape.block>>>(counter.device());
        CHECK(is_refused_shape(cudaPeekAtLastError()));
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(is_refused_shape(cudaGetLastError()));
        CHECK(cudaGetLastError() == cudaSuccess);
    }
    CHECK(counter.value() == 0);
#ifdef __CPU_DEVICE__
    cpu_device::take_diagnostics();
#endif
}

TEST_CASE("too much shared memory is refused") {
    Counter counter;
    count_threads<<<1, 1, 227 * 1024 + 1>>>(counter.device());
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(counter.value() == 0);
#ifdef __CPU_DEVICE__
    cpu_device::take_diagnostics();
#endif
}

TEST_CASE("a kernel can be launched by its function and a list of arguments") {
    const int count = 1000;
    std::vector<float> host(count, 3);
    float* device = nullptr;
    REQUIRE(cudaMalloc(&device, count * sizeof(float)) == cudaSuccess);
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);
    float factor = 2;
    int argument_count = count;
    void* arguments[] = {&device, &factor, &argument_count};
    CHECK(cudaLaunchKernel(scale, dim3(8), dim3(128), arguments, 0, nullptr) == cudaSuccess);
    CHECK(cudaLaunchCooperativeKernel(scale, dim3(8), dim3(128), arguments, 0, nullptr) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(host == std::vector<float>(count, 12));

    CHECK(is_refused_shape(cudaLaunchKernel(scale, dim3(0), dim3(128), arguments, 0, nullptr)));
    CHECK(is_refused_shape(cudaGetLastError()));
    CHECK(cudaFree(device) == cudaSuccess);
#ifdef __CPU_DEVICE__
    cpu_device::take_diagnostics();
#endif
}

TEST_CASE("a kernel can be launched with a list of attributes") {
    Counter counter;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, count_threads, counter.device()) == cudaSuccess);
    CHECK(counter.value() == 128);
}

TEST_CASE("all blocks of a cooperative launch must fit on the device") {
    Counter counter;
    int* pointer = counter.device();
    void* arguments[] = {&pointer};
    CHECK(cudaLaunchCooperativeKernel(count_threads, dim3(100000), dim3(1024), arguments, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    CHECK(counter.value() == 0);
#ifdef __CPU_DEVICE__
    cpu_device::take_diagnostics();
#endif
}

TEST_CASE("wrong attributes of a kernel are refused") {
    CHECK(cudaFuncSetAttribute(scale, cudaFuncAttributePreferredSharedMemoryCarveout, 101) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(scale, cudaFuncAttributePreferredSharedMemoryCarveout, 50) == cudaSuccess);
    CHECK(cudaFuncSetAttribute(scale, static_cast<cudaFuncAttribute>(77), 1) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, -1) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferShared) == cudaSuccess);
    CHECK(cudaFuncSetCacheConfig(scale, static_cast<cudaFuncCache>(9)) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 * 1024) == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
}

#ifdef __CPU_DEVICE__

// On a GPU a failed kernel leaves the device unusable for the other tests of this process.

namespace {

__global__ void trap() { __trap(); }

__global__ void write_to(int* address) { *address = 1; }

/// Silent while it lives; leaves a usable device.
class FailingKernels {
public:
    FailingKernels() : printed_(cpu_device::print_diagnostics(false)) {}
    ~FailingKernels() {
        cudaDeviceReset();
        cudaGetLastError();
        cpu_device::take_diagnostics();
        cpu_device::print_diagnostics(printed_);
    }

private:
    bool printed_;
};

}  // namespace

TEST_CASE("a kernel's failure shows at the next call that waits, and stays") {
    FailingKernels expected;
    void* memory = nullptr;
    trap<<<1, 1>>>();
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&memory, 16) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&memory, 16) == cudaErrorLaunchFailure);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    int count = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);  // asks the device nothing
}

TEST_CASE("copying back waits, so it shows a kernel's failure") {
    FailingKernels expected;
    int host = 0;
    int* device = nullptr;
    REQUIRE(cudaMalloc(&device, sizeof(int)) == cudaSuccess);
    trap<<<1, 1>>>();
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorLaunchFailure);
}

TEST_CASE("a write far outside of every allocation ends the kernel") {
    FailingKernels expected;
    int* device = nullptr;
    REQUIRE(cudaMalloc(&device, 1 << 16) == cudaSuccess);
    write_to<<<1, 1>>>(device + (1 << 16) / sizeof(int) + 16);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    const auto diagnostics = cpu_device::take_diagnostics();
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0].kind == cpu_device::DiagnosticKind::illegal_access);
}

TEST_CASE("resetting the device makes it usable again") {
    {
        FailingKernels expected;
        trap<<<1, 1>>>();
        CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    }
    Counter counter;
    count_threads<<<2, 32>>>(counter.device());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(counter.value() == 64);
}

TEST_CASE("what the CPU device does not do is refused by name") {
    const bool printed = cpu_device::print_diagnostics(false);
    Counter counter;
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributePreferredClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.attrs = &cluster;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, count_threads, counter.device()) == cudaErrorNotSupported);

    const auto diagnostics = cpu_device::take_diagnostics();
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0].kind == cpu_device::DiagnosticKind::unsupported);
    CHECK(diagnostics[0].message.find("cluster") != std::string::npos);
    CHECK(counter.value() == 0);
    cpu_device::print_diagnostics(printed);
    cudaGetLastError();
}

#endif
