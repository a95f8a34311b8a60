// Memory in the order of streams, pools, attributes of streams, and what is said of managed memory.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

__global__ void store(int* out, int value) { out[threadIdx.x] = value; }

std::uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    REQUIRE(cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess);
    return value;
}

cudaMemPool_t new_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool = nullptr;
    REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
    return pool;
}

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t bytes = 4 * kMiB;  // of managed memory

}  // namespace

TEST_CASE("a pool counts what is used and what is reserved") {
    const cudaMemPool_t pool = new_pool();
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(number(pool, cudaMemPoolAttrReleaseThreshold) == 0);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    int* memory = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&memory, kMiB, pool, stream) == cudaSuccess);
    store<<<1, 32, 0, stream>>>(memory, 3);
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) >= kMiB);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) >= number(pool, cudaMemPoolAttrUsedMemCurrent));
    std::vector<int> result(32);
    CHECK(cudaMemcpyAsync(result.data(), memory, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(result == std::vector<int>(32, 3));
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) >= kMiB);
    std::uint64_t none = 0, some = 5;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &some) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &none) == cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a pool gives back what is above its threshold when the host synchronizes") {
    const cudaMemPool_t pool = new_pool();
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    const auto allocate_and_free = [&] {
        void* memory = nullptr;
        REQUIRE(cudaMallocFromPoolAsync(&memory, 8 * kMiB, pool, stream) == cudaSuccess);
        CHECK(cudaFreeAsync(memory, stream) == cudaSuccess);
        CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) >= 8 * kMiB);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    };
    allocate_and_free();
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReleaseThreshold) == everything);
    allocate_and_free();
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) >= 8 * kMiB);
    CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    CHECK(number(pool, cudaMemPoolAttrReservedMemHigh) >= 8 * kMiB);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("a device has a default pool and a present one") {
    cudaMemPool_t standard = nullptr, present = nullptr;
    REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
    REQUIRE(cudaDeviceGetMemPool(&present, 0) == cudaSuccess);
    CHECK(present == standard);
    const cudaMemPool_t pool = new_pool();
    CHECK(pool != standard);
    CHECK(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
    CHECK(cudaDeviceGetMemPool(&present, 0) == cudaSuccess);
    CHECK(present == pool);
    void* memory = nullptr;
    REQUIRE(cudaMallocAsync(&memory, kMiB, nullptr) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) >= kMiB);
    CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    CHECK(cudaDeviceGetMemPool(&present, 0) == cudaSuccess);
    CHECK(present == standard);
}

TEST_CASE("what pools refuse") {
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    CHECK(cudaMemPoolCreate(&pool, &properties) == cudaErrorInvalidValue);  // no type
    CHECK(cudaMemPoolCreate(&pool, nullptr) == cudaErrorInvalidValue);
    cudaMemPool_t standard = nullptr;
    REQUIRE(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetMemPool(nullptr, 0) == cudaErrorInvalidValue);
    void* memory = nullptr;
    CHECK(cudaMallocAsync(static_cast<void**>(nullptr), 4, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMallocAsync(&memory, std::size_t{1} << 60, nullptr) == cudaErrorMemoryAllocation);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, nullptr) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("the switches of a pool are on, and can be turned off") {
    const cudaMemPool_t pool = new_pool();
    for (const cudaMemPoolAttr attribute : {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                                            cudaMemPoolReuseAllowInternalDependencies}) {
        int on = 0, off = 0, now = 1;
        CHECK(cudaMemPoolGetAttribute(pool, attribute, &on) == cudaSuccess);
        CHECK(on == 1);
        CHECK(cudaMemPoolSetAttribute(pool, attribute, &off) == cudaSuccess);
        CHECK(cudaMemPoolGetAttribute(pool, attribute, &now) == cudaSuccess);
        CHECK(now == 0);
    }
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    CHECK(cudaMemPoolGetAccess(&flags, pool, &here) == cudaSuccess);
    CHECK(flags == cudaMemAccessFlagsProtReadWrite);
    cudaMemAccessDesc mine{};
    mine.location = here;
    mine.flags = cudaMemAccessFlagsProtReadWrite;
    CHECK(cudaMemPoolSetAccess(pool, &mine, 1) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("memory of a destroyed pool lives until it is freed") {
    const cudaMemPool_t pool = new_pool();
    int* memory = nullptr;
    REQUIRE(cudaMallocAsync(&memory, 32 * sizeof(int), pool, nullptr) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    store<<<1, 32>>>(memory, 4);
    int last = 0;
    CHECK(cudaMemcpy(&last, memory + 31, sizeof last, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(last == 4);
    CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("cudaFree takes memory of a pool") {
    int* memory = nullptr;
    REQUIRE(cudaMallocAsync(&memory, 32 * sizeof(int), nullptr) == cudaSuccess);
    store<<<1, 32>>>(memory, 1);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("a stream remembers its window for the L2 cache") {
    int window_bytes = 0, persisting_bytes = 0;
    REQUIRE(cudaDeviceGetAttribute(&window_bytes, cudaDevAttrMaxAccessPolicyWindowSize, 0) == cudaSuccess);
    REQUIRE(cudaDeviceGetAttribute(&persisting_bytes, cudaDevAttrMaxPersistingL2CacheSize, 0) == cudaSuccess);
    if (window_bytes == 0 || persisting_bytes == 0) SKIP("compute capability 8.0 or later has such windows");
    cudaStream_t stream = nullptr, other = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&other) == cudaSuccess);
    int* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, kMiB) == cudaSuccess);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, kMiB) == cudaSuccess);
    std::size_t set_aside = 0;
    CHECK(cudaDeviceGetLimit(&set_aside, cudaLimitPersistingL2CacheSize) == cudaSuccess);
    CHECK(set_aside >= kMiB);

    cudaStreamAttrValue value{};
    value.accessPolicyWindow.base_ptr = memory;
    value.accessPolicyWindow.num_bytes = kMiB;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaSuccess);
    CHECK(cudaStreamCopyAttributes(other, stream) == cudaSuccess);
    cudaStreamAttrValue found{};
    CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found) == cudaSuccess);
    CHECK(found.accessPolicyWindow.num_bytes == kMiB);
    CHECK(found.accessPolicyWindow.hitRatio == 0.5f);
    CHECK(found.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);

    value.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaErrorInvalidValue);
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    value.accessPolicyWindow.hitRatio = 1.5f;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaErrorInvalidValue);
#ifdef __CPU_DEVICE__  // CUDA's own follows the null pointer
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, nullptr) == cudaErrorInvalidValue);
#endif
    cudaGetLastError();

    value.accessPolicyWindow.hitRatio = 1.0f;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeAccessPolicyWindow;
    attribute.val = value;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, store, memory, 6) == cudaSuccess);
    int last = 0;
    CHECK(cudaMemcpy(&last, memory + 31, sizeof last, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(last == 6);

    value.accessPolicyWindow.num_bytes = 0;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaSuccess);
    CHECK(cudaCtxResetPersistingL2Cache() == cudaSuccess);
    CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(cudaStreamDestroy(other) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("what was said of managed memory can be asked for") {
    int concurrent = 0;
    REQUIRE(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0) == cudaSuccess);
    if (concurrent == 0) SKIP("advice needs concurrent access to managed memory");
    char* memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, bytes) == cudaSuccess);
    const cudaMemLocation device{cudaMemLocationTypeDevice, 0}, host{cudaMemLocationTypeHost, 0};
    const auto asked = [&](cudaMemRangeAttribute attribute, std::size_t count = bytes) {
        int value = 4711;
        CHECK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory, count) == cudaSuccess);
        return value;
    };
    CHECK(asked(cudaMemRangeAttributeReadMostly) == 0);
    CHECK(asked(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
    CHECK(asked(cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
    CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetReadMostly, device) == cudaSuccess);
    CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, device) == cudaSuccess);
    CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetAccessedBy, host) == cudaSuccess);
    CHECK(asked(cudaMemRangeAttributeReadMostly) == 1);
    int read_mostly = 4711, preferred = 4711;
    void* answers[] = {&read_mostly, &preferred};
    std::size_t sizes[] = {sizeof read_mostly, sizeof preferred};
    cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
    CHECK(cudaMemRangeGetAttributes(answers, sizes, attributes, 2, memory, bytes) == cudaSuccess);
    CHECK(read_mostly == 1);
    CHECK(preferred == 0);
    CHECK(asked(cudaMemRangeAttributePreferredLocation) == 0);
    CHECK(cudaMemPrefetchAsync(memory, bytes / 2, device, 0, nullptr) == cudaSuccess);
    CHECK(asked(cudaMemRangeAttributeLastPrefetchLocation, bytes / 2) == 0);
    CHECK(asked(cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
    CHECK(cudaMemPrefetchAsync(memory, bytes, host, 0, nullptr) == cudaSuccess);
    CHECK(asked(cudaMemRangeAttributeLastPrefetchLocation) == cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseUnsetReadMostly, device) == cudaSuccess);
    CHECK(asked(cudaMemRangeAttributeReadMostly) == 0);
    short too_short = 0;
    CHECK(cudaMemRangeGetAttribute(&too_short, sizeof too_short, cudaMemRangeAttributeReadMostly, memory, bytes) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(&too_short, sizeof too_short, device, 0, nullptr) != cudaSuccess);
    cudaGetLastError();
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("a stream keeps its priority") {
    int least = 0, greatest = 0;
    REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK(greatest <= least);
    cudaStream_t urgent = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest) == cudaSuccess);
    int priority = 4711;
    CHECK(cudaStreamGetPriority(urgent, &priority) == cudaSuccess);
    CHECK(priority == greatest);
    cudaStreamAttrValue value{};
    CHECK(cudaStreamGetAttribute(urgent, cudaStreamAttributePriority, &value) == cudaSuccess);
    CHECK(value.priority == greatest);
    CHECK(cudaStreamDestroy(urgent) == cudaSuccess);
}
