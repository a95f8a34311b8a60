// What the device says about itself.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>

namespace {

int attribute(cudaDeviceAttr which) {
    int value = -1;
    REQUIRE(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
    return value;
}

}  // namespace

TEST_CASE("there is a device, and it is the current one") {
    int count = 0, device = -1;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(count >= 1);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaGetDevice(&device) == cudaSuccess);
    CHECK(device == 0);
    CHECK(cudaSetDevice(count) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetDeviceCount(nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("properties and attributes agree") {
    cudaDeviceProp p{};
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(std::strlen(p.name) > 0);
    CHECK(p.totalGlobalMem > 0);
    CHECK(attribute(cudaDevAttrComputeCapabilityMajor) == p.major);
    CHECK(attribute(cudaDevAttrComputeCapabilityMinor) == p.minor);
    CHECK(attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount);
    CHECK(attribute(cudaDevAttrMaxThreadsPerBlock) == p.maxThreadsPerBlock);
    CHECK(attribute(cudaDevAttrMaxBlockDimZ) == p.maxThreadsDim[2]);
    CHECK(attribute(cudaDevAttrMaxGridDimX) == p.maxGridSize[0]);
    CHECK(attribute(cudaDevAttrMaxGridDimY) == p.maxGridSize[1]);
    CHECK(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == p.maxThreadsPerMultiProcessor);
    CHECK(attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == p.maxBlocksPerMultiProcessor);
    CHECK(attribute(cudaDevAttrMaxRegistersPerBlock) == p.regsPerBlock);
    CHECK(attribute(cudaDevAttrMaxRegistersPerMultiprocessor) == p.regsPerMultiprocessor);
    CHECK(static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock)) == p.sharedMemPerBlock);
    CHECK(static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) == p.sharedMemPerBlockOptin);
    CHECK(static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor)) == p.sharedMemPerMultiprocessor);
    CHECK(static_cast<size_t>(attribute(cudaDevAttrTotalConstantMemory)) == p.totalConstMem);
    CHECK(static_cast<size_t>(attribute(cudaDevAttrTextureAlignment)) == p.textureAlignment);
    CHECK(attribute(cudaDevAttrGlobalMemoryBusWidth) == p.memoryBusWidth);
    CHECK(attribute(cudaDevAttrL2CacheSize) == p.l2CacheSize);
    CHECK(attribute(cudaDevAttrWarpSize) == 32);
    CHECK(attribute(cudaDevAttrAsyncEngineCount) == p.asyncEngineCount);
    CHECK(attribute(cudaDevAttrConcurrentKernels) == p.concurrentKernels);
    CHECK(attribute(cudaDevAttrCanMapHostMemory) == p.canMapHostMemory);
    CHECK(attribute(cudaDevAttrUnifiedAddressing) == p.unifiedAddressing);
    CHECK(attribute(cudaDevAttrManagedMemory) == p.managedMemory);
    CHECK(attribute(cudaDevAttrConcurrentManagedAccess) == p.concurrentManagedAccess);
    CHECK(attribute(cudaDevAttrPageableMemoryAccess) == p.pageableMemoryAccess);
    CHECK(attribute(cudaDevAttrComputePreemptionSupported) == p.computePreemptionSupported);
    CHECK(p.asyncEngineCount >= 1);
    CHECK(p.concurrentKernels == 1);
    CHECK(p.l2CacheSize > 0);
    CHECK(p.memoryBusWidth > 0);
}

TEST_CASE("wrong questions about the device are refused") {
    cudaDeviceProp p{};
    int value = 0, count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(cudaGetDeviceProperties(&p, count) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("versions are those of a toolkit") {
    int driver = 0, runtime = 0;
    CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
    CHECK(cudaRuntimeGetVersion(&runtime) == cudaSuccess);
    CHECK(runtime == CUDART_VERSION);
    CHECK(driver >= runtime / 1000 * 1000);
}

TEST_CASE("limits can be set and read") {
    size_t heap = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{32} << 20) == cudaSuccess);
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize) == cudaSuccess);
    CHECK(heap >= size_t{32} << 20);
    CHECK(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2) == cudaErrorUnsupportedLimit);
    cudaGetLastError();
}

TEST_CASE("flags choose one way to wait at most") {
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield) == cudaErrorInvalidValue);
    CHECK(cudaSetDeviceFlags(0x1000) == cudaErrorInvalidValue);
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleAuto) == cudaSuccess);
    unsigned flags = 0;
    CHECK(cudaGetDeviceFlags(&flags) == cudaSuccess);
    CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleAuto);
    CHECK(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("the device finds itself by its address on the bus") {
    char id[32];
    int device = -1;
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess);
    CHECK(cudaDeviceGetByPCIBusId(&device, id) == cudaSuccess);
    CHECK(device == 0);
    CHECK(cudaDeviceGetPCIBusId(id, 5, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a device is no peer of itself") {
    int can_access = 1;
    CHECK(cudaDeviceCanAccessPeer(&can_access, 0, 0) == cudaSuccess);
    CHECK(can_access == 0);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
    cudaGetLastError();
}

#ifdef __CPU_DEVICE__

TEST_CASE("the CPU device has the limits of compute capability 9.0 on 16 multiprocessors") {
    cudaDeviceProp p{};
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(std::string(p.name) == "Warpwise CPU device");
    CHECK(p.major == 9);
    CHECK(p.minor == 0);
    CHECK(p.multiProcessorCount == 16);
    CHECK(p.maxThreadsPerMultiProcessor == 2048);
    CHECK(p.maxBlocksPerMultiProcessor == 32);
    CHECK(p.sharedMemPerBlock == 48 * 1024);
    CHECK(p.sharedMemPerBlockOptin == 227 * 1024);
    CHECK(p.sharedMemPerMultiprocessor == 228 * 1024);
    CHECK(p.regsPerMultiprocessor == 65536);
}

TEST_CASE("the CPU device models as many multiprocessors as a test wants") {
    cpu_device::set_multiprocessors(5);
    cudaDeviceProp p{};
    CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(p.multiProcessorCount == 5);
    int count = 0;
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(count == 5);
    cpu_device::set_multiprocessors(0);
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(count == 1);
    cpu_device::set_multiprocessors(16);
}

// Older programs quit without deviceOverlap, and divide by the rates.
TEST_CASE("what programs ask before they overlap work or compute rates is there") {
    cudaDeviceProp p{};
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(p.deviceOverlap == 1);
    CHECK(attribute(cudaDevAttrGpuOverlap) == 1);
    CHECK(p.clockRate > 0);
    CHECK(attribute(cudaDevAttrClockRate) == p.clockRate);
    CHECK(p.memoryClockRate > 0);
    CHECK(attribute(cudaDevAttrMemoryClockRate) == p.memoryClockRate);
}

__global__ void time_a_loop(long long* ticks) {
    const long long begin = clock64();
    *ticks = begin;
    while (clock64() - begin < 20'000'000) {
    }
    *ticks = clock64() - begin;
}

TEST_CASE("the clock rate is that of clock64()") {
    const int kilohertz = attribute(cudaDevAttrClockRate);
    long long* ticks = nullptr;
    REQUIRE(cudaMallocManaged(&ticks, sizeof *ticks) == cudaSuccess);
    time_a_loop<<<1, 1>>>(ticks);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const double milliseconds = static_cast<double>(*ticks) / kilohertz;
    CHECK(milliseconds >= 20);
    CHECK(milliseconds < 10000);
    CHECK(cudaFree(ticks) == cudaSuccess);
}

#endif
