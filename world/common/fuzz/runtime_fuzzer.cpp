// Fuzzes the runtime API: bytes become a sequence of calls with odd arguments. No call may crash, memory that is handed
// out can be used, copies that succeed have copied, errors are known ones and show in cudaGetLastError() as they
// should.
//
// What a program may not do is left out: a pointer to host memory comes with a size that lies in it, and freed memory
// is handed over only where the runtime has to refuse it.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu_device/device_model.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/instrument.h"

namespace {

namespace model = cpu_device::model;

void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "runtime_fuzzer: %s\n", what);
    std::abort();
}

/// Numbers out of the fuzzer's bytes; zeros once they are used up.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

    bool empty() const { return data_ == end_; }
    unsigned byte() { return empty() ? 0 : *data_++; }
    unsigned below(std::size_t bound) { return static_cast<unsigned>(byte() % bound); }
    bool flag() { return byte() % 2 != 0; }

    template <class T, std::size_t n>
    T one_of(const std::array<T, n>& values) {
        return values[below(n)];
    }

    /// Any of 2^32 values, small ones and those at the edges more often.
    unsigned word() {
        static constexpr std::array<unsigned, 20> edges{0,    1,    2,     3,     31,         32,         33,
                                                        63,   64,   65,    255,   1023,       1024,       1025,
                                                        2048, 4096, 65535, 65536, 0x7FFFFFFF, 0xFFFFFFFFu};
        if (flag()) return one_of(edges);
        unsigned value = 0;
        for (int i = 0; i < 4; ++i) value = value << 8 | byte();
        return value;
    }
    int number() { return static_cast<int>(word()); }

    /// Bytes, rows ...: mostly few, sometimes so many that sums and products overflow.
    std::size_t size() {
        static constexpr std::array<std::size_t, 8> huge{SIZE_MAX,
                                                         SIZE_MAX - 1,
                                                         SIZE_MAX / 2 + 1,
                                                         SIZE_MAX / 2,
                                                         std::size_t{1} << 62,
                                                         std::size_t{1} << 33,
                                                         std::size_t{1} << 31,
                                                         SIZE_MAX - 511};
        switch (below(8)) {
            case 0:
                return one_of(huge);
            case 1:
                return word();
            case 2:
                return byte() << 8 | byte();
            default:
                return byte();
        }
    }

    template <class Enumeration>
    Enumeration enumerator(unsigned count) {
        return static_cast<Enumeration>(static_cast<int>(below(count + 2)) - 1);
    }

private:
    const std::uint8_t* data_;
    const std::uint8_t* end_;
};

// ---- kernels ---------------------------------------------------------------------------------------------

std::atomic<std::uint64_t> threads_run;

void count_threads(int* /*pointer*/, int /*number*/) { threads_run.fetch_add(1, std::memory_order_relaxed); }

void fetch_texels(cudaTextureObject_t texture, float x, float y) {
    threads_run.fetch_add(1, std::memory_order_relaxed);
    static_cast<void>(tex2D<float>(texture, x, y));
}

int device_variable[16];

// ---- a program that holds memory, streams and events -----------------------------------------------------

struct Region {
    std::byte* address;
    std::size_t bytes;
    cudaMemoryType type;
};

struct Array {
    cudaArray_t handle;
    bool holds_floats_2d;
};

/// One side of a copy.
struct Place {
    std::byte* address;
    std::size_t room;  ///< bytes from there to the end
    bool host;         ///< the runtime cannot know how many bytes are there
};

constexpr std::size_t kHostBytes = 1 << 16;
constexpr std::size_t kMostBytes = 1 << 20;  ///< of an allocation that has to be touched

class Program {
public:
    explicit Program(Input& input) : in_(input), host_(kHostBytes) {
        cpu_device::instrument({.diagnostics = in_.flag()});
        require(cudaMemGetInfo(&free_at_start_, nullptr) == cudaSuccess, "cudaMemGetInfo fails");
    }

    void run() {
        while (!in_.empty()) step();
        reset();
        std::size_t free_now = 0;
        check(cudaMemGetInfo(&free_now, nullptr));
        require(free_now == free_at_start_, "cudaDeviceReset leaves device memory in use");
        cudaGetLastError();
        cpu_device::take_diagnostics();
    }

private:
    /// Every call's result goes through here.
    cudaError_t check(cudaError_t error) {
        require(std::strcmp(cudaGetErrorName(error), "unrecognized error code") != 0, "an error that does not exist");
        require(cudaGetErrorString(error)[0] != '\0', "an error without a description");
        if (error != cudaSuccess) last_error_ = error;
        require(cudaPeekAtLastError() == last_error_, "cudaPeekAtLastError is not the last error");
        return error;
    }

    void step() {
        switch (in_.below(25)) {
            case 0:
            case 1:
                return allocate();
            case 2:
                return allocate_pitched();
            case 3:
                return free();
            case 4:
            case 5:
                return copy();
            case 6:
                return copy_rows();
            case 7:
                return fill();
            case 8:
                return fill_rows();
            case 9:
                return fill_box();
            case 10:
                return use_streams();
            case 11:
                return use_events();
            case 12:
                return register_memory();
            case 13:
                return ask_about_memory();
            case 14:
                return make_array();
            case 15:
            case 16:
                return copy_array();
            case 17:
                return copy_box();
            case 18:
                return read_texture();
            case 19:
                return ask_for_occupancy();
            case 20:
                return set_attributes();
            case 21:
                return copy_symbol();
            case 22:
            case 23:
                return launch();
            default:
                if (in_.below(4) == 0) return reset();
                require(cudaGetLastError() == last_error_, "cudaGetLastError is not the last error");
                last_error_ = cudaSuccess;
                require(cudaGetLastError() == cudaSuccess, "cudaGetLastError does not forget the error");
        }
    }

    void reset() {
        check(cudaDeviceReset());
        for (const Array& array : arrays_) {
            cudaExtent extent{};
            require(check(cudaArrayGetInfo(nullptr, &extent, nullptr, array.handle)) == cudaErrorInvalidResourceHandle,
                    "an array outlives cudaDeviceReset");
        }
        regions_.clear();
        freed_.clear();
        streams_.clear();
        events_.clear();
        arrays_.clear();
        most_shared_bytes_ = model::shared_bytes_per_block;
    }

    // ---- what the calls get

    cudaStream_t stream() {
        const unsigned i = in_.below(8);
        if (i < streams_.size()) return streams_[i];  // it may have been destroyed
        if (i == 7) return reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(in_.byte() * 16));
        return nullptr;
    }

    cudaEvent_t event() {
        const unsigned i = in_.below(8);
        if (i < events_.size()) return events_[i];
        return reinterpret_cast<cudaEvent_t>(static_cast<std::uintptr_t>(in_.byte() * 16));
    }

    cudaArray_t array() {
        const unsigned i = in_.below(8);
        return i < arrays_.size() ? arrays_[i].handle : nullptr;
    }

    cudaMemcpyKind kind() { return in_.enumerator<cudaMemcpyKind>(cudaMemcpyDefault + 1); }

    /// Memory somewhere. `refused`: the call has to refuse what is not in the device's reach.
    Place place(bool refused) {
        const unsigned choice = in_.below(8);
        if (choice == 0) return {nullptr, 0, false};
        if (choice == 1 && refused && !freed_.empty()) return {freed_[in_.below(freed_.size())], 0, false};
        if (choice < 3 || regions_.empty()) {
            const std::size_t offset = in_.byte();
            return {host_.data() + offset, kHostBytes - offset, true};
        }
        const Region& region = regions_[in_.below(regions_.size())];
        const std::size_t offset = in_.flag() ? std::min<std::size_t>(in_.size(), region.bytes - 1) : 0;
        return {region.address + offset, region.bytes - offset, false};
    }
    Place destination(cudaMemcpyKind kind) {
        return place(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
    }
    Place source(cudaMemcpyKind kind) {
        return place(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
    }

    /// Makes rows fit into memory whose size the runtime cannot know.
    static void fit(const Place& place, std::size_t pitch, std::size_t& width, std::size_t& height) {
        if (!place.host) return;
        std::size_t bytes = 0;
        const bool fits = height == 0 || (!__builtin_mul_overflow(pitch, height - 1, &bytes) &&
                                          !__builtin_add_overflow(bytes, width, &bytes) && bytes <= place.room);
        if (fits) return;
        width = std::min(width, place.room);
        height = 1;
    }

    // ---- memory

    void add_region(void* pointer, std::size_t bytes, cudaMemoryType type) {
        if (bytes == 0) return require(pointer == nullptr, "memory of no bytes has an address");
        require(pointer != nullptr, "memory has no address");
        auto* address = static_cast<std::byte*>(pointer);
        require(reinterpret_cast<std::uintptr_t>(address) % model::allocation_alignment == 0, "memory is misaligned");
        if (bytes <= kMostBytes) {
            std::memset(address, 0x5A, bytes);
        } else {
            address[0] = address[bytes - 1] = std::byte{0x5A};
        }
        for (const Region& other : regions_)
            require(address + bytes <= other.address || other.address + other.bytes <= address, "memory overlaps");
        std::erase_if(freed_, [&](const std::byte* old) { return address <= old && old < address + bytes; });
        regions_.push_back({address, bytes, type});
        if (bytes > kMostBytes) release(regions_.size() - 1);  // too much to be copied and filled in a fuzzer's time
    }

    void release(std::size_t i) {
        const Region region = regions_[i];
        regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
        const cudaError_t error =
            region.type == cudaMemoryTypeHost ? cudaFreeHost(region.address) : cudaFree(region.address);
        require(check(error) == cudaSuccess, "memory cannot be freed");
        freed_.push_back(region.address);
    }

    void allocate() {
        if (regions_.size() > 16) return;
        const std::size_t bytes = in_.size();
        void* pointer = &pointer;
        cudaMemoryType type = cudaMemoryTypeDevice;
        cudaError_t error = cudaSuccess;
        switch (in_.below(6)) {
            case 0:
                error = cudaMallocManaged(&pointer, bytes, in_.flag() ? cudaMemAttachGlobal : in_.word());
                type = cudaMemoryTypeManaged;
                break;
            case 1:
                error = cudaMallocHost(&pointer, bytes);
                type = cudaMemoryTypeHost;
                break;
            case 2:
                error = cudaHostAlloc(&pointer, bytes, in_.flag() ? cudaHostAllocMapped : in_.word());
                type = cudaMemoryTypeHost;
                break;
            case 3:
                error = cudaMallocAsync(&pointer, bytes, stream());
                break;
            case 4:
                check(cudaMalloc(static_cast<void**>(nullptr), bytes));
                return;
            default:
                error = cudaMalloc(&pointer, bytes);
        }
        if (check(error) == cudaSuccess) add_region(pointer, bytes, type);
    }

    void allocate_pitched() {
        if (regions_.size() > 16) return;
        const std::size_t width = in_.size(), rows = in_.size();
        if (in_.flag()) {
            void* pointer = nullptr;
            std::size_t pitch = 0;
            if (check(cudaMallocPitch(&pointer, &pitch, width, rows)) != cudaSuccess) return;
            require(pitch >= width || rows == 0, "a pitch is less than the width");
            add_region(pointer, pitch * rows, cudaMemoryTypeDevice);
        } else {
            const std::size_t depth = in_.size();
            cudaPitchedPtr pointer{};
            if (check(cudaMalloc3D(&pointer, {width, rows, depth})) != cudaSuccess) return;
            require(pointer.xsize == width && pointer.ysize == rows, "a pitched pointer has another size");
            add_region(pointer.ptr, pointer.pitch * rows * depth, cudaMemoryTypeDevice);
        }
    }

    void free() {
        if (in_.below(3) == 0) {  // what is not to be freed, or not by this function
            Place odd = place(true);
            const bool starts = std::any_of(regions_.begin(), regions_.end(),
                                            [&](const Region& region) { return region.address == odd.address; });
            if (starts) ++odd.address;
            const cudaError_t error = in_.flag() ? cudaFree(odd.address) : cudaFreeHost(odd.address);
            require((check(error) == cudaSuccess) == (odd.address == nullptr), "something odd can be freed");
        } else if (!regions_.empty()) {
            release(in_.below(regions_.size()));
        }
    }

    void copy() {
        const cudaMemcpyKind direction = kind();
        const Place to = destination(direction), from = source(direction);
        std::size_t bytes = in_.size();
        if (to.host) bytes = std::min(bytes, to.room);
        if (from.host) bytes = std::min(bytes, from.room);
        const cudaError_t error = in_.flag() ? cudaMemcpy(to.address, from.address, bytes, direction)
                                             : cudaMemcpyAsync(to.address, from.address, bytes, direction, stream());
        if (check(error) != cudaSuccess || bytes == 0) return;
        require(bytes <= to.room && bytes <= from.room, "a copy goes past the end of an allocation");
        const bool apart = to.address + bytes <= from.address || from.address + bytes <= to.address;
        if (apart) require(std::memcmp(to.address, from.address, bytes) == 0, "a copy differs");
    }

    void copy_symbol() {
        const cudaMemcpyKind direction = kind();
        const bool to_symbol = in_.flag();
        const Place memory = to_symbol ? source(direction) : destination(direction);
        const std::size_t offset = in_.size();
        std::size_t bytes = in_.size();
        if (memory.host) bytes = std::min(bytes, memory.room);
        const cudaError_t error = to_symbol
                                      ? cudaMemcpyToSymbol(device_variable, memory.address, bytes, offset, direction)
                                      : cudaMemcpyFromSymbol(memory.address, device_variable, bytes, offset, direction);
        if (check(error) != cudaSuccess || bytes == 0) return;
        require(offset < sizeof device_variable && bytes <= sizeof device_variable - offset,
                "a copy goes past the end of a variable");
        require(bytes <= memory.room, "a copy goes past the end of an allocation");
    }

    void copy_rows() {
        const cudaMemcpyKind direction = kind();
        const Place to = destination(direction), from = source(direction);
        const std::size_t to_pitch = in_.size(), from_pitch = in_.size();
        std::size_t width = in_.size(), height = in_.size();
        fit(to, to_pitch, width, height);
        fit(from, from_pitch, width, height);
        check(in_.flag() ? cudaMemcpy2D(to.address, to_pitch, from.address, from_pitch, width, height, direction)
                         : cudaMemcpy2DAsync(to.address, to_pitch, from.address, from_pitch, width, height, direction,
                                             stream()));
    }

    void fill() {
        const Place to = place(true);
        const std::size_t bytes = in_.size();
        const int value = in_.number();
        const cudaError_t error =
            in_.flag() ? cudaMemset(to.address, value, bytes) : cudaMemsetAsync(to.address, value, bytes, stream());
        if (check(error) != cudaSuccess || bytes == 0) return;
        require(bytes <= to.room, "a fill goes past the end of an allocation");
        const auto filled = [&](std::byte b) { return b == static_cast<std::byte>(value); };
        require(std::all_of(to.address, to.address + bytes, filled), "memory is filled with something else");
    }

    void fill_rows() {
        const Place to = place(true);
        const std::size_t pitch = in_.size(), width = in_.size(), height = in_.size();
        check(in_.flag() ? cudaMemset2D(to.address, pitch, in_.number(), width, height)
                         : cudaMemset2DAsync(to.address, pitch, in_.number(), width, height, stream()));
    }

    void fill_box() {
        const Place to = place(true);
        const cudaPitchedPtr pointer{to.address, in_.size(), in_.size(), in_.size()};
        const cudaExtent extent{in_.size(), in_.size(), in_.size()};
        check(in_.flag() ? cudaMemset3D(pointer, in_.number(), extent)
                         : cudaMemset3DAsync(pointer, in_.number(), extent, stream()));
    }

    void register_memory() {
        const std::size_t offset = in_.byte() * std::size_t{64};
        const std::size_t bytes = in_.size();
        std::byte* begin = host_.data() + offset;
        const unsigned flags = in_.flag() ? cudaHostRegisterDefault : in_.word();
        if (in_.flag()) {
            check(cudaHostUnregister(in_.flag() ? begin : place(true).address));
        } else if (check(cudaHostRegister(begin, bytes, flags)) == cudaSuccess) {
            // Page-locking memory that the program does not have is a mistake that only an operating system sees.
            if (bytes > kHostBytes - offset) check(cudaHostUnregister(begin));
        }
    }

    void ask_about_memory() {
        const Place at = place(true);
        cudaPointerAttributes attributes{};
        check(cudaPointerGetAttributes(in_.below(8) == 0 ? nullptr : &attributes, at.address));
        unsigned flags = 0;
        check(cudaHostGetFlags(&flags, at.address));
        void* device_pointer = nullptr;
        check(cudaHostGetDevicePointer(&device_pointer, at.address, in_.below(2)));
        const cudaMemLocation location{in_.enumerator<cudaMemLocationType>(5), in_.number()};
        check(cudaMemAdvise(at.address, in_.size(), in_.enumerator<cudaMemoryAdvise>(7), location));
        check(cudaMemPrefetchAsync(at.address, in_.size(), location, in_.below(2), stream()));
        check(cudaStreamAttachMemAsync(stream(), at.address, in_.size(), in_.below(8)));
    }

    // ---- streams and events

    void use_streams() {
        cudaStream_t made = nullptr;
        unsigned flags = 0;
        int priority = 0;
        unsigned long long id = 0;
        switch (in_.below(6)) {
            case 0:
                if (check(cudaStreamCreateWithPriority(&made, in_.word(), in_.number())) == cudaSuccess)
                    streams_.push_back(made);
                break;
            case 1:
                if (check(cudaStreamCreate(in_.below(8) == 0 ? nullptr : &made)) == cudaSuccess)
                    streams_.push_back(made);
                break;
            case 2:
                check(cudaStreamDestroy(stream()));
                break;
            case 3:
                check(cudaStreamSynchronize(stream()));
                check(cudaStreamQuery(stream()));
                break;
            case 4:
                check(cudaStreamGetFlags(stream(), &flags));
                check(cudaStreamGetPriority(stream(), &priority));
                check(cudaStreamGetId(stream(), in_.below(8) == 0 ? nullptr : &id));
                break;
            default:
                check(cudaStreamWaitEvent(stream(), event(), in_.below(4)));
        }
    }

    void use_events() {
        cudaEvent_t made = nullptr;
        float milliseconds = 0;
        switch (in_.below(5)) {
            case 0:
                if (check(cudaEventCreateWithFlags(&made, in_.below(16))) == cudaSuccess) events_.push_back(made);
                break;
            case 1:
                check(cudaEventDestroy(event()));
                break;
            case 2:
                check(cudaEventRecordWithFlags(event(), stream(), in_.below(4)));
                break;
            case 3:
                check(cudaEventSynchronize(event()));
                check(cudaEventQuery(event()));
                break;
            default:
                check(cudaEventElapsedTime(in_.below(8) == 0 ? nullptr : &milliseconds, event(), event()));
                require(milliseconds > -1e9F && milliseconds < 1e9F, "an elapsed time is no number");
        }
    }

    // ---- arrays and textures

    cudaChannelFormatDesc format() {
        if (in_.flag()) return cudaCreateChannelDesc<float>();
        static constexpr std::array<int, 8> bits{0, 8, 16, 32, 64, -8, 1, 0x7FFFFFFF};
        cudaChannelFormatDesc result{};
        for (int* channel : {&result.x, &result.y, &result.z, &result.w}) *channel = in_.one_of(bits);
        result.f = in_.enumerator<cudaChannelFormatKind>(4);
        return result;
    }

    void make_array() {
        if (in_.below(3) == 0 || arrays_.size() >= 8) {
            const unsigned i = in_.below(8);
            if (i >= arrays_.size()) return static_cast<void>(check(cudaFreeArray(nullptr)));
            require(check(cudaFreeArray(arrays_[i].handle)) == cudaSuccess, "an array cannot be freed");
            arrays_.erase(arrays_.begin() + i);
            return;
        }
        const cudaChannelFormatDesc element = format();
        cudaArray_t made = nullptr;
        const bool box = in_.flag();
        const cudaExtent extent{in_.size(), in_.size(), box ? in_.size() : 0};
        const bool absurd = extent.width > 1 << 20 || extent.height > 1 << 20 || extent.depth > 1 << 20;
        if (!absurd &&
            extent.width * std::max<std::size_t>(extent.height, 1) * std::max<std::size_t>(extent.depth, 1) > 1 << 16)
            return;  // would be made, of gigabytes
        const unsigned flags = in_.flag() ? cudaArrayDefault : in_.word();
        const cudaError_t error = box ? cudaMalloc3DArray(&made, &element, extent, flags)
                                      : cudaMallocArray(&made, &element, extent.width, extent.height, flags);
        if (check(error) != cudaSuccess) return;
        cudaExtent found{};
        cudaChannelFormatDesc element_found{};
        require(check(cudaArrayGetInfo(&element_found, &found, nullptr, made)) == cudaSuccess, "an array is unknown");
        require(found.width == extent.width && found.height == extent.height && found.depth == extent.depth,
                "an array has another size");
        const bool floats = element.x == 32 && element.y == 0 && element.z == 0 && element.w == 0 &&
                            element.f == cudaChannelFormatKindFloat;
        arrays_.push_back({made, floats && extent.height > 0 && extent.depth == 0});
    }

    void copy_array() {
        const cudaMemcpyKind direction = kind();
        const std::size_t x = in_.size(), row = in_.size();
        std::size_t width = in_.size(), height = in_.size();
        if (in_.below(4) == 0) {
            const std::size_t from_x = in_.size(), from_row = in_.size();
            check(cudaMemcpy2DArrayToArray(array(), x, row, array(), from_x, from_row, width, height, direction));
            return;
        }
        const bool to_array = in_.flag();
        const Place memory = to_array ? source(direction) : destination(direction);
        if (in_.flag()) {
            const std::size_t pitch = in_.size();
            fit(memory, pitch, width, height);
            check(to_array ? cudaMemcpy2DToArray(array(), x, row, memory.address, pitch, width, height, direction)
                           : cudaMemcpy2DFromArray(memory.address, pitch, array(), x, row, width, height, direction));
        } else {
            height = 1;
            fit(memory, 0, width, height);
            check(to_array ? cudaMemcpyToArray(array(), x, row, memory.address, width, direction)
                           : cudaMemcpyFromArray(memory.address, array(), x, row, width, direction));
        }
    }

    /// Between arrays and device memory: a box in host memory would need its size known here.
    void copy_box() {
        cudaMemcpy3DParms box{};
        box.kind = in_.flag() ? cudaMemcpyDeviceToDevice : cudaMemcpyDefault;
        const auto pitched = [&] {
            const Place at = place(box.kind == cudaMemcpyDeviceToDevice);
            return at.host ? cudaPitchedPtr{} : cudaPitchedPtr{at.address, in_.size(), in_.size(), in_.size()};
        };
        if (in_.flag()) box.srcArray = array();
        if (in_.flag()) box.dstArray = array();
        if (in_.flag()) box.srcPtr = pitched();
        if (in_.flag()) box.dstPtr = pitched();
        box.srcPos = {in_.size(), in_.size(), in_.size()};
        box.dstPos = {in_.size(), in_.size(), in_.size()};
        box.extent = {in_.size(), in_.size(), in_.size()};
        check(in_.below(16) == 0 ? cudaMemcpy3D(nullptr) : cudaMemcpy3D(&box));
    }

    void read_texture() {
        cudaResourceDesc resource{};
        resource.resType = in_.enumerator<cudaResourceType>(4);
        const unsigned which = in_.below(8);
        bool readable = false;
        if (resource.resType == cudaResourceTypeLinear) {
            resource.res.linear.devPtr = place(true).address;
            resource.res.linear.desc = format();
            resource.res.linear.sizeInBytes = in_.size();
        } else if (resource.resType == cudaResourceTypePitch2D) {
            resource.res.pitch2D.devPtr = place(true).address;
            resource.res.pitch2D.desc = format();
            resource.res.pitch2D.width = in_.size();
            resource.res.pitch2D.height = in_.size();
            resource.res.pitch2D.pitchInBytes = in_.size();
        } else if (resource.resType == cudaResourceTypeArray && which < arrays_.size()) {
            resource.res.array.array = arrays_[which].handle;
            readable = arrays_[which].holds_floats_2d;
        }
        cudaTextureDesc description{};
        for (cudaTextureAddressMode& mode : description.addressMode) mode = in_.enumerator<cudaTextureAddressMode>(4);
        description.filterMode = in_.enumerator<cudaTextureFilterMode>(2);
        description.readMode = in_.enumerator<cudaTextureReadMode>(2);
        description.normalizedCoords = in_.below(2);
        cudaTextureObject_t texture = 0;
        if (check(cudaCreateTextureObject(&texture, &resource, &description, nullptr)) != cudaSuccess) return;
        if (readable) {
            float at[2];
            for (float& coordinate : at) {
                const unsigned bits = in_.word();
                std::memcpy(&coordinate, &bits, sizeof bits);
            }
            threads_run = 0;
            cpu_device::launch({"fetch_texels", {__FILE__, __LINE__}}, {dim3(1), dim3(1)}, fetch_texels, texture, at[0],
                               at[1]);
            require(threads_run == 1, "a kernel did not run");
            check(cudaDeviceSynchronize());
        }
        require(check(cudaDestroyTextureObject(texture)) == cudaSuccess, "a texture cannot be destroyed");
        check(cudaDestroyTextureObject(texture));
    }

    // ---- kernels

    void ask_for_occupancy() {
        int blocks = 0, grid = 0, threads = 0;
        const int block_size = in_.number();
        const std::size_t shared_bytes = in_.size();
        const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, count_threads, block_size, shared_bytes, in_.below(3));
        if (check(error) == cudaSuccess)
            require(blocks >= 0 && blocks <= model::max_blocks_per_sm && (blocks == 0 || block_size <= 1024),
                    "an occupancy is impossible");
        if (check(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, count_threads, shared_bytes, in_.number())) ==
            cudaSuccess)
            require(threads >= 0 && threads <= model::max_threads_per_block && grid >= 0, "a block size is impossible");
        std::size_t available = 0;
        if (check(cudaOccupancyAvailableDynamicSMemPerBlock(&available, count_threads, in_.number(), in_.number())) ==
            cudaSuccess)
            require(available <= model::shared_bytes_per_sm, "an amount of shared memory is impossible");
    }

    void set_attributes() {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(in_.below(200)), in_.below(3)));
        std::size_t limit = 0;
        const auto which = in_.enumerator<cudaLimit>(8);
        check(cudaDeviceSetLimit(which, in_.size()));
        check(cudaDeviceGetLimit(&limit, which));
        cudaFuncAttributes attributes{};
        check(cudaFuncGetAttributes(&attributes, in_.flag() ? count_threads : nullptr));
        check(cudaSetDevice(in_.number()));
        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, in_.number()));
        char bus_id[32];
        check(cudaDeviceGetPCIBusId(bus_id, static_cast<int>(in_.below(sizeof bus_id + 1)),
                                    static_cast<int>(in_.below(2))));
        const auto attribute = in_.enumerator<cudaFuncAttribute>(12);
        const int wanted = in_.number();
        const cudaError_t error = cudaFuncSetAttribute(count_threads, attribute, wanted);
        if (error == cudaSuccess) last_error_ = cudaSuccess;  // a success forgets it, as on an H200
        if (check(error) == cudaSuccess && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
            most_shared_bytes_ = std::max(most_shared_bytes_, static_cast<std::size_t>(wanted));
    }

    void launch() {
        const dim3 grid(in_.word(), in_.flag() ? in_.word() : 1, in_.flag() ? in_.word() : 1);
        const dim3 block(in_.word(), in_.flag() ? in_.word() : 1, in_.flag() ? in_.word() : 1);
        const std::size_t shared_bytes = in_.flag() ? in_.size() : 0;
        const cudaStream_t where = stream();
        const auto in_range = [](unsigned extent, unsigned most) { return extent >= 1 && extent <= most; };
        const bool good_grid = in_range(grid.x, 0x7FFFFFFF) && in_range(grid.y, 65535) && in_range(grid.z, 65535);
        const bool good_block = in_range(block.x, 1024) && in_range(block.y, 1024) && in_range(block.z, 64) &&
                                block.x * block.y * block.z <= model::max_threads_per_block;
        const bool good_stream = check(cudaStreamQuery(where)) == cudaSuccess;
        const bool good = good_grid && good_block && good_stream && shared_bytes <= most_shared_bytes_;
        const auto threads = static_cast<unsigned __int128>(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
        if (good && threads > 1 << 14) return;  // takes too long

        threads_run = 0;
        cudaError_t error = cudaSuccess;
        if (in_.flag()) {
            int* pointer = nullptr;
            int number = 0;
            void* arguments[] = {&pointer, &number};
            error =
                check(in_.below(8) == 0 ? cudaLaunchKernel(count_threads, grid, block, nullptr, shared_bytes, where)
                                        : cudaLaunchKernel(count_threads, grid, block, arguments, shared_bytes, where));
            if (error == cudaSuccess) require(good, "a launch that should be refused is not");
        } else {
            cpu_device::launch({"count_threads", {__FILE__, __LINE__}, "pointer,number"},
                               {grid, block, shared_bytes, where}, count_threads, static_cast<int*>(nullptr), 1);
            error = good ? cudaSuccess : cudaPeekAtLastError();
            require(good || error != cudaSuccess, "a refused launch leaves no error");
            check(error);
        }
        require(threads_run == (error == cudaSuccess ? static_cast<std::uint64_t>(threads) : 0),
                "a kernel did not run once for each thread");
        check(cudaDeviceSynchronize());
    }

    Input& in_;
    std::vector<std::byte> host_;
    std::vector<Region> regions_;
    std::vector<std::byte*> freed_;
    std::vector<cudaStream_t> streams_;
    std::vector<cudaEvent_t> events_;
    std::vector<Array> arrays_;
    cudaError_t last_error_ = cudaSuccess;
    std::size_t most_shared_bytes_ = model::shared_bytes_per_block;
    std::size_t free_at_start_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
    cpu_device::print_diagnostics(false);
    cpu_device::set_cores(1);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    Program(input).run();
    return 0;
}
