// The devices: what they are, and the settings that programs make.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "allocations.h"
#include "api_call.h"
#include "cpu_device/device_model.h"
#include "cpu_device/runtime_api.h"
#include "device_output.h"
#include "device_properties.h"
#include "device_races.h"
#include "device_work.h"
#include "devices.h"
#include "function_attributes.h"
#include "live_objects.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {

constinit thread_local int current_device = 0;
constinit thread_local DeviceStep present_device_step = 0;
constinit std::atomic<DeviceWork*> present_device_work = nullptr;

namespace {

int count_from_environment() {
    const char* const text = std::getenv("CPU_DEVICE_COUNT");
    if (text == nullptr || *text == '\0') return 1;
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (*end == '\0' && count >= 1 && count <= kMostDevices) return static_cast<int>(count);
    std::fprintf(stderr, "CPU device: CPU_DEVICE_COUNT=%s: it has to be a number from 1 to %d\n", text, kMostDevices);
    _exit(EXIT_FAILURE);
}

/// For each device a bit for each device that has given it access.
std::array<std::atomic<std::uint32_t>, kMostDevices> peers{};

}  // namespace

int device_count() {
    static const int count = count_from_environment();
    return count;
}

namespace {

[[maybe_unused]] const int count_at_start = device_count();  // a wrong number is told before anything happens

}  // namespace

bool is_peer(int device, int owner) {
    return device == owner || (peers[static_cast<std::size_t>(device)] >> owner & 1) != 0;
}

bool set_peer(int device, int owner, bool allowed) {
    const std::uint32_t bit = std::uint32_t{1} << owner;
    std::atomic<std::uint32_t>& mine = peers[static_cast<std::size_t>(device)];
    const std::uint32_t before = allowed ? mine.fetch_or(bit) : mine.fetch_and(~bit);
    return ((before & bit) != 0) != allowed;
}

}  // namespace cpu_device

using namespace cpu_device;

namespace {

std::string pci_bus_id(int device) {
    char id[16];
    std::snprintf(id, sizeof id, "0000:%02X:00.0", static_cast<unsigned>(device));
    return id;
}

std::atomic<unsigned> device_flags = 0;
std::atomic<cudaFuncCache> cache_config = cudaFuncCachePreferNone;

/// Remembered, without an effect: a device thread has the stack it has, and printf never loses anything.
struct Limits {
    std::atomic<size_t> stack_bytes = 1024;
    std::atomic<size_t> printf_bytes = size_t{8} << 20;
    std::atomic<size_t> heap_bytes = size_t{8} << 20;
    std::atomic<size_t> fetched_bytes = 64;    ///< by the L2 cache at a time; a hint
    std::atomic<size_t> persisting_bytes = 0;  ///< of the L2 cache, set aside
};

Limits limits;

std::atomic<size_t>* find_limit(cudaLimit limit) {
    switch (limit) {
        case cudaLimitStackSize:
            return &limits.stack_bytes;
        case cudaLimitPrintfFifoSize:
            return &limits.printf_bytes;
        case cudaLimitMallocHeapSize:
            return &limits.heap_bytes;
        case cudaLimitMaxL2FetchGranularity:
            return &limits.fetched_bytes;
        case cudaLimitPersistingL2CacheSize:
            return &limits.persisting_bytes;
        default:
            return nullptr;
    }
}

cudaError_t no_such_limit(cudaLimit limit) {
    return limit >= cudaLimitStackSize && limit <= cudaLimitPersistingL2CacheSize ? cudaErrorUnsupportedLimit
                                                                                  : cudaErrorInvalidValue;
}

bool is_cache_config(cudaFuncCache config) {
    return config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
}

// Calls about the device as such work even after a kernel has failed: no api_call.

cudaError_t require_device(int device) { return device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice; }

template <class Value>
cudaError_t answer(Value* target, const Value& value) {
    if (target == nullptr) return api_result(cudaErrorInvalidValue);
    *target = value;
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) { return answer(count, device_count()); }

cudaError_t cudaGetDevice(int* device) { return answer(device, current_device); }

cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return api_result(require_device(device)); }

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
    return wanted == nullptr ? api_result(cudaErrorInvalidValue) : answer(device, 0);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* target, int device) {
    if (require_device(device) != cudaSuccess) return api_result(cudaErrorInvalidDevice);
    return answer(target, device_properties(device));
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (require_device(device) != cudaSuccess) return api_result(cudaErrorInvalidDevice);
    int found = 0;
    if (!device_attribute(attribute, device, &found)) return api_result(cudaErrorInvalidValue);
    return answer(value, found);
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    if (require_device(device) != cudaSuccess) return api_result(cudaErrorInvalidDevice);
    const std::string text = pci_bus_id(device);
    if (id == nullptr || length <= static_cast<int>(text.size())) return api_result(cudaErrorInvalidValue);
    text.copy(id, text.size());
    id[text.size()] = '\0';
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
    if (id == nullptr) return api_result(cudaErrorInvalidValue);
    for (int i = 0; i < device_count(); ++i) {
        if (id == pci_bus_id(i)) return answer(device, i);
    }
    return api_result(cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int* version) { return answer(version, CUDART_VERSION); }

cudaError_t cudaRuntimeGetVersion(int* version) { return answer(version, CUDART_VERSION); }

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    const bool one_schedule = (schedule & (schedule - 1)) == 0;
    if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0 || !one_schedule)
        return api_result(cudaErrorInvalidValue);
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) { return answer(flags, device_flags | cudaDeviceMapHost); }

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        std::atomic<size_t>* found = find_limit(limit);
        if (found == nullptr) return no_such_limit(limit);
        const bool is_too_much = (limit == cudaLimitMaxL2FetchGranularity && value > 128) ||
                                 (limit == cudaLimitPersistingL2CacheSize && value > model::persisting_l2_bytes);
        if (is_too_much) return cudaErrorInvalidValue;
        *found = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        const std::atomic<size_t>* found = find_limit(limit);
        if (found == nullptr) return no_such_limit(limit);
        *value = *found;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (!is_cache_config(config)) return cudaErrorInvalidValue;
        cache_config = config;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return api_call(Waits::no, [&] { return answer(config, cache_config.load()); });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                                                                : cudaSuccess;
    });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return api_call(Waits::no, [&] { return answer(config, cudaSharedMemBankSizeFourByte); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (least != nullptr) *least = model::lowest_stream_priority;
        if (greatest != nullptr) *greatest = model::highest_stream_priority;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    if (!device_exists(device) || !device_exists(peer)) return api_result(cudaErrorInvalidDevice);
    return answer(can_access, device == peer ? 0 : 1);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    if (!device_exists(peer)) return api_result(cudaErrorInvalidDevice);
    if (flags != 0) return api_result(cudaErrorInvalidValue);
    if (peer == current_device) return api_result(cudaErrorPeerAccessUnsupported);
    return api_result(set_peer(current_device, peer, true) ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    if (!device_exists(peer)) return api_result(cudaErrorInvalidDevice);
    if (peer == current_device) return api_result(cudaErrorPeerAccessNotEnabled);
    return api_result(set_peer(current_device, peer, false) ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
    if (!device_exists(device) || !device_exists(peer) || device == peer) return api_result(cudaErrorInvalidDevice);
    switch (attribute) {
        case cudaDevP2PAttrAccessSupported:
        case cudaDevP2PAttrNativeAtomicSupported:
            return answer(value, 1);
        case cudaDevP2PAttrPerformanceRank:
        case cudaDevP2PAttrCudaArrayAccessSupported:
        case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
            return answer(value, 0);
    }
    return api_result(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize() {
    return api_call(Waits::yes, [] {
        const cudaError_t error = finish_device();
        note_order(OrderStep::all_done);
        if (trim_pools != nullptr) trim_pools();
        return error;
    });
}

cudaError_t cudaDeviceReset() {
    if (DeviceWork* const work = device_work()) work->reset_device();
    for (int peer = 0; peer < device_count(); ++peer) (void)set_peer(current_device, peer, false);
    flush_device_output();
    release_all();
    forget_streams();
    forget_events();
    note_order(OrderStep::reset);
    if (forget_arrays != nullptr) forget_arrays();
    if (forget_pools != nullptr) forget_pools();
    if (forget_stream_attributes != nullptr) forget_stream_attributes();
    forget_objects();
    forget_function_settings();
    forget_kernel_failure();
    return cudaSuccess;
}
