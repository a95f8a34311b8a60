// Allocating, copying and filling memory: what works, and what the runtime refuses with which error.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "common/tests/device/results_of.h"

#ifdef __CPU_DEVICE__
#include <cmath>
#include <limits>

#include "cpu_device/diagnostics.h"
#endif

namespace {

__device__ int device_numbers[4];
__constant__ float constant_numbers[4];
__managed__ int managed_number;

bool multiple_of(const void* address, std::uintptr_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// True where the device reads any host memory, as if all of it were pinned: nothing is refused for its place.
bool device_reaches_all_host_memory() {
    int reaches = 0;
    REQUIRE(cudaDeviceGetAttribute(&reaches, cudaDevAttrPageableMemoryAccess, 0) == cudaSuccess);
    return reaches != 0;
}

/// What an address belongs to, one digit each: shared, local, constant, global.
__device__ unsigned space_of(const void* address) {
    return __isShared(address) * 1000 + __isLocal(address) * 100 + __isConstant(address) * 10 + __isGlobal(address);
}

__global__ void ask_for_spaces(unsigned* out) {
    __shared__ int of_block[4];
    extern __shared__ int dynamic[];
    unsigned own[2] = {threadIdx.x, blockIdx.x};
    of_block[threadIdx.x % 4] = 0;
    dynamic[0] = 0;
    const void* places[] = {&of_block[1],       dynamic, &own[threadIdx.x], &constant_numbers[1],
                            &device_numbers[1], out,     &managed_number,   nullptr};
    for (int i = 0; i < 8; ++i) out[i] = space_of(places[i]);
    out[8] = own[0] + own[1];
}

/// Addresses within shared and within global memory, there and back.
__global__ void convert_addresses(unsigned* out) {
    __shared__ int of_block[4];
    of_block[0] = 0;
    const size_t first = __cvta_generic_to_shared(&of_block[0]);
    const size_t third = __cvta_generic_to_shared(&of_block[2]);
    out[0] = static_cast<unsigned>(third - first);
    out[1] = __cvta_shared_to_generic(third) == &of_block[2];
    out[2] = static_cast<unsigned>(__cvta_generic_to_global(out + 3) - __cvta_generic_to_global(out));
    out[3] = __cvta_global_to_generic(__cvta_generic_to_global(out + 3)) == out + 3;
}

}  // namespace

TEST_CASE("an allocation of no bytes is a null pointer") {
    char* pointer = reinterpret_cast<char*>(1);
    CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
    CHECK(pointer == nullptr);
    pointer = reinterpret_cast<char*>(1);
    CHECK(cudaMallocHost(&pointer, 0) == cudaSuccess);
    CHECK(pointer == nullptr);
    size_t pitch = 7;
    pointer = reinterpret_cast<char*>(1);
    CHECK(cudaMallocPitch(&pointer, &pitch, 0, 3) == cudaSuccess);
    CHECK(pointer == nullptr);
    CHECK(pitch == 0);
}

TEST_CASE("device memory is aligned to 256 bytes") {
    for (size_t bytes : {size_t{1}, size_t{100}, size_t{5000}, size_t{300001}}) {
        void* pointer = nullptr;
        REQUIRE(cudaMalloc(&pointer, bytes) == cudaSuccess);
        CHECK(multiple_of(pointer, 256));
        CHECK(cudaFree(pointer) == cudaSuccess);
    }
}

TEST_CASE("more memory than there is gives an error and a null pointer") {
    void* pointer = reinterpret_cast<void*>(1);
    CHECK(cudaMalloc(&pointer, size_t{1} << 50) == cudaErrorMemoryAllocation);
    CHECK(pointer == nullptr);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(static_cast<void**>(nullptr), 4) == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("only what was allocated can be freed, once, by the matching call") {
    int host = 0;
    char* device = nullptr;
    int* pinned = nullptr;
    int* managed = nullptr;
    REQUIRE(cudaMalloc(&device, 100) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 100) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&managed, 100) == cudaSuccess);

    CHECK(cudaFree(nullptr) == cudaSuccess);
    CHECK(cudaFreeHost(nullptr) == cudaSuccess);
    CHECK(cudaFree(&host) == cudaErrorInvalidValue);
    CHECK(cudaFree(device + 4) == cudaErrorInvalidValue);
    CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(device) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(managed) == cudaErrorInvalidValue);

    CHECK(cudaFree(device) == cudaSuccess);
    CHECK(cudaFree(device) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
    CHECK(cudaFree(managed) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("a stream can allocate and free in its order") {
    int* pointer = nullptr;
    int host = 5;
    REQUIRE(cudaMallocAsync(&pointer, sizeof(int), nullptr) == cudaSuccess);
    CHECK(cudaMemcpyAsync(pointer, &host, sizeof host, cudaMemcpyHostToDevice, nullptr) == cudaSuccess);
    CHECK(cudaFreeAsync(pointer, nullptr) == cudaSuccess);
    CHECK(cudaFreeAsync(nullptr, nullptr) == cudaSuccess);
    CHECK(cudaFreeAsync(&host, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    cudaGetLastError();

    cudaMemPool_t pool = nullptr;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
    std::uint64_t keep_everything = ~std::uint64_t{0};
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_everything) == cudaSuccess);
}

TEST_CASE("numbers survive a round trip through the device") {
    for (size_t count : {1, 31, 32, 33, 1009, 100003}) {
        std::vector<int> sent(count), back(count, -1);
        std::iota(sent.begin(), sent.end(), 1);
        int *first = nullptr, *second = nullptr;
        REQUIRE(cudaMalloc(&first, count * sizeof(int)) == cudaSuccess);
        REQUIRE(cudaMalloc(&second, count * sizeof(int)) == cudaSuccess);
        CHECK(cudaMemcpy(first, sent.data(), count * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess);
        CHECK(cudaMemcpy(second, first, count * sizeof(int), cudaMemcpyDeviceToDevice) == cudaSuccess);
        CHECK(cudaMemcpy(back.data(), second, count * sizeof(int), cudaMemcpyDefault) == cudaSuccess);
        CHECK(back == sent);
        CHECK(cudaFree(first) == cudaSuccess);
        CHECK(cudaFree(second) == cudaSuccess);
    }
}

TEST_CASE("the side that a copy calls device must be memory that the device reaches") {
    if (device_reaches_all_host_memory()) SKIP("this device reads all host memory");
    constexpr size_t bytes = 64;
    struct Place {
        const char* name;
        bool device_reaches;
        void* to;
        void* from;
    };
    std::vector<char> pageable_to(bytes), pageable_from(bytes);
    Place places[] = {{"pageable", false, pageable_to.data(), pageable_from.data()},
                      {"page-locked", true, nullptr, nullptr},
                      {"device", true, nullptr, nullptr},
                      {"managed", true, nullptr, nullptr}};
    REQUIRE(cudaMallocHost(&places[1].to, bytes) == cudaSuccess);
    REQUIRE(cudaMallocHost(&places[1].from, bytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&places[2].to, bytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&places[2].from, bytes) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&places[3].to, bytes) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&places[3].from, bytes) == cudaSuccess);

    for (const Place& to : places) {
        for (const Place& from : places) {
            INFO(to.name << " <- " << from.name);
            const auto refused_unless = [](bool good) { return good ? cudaSuccess : cudaErrorInvalidValue; };
            CHECK(cudaMemcpy(to.to, from.from, bytes, cudaMemcpyHostToHost) == cudaSuccess);
            CHECK(cudaMemcpy(to.to, from.from, bytes, cudaMemcpyDefault) == cudaSuccess);
            CHECK(cudaMemcpy(to.to, from.from, bytes, cudaMemcpyHostToDevice) == refused_unless(to.device_reaches));
            CHECK(cudaMemcpy(to.to, from.from, bytes, cudaMemcpyDeviceToHost) == refused_unless(from.device_reaches));
            CHECK(cudaMemcpy(to.to, from.from, bytes, cudaMemcpyDeviceToDevice) ==
                  refused_unless(to.device_reaches && from.device_reaches));
        }
    }
    cudaGetLastError();
    for (void* pointer : {places[1].to, places[1].from}) CHECK(cudaFreeHost(pointer) == cudaSuccess);
    for (void* pointer : {places[2].to, places[2].from, places[3].to, places[3].from}) {
        CHECK(cudaFree(pointer) == cudaSuccess);
    }
}

TEST_CASE("a copy of no bytes looks at nothing") {
    CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(nullptr, nullptr, 0, static_cast<cudaMemcpyKind>(9)) == cudaSuccess);
    CHECK(cudaMemset(nullptr, 0, 0) == cudaSuccess);
}

TEST_CASE("wrong copies are refused") {
    std::vector<char> host(1000);
    char* device = nullptr;
    REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);

    CHECK(cudaMemcpy(device, host.data(), 4, static_cast<cudaMemcpyKind>(5)) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(device, host.data(), 4, static_cast<cudaMemcpyKind>(-1)) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(nullptr, host.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device, host.data(), 65, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(device + 60, host.data(), 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host.data(), device, 1000, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyPeer(device, 1, device, 0, 4) == cudaErrorInvalidDevice);

    CHECK(cudaFree(device) == cudaSuccess);
    if (!device_reaches_all_host_memory()) {
        CHECK(cudaMemcpy(device, host.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    }
    cudaGetLastError();
}

TEST_CASE("filling sets bytes, within an allocation") {
    std::vector<unsigned char> back(100);
    unsigned char* device = nullptr;
    REQUIRE(cudaMalloc(&device, back.size()) == cudaSuccess);
    CHECK(cudaMemset(device, 0x12, back.size()) == cudaSuccess);
    CHECK(cudaMemsetAsync(device + 10, 0x134, 80) == cudaSuccess);
    CHECK(cudaMemcpy(back.data(), device, back.size(), cudaMemcpyDeviceToHost) == cudaSuccess);
    for (size_t i = 0; i < back.size(); ++i) CHECK(back[i] == (i < 10 || i >= 90 ? 0x12 : 0x34));

    CHECK(cudaMemset(device, 0, back.size() + 1) == cudaErrorInvalidValue);
    CHECK(cudaMemset(nullptr, 0, 1) == cudaErrorInvalidValue);
    if (!device_reaches_all_host_memory()) CHECK(cudaMemset(back.data(), 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaFree(device) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("rows of a pitched matrix are copied without what lies between them") {
    constexpr size_t rows = 5, width = 13, host_pitch = 20;
    unsigned char* device = nullptr;
    size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&device, &pitch, width, rows) == cudaSuccess);
    CHECK(pitch >= width);
    CHECK(pitch % 32 == 0);
    CHECK(multiple_of(device, 256));

    std::vector<unsigned char> host(rows * host_pitch);
    std::iota(host.begin(), host.end(), static_cast<unsigned char>(0));
    CHECK(cudaMemset2D(device, pitch, 0xAB, width, rows) == cudaSuccess);
    CHECK(cudaMemcpy2D(device, pitch, host.data(), host_pitch, width - 1, rows, cudaMemcpyHostToDevice) == cudaSuccess);
    std::vector<unsigned char> back(rows * width);
    CHECK(cudaMemcpy2DAsync(back.data(), width, device, pitch, width, rows, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (size_t row = 0; row < rows; ++row) {
        for (size_t col = 0; col < width; ++col) {
            CHECK(back[row * width + col] == (col == width - 1 ? 0xAB : host[row * host_pitch + col]));
        }
    }

    CHECK(cudaMemcpy2D(device, pitch, host.data(), 10, width, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy2D(device, 10, host.data(), host_pitch, width, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy2D(device, pitch, host.data(), host_pitch, width, 2, static_cast<cudaMemcpyKind>(7)) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy2D(device, pitch, host.data(), 0, width, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemset2D(device, 10, 0, width, 2) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("a volume is slices of pitched rows") {
    constexpr size_t width = 30, height = 4, depth = 3;
    cudaPitchedPtr volume{};
    REQUIRE(cudaMalloc3D(&volume, make_cudaExtent(width, height, depth)) == cudaSuccess);
    CHECK(volume.xsize == width);
    CHECK(volume.ysize == height);
    CHECK(volume.pitch >= width);
    CHECK(cudaMemset3D(volume, 7, make_cudaExtent(width, height, depth)) == cudaSuccess);
    std::vector<unsigned char> back(width * height * depth);
    CHECK(cudaMemcpy2D(back.data(), width, volume.ptr, volume.pitch, width, height * depth, cudaMemcpyDeviceToHost) ==
          cudaSuccess);
    CHECK(back == std::vector<unsigned char>(back.size(), 7));
    CHECK(cudaFree(volume.ptr) == cudaSuccess);
}

TEST_CASE("device and constant variables are copied by name") {
    const int sent[4] = {1, 2, 3, 4};
    int back[4] = {};
    CHECK(cudaMemcpyToSymbol(device_numbers, sent, sizeof sent) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(device_numbers, sent, sizeof(int), 3 * sizeof(int)) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(back, device_numbers, sizeof back) == cudaSuccess);
    CHECK(std::vector<int>(back, back + 4) == std::vector<int>{1, 2, 3, 1});

    const float constants[4] = {0.5f, 1.5f, 2.5f, 3.5f};
    float constants_back[2] = {};
    CHECK(cudaMemcpyToSymbolAsync(constant_numbers, constants, sizeof constants) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(constants_back, constant_numbers, sizeof constants_back, 2 * sizeof(float)) ==
          cudaSuccess);
    CHECK(constants_back[0] == 2.5f);
    CHECK(constants_back[1] == 3.5f);

    CHECK(cudaMemcpyToSymbol(device_numbers, sent, 17) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(device_numbers, sent, 8, 12) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(device_numbers, sent, 4, 0, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyFromSymbol(back, device_numbers, 20) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyFromSymbol(back, device_numbers, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
}

TEST_CASE("the address of a variable is no symbol") {
    const int sent[4] = {5, 6, 7, 8};
    int back[4] = {};
    void* address = nullptr;
    size_t bytes = 0;
    CHECK(cudaMemcpyToSymbol(&device_numbers, sent, sizeof sent) == cudaErrorInvalidSymbol);
    CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyFromSymbol(back, &device_numbers, sizeof back) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolAddress(&address, &device_numbers) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolSize(&bytes, &device_numbers) == cudaErrorInvalidSymbol);
    CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
}

TEST_CASE("a variable of the host and a part of a device variable are no symbols") {
    int of_host[4] = {5, 6, 7, 8};
    const int sent[4] = {1, 2, 3, 4};
    int back[4] = {};
    void* address = nullptr;
    size_t bytes = 0;
    CHECK(cudaMemcpyToSymbol(device_numbers, sent, sizeof sent) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(of_host, sent, sizeof sent) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbolAsync(of_host, sent, sizeof sent) == cudaErrorInvalidSymbol);
    CHECK(of_host[0] == 5);
    CHECK(cudaMemcpyFromSymbol(back, of_host, sizeof back) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyFromSymbol(back, device_numbers[1], sizeof(int)) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(device_numbers[2], sent, sizeof(int)) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolAddress(&address, of_host) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolSize(&bytes, device_numbers[3]) == cudaErrorInvalidSymbol);
    CHECK(back[0] == 0);
    cudaGetLastError();

    // Its first element begins where the variable does, and stands for it.
    CHECK(cudaMemcpyFromSymbol(back, device_numbers[0], sizeof back) == cudaSuccess);
    CHECK(std::memcmp(sent, back, sizeof sent) == 0);
    // So does the address where it is a `const void*`.
    const void* symbol = device_numbers;
    CHECK(cudaMemcpyToSymbol(symbol, of_host, sizeof of_host) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(back, symbol, sizeof back) == cudaSuccess);
    CHECK(std::memcmp(of_host, back, sizeof back) == 0);
}

TEST_CASE("a variable's device address works like memory from cudaMalloc, but cannot be freed") {
    void* address = nullptr;
    size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(&address, device_numbers) == cudaSuccess);
    CHECK(cudaGetSymbolSize(&bytes, device_numbers) == cudaSuccess);
    CHECK(bytes == 16);
    const int sent[4] = {5, 6, 7, 8};
    int back[4] = {};
    CHECK(cudaMemcpy(address, sent, sizeof sent, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbol(back, device_numbers, sizeof back) == cudaSuccess);
    CHECK(std::memcmp(sent, back, sizeof sent) == 0);
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, address) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeDevice);
    CHECK(cudaFree(address) == cudaErrorInvalidValue);
    cudaGetLastError();

    managed_number = 3;
    int* managed_address = nullptr;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&managed_address), managed_number) == cudaSuccess);
    CHECK(cudaMemset(managed_address, 0, sizeof(int)) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(managed_number == 0);
}

TEST_CASE("pointers tell where they point") {
    std::vector<char> pageable(64);
    char *device = nullptr, *pinned = nullptr, *managed = nullptr;
    REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&managed, 64) == cudaSuccess);
    cudaPointerAttributes a{};

    CHECK(cudaPointerGetAttributes(&a, device + 8) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeDevice);
    CHECK(a.device == 0);
    CHECK(a.devicePointer == device + 8);
    CHECK(a.hostPointer == nullptr);
    CHECK(cudaPointerGetAttributes(&a, pinned) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeHost);
    CHECK(a.hostPointer == pinned);
    CHECK(cudaPointerGetAttributes(&a, managed) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeManaged);
    CHECK(a.devicePointer == managed);
    CHECK(a.hostPointer == managed);
    CHECK(cudaPointerGetAttributes(&a, pageable.data()) == cudaSuccess);
    CHECK(a.type == cudaMemoryTypeUnregistered);
    CHECK(a.hostPointer == pageable.data());
    CHECK(cudaPointerGetAttributes(nullptr, device) == cudaErrorInvalidValue);
    cudaGetLastError();

    CHECK(cudaFree(device) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    CHECK(cudaFree(managed) == cudaSuccess);
}

TEST_CASE("pinned memory has a device address and flags") {
    char *pinned = nullptr, *address = nullptr;
    unsigned flags = 0;
    REQUIRE(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped | cudaHostAllocPortable) == cudaSuccess);
    CHECK(cudaHostGetFlags(&flags, pinned) == cudaSuccess);
    CHECK(flags == (cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&address, pinned + 4, 0) == cudaSuccess);
    CHECK(address != nullptr);
    CHECK(cudaHostGetDevicePointer(&address, pinned, 1) == cudaErrorInvalidValue);
    CHECK(cudaHostGetFlags(&flags, &flags) == cudaErrorInvalidValue);
    CHECK(cudaHostAlloc(&address, 16, 0x80) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("host memory can be pinned after the fact, once") {
    constexpr size_t bytes = 8192;
    std::unique_ptr<char, decltype(&std::free)> memory(static_cast<char*>(std::aligned_alloc(4096, bytes)), &std::free);
    char* host = memory.get();
    CHECK(cudaHostRegister(nullptr, bytes, 0) == cudaErrorInvalidValue);
    CHECK(cudaHostRegister(host, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    REQUIRE(cudaHostRegister(host, bytes, cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(host, bytes, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostRegister(host + 8, 16, 0) == cudaErrorHostMemoryAlreadyRegistered);

    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, host) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeHost);
    char* address = nullptr;
    CHECK(cudaHostGetDevicePointer(&address, host, 0) == cudaSuccess);
    CHECK(cudaMemset(address, 3, bytes) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(host[bytes - 1] == 3);
    CHECK(cudaHostUnregister(host + 8) == cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(host) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("advice and prefetching are for managed memory") {
    constexpr size_t bytes = 4096;
    char *managed = nullptr, *device = nullptr;
    REQUIRE(cudaMallocManaged(&managed, bytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&device, bytes) == cudaSuccess);
#if CUDART_VERSION >= 13000
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    const cudaMemLocation nowhere{cudaMemLocationTypeDevice, 99};
    CHECK(cudaMemPrefetchAsync(managed, bytes, here, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, bytes, nowhere, 0) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(device, bytes, here, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(managed, bytes, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
    CHECK(cudaMemAdvise(device, bytes, cudaMemAdviseSetReadMostly, here) == cudaErrorInvalidValue);
#endif
#if CUDART_VERSION < 13000 || defined(__CPU_DEVICE__)
    CHECK(cudaMemPrefetchAsync(managed, bytes, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, bytes, cudaCpuDeviceId) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(device, bytes, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(managed, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId) == cudaSuccess);
#endif
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFree(managed) == cudaSuccess);
    CHECK(cudaFree(device) == cudaSuccess);
    cudaGetLastError();
}

#ifdef __CPU_DEVICE__

TEST_CASE("fresh memory is not a number") {
    for (size_t count : {1, 31, 1024, 100003}) {
        float* device = nullptr;
        std::vector<float> host(count);
        REQUIRE(cudaMalloc(&device, count * sizeof(float)) == cudaSuccess);
        CHECK(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(std::isnan(host.front()));
        CHECK(std::isnan(host.back()));
        CHECK(cudaFree(device) == cudaSuccess);
    }
}

TEST_CASE("the free memory shrinks and grows by what is allocated") {
    size_t before = 0, during = 0, after = 0, total = 0;
    void* device = nullptr;
    CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
    CHECK(before <= total);
    REQUIRE(cudaMalloc(&device, 1 << 20) == cudaSuccess);
    CHECK(cudaMemGetInfo(&during, nullptr) == cudaSuccess);
    CHECK(during == before - (1 << 20));
    CHECK(cudaFree(device) == cudaSuccess);
    CHECK(cudaMemGetInfo(&after, nullptr) == cudaSuccess);
    CHECK(after == before);
    CHECK(cudaMalloc(&device, before + 1) == cudaErrorMemoryAllocation);
    cudaGetLastError();
}

TEST_CASE("a write just outside of an allocation is reported when it is freed") {
    const bool printed = cpu_device::print_diagnostics(false);
    for (size_t bytes : {size_t{4}, size_t{100}, size_t{4095}, size_t{4097}, size_t{70001}}) {
        INFO(bytes << " bytes");
        unsigned char* device = nullptr;
        REQUIRE(cudaMalloc(&device, bytes) == cudaSuccess);
        device[bytes] = 1;  // device memory is host memory here: stands for a kernel's mistake
        CHECK(cudaFree(device) == cudaSuccess);
        auto diagnostics = cpu_device::take_diagnostics();
        REQUIRE(diagnostics.size() == 1);
        CHECK(diagnostics[0].kind == cpu_device::DiagnosticKind::illegal_access);
        CHECK(diagnostics[0].message.find("byte 0 after the end of " + std::to_string(bytes)) == 0);

        REQUIRE(cudaMalloc(&device, 40) == cudaSuccess);
        device[-3] = 1;
        CHECK(cudaFree(device) == cudaSuccess);
        diagnostics = cpu_device::take_diagnostics();
        REQUIRE(diagnostics.size() == 1);
        CHECK(diagnostics[0].message.find("byte 3 before the start of 40") == 0);
    }
    cpu_device::print_diagnostics(printed);
}

TEST_CASE("resetting the device frees everything") {
    size_t before = 0, after = 0;
    void *device = nullptr, *pinned = nullptr;
    CHECK(cudaMemGetInfo(&before, nullptr) == cudaSuccess);
    REQUIRE(cudaMalloc(&device, 1 << 16) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 1 << 16) == cudaSuccess);
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaMemGetInfo(&after, nullptr) == cudaSuccess);
    CHECK(after == before);
    CHECK(cudaFree(device) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
    cudaGetLastError();
}

#endif

TEST_CASE("a kernel can ask which memory an address belongs to") {
    CHECK(results_of<unsigned>(9, [](unsigned* d_out) { ask_for_spaces<<<1, 1, 16>>>(d_out); }) ==
          std::vector<unsigned>{1000, 1000, 100, 10, 1, 1, 1, 1, 0});
}

TEST_CASE("addresses within shared and global memory become pointers again") {
    CHECK(results_of<unsigned>(4, [](unsigned* d_out) { convert_addresses<<<1, 1>>>(d_out); }) ==
          std::vector<unsigned>{8, 1, 12, 1});
}
