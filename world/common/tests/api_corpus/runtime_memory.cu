// Allocating, freeing, copying, and filling, with right and with wrong arguments.
#include <cstring>
#include <vector>

#include "common/tests/api_corpus/runtime_log.h"

namespace {

using namespace api_corpus;

constexpr std::size_t far_too_much = std::size_t{1} << 50;

const Case allocate("cudaMalloc, cudaFree", [] {
    Log log;
    void* memory = &log;
    log(cudaMalloc(&memory, 0));
    log.value(memory == nullptr);
    log(cudaMalloc(static_cast<void**>(nullptr), 16));
    log(cudaMalloc(&memory, far_too_much));
    log.value(memory == nullptr);
    log(cudaFree(nullptr));
    log(cudaMalloc(&memory, 100));
    log.value(static_cast<long long>(reinterpret_cast<std::size_t>(memory) % 256));
    log(cudaFree(static_cast<char*>(memory) + 4));
    log(cudaFree(memory));
    log(cudaFree(memory));
    int on_the_stack = 0;
    log(cudaFree(&on_the_stack));
    log(cudaPeekAtLastError());
    return log.results();
});

const Case allocate_on_the_host("cudaMallocHost, cudaHostAlloc, cudaFreeHost", [] {
    Log log;
    void* memory = nullptr;
    log(cudaMallocHost(&memory, 64));
    unsigned flags = 0;
    log(cudaHostGetFlags(&flags, memory));
    void* on_device = nullptr;
    log(cudaHostGetDevicePointer(&on_device, memory, 0));
    log.value(on_device == memory);
    log(cudaHostGetDevicePointer(&on_device, memory, 1));
    log(cudaFree(memory));
    log(cudaFreeHost(memory));
    log(cudaFreeHost(memory));
    log(cudaFreeHost(nullptr));
    log(cudaHostAlloc(&memory, 64, 0x100));
    log(cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocPortable | cudaHostAllocWriteCombined));
    log(cudaHostGetFlags(&flags, memory));
    log.value(flags);
    log(cudaFreeHost(memory));
    log(cudaMallocHost(&memory, 0));
    log.value(memory == nullptr);
    int plain = 0;
    log(cudaHostGetFlags(&flags, &plain));
    log(cudaHostGetDevicePointer(&on_device, &plain, 0));
    return log.results();
});

const Case allocate_managed("cudaMallocManaged, cudaMemAdvise, cudaMemPrefetchAsync, cudaStreamAttachMemAsync", [] {
    Log log;
    int* memory = nullptr;
    log(cudaMallocManaged(&memory, 0));
    log(cudaMallocManaged(&memory, 64, 7));
    log(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0}, nowhere{cudaMemLocationTypeDevice, 4711};
    log(cudaMemAdvise(memory, 64, cudaMemAdviseSetReadMostly, here));
    log(cudaMemAdvise(memory, 64, static_cast<cudaMemoryAdvise>(99), here));
    log(cudaMemPrefetchAsync(memory, 64, here, 0, nullptr));
    log(cudaMemPrefetchAsync(memory, 64, nowhere, 0, nullptr));
    log(cudaMemPrefetchAsync(memory, 0, here, 0, nullptr));
    log(cudaStreamAttachMemAsync(nullptr, memory, 0, cudaMemAttachSingle));
    log(cudaStreamAttachMemAsync(nullptr, memory, 0, cudaMemAttachGlobal));
    log(cudaFree(memory));
    return log.results();
});

const Case allocate_pitched("cudaMallocPitch, cudaMalloc3D", [] {
    Log log;
    void* memory = nullptr;
    std::size_t pitch = 0;
    for (const std::size_t width : {std::size_t{1}, std::size_t{512}, std::size_t{513}}) {
        log(cudaMallocPitch(&memory, &pitch, width, 3));
        log.value(static_cast<long long>(pitch));
        log(cudaFree(memory));
    }
    log(cudaMallocPitch(&memory, &pitch, 0, 3));
    log(cudaMallocPitch(&memory, nullptr, 8, 3));
    cudaPitchedPtr pitched{};
    log(cudaMalloc3D(&pitched, make_cudaExtent(10, 3, 2)));
    log.value(static_cast<long long>(pitched.pitch));
    log.value(static_cast<long long>(pitched.xsize));
    log.value(static_cast<long long>(pitched.ysize));
    log(cudaMemset3D(pitched, 7, make_cudaExtent(10, 3, 2)));
    log(cudaMemset3DAsync(make_cudaPitchedPtr(pitched.ptr, pitched.pitch, 10, 3), 8, make_cudaExtent(4, 2, 1),
                          nullptr));
    std::vector<unsigned char> bytes(10);
    log(cudaMemcpy(bytes.data(), pitched.ptr, 10, cudaMemcpyDeviceToHost));
    for (const unsigned char byte : bytes) log.value(byte);
    log(cudaFree(pitched.ptr));
    return log.results();
});

const Case register_memory("cudaHostRegister, cudaHostUnregister", [] {
    Log log;
    static int values[4096];
    log(cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
    log(cudaHostRegister(values, sizeof values, cudaHostRegisterDefault));
    log(cudaHostUnregister(values));
    log(cudaHostUnregister(values));
    log(cudaHostRegister(nullptr, 8, cudaHostRegisterDefault));
    log(cudaHostRegister(values, 0, cudaHostRegisterDefault));
    log(cudaHostRegister(values, 8, 0x400));
    return log.results();
});

const Case ask_about_pointers("cudaPointerGetAttributes, cudaMemGetInfo", [] {
    Log log;
    int *device = nullptr, *pinned = nullptr, plain = 0;
    log(cudaMalloc(&device, 64));
    log(cudaMallocHost(&pinned, 64));
    cudaPointerAttributes attributes{};
    for (int* pointer : {device, device + 3, pinned, &plain}) {
        log(cudaPointerGetAttributes(&attributes, pointer));
        log.value(attributes.type);
        log.value(attributes.device);
        log.value((attributes.devicePointer == pointer) * 2 + (attributes.hostPointer == pointer));
    }
    log(cudaPointerGetAttributes(nullptr, device));
    std::size_t free_bytes = 0, total_bytes = 0;
    log(cudaMemGetInfo(&free_bytes, &total_bytes));
    log.value(free_bytes <= total_bytes);
    log(cudaMemGetInfo(nullptr, &total_bytes));
    log(cudaFree(device));
    log(cudaFreeHost(pinned));
    return log.results();
});

const Case copy("cudaMemcpy, cudaMemcpyAsync", [] {
    Log log;
    const int host[4] = {1, 2, 3, 4};
    int back[4] = {};
    int* device = nullptr;
    log(cudaMalloc(&device, sizeof host));
    log(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    log(cudaMemcpy(back, device, sizeof host, cudaMemcpyDeviceToHost));
    log.value(back[3]);
    log(cudaMemcpy(back, host, sizeof host, cudaMemcpyHostToHost));
    log(cudaMemcpy(device + 2, device, 8, cudaMemcpyDeviceToDevice));
    log(cudaMemcpyAsync(back, device, sizeof host, cudaMemcpyDefault, nullptr));
    log(cudaDeviceSynchronize());
    log.value(back[2]);
    log(cudaMemcpy(device, host, sizeof host, static_cast<cudaMemcpyKind>(9)));
    log(cudaMemcpy(device, host, 0, static_cast<cudaMemcpyKind>(9)));
    log(cudaMemcpy(device, host, 17, cudaMemcpyHostToDevice));
    log(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy(device, nullptr, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    log(cudaMemcpy(back, host, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy(back, host, 4, cudaMemcpyDeviceToDevice));
    log(cudaMemcpyPeer(device, 0, device + 2, 0, 8));
    log(cudaMemcpyPeer(device, 4711, device, 0, 4));
    log(cudaMemcpyPeerAsync(device, 0, device + 2, 0, 8, nullptr));
    log(cudaFree(device));
    return log.results();
});

const Case copy_rows("cudaMemcpy2D, cudaMemcpy2DAsync", [] {
    Log log;
    char host[64] = {}, back[64] = {};
    for (int i = 0; i < 64; ++i) host[i] = static_cast<char>(i);
    char* device = nullptr;
    log(cudaMalloc(&device, 64));
    log(cudaMemcpy2D(device, 16, host, 8, 8, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy2D(back, 8, device, 16, 8, 4, cudaMemcpyDeviceToHost));
    log.value(std::memcmp(host, back, 32));
    log(cudaMemcpy2D(device, 4, host, 8, 8, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy2D(device, 16, host, 8, 0, 4, cudaMemcpyHostToDevice));
    log(cudaMemcpy2D(device, 16, host, 8, 8, 0, cudaMemcpyHostToDevice));
    log(cudaMemcpy2D(device, 16, host, 16, 16, 5, cudaMemcpyHostToDevice));
    log(cudaMemcpy2D(device, std::size_t{1} << 40, host, 8, 8, 2, cudaMemcpyHostToDevice));
    log(cudaMemcpy2DAsync(device, 16, host, 8, 8, 4, cudaMemcpyHostToDevice, nullptr));
    log(cudaFree(device));
    return log.results();
});

const Case fill("cudaMemset, cudaMemsetAsync, cudaMemset2D, cudaMemset2DAsync", [] {
    Log log;
    unsigned char *device = nullptr, back[16] = {}, plain[4] = {};
    log(cudaMalloc(&device, 16));
    log(cudaMemset(device, 0x1ab, 16));
    log(cudaMemsetAsync(device, 1, 3, nullptr));
    log(cudaMemset2D(device, 8, 2, 2, 2));
    log(cudaMemset2DAsync(device + 4, 8, 3, 1, 2, nullptr));
    log(cudaMemcpy(back, device, 16, cudaMemcpyDeviceToHost));
    for (const unsigned char byte : back) log.value(byte);
    log(cudaMemset(device, 0, 17));
    log(cudaMemset(nullptr, 0, 4));
    log(cudaMemset(nullptr, 0, 0));
    log(cudaMemset(plain, 0, 4));
    log(cudaMemset2D(device, 2, 0, 8, 2));
    log(cudaFree(device));
    return log.results();
});

__constant__ int weights[4] = {1, 2, 3, 4};
__device__ int counter = 5;

const Case symbols("cudaMemcpyToSymbol, cudaMemcpyFromSymbol, cudaGetSymbolAddress, cudaGetSymbolSize", [] {
    Log log;
    int host[4] = {10, 20, 30, 40}, back[4] = {};
    log(cudaMemcpyFromSymbol(back, weights, sizeof back));
    log.value(back[3]);
    log(cudaMemcpyToSymbol(weights, host, 8, 8));
    log(cudaMemcpyFromSymbol(back, weights, 8, 4));
    log.value(back[0]);
    log.value(back[1]);
    log(cudaMemcpyToSymbol(weights, host, 20));
    log(cudaMemcpyToSymbol(weights, host, 8, 12));
    log(cudaMemcpyToSymbol(weights, host, 8, 0, cudaMemcpyDeviceToHost));
    log(cudaMemcpyToSymbolAsync(counter, host, 4, 0, cudaMemcpyHostToDevice, nullptr));
    log(cudaMemcpyFromSymbolAsync(back, counter, 4, 0, cudaMemcpyDeviceToHost, nullptr));
    log(cudaDeviceSynchronize());
    log.value(back[0]);
    void* address = nullptr;
    std::size_t bytes = 0;
    log(cudaGetSymbolAddress(&address, counter));
    log(cudaGetSymbolSize(&bytes, weights));
    log.value(static_cast<long long>(bytes));
    log(cudaMemset(address, 0, 4));
    log(cudaMemcpyFromSymbol(back, counter, 4));
    log.value(back[0]);
    return log.results();
});

const Case pools("cudaMallocAsync, cudaFreeAsync, cudaMallocFromPoolAsync, cudaMemPoolSetAttribute, cudaMemPoolTrimTo",
                 [] {
                     Log log;
                     cudaMemPool_t pool = nullptr, current = nullptr;
                     log(cudaDeviceGetDefaultMemPool(&pool, 0));
                     log(cudaDeviceGetMemPool(&current, 0));
                     log.value(pool == current);
                     log(cudaDeviceGetDefaultMemPool(&pool, 4711));
                     log(cudaDeviceGetDefaultMemPool(&pool, 0));
                     void* memory = nullptr;
                     log(cudaMallocAsync(&memory, 64, nullptr));
                     log(cudaFreeAsync(memory, nullptr));
                     log(cudaMallocAsync(&memory, 0, nullptr));
                     log(cudaFreeAsync(nullptr, nullptr));
                     log(cudaMallocFromPoolAsync(&memory, 64, pool, nullptr));
                     log(cudaFreeAsync(memory, nullptr));
                     unsigned long long threshold = 1 << 20;
                     log(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
                     log(cudaMemPoolTrimTo(pool, 0));
                     log(cudaDeviceSynchronize());
                     return log.results();
                 });

}  // namespace
