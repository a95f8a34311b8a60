// What C++ programs use most of NVTX: ranges that end with their scope, marks, colors, and domains.
//
//     const nvtx3::scoped_range range("upload");
//     nvtx3::mark("ready");
//
// Payloads, categories, registered strings, and unique_range are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "nvtx3/nvToolsExt.h"

namespace nvtx3 {

/// A color of a range, as 0xAARRGGBB.
struct argb {
    std::uint32_t value = 0;
    constexpr argb(std::uint8_t alpha, std::uint8_t red, std::uint8_t green, std::uint8_t blue)
        : value(std::uint32_t{alpha} << 24 | std::uint32_t{red} << 16 | std::uint32_t{green} << 8 | blue) {}
};
struct rgb : argb {
    constexpr rgb(std::uint8_t red, std::uint8_t green, std::uint8_t blue) : argb(0xFF, red, green, blue) {}
};

/// The name and the color of a range or a mark. Keeps a pointer to the name.
class event_attributes {
public:
    event_attributes() {
        attributes_.version = NVTX_VERSION;
        attributes_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }
    template <class... More>
    explicit event_attributes(const char* message, const More&... more) : event_attributes(more...) {
        attributes_.messageType = NVTX_MESSAGE_TYPE_ASCII;
        attributes_.message.ascii = message;
    }
    template <class... More>
    explicit event_attributes(const std::string& message, const More&... more)
        : event_attributes(message.c_str(), more...) {}
    template <class... More>
    explicit event_attributes(const argb& color, const More&... more) : event_attributes(more...) {
        attributes_.colorType = NVTX_COLOR_ARGB;
        attributes_.color = color.value;
    }

    const nvtxEventAttributes_t* get() const noexcept { return &attributes_; }

private:
    nvtxEventAttributes_t attributes_{};
};

class domain {
public:
    /// The domain of ranges that name no other one.
    struct global {};

    /// A type with a member `static constexpr const char* name`.
    template <class Domain = global>
    static nvtxDomainHandle_t handle() {
        if constexpr (std::is_same_v<Domain, global>) {
            return nullptr;
        } else {
            static const nvtxDomainHandle_t made = nvtxDomainCreateA(Domain::name);
            return made;
        }
    }
};

/// A range from here to the end of the scope.
template <class Domain = domain::global>
class scoped_range_in {
public:
    explicit scoped_range_in(const event_attributes& attributes) noexcept {
        nvtxDomainRangePushEx(domain::handle<Domain>(), attributes.get());
    }
    template <class... Arguments>
    explicit scoped_range_in(const Arguments&... arguments) noexcept
        : scoped_range_in(event_attributes(arguments...)) {}
    ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::handle<Domain>()); }

    // Ranges of a thread end in the reverse order of their begins.
    scoped_range_in(const scoped_range_in&) = delete;
    scoped_range_in& operator=(const scoped_range_in&) = delete;
    void* operator new(std::size_t) = delete;
};
using scoped_range = scoped_range_in<domain::global>;

template <class Domain = domain::global, class... Arguments>
void mark_in(const Arguments&... arguments) noexcept {
    const event_attributes attributes(arguments...);
    nvtxDomainMarkEx(domain::handle<Domain>(), attributes.get());
}
template <class... Arguments>
void mark(const Arguments&... arguments) noexcept {
    mark_in<domain::global>(arguments...);
}

}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) const ::nvtx3::scoped_range_in<D> nvtx3_range_of_function(__func__)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
