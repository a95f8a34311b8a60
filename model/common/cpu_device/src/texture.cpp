#include "cpu_device/texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "allocations.h"
#include "api_call.h"
#include "capture.h"
#include "copy_diagnostics.h"
#include "cpu_device/half.h"
#include "cpu_device/runtime_api.h"
#include "device_work.h"
#include "devices.h"
#include "diagnoser.h"
#include "live_objects.h"
#include "stream_order.h"
#include "streams.h"

/// Elements lie row after row and slice after slice without gaps. Once freed, an array stays behind without its
/// elements, so that textures that still name it are recognized.
struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;  ///< as given: 0 for dimensions that the array lacks
    unsigned flags;
    std::size_t element_bytes;
    std::unique_ptr<std::byte[]> elements;

    std::size_t row_bytes() const { return extent.width * element_bytes; }
    std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
    std::size_t slices() const { return std::max<std::size_t>(extent.depth, 1); }
    std::size_t slice_bytes() const { return row_bytes() * rows(); }
    bool layered() const { return (flags & cudaArrayLayered) != 0; }
};

namespace cpu_device {
namespace {

// Limits of compute capability 9.0: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::size_t kMax1D = 131072;
constexpr cudaExtent kMax2D = {131072, 65536, 0};
constexpr std::size_t kMax3D = 16384;
constexpr std::size_t kMaxLayeredWidth = 32768;
constexpr std::size_t kMaxLayers = 2048;
constexpr std::size_t kMaxLinearElements = std::size_t{1} << 30;
constexpr std::size_t kMaxPitch2DWidth = 131072;
constexpr std::size_t kMaxPitch2DHeight = 65000;
constexpr std::size_t kMaxPitch = 2097120;
constexpr std::size_t kTextureAlignment = 512;
constexpr std::size_t kTexturePitchAlignment = 32;

/// Bytes of an element; 0 if the format does not exist.
std::size_t element_bytes(const cudaChannelFormatDesc& format) {
    const int bits = format.x;
    const bool integer = format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned;
    const bool valid_bits = integer ? bits == 8 || bits == 16 || bits == 32
                                    : format.f == cudaChannelFormatKindFloat && (bits == 16 || bits == 32);
    if (!valid_bits) return 0;
    std::size_t channels = 1;
    if (format.y != 0) channels = format.z != 0 || format.w != 0 ? 4 : 2;
    const int expected[4] = {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0};
    if (format.y != expected[1] || format.z != expected[2] || format.w != expected[3]) return 0;
    return channels * static_cast<std::size_t>(bits) / 8;
}

// ---- arrays ------------------------------------------------------------------------------------------------

std::mutex arrays_mutex;

std::vector<std::unique_ptr<cudaArray>>& all_arrays() {
    static std::vector<std::unique_ptr<cudaArray>> arrays;
    return arrays;
}

std::unordered_set<cudaArray_const_t>& live_arrays() {
    static std::unordered_set<cudaArray_const_t> arrays;
    return arrays;
}

bool array_exists(cudaArray_const_t array) {
    std::lock_guard lock(arrays_mutex);
    return live_arrays().contains(array);
}

bool extent_fits(const cudaExtent& extent, bool layered) {
    if (extent.width == 0) return false;
    if (layered) {
        return extent.depth >= 1 && extent.depth <= kMaxLayers && extent.width <= kMaxLayeredWidth &&
               extent.height <= kMaxLayeredWidth;
    }
    if (extent.depth != 0) {
        return extent.height != 0 && extent.width <= kMax3D && extent.height <= kMax3D && extent.depth <= kMax3D;
    }
    if (extent.height != 0) return extent.width <= kMax2D.width && extent.height <= kMax2D.height;
    return extent.width <= kMax1D;
}

cudaError_t make_array(cudaArray_t* array, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned flags, unsigned allowed_flags) {
    if (array == nullptr || format == nullptr) return cudaErrorInvalidValue;
    const std::size_t bytes = element_bytes(*format);
    if (bytes == 0) return cudaErrorInvalidChannelDescriptor;
    if ((flags & ~allowed_flags) != 0 || !extent_fits(extent, (flags & cudaArrayLayered) != 0)) {
        return cudaErrorInvalidValue;
    }
    auto made = std::make_unique<cudaArray>(cudaArray{*format, extent, flags, bytes, nullptr});
    const std::size_t total = made->slice_bytes() * made->slices();
    made->elements.reset(new (std::nothrow) std::byte[total]);
    if (made->elements == nullptr) return cudaErrorMemoryAllocation;
    std::memset(made->elements.get(), 0xFF, total);  // nobody has written it: NaN, -1
    std::lock_guard lock(arrays_mutex);
    *array = made.get();
    live_arrays().insert(made.get());
    all_arrays().push_back(std::move(made));
    return cudaSuccess;
}

}  // namespace

void forget_arrays() {
    std::lock_guard lock(arrays_mutex);
    live_arrays().clear();
    for (const auto& array : all_arrays()) array->elements.reset();  // kernels see that it was freed
}

namespace {

// ---- copies ------------------------------------------------------------------------------------------------

bool valid_direction(cudaMemcpyKind kind, cudaMemcpyKind from_or_to_host) {
    return kind == from_or_to_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

/// A box of bytes inside memory or an array.
struct Box {
    std::byte* first;
    std::size_t pitch;
    std::size_t slice_pitch;
};

void copy_box(const Box& to, const Box& from, std::size_t width, std::size_t height, std::size_t depth) {
    for (std::size_t slice = 0; slice < depth; ++slice) {
        for (std::size_t row = 0; row < height; ++row) {
            std::byte* destination = to.first + slice * to.slice_pitch + row * to.pitch;
            std::memcpy(destination, from.first + slice * from.slice_pitch + row * from.pitch, width);
            note_host_write(destination, width);
        }
    }
}

/// True if `count` things from `first` on lie among `size`.
bool inside(std::size_t first, std::size_t count, std::size_t size) { return first <= size && count <= size - first; }

/// Whether `rows` rows of `width` bytes, `pitch` apart, lie in the allocation in which they begin. Only memory that the
/// program does not call the device's may be unknown: nobody can tell how far that goes.
bool fits_memory(const CopiedMemory& memory, std::size_t pitch, std::size_t width, std::size_t rows,
                 const ApiCall& call) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, rows - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) return false;
    report_copied_memory(memory, bytes, call);
    const bool on_device = memory.called_device();
    const auto allocation = find_for_host(memory.pointer);
    if (!allocation) return !on_device;
    return (!on_device && allocation->kind == MemoryKind::registered) || allocation->holds(memory.pointer, bytes);
}

Box box_of(cudaArray_const_t array, std::size_t x_bytes, std::size_t row, std::size_t slice) {
    return {array->elements.get() + slice * array->slice_bytes() + row * array->row_bytes() + x_bytes,
            array->row_bytes(), array->slice_bytes()};
}

bool fits(cudaArray_const_t array, std::size_t x_bytes, std::size_t row, std::size_t width, std::size_t height) {
    return inside(x_bytes, width, array->row_bytes()) && inside(row, height, array->rows());
}

cudaError_t copy_2d(cudaArray_const_t array, std::size_t x_bytes, std::size_t row, void* memory, std::size_t pitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, bool to_array, const ApiCall& call) {
    if (!valid_direction(kind, to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0) return cudaSuccess;
    if (memory == nullptr) return cudaErrorInvalidValue;
    // As on an H200, where a single row has no pitch.
    if (pitch < width) return height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
    if (!fits(array, x_bytes, row, width, height) ||
        !fits_memory({memory, !to_array, kind}, pitch, width, height, call)) {
        return cudaErrorInvalidValue;
    }
    const Box inside_array = box_of(array, x_bytes, row, 0);
    const Box outside = {static_cast<std::byte*>(memory), pitch, 0};
    if (to_array) {
        copy_box(inside_array, outside, width, height, 1);
    } else {
        copy_box(outside, inside_array, width, height, 1);
    }
    return cudaSuccess;
}

cudaError_t copy_consecutive(cudaArray_const_t array, std::size_t x_bytes, std::size_t row, void* memory,
                             std::size_t bytes, cudaMemcpyKind kind, bool to_array, const ApiCall& call) {
    if (!valid_direction(kind, to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost)) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
    if (bytes == 0) return cudaSuccess;
    if (memory == nullptr || x_bytes > array->row_bytes() || row >= array->rows() ||
        !inside(row * array->row_bytes() + x_bytes, bytes, array->slice_bytes()) ||
        !fits_memory({memory, !to_array, kind}, 0, bytes, 1, call)) {
        return cudaErrorInvalidValue;
    }
    std::byte* inside_array = box_of(array, x_bytes, row, 0).first;
    std::memcpy(to_array ? inside_array : memory, to_array ? memory : inside_array, bytes);
    if (!to_array) note_host_write(memory, bytes);
    return cudaSuccess;
}

/// One side of a 3-D copy of `extent` (in elements of `unit` bytes where an array takes part).
cudaError_t side_of_copy(Box& box, cudaArray_const_t array, const cudaPos& position, const cudaPitchedPtr& memory,
                         const cudaExtent& extent, std::size_t unit, bool is_destination, cudaMemcpyKind kind,
                         const ApiCall& call) {
    if ((array == nullptr) == (memory.ptr == nullptr)) return cudaErrorInvalidValue;
    if (array != nullptr) {
        if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
        if (!inside(position.x, extent.width, array->extent.width) ||
            !inside(position.y, extent.height, array->rows()) || !inside(position.z, extent.depth, array->slices())) {
            return cudaErrorInvalidValue;
        }
        box = box_of(array, position.x * unit, position.y, position.z);
        return cudaSuccess;
    }
    std::size_t slice_pitch = 0, width = 0, last_slice = 0, rows = 0;
    const bool too_large = __builtin_mul_overflow(memory.pitch, memory.ysize, &slice_pitch) ||
                           __builtin_mul_overflow(extent.width, unit, &width) ||
                           __builtin_add_overflow(position.z, extent.depth - 1, &last_slice) ||
                           __builtin_mul_overflow(memory.ysize, last_slice, &rows) ||
                           __builtin_add_overflow(rows, position.y, &rows) ||
                           __builtin_add_overflow(rows, extent.height, &rows);
    if (too_large || !inside(position.x, width, memory.pitch)) return cudaErrorInvalidValue;
    if (extent.depth > 1 && !inside(position.y, extent.height, memory.ysize)) return cudaErrorInvalidValue;
    if (!fits_memory({memory.ptr, is_destination, kind}, memory.pitch, position.x + width, rows, call)) {
        return cudaErrorInvalidValue;
    }
    box = {static_cast<std::byte*>(memory.ptr) + position.z * slice_pitch + position.y * memory.pitch + position.x,
           memory.pitch, slice_pitch};
    return cudaSuccess;
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, const ApiCall& call) {
    if (p == nullptr) return cudaErrorInvalidValue;
    if (p->kind < cudaMemcpyHostToHost || p->kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    const cudaExtent& extent = p->extent;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
    const bool from_device = p->kind == cudaMemcpyDeviceToHost || p->kind == cudaMemcpyDeviceToDevice;
    const bool to_device = p->kind == cudaMemcpyHostToDevice || p->kind == cudaMemcpyDeviceToDevice;
    if (p->kind != cudaMemcpyDefault &&
        ((p->srcArray != nullptr && !from_device) || (p->dstArray != nullptr && !to_device))) {
        return cudaErrorInvalidValue;
    }
    std::size_t unit = 1;
    for (cudaArray_const_t array : {p->srcArray, p->dstArray}) {
        if (array == nullptr) continue;
        if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
        if (unit != 1 && unit != array->element_bytes) return cudaErrorInvalidValue;
        unit = array->element_bytes;
    }
    Box from{};
    Box to{};
    cudaError_t status = side_of_copy(from, p->srcArray, p->srcPos, p->srcPtr, extent, unit, false, p->kind, call);
    if (status == cudaSuccess) {
        status = side_of_copy(to, p->dstArray, p->dstPos, p->dstPtr, extent, unit, true, p->kind, call);
    }
    if (status == cudaSuccess) copy_box(to, from, extent.width * unit, extent.height, extent.depth);
    return status;
}

/// What a copy does that is no asynchronous one. It is work of the default stream as long as the result lives.
StreamOfCall wait_for_default_stream() {
    (void)finish_stream(nullptr);
    note_order(OrderStep::work);
    note_order(OrderStep::stream_done);
    return StreamOfCall(nullptr);
}

/// An asynchronous copy is done at once, after its stream was looked at.
template <class Copy>
cudaError_t copy_in_stream(cudaStream_t stream, const Copy& copy, const ApiCall& call) {
    return api_call(
        Waits::no,
        [&] {
            if (logs_activity()) log_stream(stream);
            if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
            if (StreamCapture* const capture = stream_capture()) {
                if (const auto refused = capture->refuse(stream)) return *refused;
            }
            nothing_overlaps();
            (void)finish_stream(stream);
            const StreamOfCall in(stream);
            note_order(OrderStep::work, stream);
            return copy();
        },
        call);
}

// ---- texture objects ---------------------------------------------------------------------------------------

struct Texture {
    bool alive = false;
    cudaResourceDesc resource{};
    cudaTextureDesc description{};
    cudaArray_const_t array = nullptr;  ///< null for linear and pitched memory
    const std::byte* memory = nullptr;
    cudaChannelFormatDesc format{};
    std::size_t element_bytes = 0;
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t depth = 1;  ///< slices or layers
    std::size_t pitch = 0;
    bool returns_float = false;
    bool normalized_floats = false;  ///< integers become floats

    const std::byte* element(std::size_t x, std::size_t y, std::size_t z) const {
        const std::byte* first = array != nullptr ? array->elements.get() : memory;
        return first + (z * height + y) * pitch + x * element_bytes;
    }
};

struct Surface {
    bool alive = false;
    cudaResourceDesc resource{};
    cudaArray_const_t array = nullptr;
};

/// Objects whose handle is their address, so that kernels find them without a search. A destroyed object's memory
/// stays the pool's, so that its handle never leads astray.
template <class Object>
class Pool {
public:
    unsigned long long add(Object object) {
        std::lock_guard lock(mutex_);
        if (free_.empty()) {
            objects_.push_back(std::make_unique<Object>());
            free_.push_back(objects_.back().get());
            known_.insert(objects_.back().get());
        }
        Object* place = free_.back();
        free_.pop_back();
        *place = std::move(object);
        place->alive = true;
        return reinterpret_cast<std::uintptr_t>(place);
    }

    void remove(unsigned long long handle) {
        std::lock_guard lock(mutex_);
        if (Object* object = find(handle)) {
            object->alive = false;
            free_.insert(free_.begin(), object);  // to be used again as late as possible
        }
    }

    /// Calls `use(object)` if the handle is alive; otherwise returns cudaErrorInvalidValue.
    template <class Use>
    cudaError_t with(unsigned long long handle, const Use& use) {
        std::lock_guard lock(mutex_);
        Object* object = find(handle);
        if (object == nullptr) return cudaErrorInvalidValue;
        use(*object);
        return cudaSuccess;
    }

    /// For kernels.
    static const Object& get(unsigned long long handle, const char* kind) {
        const auto* object = reinterpret_cast<const Object*>(handle);
        if (handle < 4096 || handle % alignof(Object) != 0) {
            abort_kernel(cudaErrorIllegalAddress, "0x%llx is no %s object", handle, kind);
        }
        if (!object->alive) abort_kernel(cudaErrorIllegalAddress, "the %s object was destroyed", kind);
        if (object->array != nullptr && object->array->elements == nullptr) {
            abort_kernel(cudaErrorIllegalAddress, "the array of the %s object was freed", kind);
        }
        return *object;
    }

private:
    Object* find(unsigned long long handle) {
        auto* object = reinterpret_cast<Object*>(handle);
        return known_.contains(object) && object->alive ? object : nullptr;
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Object>> objects_;
    std::unordered_set<Object*> known_;
    std::vector<Object*> free_;
};

Pool<Texture>& textures() {
    static Pool<Texture> pool;
    return pool;
}

Pool<Surface>& surfaces() {
    static Pool<Surface> pool;
    return pool;
}

bool is_device_memory(const void* pointer) {
    cudaPointerAttributes attributes{};
    return cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess && attributes.devicePointer != nullptr;
}

bool usable_memory(const void* pointer) {
    return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % kTextureAlignment == 0 &&
           is_device_memory(pointer);
}

/// Fills in where the texture's elements lie and how many there are.
cudaError_t place_texture(Texture& texture, const cudaResourceDesc& resource) {
    switch (resource.resType) {
        case cudaResourceTypeArray: {
            const cudaArray_const_t array = resource.res.array.array;
            if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
            texture.array = array;
            texture.format = array->format;
            texture.width = array->extent.width;
            texture.height = array->rows();
            texture.depth = array->slices();
            texture.pitch = array->row_bytes();
            break;
        }
        case cudaResourceTypeLinear: {
            const auto& linear = resource.res.linear;
            texture.format = linear.desc;
            const std::size_t bytes = element_bytes(linear.desc);
            if (bytes == 0) return cudaErrorInvalidChannelDescriptor;
            if (!usable_memory(linear.devPtr) || linear.sizeInBytes / bytes > kMaxLinearElements) {
                return cudaErrorInvalidValue;
            }
            texture.memory = static_cast<const std::byte*>(linear.devPtr);
            texture.width = linear.sizeInBytes / bytes;
            texture.pitch = linear.sizeInBytes;
            break;
        }
        case cudaResourceTypePitch2D: {
            const auto& pitched = resource.res.pitch2D;
            texture.format = pitched.desc;
            const std::size_t bytes = element_bytes(pitched.desc);
            if (bytes == 0) return cudaErrorInvalidChannelDescriptor;
            if (!usable_memory(pitched.devPtr) || pitched.pitchInBytes % kTexturePitchAlignment != 0 ||
                pitched.pitchInBytes > kMaxPitch || pitched.width > kMaxPitch2DWidth ||
                pitched.height > kMaxPitch2DHeight || pitched.width * bytes > pitched.pitchInBytes) {
                return cudaErrorInvalidValue;
            }
            texture.memory = static_cast<const std::byte*>(pitched.devPtr);
            texture.width = pitched.width;
            texture.height = pitched.height;
            texture.pitch = pitched.pitchInBytes;
            break;
        }
        case cudaResourceTypeMipmappedArray:
            return cudaErrorInvalidResourceHandle;  // nobody can make one
        default:
            return cudaErrorInvalidValue;
    }
    texture.element_bytes = element_bytes(texture.format);
    return cudaSuccess;
}

cudaError_t check_reading(Texture& texture, const cudaTextureDesc& description) {
    for (const cudaTextureAddressMode mode : description.addressMode) {
        if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
    }
    if (description.filterMode != cudaFilterModePoint && description.filterMode != cudaFilterModeLinear) {
        return cudaErrorInvalidValue;
    }
    const bool float_elements = texture.format.f == cudaChannelFormatKindFloat;
    const bool can_be_normalized = !float_elements && texture.format.x < 32;
    const bool normalized = description.readMode == cudaReadModeNormalizedFloat;
    if (description.filterMode == cudaFilterModeLinear && !float_elements && !(normalized && can_be_normalized)) {
        return cudaErrorInvalidFilterSetting;
    }
    if (normalized && !can_be_normalized) return cudaErrorInvalidNormSetting;
    texture.normalized_floats = normalized;
    texture.returns_float = normalized || float_elements;
    return cudaSuccess;
}

// ---- fetches -----------------------------------------------------------------------------------------------

/// Channel `channel` of an element as a 32-bit word: an integer, or the bits of a float.
std::uint32_t raw_channel(const Texture& texture, const std::byte* element, int channel) {
    const cudaChannelFormatDesc& format = texture.format;
    const bool is_signed = format.f == cudaChannelFormatKindSigned;
    const std::byte* place = element + channel * format.x / 8;
    if (format.x == 32) {
        std::uint32_t word;
        std::memcpy(&word, place, 4);
        return word;
    }
    if (format.x == 16) {
        std::uint16_t half_word;
        std::memcpy(&half_word, place, 2);
        if (format.f == cudaChannelFormatKindFloat) {
            return std::bit_cast<std::uint32_t>(HalfFormat::to_float(half_word));
        }
        return is_signed ? static_cast<std::uint32_t>(static_cast<std::int16_t>(half_word)) : half_word;
    }
    const auto byte = static_cast<std::uint8_t>(*place);
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int8_t>(byte)) : byte;
}

/// An integer as a fraction of the largest one. The smallest signed one is a little below -1 until `clamp_fractions`.
float normalized(const Texture& texture, std::uint32_t word) {
    const int bits = texture.format.x;
    if (texture.format.f == cudaChannelFormatKindUnsigned) {
        return static_cast<float>(word) / static_cast<float>((1 << bits) - 1);
    }
    return static_cast<float>(static_cast<std::int32_t>(word)) / static_cast<float>((1 << (bits - 1)) - 1);
}

/// Comes after filtering, as an H200 does it.
Texel clamp_fractions(const Texture& texture, Texel texel) {
    if (texture.normalized_floats && texture.format.f == cudaChannelFormatKindSigned) {
        for (std::uint32_t& word : texel.word) {
            word = std::bit_cast<std::uint32_t>(std::max(std::bit_cast<float>(word), -1.0f));
        }
    }
    return texel;
}

int channels_of(const Texture& texture) { return static_cast<int>(texture.element_bytes) * 8 / texture.format.x; }

/// The border color as the texture's format can hold it.
std::uint32_t border_channel(const Texture& texture, int channel) {
    const float color = texture.description.borderColor[channel];
    if (texture.normalized_floats) {
        const bool is_signed = texture.format.f == cudaChannelFormatKindSigned;
        const auto largest = static_cast<float>((1 << (texture.format.x - (is_signed ? 1 : 0))) - 1);
        const float held = std::nearbyint(std::clamp(color, is_signed ? -1.0f : 0.0f, 1.0f) * largest) / largest;
        return std::bit_cast<std::uint32_t>(held);
    }
    const auto word = std::bit_cast<std::uint32_t>(color);
    if (texture.returns_float || texture.format.x == 32) return word;
    return word & ((1u << texture.format.x) - 1);
}

constexpr std::ptrdiff_t kBorder = -1;

Texel texel_at(const Texture& texture, std::ptrdiff_t x, std::ptrdiff_t y, std::ptrdiff_t z) {
    Texel texel;
    const bool border = x == kBorder || y == kBorder || z == kBorder;
    const std::byte* element =
        border ? nullptr
               : texture.element(static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z));
    for (int channel = 0; channel < channels_of(texture); ++channel) {
        if (border) {
            texel.word[channel] = border_channel(texture, channel);
        } else {
            const std::uint32_t word = raw_channel(texture, element, channel);
            texel.word[channel] =
                texture.normalized_floats ? std::bit_cast<std::uint32_t>(normalized(texture, word)) : word;
        }
    }
    return texel;
}

/// Where one coordinate leads: the elements to read along its axis, and what each counts for.
struct AxisSample {
    std::ptrdiff_t index[2] = {0, 0};
    double weight[2] = {1, 0};
};

std::ptrdiff_t addressed(std::ptrdiff_t index, std::ptrdiff_t size, cudaTextureAddressMode mode) {
    switch (mode) {
        case cudaAddressModeWrap: {
            const std::ptrdiff_t rest = index % size;
            return rest < 0 ? rest + size : rest;
        }
        case cudaAddressModeMirror: {
            std::ptrdiff_t rest = index % (2 * size);
            if (rest < 0) rest += 2 * size;
            return rest < size ? rest : 2 * size - 1 - rest;
        }
        case cudaAddressModeClamp:
            return std::clamp<std::ptrdiff_t>(index, 0, size - 1);
        case cudaAddressModeBorder:
            return index < 0 || index >= size ? kBorder : index;
    }
    return 0;
}

/// After the appendix "Texture Fetching". The fraction of linear filtering is rounded to 8 bits, halves upwards.
AxisSample sample_axis(const Texture& texture, int axis, float coordinate, std::size_t size) {
    AxisSample sample;
    if (size == 0 || std::isnan(coordinate)) return sample;
    const auto count = static_cast<std::ptrdiff_t>(size);
    const cudaTextureDesc& description = texture.description;
    cudaTextureAddressMode mode = description.addressMode[axis];
    double position = coordinate;
    if (description.normalizedCoords != 0) {
        if (mode == cudaAddressModeWrap) position -= std::floor(position);
        if (mode == cudaAddressModeMirror) position -= 2 * std::floor(position / 2);
        if (std::isnan(position)) return sample;  // infinity has no fraction
        position *= static_cast<double>(size);
    } else if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) {
        mode = cudaAddressModeClamp;
    }
    if (mode == cudaAddressModeClamp || mode == cudaAddressModeBorder) {
        position = std::clamp(position, -2.0, static_cast<double>(size) + 2);
    }
    if (description.filterMode == cudaFilterModePoint) {
        sample.index[0] = addressed(static_cast<std::ptrdiff_t>(std::floor(position)), count, mode);
        return sample;
    }
    const auto steps = static_cast<std::ptrdiff_t>(std::floor((position - 0.5) * 256 + 0.5));
    const std::ptrdiff_t first = steps >> 8;
    sample.index[0] = addressed(first, count, mode);
    sample.index[1] = addressed(first + 1, count, mode);
    sample.weight[1] = static_cast<double>(steps & 255) / 256;
    sample.weight[0] = 1 - sample.weight[1];
    return sample;
}

/// Of the corners of a cell: that at x + i, y + j, z + k has the index i + 2 j + 4 k.
using Weights = std::array<double, 8>;

/// What linear filtering gives the corners when the position lies at (x, y, z) in the cell. The weights are multiples
/// of 1/256, as the positions are: only the product of the two distances is rounded, the other weights of a cell of
/// four are what is left. So an H200 does it, for all of 432 reads in one and two dimensions; of three dimensions it
/// agrees for most, and is never further off than 1/256 per dimension (common/tests/api_corpus).
Weights weights_of(double x, double y, double z) {
    const auto rounded = [](double weight) { return std::floor(weight * 256 + 0.5) / 256; };
    const auto four = [&](double a, double b) {
        const double both = rounded(a * b);
        return std::array<double, 4>{1 - a - b + both, a - both, b - both, both};
    };
    Weights weights{};
    if (z == 0) {
        const std::array<double, 4> flat = four(x, y);
        std::copy(flat.begin(), flat.end(), weights.begin());
        return weights;
    }
    const std::array<double, 4> in_x_and_z = four(x, z);
    for (unsigned corner = 0; corner < 4; ++corner) {
        const unsigned index = (corner & 1) + 4 * (corner >> 1);
        weights[index + 2] = rounded(in_x_and_z[corner] * y);
        weights[index] = in_x_and_z[corner] - weights[index + 2];
    }
    return weights;
}

Texel filtered(const Texture& texture, const AxisSample& x, const AxisSample& y, const AxisSample& z) {
    if (texture.description.filterMode == cudaFilterModePoint) {
        return texel_at(texture, x.index[0], y.index[0], z.index[0]);
    }
    const Weights weights = weights_of(x.weight[1], y.weight[1], z.weight[1]);
    double sum[4] = {};
    for (unsigned corner = 0; corner < 8; ++corner) {
        const unsigned i = corner & 1;
        const unsigned j = corner >> 1 & 1;
        const unsigned k = corner >> 2;
        const double weight = weights[corner];
        if (weight == 0) continue;
        const Texel texel = texel_at(texture, x.index[i], y.index[j], z.index[k]);
        for (int channel = 0; channel < 4; ++channel) {
            sum[channel] += weight * static_cast<double>(std::bit_cast<float>(texel.word[channel]));
        }
    }
    Texel result;
    for (int channel = 0; channel < 4; ++channel) {
        result.word[channel] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[channel]));
    }
    return result;
}

struct FetchKind {
    const char* name;
    unsigned dimensions;
    bool layered;
};

FetchKind describe(Fetch fetch) {
    switch (fetch) {
        case Fetch::linear_1d:
            return {"tex1Dfetch", 1, false};
        case Fetch::array_1d:
            return {"tex1D", 1, false};
        case Fetch::array_2d:
            return {"tex2D", 2, false};
        case Fetch::array_3d:
            return {"tex3D", 3, false};
        case Fetch::layered_1d:
            return {"tex1DLayered", 1, true};
        case Fetch::layered_2d:
            return {"tex2DLayered", 2, true};
    }
    return {"", 0, false};
}

/// Ends the kernel if this kind of fetch cannot read this texture: a GPU would return garbage.
void check_fetch(const Texture& texture, Fetch fetch, bool as_float) {
    const FetchKind kind = describe(fetch);
    const bool linear = texture.resource.resType == cudaResourceTypeLinear;
    if (linear != (fetch == Fetch::linear_1d)) {
        abort_kernel(cudaErrorLaunchFailure,
                     linear ? "%s of a texture in linear memory, which only tex1Dfetch can read"
                            : "%s of a texture that does not lie in linear memory",
                     kind.name);
    }
    if (texture.array != nullptr) {
        const bool layered = texture.array->layered();
        const unsigned dimensions = !layered && texture.array->extent.depth != 0 ? 3 : texture.height > 1 ? 2 : 1;
        // An array of one row is 1-D or 2-D, as the program likes.
        const bool one_row = dimensions == 1 && kind.dimensions == 2 && texture.array->extent.height == 1;
        if (layered != kind.layered || (dimensions != kind.dimensions && !one_row)) {
            abort_kernel(cudaErrorLaunchFailure, "%s of a texture on a %s%u-D array", kind.name,
                         layered ? "layered " : "", dimensions);
        }
    } else if (!linear && fetch != Fetch::array_2d) {
        abort_kernel(cudaErrorLaunchFailure, "%s of a texture in pitched memory, which only tex2D can read", kind.name);
    }
    const bool plain_words = texture.format.x == 32 && !texture.normalized_floats;
    if (as_float != texture.returns_float && !plain_words) {
        abort_kernel(cudaErrorLaunchFailure,
                     as_float ? "%s asks for floats, but the texture returns integers: ask for its element type or set "
                                "readMode to cudaReadModeNormalizedFloat"
                              : "%s asks for integers, but the texture returns floats",
                     kind.name);
    }
}

}  // namespace

Texel fetch_texel(cudaTextureObject_t handle, Fetch fetch, const TextureCoordinates& at, bool as_float) {
    const Texture& texture = Pool<Texture>::get(handle, "texture");
    check_fetch(texture, fetch, as_float);
    if (fetch == Fetch::linear_1d) {
        if (at.element < 0 || static_cast<std::size_t>(at.element) >= texture.width) return {};
        return clamp_fractions(texture, texel_at(texture, at.element, 0, 0));
    }
    const FetchKind kind = describe(fetch);
    const AxisSample x = sample_axis(texture, 0, at.x, texture.width);
    // A 1-D texture is a 2-D one of one row that is read at y = 0, and a layer of one at the row's center. That shows
    // where y has a border and is filtered (seen on an H200): half of the result of tex1D is border then.
    const AxisSample y = kind.dimensions == 1 ? sample_axis(texture, 1, kind.layered ? 0.5f : 0.0f, 1)
                                              : sample_axis(texture, 1, at.y, texture.height);
    AxisSample z;
    if (kind.dimensions == 3) z = sample_axis(texture, 2, at.z, texture.depth);
    if (kind.layered) {
        // Below 0 wraps around to large numbers, which mean the last layer.
        const std::size_t last = texture.depth - 1;
        z.index[0] = static_cast<std::ptrdiff_t>(std::min<std::size_t>(static_cast<unsigned>(at.layer), last));
    }
    return clamp_fractions(texture, filtered(texture, x, y, z));
}

void* surface_address(cudaSurfaceObject_t handle, unsigned dimensions, int x, int y, int z, std::size_t bytes,
                      cudaSurfaceBoundaryMode mode) {
    const cudaArray& array = *Pool<Surface>::get(handle, "surface").array;
    const unsigned has = array.extent.depth != 0 ? 3 : array.extent.height != 0 ? 2 : 1;
    if (dimensions != has || array.layered()) {
        abort_kernel(cudaErrorLaunchFailure, "a %u-D surface access to a %s%u-D array", dimensions,
                     array.layered() ? "layered " : "", has);
    }
    const auto size = static_cast<std::ptrdiff_t>(bytes);
    if (x % size != 0) {
        abort_kernel(cudaErrorMisalignedAddress,
                     "a surface access at x = %d: x counts bytes and has to be a multiple of %d", x,
                     static_cast<int>(size));
    }
    std::ptrdiff_t place[3] = {x, y, z};
    const std::ptrdiff_t last[3] = {static_cast<std::ptrdiff_t>(array.row_bytes()) - size,
                                    static_cast<std::ptrdiff_t>(array.rows()) - 1,
                                    static_cast<std::ptrdiff_t>(array.slices()) - 1};
    for (int axis = 0; axis < 3; ++axis) {
        if (place[axis] >= 0 && place[axis] <= last[axis]) continue;
        if (mode == cudaBoundaryModeZero) return nullptr;
        if (mode == cudaBoundaryModeTrap) {
            abort_kernel(cudaErrorIllegalAddress, "a surface access outside the array, at x = %d bytes, y = %d, z = %d",
                         x, y, z);
        }
        place[axis] = std::clamp<std::ptrdiff_t>(place[axis], 0, last[axis]);
    }
    return box_of(&array, static_cast<std::size_t>(place[0]), static_cast<std::size_t>(place[1]),
                  static_cast<std::size_t>(place[2]))
        .first;
}

}  // namespace cpu_device

using namespace cpu_device;

// ---- arrays ------------------------------------------------------------------------------------------------

namespace {

cudaError_t allocate_array(cudaArray_t* array, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                           unsigned flags, unsigned allowed_flags, const void* code,
                           const char* name = __builtin_FUNCTION()) {
    const auto allocate = [&] {
        const bool is_3d = (allowed_flags & cudaArrayLayered) != 0;
        if (is_3d && (flags & cudaArrayCubemap) != 0) {
            return unsupported("cubemaps (cudaArrayCubemap)", {});
        }
        const cudaError_t made = make_array(array, format, extent, flags, allowed_flags);
        if (made == cudaSuccess) note_created(ObjectKind::array, *array, code);
        return made;
    };
    return api_call(Waits::no, allocate, name, code);
}

/// A texture or surface object, as leaks know it.
const void* handle_of(unsigned long long object) { return reinterpret_cast<const void*>(object); }

}  // namespace

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned flags) {
    return allocate_array(array, format, {width, height, 0}, flags, cudaArraySurfaceLoadStore | cudaArrayTextureGather,
                          __builtin_return_address(0));
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
    return allocate_array(array, format, extent, flags,
                          cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather,
                          __builtin_return_address(0));
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        if (array == nullptr) return cudaSuccess;
        std::lock_guard lock(arrays_mutex);
        if (live_arrays().erase(array) == 0) return cudaErrorInvalidResourceHandle;
        note_destroyed(ObjectKind::array, array);
        array->elements.reset();
        return cudaSuccess;
    });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
    return api_call(Waits::no, [&] {
        if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
        if (format != nullptr) *format = array->format;
        if (extent != nullptr) *extent = array->extent;
        if (flags != nullptr) *flags = array->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
    return api_call(Waits::no, [&] {
        if (!array_exists(array)) return cudaErrorInvalidResourceHandle;
        if (format == nullptr) return cudaErrorInvalidValue;
        *format = array->format;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpy2DToArray", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        return copy_2d(to, x_bytes, row, const_cast<void*>(from), pitch, width, height, kind, true, call);
    });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpy2DToArrayAsync", {}, __builtin_return_address(0)};
    return copy_in_stream(
        stream,
        [&] { return copy_2d(to, x_bytes, row, const_cast<void*>(from), pitch, width, height, kind, true, call); },
        call);
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t row,
                                  size_t width, size_t height, cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpy2DFromArray", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        return copy_2d(from, x_bytes, row, to, pitch, width, height, kind, false, call);
    });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x_bytes, size_t row,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpy2DFromArrayAsync", {}, __builtin_return_address(0)};
    return copy_in_stream(
        stream, [&] { return copy_2d(from, x_bytes, row, to, pitch, width, height, kind, false, call); }, call);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x_bytes, size_t to_row, cudaArray_const_t from,
                                     size_t from_x_bytes, size_t from_row, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
        if (!array_exists(to) || !array_exists(from)) return cudaErrorInvalidResourceHandle;
        if (!fits(to, to_x_bytes, to_row, width, height) || !fits(from, from_x_bytes, from_row, width, height)) {
            return cudaErrorInvalidValue;
        }
        copy_box(box_of(to, to_x_bytes, to_row, 0), box_of(from, from_x_bytes, from_row, 0), width, height, 1);
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpyToArray", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        return copy_consecutive(to, x_bytes, row, const_cast<void*>(from), bytes, kind, true, call);
    });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x_bytes, size_t row, const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpyToArrayAsync", {}, __builtin_return_address(0)};
    return copy_in_stream(
        stream, [&] { return copy_consecutive(to, x_bytes, row, const_cast<void*>(from), bytes, kind, true, call); },
        call);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x_bytes, size_t row, size_t bytes,
                                cudaMemcpyKind kind) {
    const ApiCall call{"cudaMemcpyFromArray", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        return copy_consecutive(from, x_bytes, row, to, bytes, kind, false, call);
    });
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x_bytes, size_t row, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpyFromArrayAsync", {}, __builtin_return_address(0)};
    return copy_in_stream(
        stream, [&] { return copy_consecutive(from, x_bytes, row, to, bytes, kind, false, call); }, call);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    const ApiCall call{"cudaMemcpy3D", {}, __builtin_return_address(0)};
    return api_call(Waits::yes, [&] {
        const StreamOfCall in = wait_for_default_stream();
        return copy_3d(parameters, call);
    });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
    const ApiCall call{"cudaMemcpy3DAsync", {}, __builtin_return_address(0)};
    return copy_in_stream(
        stream, [&] { return copy_3d(parameters, call); }, call);
}

// ---- texture and surface objects ---------------------------------------------------------------------------

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view, Site site) {
    const void* code = __builtin_return_address(0);
    return api_call(Waits::no, [&] {
        if (texture == nullptr || resource == nullptr) return cudaErrorInvalidValue;
        if (description == nullptr) return cudaErrorInvalidResourceHandle;  // what CUDA 13 returns
        if (view != nullptr) return unsupported("resource views of textures (cudaResourceViewDesc)", site);
        if (description->sRGB != 0) return unsupported("sRGB textures (cudaTextureDesc::sRGB)", site);
        Texture made;
        made.resource = *resource;
        made.description = *description;
        cudaError_t status = place_texture(made, *resource);
        if (status == cudaSuccess) status = check_reading(made, *description);
        if (status != cudaSuccess) return status;
        *texture = textures().add(made);
        note_created(ObjectKind::texture, handle_of(*texture), code);
        return cudaSuccess;
    });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return api_call(Waits::no, [&] {
        textures().remove(texture);
        note_destroyed(ObjectKind::texture, handle_of(texture));
        return cudaSuccess;  // for unknown objects too
    });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
    return api_call(Waits::no, [&] {
        if (resource == nullptr) return cudaErrorInvalidValue;
        return textures().with(texture, [&](const Texture& found) { *resource = found.resource; });
    });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
    return api_call(Waits::no, [&] {
        if (description == nullptr) return cudaErrorInvalidValue;
        return textures().with(texture, [&](const Texture& found) { *description = found.description; });
    });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements, const cudaChannelFormatDesc* format, int device) {
    return api_call(Waits::no, [&] {
        if (elements == nullptr || format == nullptr) return cudaErrorInvalidValue;
        if (!device_exists(device)) return cudaErrorInvalidDevice;
        if (element_bytes(*format) == 0) return cudaErrorInvalidChannelDescriptor;
        *elements = kMaxLinearElements;
        return cudaSuccess;
    });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
    const void* code = __builtin_return_address(0);
    return api_call(Waits::no, [&] {
        if (surface == nullptr || resource == nullptr) return cudaErrorInvalidValue;
        if (resource->resType != cudaResourceTypeArray) return cudaErrorInvalidChannelDescriptor;
        if (!array_exists(resource->res.array.array)) return cudaErrorInvalidResourceHandle;
        *surface = surfaces().add({false, *resource, resource->res.array.array});
        note_created(ObjectKind::surface, handle_of(*surface), code);
        return cudaSuccess;
    });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return api_call(Waits::no, [&] {
        surfaces().remove(surface);
        note_destroyed(ObjectKind::surface, handle_of(surface));
        return cudaSuccess;  // for unknown objects too
    });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
    return api_call(Waits::no, [&] {
        if (resource == nullptr) return cudaErrorInvalidValue;
        return surfaces().with(surface, [&](const Surface& found) { *resource = found.resource; });
    });
}
