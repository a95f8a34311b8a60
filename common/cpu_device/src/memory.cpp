// Allocating, freeing and asking about memory.
#include "allocations.h"
#include "api_call.h"
#include "cpu_device/device_model.h"
#include "cpu_device/execution.h"
#include "cpu_device/runtime_api.h"
#include "device_work.h"
#include "devices.h"
#include "diagnoser.h"
#include "stream_order.h"

using namespace cpu_device;

namespace {

cudaError_t allocate_checked(MemoryKind kind, void** pointer, size_t bytes, Site site, unsigned flags = 0,
                             const char* name = __builtin_FUNCTION()) {
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            return pointer == nullptr ? cudaErrorInvalidValue : allocate(kind, bytes, flags, pointer, site);
        },
        ApiCall{name, site, nullptr});
}

cudaError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t rows, Site site) {
    *pointer = nullptr;
    *pitch = 0;
    if (width == 0 || rows == 0) return cudaSuccess;
    if (width > model::max_pitch) return cudaErrorInvalidValue;
    const size_t padded = (width + model::pitch_alignment - 1) / model::pitch_alignment * model::pitch_alignment;
    if (rows > SIZE_MAX / padded) return cudaErrorInvalidValue;
    *pitch = padded;
    return allocate(MemoryKind::device, padded * rows, 0, pointer, site);
}

constexpr unsigned host_alloc_flags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
constexpr unsigned host_register_flags =
    cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

bool is_host(const Allocation& allocation) {
    return allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes, Site site) {
    return allocate_checked(MemoryKind::device, pointer, bytes, site);
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes, Site site) {
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault, site);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags, Site site) {
    if ((flags & ~host_alloc_flags) != 0) return api_result(cudaErrorInvalidValue);
    // All pinned memory is mapped: host and device share their addresses.
    return allocate_checked(MemoryKind::pinned, pointer, bytes, site, flags | cudaHostAllocMapped);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height, Site site) {
    return api_call(
        Waits::no,
        [&]() -> cudaError_t {
            if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
            return allocate_pitched(pointer, pitch, width, height, site);
        },
        ApiCall{"cudaMallocPitch", site, nullptr});
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent, Site site) {
    const auto allocate_slices = [&]() -> cudaError_t {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) return cudaErrorInvalidValue;
        *pointer = {nullptr, 0, extent.width, extent.height};
        return allocate_pitched(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth, site);
    };
    return api_call(Waits::no, allocate_slices, ApiCall{"cudaMalloc3D", site, nullptr});
}

cudaError_t cudaFree(void* pointer) {
    const ApiCall call{"cudaFree", {}, __builtin_return_address(0)};
    const bool is_pools = is_of_pool != nullptr && is_of_pool(pointer);
    const bool waits = !is_pools && !in_kernel();  // a kernel cannot wait for the device, which runs it
    return api_call(
        waits ? Waits::yes : Waits::no,
        [&]() -> cudaError_t {
            if (is_pools) return free_of_pool(pointer, call);
            if (waits && device_work() != nullptr && pointer != nullptr) {
                const auto allocation = find_allocation(pointer);
                const OnDevice device(allocation ? allocation->device : current_device);
                (void)finish_device();
            }
            if (waits) note_order(OrderStep::all_done);
            return pointer == nullptr ? cudaSuccess : release(pointer, MemoryKind::device, MemoryKind::managed, call);
        },
        call);
}

cudaError_t cudaFreeHost(void* pointer) {
    const ApiCall call{"cudaFreeHost", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&]() -> cudaError_t {
        (void)finish_device();
        note_order(OrderStep::all_done);
        return pointer == nullptr ? cudaSuccess : release(pointer, MemoryKind::pinned, MemoryKind::pinned, call);
    });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags, Site site) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (pointer == nullptr || bytes == 0 || (flags & ~host_register_flags) != 0) return cudaErrorInvalidValue;
        if (bytes > SIZE_MAX - reinterpret_cast<std::uintptr_t>(pointer)) return cudaErrorInvalidValue;
        const auto known = find_for_host(pointer);
        if (known && !is_host(*known)) return cudaErrorInvalidValue;
        Allocation range{static_cast<std::byte*>(pointer), bytes, MemoryKind::registered,
                         flags | cudaHostRegisterMapped};
        range.made_at = site;
        if (!remember(range)) return cudaErrorHostMemoryAlreadyRegistered;
        note_host_write(pointer, bytes);  // nobody sees what host code writes there
        return cudaSuccess;
    });
}

cudaError_t cudaHostUnregister(void* pointer) {
    return api_call(Waits::yes, [&]() -> cudaError_t {
        note_order(OrderStep::all_done);
        if (pointer == nullptr) return cudaErrorInvalidValue;
        if (forget(pointer, MemoryKind::registered)) return cudaSuccess;
        return find_for_host(pointer) ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered;
    });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        const auto allocation = find_for_host(host_pointer);
        if (device_pointer == nullptr || flags != 0 || !allocation || !is_host(*allocation)) {
            return cudaErrorInvalidValue;
        }
        *device_pointer = host_pointer;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host_pointer) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        const auto allocation = find_for_host(host_pointer);
        if (flags == nullptr || !allocation || !is_host(*allocation)) return cudaErrorInvalidValue;
        *flags = allocation->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        void* address = const_cast<void*>(pointer);
        const auto allocation = find_for_host(pointer);
        if (!allocation) {
            *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
            return cudaSuccess;
        }
        switch (allocation->kind) {
            case MemoryKind::device:
                *attributes = {cudaMemoryTypeDevice, allocation->device, address, nullptr};
                break;
            case MemoryKind::symbol:  // of each device one
                *attributes = {cudaMemoryTypeDevice, current_device, address, nullptr};
                break;
            case MemoryKind::managed:
                *attributes = {cudaMemoryTypeManaged, allocation->device, address, address};
                break;
            case MemoryKind::pinned:
            case MemoryKind::registered:
                *attributes = {cudaMemoryTypeHost, allocation->device, address, address};
                break;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        const MemoryInfo info = device_memory();
        if (free_bytes != nullptr) *free_bytes = info.free_bytes;
        if (total_bytes != nullptr) *total_bytes = info.total_bytes;
        return cudaSuccess;
    });
}
