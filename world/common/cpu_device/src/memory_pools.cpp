// Memory that is allocated and freed in the order of a stream, and the pools that it is from.
//
// The memory itself is that of any other allocation. A pool only keeps count of what it would hold on a GPU: it asks
// the system for memory in chunks, and gives back what it does not need when a call synchronizes and the pool holds
// more than its threshold.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "allocations.h"
#include "api_call.h"
#include "capture.h"
#include "cpu_device/device_model.h"
#include "cpu_device/instrument.h"
#include "cpu_device/runtime_api.h"
#include "device_work.h"
#include "devices.h"
#include "instrumented_code.h"
#include "live_objects.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {
namespace {

constexpr std::uint64_t chunk_bytes = model::pool_chunk_bytes;

struct MemoryPool {
    std::uint64_t used = 0, most_used = 0;
    std::uint64_t reserved = 0, most_reserved = 0;
    std::uint64_t threshold = 0;
    std::uint64_t limit = 0;  ///< 0: none
    int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
    bool is_destroyed = false;  ///< but memory of it is still allocated
    int device = 0;
    std::uint32_t readers = 0;  ///< a bit for each other device that may use its memory
    std::uint32_t writers = 0;

    static std::uint64_t whole_chunks(std::uint64_t bytes) {
        return bytes / chunk_bytes * chunk_bytes + (bytes % chunk_bytes != 0 ? chunk_bytes : 0);
    }

    void take(std::uint64_t bytes) {
        used += bytes;
        most_used = std::max(most_used, used);
        reserved = std::max(reserved, whole_chunks(used));
        most_reserved = std::max(most_reserved, reserved);
    }

    void trim(std::uint64_t keep) { reserved = std::min(reserved, std::max(whole_chunks(used), whole_chunks(keep))); }

    /// The same, at a call that synchronizes: what is held above the threshold goes back.
    void trim_to_threshold() {
        if (reserved > threshold) reserved = std::max(whole_chunks(used), threshold / chunk_bytes * chunk_bytes);
    }
};

/// The last piece of work of a stream that has used an allocation.
struct PoolUse {
    WorkStamp work;
    std::string what;
    ApiCall place;
};

struct PoolAllocation {
    std::uintptr_t pool = 0;
    std::uint64_t bytes = 0;
    WorkStamp allocated;
    std::map<std::size_t, PoolUse> uses;  ///< by index of the stream
    bool is_reported = false;             ///< that something is not ordered
};

struct MemoryPools {
    std::mutex mutex;
    std::map<std::uintptr_t, MemoryPool> pools;  ///< by handle
    std::map<const void*, PoolAllocation> allocations;
    std::uintptr_t last_handle = first_handle + 16 * kMostDevices;
    std::array<std::uintptr_t, kMostDevices> current{};

    static constexpr std::uintptr_t first_handle = 0x1000;  // in a page that no program has

    MemoryPools() {
        for (int device = 0; device < kMostDevices; ++device) begin(device);
    }

    static std::uintptr_t default_of(int device) { return first_handle + 16 * static_cast<std::uintptr_t>(device); }
    std::uintptr_t& current_of(int device) { return current[static_cast<std::size_t>(device)]; }

    /// The device has its default pool and nothing else.
    void begin(int device) {
        pools[default_of(device)].device = device;
        current_of(device) = default_of(device);
    }

    MemoryPool* find(cudaMemPool_t handle) {
        const auto found = pools.find(reinterpret_cast<std::uintptr_t>(handle));
        return found == pools.end() || found->second.is_destroyed ? nullptr : &found->second;
    }

    void give_back(std::uintptr_t handle, std::uint64_t bytes) {
        const auto found = pools.find(handle);
        if (found == pools.end()) return;
        found->second.used -= bytes;
        if (found->second.is_destroyed && found->second.used == 0) pools.erase(found);
    }
};

MemoryPools& memory_pools() {
    static auto* all = new MemoryPools;  // still needed when the process exits
    return *all;
}

cudaMemPool_t handle_of(std::uintptr_t number) { return reinterpret_cast<cudaMemPool_t>(number); }

std::uint64_t rounded(std::uint64_t bytes) {
    constexpr std::uint64_t unit = model::allocation_alignment;
    return (bytes + unit - 1) / unit * unit;
}

int device_of_pool(std::uintptr_t number) {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    const MemoryPool* pool = all.find(handle_of(number));
    return pool == nullptr ? current_device : pool->device;
}

/// A null pool: the present one of the stream's device.
cudaError_t allocate_in_stream(void** pointer, std::size_t bytes, cudaMemPool_t handle, cudaStream_t stream, Site site,
                               const char* name) {
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (logs_activity()) log_stream(stream);
            if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
            if (is_captured(stream))
                return unsupported("memory that a graph allocates (cudaMallocAsync in a captured stream)", site,
                                   "allocate the memory before the capture begins");
            if (pointer == nullptr) return cudaErrorInvalidValue;
            MemoryPools& all = memory_pools();
            std::uintptr_t number = 0;
            {
                const RuntimeLock lock(all.mutex);
                number = handle == nullptr ? all.current_of(device_of_stream(stream))
                                           : reinterpret_cast<std::uintptr_t>(handle);
                const MemoryPool* pool = all.find(handle_of(number));
                if (pool == nullptr) return cudaErrorInvalidValue;
                if (pool->limit != 0 && rounded(bytes) > pool->limit - std::min(pool->limit, pool->used))
                    return cudaErrorMemoryAllocation;
            }
            const OnDevice device(device_of_pool(number));
            const cudaError_t error = allocate(MemoryKind::device, bytes, 0, pointer, site);
            if (error != cudaSuccess || *pointer == nullptr) return error;
            mark_as_of_pool(*pointer);
            PoolAllocation made;
            made.pool = number;
            made.bytes = rounded(bytes);
            made.allocated = stamp_work(stream);
            const RuntimeLock lock(all.mutex);
            if (MemoryPool* pool = all.find(handle_of(number))) pool->take(made.bytes);
            all.allocations[*pointer] = std::move(made);
            return cudaSuccess;
        },
        ApiCall{name, site, nullptr});
}

/// Takes the allocation out of the list, and out of what its pool has in use.
std::optional<PoolAllocation> forget_allocation(const void* pointer) {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    const auto found = all.allocations.find(pointer);
    if (found == all.allocations.end()) return std::nullopt;
    PoolAllocation allocation = std::move(found->second);
    all.allocations.erase(found);
    all.give_back(allocation.pool, allocation.bytes);
    return allocation;
}

/// Reports work that may still use the memory when it is freed: by the stream, or null for the host.
void look_for_late_use(const void* pointer, const cudaStream_t* stream, const ApiCall& call) {
    if (!instrumenting().diagnostics) return;
    const auto knows = [&](WorkStamp work) {
        return stream != nullptr ? stream_knows(*stream, work) : host_knows(work);
    };
    std::optional<PoolUse> late;
    bool is_allocated_later = false;
    {
        MemoryPools& all = memory_pools();
        const RuntimeLock lock(all.mutex);
        const auto found = all.allocations.find(pointer);
        if (found == all.allocations.end() || found->second.is_reported) return;
        for (const auto& [index, use] : found->second.uses) {
            if (!late && !knows(use.work)) late = use;
        }
        is_allocated_later = stream != nullptr && !late && !knows(found->second.allocated);
        found->second.is_reported = late || is_allocated_later;
    }
    const auto allocation = find_allocation(pointer);
    if (!allocation) return;
    if (late) {
        report_misuse(DiagnosticKind::missing_order, call,
                      "frees " + describe(*allocation) + ", while " + late->what +
                          (stream != nullptr ? ", in another stream, may still use it" : " may still use it"),
                      stream != nullptr
                          ? "record an event behind the last use, and let the stream that frees wait for it "
                            "(cudaStreamWaitEvent); or free the memory in the stream that uses it last"
                          : "cudaFree does not wait for memory of cudaMallocAsync: synchronize with the stream before, "
                            "or free the memory with cudaFreeAsync",
                      allocation->display_name(),
                      OtherSide{place_of(late->place), {}, {}, "used here, and nothing orders the two"});
    } else if (is_allocated_later) {
        report_misuse(DiagnosticKind::missing_order, call,
                      "frees " + describe(*allocation) + ", in a stream that nothing orders after the allocation",
                      order_hint, allocation->display_name(),
                      OtherSide{allocation->made_at, {}, {}, "allocated in the order of another stream"});
    }
}

/// In the order of the stream; null: in that of the host.
cudaError_t free_in_order_of(const cudaStream_t* stream, void* pointer, const ApiCall& call) {
    look_for_late_use(pointer, stream, call);
    const cudaError_t error = release(pointer, MemoryKind::device, MemoryKind::device, call);
    if (error == cudaSuccess) (void)forget_allocation(pointer);
    return error;
}

/// What an attribute is made of: a number, or a switch.
std::uint64_t* number_of_attribute(MemoryPool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
        case cudaMemPoolAttrReleaseThreshold:
            return &pool.threshold;
        case cudaMemPoolAttrReservedMemCurrent:
            return &pool.reserved;
        case cudaMemPoolAttrReservedMemHigh:
            return &pool.most_reserved;
        case cudaMemPoolAttrUsedMemCurrent:
            return &pool.used;
        case cudaMemPoolAttrUsedMemHigh:
            return &pool.most_used;
        default:
            return nullptr;
    }
}

int* switch_of_attribute(MemoryPool& pool, cudaMemPoolAttr attribute) {
    switch (attribute) {
        case cudaMemPoolReuseFollowEventDependencies:
            return &pool.follow_events;
        case cudaMemPoolReuseAllowOpportunistic:
            return &pool.opportunistic;
        case cudaMemPoolReuseAllowInternalDependencies:
            return &pool.internal_dependencies;
        default:
            return nullptr;
    }
}

bool is_device(const cudaMemLocation& location) {
    return location.type == cudaMemLocationTypeDevice && device_exists(location.id);
}

/// `use(pools, pool)` for a live pool; else cudaErrorInvalidValue.
template <class Use>
cudaError_t with_pool(cudaMemPool_t handle, const Use& use) {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    MemoryPool* pool = all.find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : use(all, *pool);
}

}  // namespace

bool is_of_pool(const void* pointer) {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    return all.allocations.count(pointer) != 0;
}

cudaError_t free_of_pool(void* pointer, const ApiCall& call) { return free_in_order_of(nullptr, pointer, call); }

bool note_pool_use(const Allocation& allocation, cudaStream_t stream, const std::string& what, const ApiCall& place) {
    const WorkStamp work = last_work(stream);
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    const auto found = all.allocations.find(allocation.address);
    if (found == all.allocations.end()) return true;
    found->second.uses[work.stream] = {work, what, place};
    if (found->second.is_reported || stream_knows(stream, found->second.allocated)) return true;
    found->second.is_reported = true;
    return false;
}

bool pool_allows(const void* address, int device) {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    const auto found = all.allocations.find(address);
    if (found == all.allocations.end()) return false;
    const auto pool = all.pools.find(found->second.pool);
    return pool != all.pools.end() && (pool->second.readers >> device & 1) != 0;
}

void trim_pools() {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    for (auto& [handle, pool] : all.pools) pool.trim_to_threshold();
}

void forget_pools() {
    MemoryPools& all = memory_pools();
    const RuntimeLock lock(all.mutex);
    std::erase_if(all.allocations, [&](const auto& one) {
        const auto pool = all.pools.find(one.second.pool);
        return pool == all.pools.end() || pool->second.device == current_device;
    });
    std::erase_if(all.pools, [](const auto& one) { return one.second.device == current_device; });
    all.begin(current_device);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream, Site site) {
    return allocate_in_stream(pointer, bytes, nullptr, stream, site, "cudaMallocAsync");
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream, Site site) {
    if (pool == nullptr) return api_result(cudaErrorInvalidValue);
    return allocate_in_stream(pointer, bytes, pool, stream, site, "cudaMallocFromPoolAsync");
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    const ApiCall call{"cudaFreeAsync", {}, __builtin_return_address(0)};
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (logs_activity()) log_stream(stream);
            if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
            if (is_captured(stream))
                return unsupported("memory that a graph frees (cudaFreeAsync in a captured stream)", place_of(call),
                                   "free the memory after the last launch of the graph");
            if (pointer == nullptr) return cudaSuccess;
            note_order(OrderStep::work, stream);
            if (is_busy(stream)) {
                device_work()->add(stream, [stream, pointer, call](bool) {
                    (void)free_in_order_of(&stream, pointer, call);
                    return true;
                });
                return cudaSuccess;
            }
            return free_in_order_of(&stream, pointer, call);
        },
        call);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (pool == nullptr) return cudaErrorInvalidValue;
        if (!device_exists(device)) return cudaErrorInvalidDevice;
        *pool = handle_of(MemoryPools::default_of(device));
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (pool == nullptr) return cudaErrorInvalidValue;
        if (!device_exists(device)) return cudaErrorInvalidDevice;
        MemoryPools& all = memory_pools();
        const RuntimeLock lock(all.mutex);
        *pool = handle_of(all.current_of(device));
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (!device_exists(device)) return cudaErrorInvalidDevice;
        return with_pool(pool, [&](MemoryPools& all, MemoryPool& found) {
            if (found.device != device) return cudaErrorInvalidValue;
            all.current_of(device) = reinterpret_cast<std::uintptr_t>(pool);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
    const void* const code = __builtin_return_address(0);
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
        const auto is_zero = [](unsigned char byte) { return byte == 0; };
        const bool rest_is_zero =
            properties->win32SecurityAttributes == nullptr &&
            std::all_of(std::begin(properties->reserved), std::end(properties->reserved), is_zero);
        if (properties->allocType != cudaMemAllocationTypePinned || !rest_is_zero) return cudaErrorInvalidValue;
        // Memory of the host, and memory that other processes open, is not modelled.
        if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
        if (properties->location.type == cudaMemLocationTypeHost ||
            properties->location.type == cudaMemLocationTypeHostNuma)
            return cudaErrorNotSupported;
        if (!is_device(properties->location)) return cudaErrorInvalidValue;
        MemoryPools& all = memory_pools();
        const RuntimeLock lock(all.mutex);
        all.last_handle += 16;  // never used twice
        all.pools[all.last_handle].limit = properties->maxSize;
        all.pools[all.last_handle].device = properties->location.id;
        *pool = handle_of(all.last_handle);
        note_created(ObjectKind::memory_pool, *pool, code);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        return with_pool(pool, [&](MemoryPools& all, MemoryPool& found) {
            const auto number = reinterpret_cast<std::uintptr_t>(pool);
            if (number == MemoryPools::default_of(found.device)) return cudaErrorInvalidValue;
            note_destroyed(ObjectKind::memory_pool, pool);
            std::uintptr_t& current = all.current_of(found.device);
            if (current == number) current = MemoryPools::default_of(found.device);
            if (found.used == 0) {
                all.pools.erase(number);
            } else {
                found.is_destroyed = true;
            }
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        return with_pool(pool, [&](MemoryPools&, MemoryPool& found) {
            if (int* const setting = switch_of_attribute(found, attribute)) {
                std::memcpy(setting, value, sizeof *setting);
                return cudaSuccess;
            }
            std::uint64_t* const number = number_of_attribute(found, attribute);
            std::uint64_t wanted = 0;
            if (number == nullptr) return cudaErrorInvalidValue;
            std::memcpy(&wanted, value, sizeof wanted);
            if (attribute == cudaMemPoolAttrReleaseThreshold) {
                *number = wanted;
                return cudaSuccess;
            }
            const bool is_high = attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
            if (!is_high || wanted != 0) return cudaErrorInvalidValue;
            *number = attribute == cudaMemPoolAttrUsedMemHigh ? found.used : found.reserved;
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (value == nullptr) return cudaErrorInvalidValue;
        return with_pool(pool, [&](MemoryPools&, MemoryPool& found) {
            if (const int* const setting = switch_of_attribute(found, attribute)) {
                std::memcpy(value, setting, sizeof *setting);
                return cudaSuccess;
            }
            const std::uint64_t* const number = number_of_attribute(found, attribute);
            if (number == nullptr) return cudaErrorInvalidValue;
            std::memcpy(value, number, sizeof *number);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    return api_call(Waits::no, [&] {
        return with_pool(pool, [&](MemoryPools&, MemoryPool& found) {
            found.trim(bytes_to_keep);
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (list == nullptr && count > 0) return cudaErrorInvalidValue;
        return with_pool(pool, [&](MemoryPools&, MemoryPool& found) {
            for (size_t i = 0; i < count; ++i) {
                if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
                if (!device_exists(list[i].location.id)) return cudaErrorInvalidDevice;
                const auto flags = static_cast<unsigned>(list[i].flags);
                if (flags > cudaMemAccessFlagsProtReadWrite || flags == 2) return cudaErrorInvalidValue;
                // The device that the memory is on cannot lose its access.
                const bool is_own = list[i].location.id == found.device;
                if (is_own && flags != cudaMemAccessFlagsProtReadWrite) return cudaErrorInvalidValue;
            }
            for (size_t i = 0; i < count; ++i) {
                const std::uint32_t bit = std::uint32_t{1} << list[i].location.id;
                const auto set = [&](std::uint32_t& devices, bool may) {
                    devices = may ? devices | bit : devices & ~bit;
                };
                set(found.readers, list[i].flags != cudaMemAccessFlagsProtNone);
                set(found.writers, list[i].flags == cudaMemAccessFlagsProtReadWrite);
            }
            return cudaSuccess;
        });
    });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
        return with_pool(pool, [&](MemoryPools&, MemoryPool& found) {
            if (location->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (!device_exists(location->id)) return cudaErrorInvalidDevice;
            const bool writes = location->id == found.device || (found.writers >> location->id & 1) != 0;
            const bool reads = (found.readers >> location->id & 1) != 0;
            *flags = writes  ? cudaMemAccessFlagsProtReadWrite
                     : reads ? cudaMemAccessFlagsProtRead
                             : cudaMemAccessFlagsProtNone;
            return cudaSuccess;
        });
    });
}
