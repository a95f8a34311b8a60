// The host side of CUDA: memory, copies, streams, events, device properties, launches by function.
//
// Work is done inside the call that asks for it, in the calling thread: streams and events are handles that keep
// nobody waiting. (With several devices, a kernel that waits for one of another device is set aside.) Functions return
// what the real runtime returns; where versions differ, CUDA 13 on an H200 was asked. Copies between memory and arrays,
// and everything else about textures, is in texture.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cpu_device/execution.h"
#include "cpu_device/types.h"

namespace cpu_device {

/// Where a function with this as the default of its last parameter is called.
constexpr Site call_site(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

}  // namespace cpu_device

// ---- errors ----------------------------------------------------------------------------------------------

namespace cpu_device {

/// A statement that consists of a call, and drops the status that the call returns.
struct DroppedCall {
    const char* function;
    Site site;
};

/// The rewriter puts `cpu_device::dropped("cudaFree", site), ` ahead of each such statement.
DroppedCall dropped(const char* function, Site site);

/// The call returned `error`, which is reported in the end unless the program asks for its last error before that.
void note_dropped_error(const DroppedCall& call, cudaError_t error);

inline void operator,(const DroppedCall& call, cudaError_t error) {
    if (error != cudaSuccess) note_dropped_error(call, error);
}

}  // namespace cpu_device

/// The last error of the calling thread, which is forgotten. A kernel's failure is among them only after a call that
/// waited for the device.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// ---- the device ------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer);

/// Waits for the current device, and shows what went wrong in its kernels so far.
cudaError_t cudaDeviceSynchronize();

/// Frees all memory, streams and events of the current device, and forgets a kernel's failure. (On a GPU, a failed
/// kernel may leave the device unusable for the rest of the process.)
cudaError_t cudaDeviceReset();

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

// ---- memory ----------------------------------------------------------------------------------------------

/// Fresh memory holds bytes 0xFF, which are NaN as floating-point numbers and -1 as integers, in its first 1 MiB;
/// the rest of a larger allocation is zero. Addresses are multiples of 512 bytes. The bytes right before and after
/// an allocation are instrumented: if somebody wrote there, freeing the memory reports it.
///
/// The last parameter of the functions that allocate is not for programs: diagnostics name the line it stands for.
cudaError_t cudaMalloc(void** pointer, size_t bytes, cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                              cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaMallocHost(void** pointer, size_t bytes, cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags,
                          cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height,
                            cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent, cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream,
                            cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags,
                             cpu_device::Site site = cpu_device::call_site());
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* host_pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);

/// Advice and prefetching are checked and remembered, and have no effect: all memory is the host's. The second form of
/// each is that of CUDA 12 and before.
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, cudaStream_t stream = nullptr);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);

/// What was said of all pages of a range of managed memory.
cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute, const void* pointer,
                                     size_t count);
cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes, cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t count);

/// Memory pools keep count of what they would hold on a GPU: of what is in use, and of what is reserved for it, in
/// chunks of 32 MiB, which go back when a call synchronizes and the pool holds more than its release threshold.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
/// cudaErrorNotSupported for memory of the host, and for memory that other processes open.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location);
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                    cpu_device::Site site = cpu_device::call_site());

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream = nullptr);

cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream = nullptr);

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes, cpu_device::Site site = cpu_device::call_site()) {
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes, site);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal,
                              cpu_device::Site site = cpu_device::call_site()) {
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags, site);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault,
                           cpu_device::Site site = cpu_device::call_site()) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags, site);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags, cpu_device::Site site = cpu_device::call_site()) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags, site);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height,
                            cpu_device::Site site = cpu_device::call_site()) {
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height, site);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream,
                            cpu_device::Site site = cpu_device::call_site()) {
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream, site);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                                    cpu_device::Site site = cpu_device::call_site()) {
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream, site);
}
// CUDA has this other name for it, too.
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream,
                            cpu_device::Site site = cpu_device::call_site()) {
    return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream, site);
}

// For programs that take the address of one of these, as a pointer to a function of the type that CUDA's has. A call
// never chooses them: a function goes before a template.
template <class = void>
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return cudaMalloc(pointer, bytes, cpu_device::Site{});
}
template <class = void>
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    return cudaMallocManaged(pointer, bytes, flags, cpu_device::Site{});
}
template <class = void>
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
    return cudaMallocHost(pointer, bytes, cpu_device::Site{});
}
template <class = void>
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
    return cudaHostAlloc(pointer, bytes, flags, cpu_device::Site{});
}
template <class = void>
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream, cpu_device::Site{});
}

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device_pointer, void* host_pointer, unsigned flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(device_pointer), host_pointer, flags);
}

namespace cpu_device {

/// Reports device, managed and pinned memory that was never freed, one diagnostic for each line that allocated it,
/// with how often and how many bytes, and in the same way streams, events, arrays, texture and surface objects; what
/// was reported once is not reported again. These are notes, or errors with InstrumentOptions::leaks. Happens by itself
/// when a program in which errors are looked for ends with status 0.
void report_leaks();

}  // namespace cpu_device

// ---- `__device__`, `__constant__` and `__managed__` variables ----------------------------------------------

namespace cpu_device {

/// What a program gives to a function that wants a variable of the device.
struct Symbol {
    void* address;                       ///< of the variable; null for a value without one, such as `&variable`
    std::size_t bytes;                   ///< of the variable
    const char* shared_name = nullptr;   ///< of a __shared__ variable, which is no symbol
    const void* pointer = nullptr;       ///< what a pointer holds that was given
    bool is_address = false;             ///< the pointer may stand for a variable: it is a `const void*`
    bool takes_kind_for_offset = false;  ///< the call has a direction where its offset belongs
};

template <class T>
inline constexpr bool is_namespace_shared = false;
template <class T>
inline constexpr bool is_namespace_shared<NamespaceShared<T>> = true;

template <class T>
Symbol symbol_of(T&& variable) {
    using Type = std::remove_cvref_t<T>;
    if constexpr (is_namespace_shared<Type>) {
        return {nullptr, 0, variable.variable.name};
    } else {
        Symbol symbol{nullptr, 0};
        if constexpr (std::is_lvalue_reference_v<T>) {
            symbol.address = const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(variable)));
            symbol.bytes = sizeof(variable);
        }
        if constexpr (std::is_pointer_v<Type> && !std::is_function_v<std::remove_pointer_t<Type>>)
            symbol.pointer = const_cast<const void*>(static_cast<const volatile void*>(variable));
        symbol.is_address = std::is_same_v<Type, const void*>;
        return symbol;
    }
}

/// The same where a direction stands in the place of the offset.
inline Symbol with_kind_for_offset(Symbol symbol) {
    symbol.takes_kind_for_offset = true;
    return symbol;
}

cudaError_t copy_to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits, Site site);
cudaError_t copy_from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, bool waits, Site site);
cudaError_t symbol_address(void** pointer, Symbol symbol, Site site);
cudaError_t symbol_size(std::size_t* bytes, Symbol symbol, Site site);

}  // namespace cpu_device

template <class T>
cudaError_t cudaMemcpyToSymbol(T&& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_to_symbol(cpu_device::symbol_of(std::forward<T>(symbol)), from, bytes, offset, kind,
                                      nullptr, true, site);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T&& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr,
                                    cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_to_symbol(cpu_device::symbol_of(std::forward<T>(symbol)), from, bytes, offset, kind, stream,
                                      false, site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, T&& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                 cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_from_symbol(to, cpu_device::symbol_of(std::forward<T>(symbol)), bytes, offset, kind,
                                        nullptr, true, site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, T&& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr,
                                      cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_from_symbol(to, cpu_device::symbol_of(std::forward<T>(symbol)), bytes, offset, kind, stream,
                                        false, site);
}
// The fourth argument is an offset, and not the direction, which C++ would take for a number of bytes.
template <class T>
cudaError_t cudaMemcpyToSymbol(T&& symbol, const void* from, size_t bytes, cudaMemcpyKind offset,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                               cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_to_symbol(cpu_device::with_kind_for_offset(cpu_device::symbol_of(std::forward<T>(symbol))),
                                      from, bytes, static_cast<size_t>(offset), kind, nullptr, true, site);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T&& symbol, const void* from, size_t bytes, cudaMemcpyKind offset,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr,
                                    cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_to_symbol(cpu_device::with_kind_for_offset(cpu_device::symbol_of(std::forward<T>(symbol))),
                                      from, bytes, static_cast<size_t>(offset), kind, stream, false, site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, T&& symbol, size_t bytes, cudaMemcpyKind offset,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                 cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_from_symbol(
        to, cpu_device::with_kind_for_offset(cpu_device::symbol_of(std::forward<T>(symbol))), bytes,
        static_cast<size_t>(offset), kind, nullptr, true, site);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, T&& symbol, size_t bytes, cudaMemcpyKind offset,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr,
                                      cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::copy_from_symbol(
        to, cpu_device::with_kind_for_offset(cpu_device::symbol_of(std::forward<T>(symbol))), bytes,
        static_cast<size_t>(offset), kind, stream, false, site);
}

template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, T&& symbol, cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::symbol_address(pointer, cpu_device::symbol_of(std::forward<T>(symbol)), site);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** pointer, T&& symbol, cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::symbol_address(reinterpret_cast<void**>(pointer), cpu_device::symbol_of(std::forward<T>(symbol)),
                                      site);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, T&& symbol, cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::symbol_size(bytes, cpu_device::symbol_of(std::forward<T>(symbol)), site);
}

// ---- streams and events ----------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = cudaEventWaitDefault);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* user_data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned flags = cudaEventRecordDefault);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);

/// Time of the host's clock between the two records, in milliseconds.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

// ---- kernels: attributes and occupancy ---------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config);

/// There is no GPU code to ask: registers are taken to be 32, and static shared memory 0.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);

/// Blocks of the kernel that one multiprocessor holds at a time, by the rules in occupancy.h, with 32 registers
/// per thread and the dynamic shared memory only.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_size,
                                                                   size_t dynamic_shared_bytes, unsigned flags);

/// The most dynamic shared memory with which `blocks` blocks fit on a multiprocessor. The 1 KB that each block takes
/// for the system is left out of it, which the real runtime (13.0) forgets.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared_bytes, const void* kernel, int blocks,
                                                      int block_size);

namespace cpu_device {

/// The block size, at most `block_size_limit` (0: the device's), with most resident threads.
/// `shared_bytes(context, threads)` gives the dynamic shared memory of a block of that many threads.
cudaError_t best_block_size(int* min_grid_size, int* block_size, const void* kernel, int block_size_limit,
                            std::size_t (*shared_bytes)(const void* context, int threads), const void* context);

template <class Kernel>
const void* address_of(Kernel* kernel) {
    return (const void*)kernel;  // a function's address or an object's
}

}  // namespace cpu_device

template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(cpu_device::address_of(kernel), attribute, value);
}
template <class T>
cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
    return cudaFuncSetCacheConfig(cpu_device::address_of(kernel), config);
}
template <class T>
cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig(cpu_device::address_of(kernel), config);
}
template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
    return cudaFuncGetAttributes(attributes, cpu_device::address_of(kernel));
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* kernel, int block_size,
                                                                   size_t dynamic_shared_bytes, unsigned flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, cpu_device::address_of(kernel), block_size,
                                                                  dynamic_shared_bytes, flags);
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block_size,
                                                          size_t dynamic_shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, cpu_device::address_of(kernel), block_size,
                                                                  dynamic_shared_bytes, cudaOccupancyDefault);
}
template <class T>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared_bytes, T* kernel, int blocks,
                                                      int block_size) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_shared_bytes, cpu_device::address_of(kernel), blocks,
                                                     block_size);
}

/// `shared_bytes_of(block_size)` gives the dynamic shared memory of a block.
template <class BytesOfBlockSize, class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size, int* block_size, T* kernel,
                                                           BytesOfBlockSize shared_bytes_of, int block_size_limit = 0) {
    const auto shared_bytes = [](const void* context, int threads) {
        // The function object may be one whose call operator is not const.
        return static_cast<std::size_t>((*static_cast<BytesOfBlockSize*>(const_cast<void*>(context)))(threads));
    };
    return cpu_device::best_block_size(min_grid_size, block_size, cpu_device::address_of(kernel), block_size_limit,
                                       shared_bytes, std::addressof(shared_bytes_of));
}
template <class BytesOfBlockSize, class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* min_grid_size, int* block_size, T* kernel,
                                                                    BytesOfBlockSize shared_bytes_of,
                                                                    int block_size_limit = 0, unsigned /*flags*/ = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid_size, block_size, kernel, shared_bytes_of,
                                                          block_size_limit);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, T* kernel,
                                               size_t dynamic_shared_bytes = 0, int block_size_limit = 0) {
    const auto same_for_all = [dynamic_shared_bytes](int) { return dynamic_shared_bytes; };
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(min_grid_size, block_size, kernel, same_for_all,
                                                          block_size_limit);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid_size, int* block_size, T* kernel,
                                                        size_t dynamic_shared_bytes = 0, int block_size_limit = 0,
                                                        unsigned /*flags*/ = 0) {
    return cudaOccupancyMaxPotentialBlockSize(min_grid_size, block_size, kernel, dynamic_shared_bytes,
                                              block_size_limit);
}

// ---- kernels: launches by function -------------------------------------------------------------------------

typedef enum cudaClusterSchedulingPolicy {
    cudaClusterSchedulingPolicyDefault = 0,
    cudaClusterSchedulingPolicySpread = 1,
    cudaClusterSchedulingPolicyLoadBalancing = 2,
} cudaClusterSchedulingPolicy;

typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
    cudaLaunchAttributeMemSyncDomainMap = 9,
    cudaLaunchAttributeMemSyncDomain = 10,
    cudaLaunchAttributePreferredClusterDimension = 11,
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14,
} cudaLaunchAttributeID;

typedef union cudaLaunchAttributeValue {
    char pad[64];
    struct cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    enum cudaSynchronizationPolicy syncPolicy;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    int priority;
    cudaLaunchMemSyncDomainMap memSyncDomainMap;
    cudaLaunchMemSyncDomain memSyncDomain;
    unsigned int sharedMemCarveout;
} cudaLaunchAttributeValue;

typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;

// Some of these are attributes of a stream, too: then of what is launched in it later. They are checked and remembered,
// and have no effect here.
#define cudaStreamAttrID cudaLaunchAttributeID
#define cudaStreamAttrValue cudaLaunchAttributeValue
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributeMemSyncDomainMap cudaLaunchAttributeMemSyncDomainMap
#define cudaStreamAttributeMemSyncDomain cudaLaunchAttributeMemSyncDomain
#define cudaStreamAttributePriority cudaLaunchAttributePriority

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);

/// Lines of the L2 cache that persist are ordinary ones again: there are none here.
cudaError_t cudaCtxResetPersistingL2Cache();

namespace cpu_device {

template <class T>
concept Function = std::is_function_v<T>;

/// The program may launch clusters: links what they need.
void know_clusters();
/// A kernel that was declared with `__cluster_dims__`. Always true.
bool register_cluster(const void* kernel, unsigned x, unsigned y, unsigned z);
template <auto kernel, unsigned x, unsigned y = 1, unsigned z = 1>
struct ClusterRegistration {
    static inline const bool done = register_cluster((const void*)kernel, x, y, z);
};
/// As `known_kernel` below, for such a kernel.
template <auto kernel, unsigned... shape>
constexpr bool clustered_kernel = (static_cast<void>(&ClusterRegistration<kernel, shape...>::done), true);

/// A launch that is not written with `<<< >>>`: returns the error that the launch is refused with.
cudaError_t launch_function(const void* kernel, const LaunchConfig& config, const ErasedLaunch& launch,
                            bool cooperative, Site site);

/// The same for `cudaLaunchKernelEx`, which says in attributes what kind of launch it is.
cudaError_t launch_configured(const void* kernel, const cudaLaunchConfig_t* config, const ErasedLaunch& launch,
                              Site site);

/// Calls `run(erased_launch)` for a kernel whose arguments have been copied.
template <class Run, class... Parameters>
cudaError_t run_copies(void (*kernel)(Parameters...), std::tuple<Parameters...>& copies, const Run& run) {
    auto call = [&] { std::apply(kernel, copies); };
    const auto pointers = std::apply(
        [](auto&... argument) {
            return std::array<const void*, sizeof...(argument) + 1>{pointer_of<Parameters>(argument)..., nullptr};
        },
        copies);
    ErasedLaunch launch{&run_threads<decltype(call)>, &call, pointers.data(), sizeof...(Parameters)};
    const auto keep = [&]() -> KeptLaunch* {
        return std::apply(
            [&](auto&... argument) {
                return new KeptCall<void (*)(Parameters...), Parameters...>(kernel, argument...);
            },
            copies);
    };
    launch.keep = [](const void* keeper) { return (*static_cast<const decltype(keep)*>(keeper))(); };
    launch.keeper = &keep;
    return run(launch);
}

/// A `cudaLaunchConfig_t*`, and where it was handed over.
struct ConfigAt {
    const cudaLaunchConfig_t* config;
    Site site;
    ConfigAt(const cudaLaunchConfig_t* given, Site here = call_site()) : config(given), site(here) {}
};

/// The argument that `pointer` points to. Of a reference parameter that is the referenced object's address.
template <class Parameter>
std::remove_reference_t<Parameter>& argument_at(void* pointer) {
    if constexpr (std::is_reference_v<Parameter>) {
        return **static_cast<std::remove_reference_t<Parameter>**>(pointer);
    } else {
        return *static_cast<Parameter*>(pointer);
    }
}

/// Copies the arguments that `pointers` point to and calls `run(erased_launch)`.
template <class Run, class... Parameters>
cudaError_t with_arguments(void (*kernel)(Parameters...), void** pointers, const Run& run) {
    if (kernel == nullptr || (sizeof...(Parameters) > 0 && pointers == nullptr)) return run(ErasedLaunch{});
    if constexpr ((std::is_copy_constructible_v<Parameters> && ...)) {
        auto copies = [&]<std::size_t... I>(std::index_sequence<I...>) {
            return std::tuple<Parameters...>(argument_at<Parameters>(pointers[I])...);
        }
        (std::index_sequence_for<Parameters...>());
        return run_copies(kernel, copies, run);
    } else {
        return run(ErasedLaunch{});
    }
}

// Kernels that a program may launch by their address alone, a pointer to void.

/// What is done with a launch whose arguments have been copied.
struct RunLaunch {
    cudaError_t (*run)(const void* context, const ErasedLaunch& launch);
    const void* context;
    cudaError_t operator()(const ErasedLaunch& launch) const { return run(context, launch); }
};

/// `with_arguments` for a kernel of one type, which is not in the types of its parameters.
using UntypedLaunch = cudaError_t (*)(const void* kernel, void** pointers, const RunLaunch& run);

/// Makes the kernel at `address` known. Always true.
bool register_kernel(const void* address, UntypedLaunch launch);

template <class... Parameters>
cudaError_t untyped_launch(const void* kernel, void** pointers, const RunLaunch& run) {
    return with_arguments((void (*)(Parameters...))kernel, pointers, run);
}

/// The same pointer; a launch will find the kernel by its address. What is no kernel goes through.
template <class... Parameters>
auto known(void (*kernel)(Parameters...)) {
    register_kernel((const void*)kernel, untyped_launch<Parameters...>);
    return kernel;
}
template <class T>
T&& known(T&& other) {
    return static_cast<T&&>(other);
}

template <auto kernel>
struct KernelRegistration;
template <class... Parameters, void (*kernel)(Parameters...)>
struct KernelRegistration<kernel> {
    static inline const bool done = register_kernel((const void*)kernel, untyped_launch<Parameters...>);
};

/// Always true. The rewriter asserts it behind the definition of a kernel, which makes the kernel known when the
/// program begins: an assertion needs no name and can stand in any namespace.
template <auto kernel>
constexpr bool known_kernel = (static_cast<void>(&KernelRegistration<kernel>::done), true);

/// Launches a kernel by its address; cudaErrorInvalidResourceHandle if it is not known.
cudaError_t launch_untyped(const void* kernel, const LaunchConfig& config, void** arguments, bool cooperative,
                           Site site);
cudaError_t launch_untyped(const void* kernel, const cudaLaunchConfig_t* config, void** arguments, Site site);

}  // namespace cpu_device

/// `arguments[i]` points to the kernel's i-th argument.
template <cpu_device::Function Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr, cpu_device::Site site = cpu_device::call_site()) {
    const auto run = [&](const cpu_device::ErasedLaunch& launch) {
        return cpu_device::launch_function(cpu_device::address_of(kernel), {grid, block, shared_bytes, stream}, launch,
                                           false, site);
    };
    return cpu_device::with_arguments(kernel, arguments, run);
}

/// All blocks of the grid must fit on the device at a time; they may meet with
/// `cooperative_groups::this_grid().sync()`.
template <cpu_device::Function Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        cpu_device::Site site = cpu_device::call_site()) {
    const auto run = [&](const cpu_device::ErasedLaunch& launch) {
        return cpu_device::launch_function(cpu_device::address_of(kernel), {grid, block, shared_bytes, stream}, launch,
                                           true, site);
    };
    return cpu_device::with_arguments(kernel, arguments, run);
}

template <cpu_device::Function Kernel>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, Kernel* kernel, void** arguments,
                                cpu_device::Site site = cpu_device::call_site()) {
    cpu_device::know_clusters();
    const auto run = [&](const cpu_device::ErasedLaunch& launch) {
        return cpu_device::launch_configured(cpu_device::address_of(kernel), config, launch, site);
    };
    return cpu_device::with_arguments(kernel, arguments, run);
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(cpu_device::ConfigAt config, void (*kernel)(Parameters...), Arguments&&... arguments) {
    std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
    cpu_device::know_clusters();
    const auto run = [&](const cpu_device::ErasedLaunch& launch) {
        return cpu_device::launch_configured(cpu_device::address_of(kernel), config.config, launch, config.site);
    };
    return cpu_device::run_copies(kernel, copies, run);
}

/// How many clusters of the launch the device holds at a time. The configuration has to name the cluster's shape,
/// unless the kernel requires one.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* config);
/// The most blocks that a cluster of the launch can have: at most 8, or 16 for kernels that allow it.
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster_size, const void* kernel,
                                                 const cudaLaunchConfig_t* config);
template <cpu_device::Function Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel* kernel, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxActiveClusters(clusters, cpu_device::address_of(kernel), config);
}
template <cpu_device::Function Kernel>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster_size, Kernel* kernel, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxPotentialClusterSize(cluster_size, cpu_device::address_of(kernel), config);
}

// By the address of a kernel alone.
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                    cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::launch_untyped(kernel, {grid, block, shared_bytes, stream}, arguments, false, site);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                               cpu_device::Site site = cpu_device::call_site()) {
    return cpu_device::launch_untyped(kernel, {grid, block, shared_bytes, stream}, arguments, true, site);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments,
                                       cpu_device::Site site = cpu_device::call_site()) {
    cpu_device::know_clusters();
    return cpu_device::launch_untyped(kernel, config, arguments, site);
}

#include "cpu_device/graphs.h"
