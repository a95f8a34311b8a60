// Copying and filling memory.
#include <cstring>

#include "allocations.h"
#include "api_call.h"
#include "cpu_device/device_model.h"
#include "cpu_device/runtime_api.h"
#include "streams.h"

namespace cpu_device {
namespace {

/// One side of a copy.
enum class Side {
    device,  ///< must be memory that the device can reach: device, managed or page-locked
    any,     ///< plain host memory will do
};

cudaError_t check_side(Side side, const void* pointer, std::size_t bytes) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto allocation = find_allocation(pointer);
    if (!allocation) return side == Side::device ? cudaErrorInvalidValue : cudaSuccess;
    // Host memory may be page-locked in part.
    if (side == Side::any && allocation->kind == MemoryKind::registered) return cudaSuccess;
    return allocation->holds(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

bool is_kind(cudaMemcpyKind kind) { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

/// The side that a direction calls "device" must be within the device's reach; the runtime does not mind what the
/// other one is.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const cudaError_t wrong = check_side(to_device ? Side::device : Side::any, to, to_bytes);
    return wrong != cudaSuccess ? wrong : check_side(from_device ? Side::device : Side::any, from, from_bytes);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return cudaSuccess;
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    const cudaError_t wrong = check_copy(to, bytes, from, bytes, kind);
    if (wrong == cudaSuccess) std::memmove(to, from, bytes);
    return wrong;
}

/// Bytes from the start of the first row to the end of the last; 0 if they are too many to count.
std::size_t extent_of_rows(std::size_t pitch, std::size_t width, std::size_t height) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) return 0;
    return bytes;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    if (to_pitch > model::max_pitch || from_pitch > model::max_pitch) return cudaErrorInvalidValue;
    const std::size_t to_bytes = extent_of_rows(to_pitch, width, height);
    const std::size_t from_bytes = extent_of_rows(from_pitch, width, height);
    if (to_bytes == 0 || from_bytes == 0) return cudaErrorInvalidValue;
    const cudaError_t wrong = check_copy(to, to_bytes, from, from_bytes, kind);
    if (wrong != cudaSuccess) return wrong;
    for (std::size_t row = 0; row < height; ++row) {
        std::memmove(static_cast<std::byte*>(to) + row * to_pitch,
                     static_cast<const std::byte*>(from) + row * from_pitch, width);
    }
    return cudaSuccess;
}

cudaError_t fill_rows(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidValue;
    const std::size_t bytes = extent_of_rows(pitch, width, height);
    if (bytes == 0 || check_side(Side::device, pointer, bytes) != cudaSuccess) return cudaErrorInvalidValue;
    for (std::size_t row = 0; row < height; ++row) {
        std::memset(static_cast<std::byte*>(pointer) + row * pitch, value, width);
    }
    return cudaSuccess;
}

/// An asynchronous copy into host memory that is not page-locked is over when the call returns: it waits.
Waits waits_for(const void* to, cudaMemcpyKind kind) {
    const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
    return to_host && !find_allocation(to) ? Waits::yes : Waits::no;
}

/// `body()`, in a stream.
template <class Body>
cudaError_t call_in_stream(Waits waits, cudaStream_t stream, const Body& body) {
    return api_call(waits,
                    [&]() -> cudaError_t { return stream_exists(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

bool is_inside(Symbol symbol, std::size_t bytes, std::size_t offset) {
    return offset <= symbol.bytes && bytes <= symbol.bytes - offset;
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
    return cudaSuccess;
}

}  // namespace

cudaError_t copy_to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool waits) {
    return call_in_stream(waits ? Waits::yes : Waits::no, stream, [&]() -> cudaError_t {
        if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
            return cudaErrorInvalidMemcpyDirection;
        }
        if (!is_inside(symbol, bytes, offset)) return cudaErrorInvalidValue;
        if (bytes == 0) return cudaSuccess;
        const Side side = kind == cudaMemcpyDeviceToDevice ? Side::device : Side::any;
        const cudaError_t wrong = check_side(side, from, bytes);
        return wrong != cudaSuccess ? wrong : copy_bytes(static_cast<std::byte*>(symbol.address) + offset, from, bytes);
    });
}

cudaError_t copy_from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                             cudaStream_t stream, bool waits) {
    return call_in_stream(waits ? Waits::yes : waits_for(to, kind), stream, [&]() -> cudaError_t {
        if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
            return cudaErrorInvalidMemcpyDirection;
        }
        if (!is_inside(symbol, bytes, offset)) return cudaErrorInvalidValue;
        if (bytes == 0) return cudaSuccess;
        const Side side = kind == cudaMemcpyDeviceToDevice ? Side::device : Side::any;
        const cudaError_t wrong = check_side(side, to, bytes);
        return wrong != cudaSuccess ? wrong
                                    : copy_bytes(to, static_cast<const std::byte*>(symbol.address) + offset, bytes);
    });
}

cudaError_t symbol_address(void** pointer, Symbol symbol) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        // From now on copies by address know it as device memory.
        remember({static_cast<std::byte*>(symbol.address), symbol.bytes, MemoryKind::symbol, 0});
        *pointer = symbol.address;
        return cudaSuccess;
    });
}

cudaError_t symbol_size(std::size_t* bytes, Symbol symbol) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (bytes == nullptr) return cudaErrorInvalidValue;
        *bytes = symbol.bytes;
        return cudaSuccess;
    });
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return api_call(Waits::yes, [&] { return copy(to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return call_in_stream(waits_for(to, kind), stream, [&] { return copy(to, from, bytes, kind); });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    return api_call(Waits::yes, [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return call_in_stream(waits_for(to, kind), stream,
                          [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
    return call_in_stream(Waits::no, stream, [&]() -> cudaError_t {
        if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
        return copy(to, from, bytes, cudaMemcpyDeviceToDevice);
    });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
    return cudaMemsetAsync(pointer, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    return cudaMemset2DAsync(pointer, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(pointer, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return call_in_stream(Waits::no, stream, [&] { return fill_rows(pointer, pitch, value, width, height); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
    return cudaMemset3DAsync(pointer, value, extent, nullptr);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
    return call_in_stream(Waits::no, stream, [&]() -> cudaError_t {
        if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
        if (extent.height > pointer.ysize) return cudaErrorInvalidValue;
        const size_t slice = pointer.pitch * pointer.ysize;
        const size_t all_rows = pointer.ysize * (extent.depth - 1) + extent.height;
        const size_t bytes = extent_of_rows(pointer.pitch, extent.width, all_rows);
        if (bytes == 0 || check_side(Side::device, pointer.ptr, bytes) != cudaSuccess) return cudaErrorInvalidValue;
        for (size_t z = 0; z < extent.depth; ++z) {
            std::byte* first_row = static_cast<std::byte*>(pointer.ptr) + z * slice;
            const cudaError_t wrong = fill_rows(first_row, pointer.pitch, value, extent.width, extent.height);
            if (wrong != cudaSuccess) return wrong;
        }
        return cudaSuccess;
    });
}
