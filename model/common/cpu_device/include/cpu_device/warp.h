// Barriers and warp-wide functions of CUDA C++, after "Synchronization Functions", "Warp Vote", "Warp Match",
// "Warp Reduce" and "Warp Shuffle Functions" of the CUDA C++ Programming Guide.
//
// Every function that waits for other threads has a trailing parameter that nobody passes: the place of the call,
// for messages about lanes that never came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_device/execution.h"
#include "cpu_device/instrumented.h"

struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

#define CPU_DEVICE_CALL_SITE cpu_device::Site site = {__builtin_FILE(), __builtin_LINE()}

namespace cpu_device {

/// What every lane that came brought to a collective operation. A lane that did not come holds all-ones bits (NaN,
/// -1): on a GPU its value is undefined.
template <class T>
struct Gathered {
    std::uint32_t mask;  ///< lanes that came
    alignas(T) unsigned char bytes[32][sizeof(T)];

    CPU_DEVICE_UNSEEN T operator[](unsigned lane) const { return *reinterpret_cast<const T*>(bytes[lane]); }
};

/// Brings `value` to the lanes of `mask` and takes theirs, 8 bytes a meeting. `visit(offset, bytes, values)` sees the
/// values of each meeting before the lanes part.
template <class T, class Visit>
CPU_DEVICE_UNSEEN void exchange(Collective operation, std::uint32_t mask, const T& value, Site site, Visit visit) {
    static_assert(std::is_trivially_copyable_v<T>, "only trivially copyable types travel between the lanes of a warp");
    for (std::size_t offset = 0; offset < sizeof(T); offset += 8) {
        const std::size_t bytes = sizeof(T) - offset < 8 ? sizeof(T) - offset : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const unsigned char*>(&value) + offset, bytes);
        const LaneValues values = enter_collective(operation, mask, word, site);
        visit(offset, bytes, values);
        leave_collective(values);
    }
}

template <class T>
CPU_DEVICE_UNSEEN Gathered<T> gather(Collective operation, std::uint32_t mask, const T& value, Site site) {
    Gathered<T> result;
    result.mask = 0;
    std::memset(result.bytes, 0xFF, sizeof result.bytes);
    exchange(operation, mask, value, site,
             [&](std::size_t offset, std::size_t bytes, const LaneValues& values) CPU_DEVICE_UNSEEN {
                 result.mask = values.mask;
                 for (std::uint32_t rest = values.mask; rest != 0; rest &= rest - 1) {
                     const int lane = __builtin_ctz(rest);
                     std::memcpy(result.bytes[lane] + offset, &values.value[lane], bytes);
                 }
             });
    return result;
}

/// The value that lane `source` brought; all-ones bits if `source` is not among the lanes that came.
template <class T>
CPU_DEVICE_UNSEEN T shuffle(std::uint32_t mask, const T& value, unsigned source, Site site) {
    T result = value;
    std::uint32_t lanes = 0;
    exchange(Collective::shuffle, mask, value, site,
             [&](std::size_t offset, std::size_t bytes, const LaneValues& values) CPU_DEVICE_UNSEEN {
                 lanes = values.mask;
                 const bool came = source < 32 && (lanes >> source & 1) != 0;
                 const std::uint64_t word = came ? values.value[source] : ~std::uint64_t{0};
                 std::memcpy(reinterpret_cast<unsigned char*>(&result) + offset, &word, bytes);
             });
    if (lanes != 0xFFFFFFFFu) {
        const std::uint64_t missing = note_shuffle(mask, lanes, source, site);
        if (source >= 32 || (lanes >> source & 1) == 0) {
            for (std::size_t i = 0; i < sizeof(T); ++i) {
                reinterpret_cast<unsigned char*>(&result)[i] = static_cast<unsigned char>(missing >> i % 8 * 8);
            }
        }
    }
    return result;
}

/// Lanes among those that came whose `predicate` is true; `came` receives all that came.
CPU_DEVICE_UNSEEN inline std::uint32_t vote(std::uint32_t mask, bool predicate, Site site,
                                            std::uint32_t* came = nullptr) {
    const LaneValues values = enter_collective(Collective::vote, mask, predicate, site);
    std::uint32_t result = 0;
    for (std::uint32_t rest = values.mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        result |= static_cast<std::uint32_t>(values.value[lane]) << lane;
    }
    if (came != nullptr) *came = values.mask;
    leave_collective(values);
    return result;
}

/// Lanes among those that came that brought the same bits as the caller; `came` receives all that came.
template <class T>
CPU_DEVICE_UNSEEN std::uint32_t match(std::uint32_t mask, const T& value, Site site, std::uint32_t* came = nullptr) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    const LaneValues values = enter_collective(Collective::match, mask, word, site);
    std::uint32_t result = 0;
    for (std::uint32_t rest = values.mask; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (values.value[lane] == word) result |= 1u << lane;
    }
    if (came != nullptr) *came = values.mask;
    leave_collective(values);
    return result;
}

template <class T, class Op>
CPU_DEVICE_UNSEEN T reduce_lanes(std::uint32_t mask, T value, Site site, Op op) {
    const Gathered<T> values = gather(Collective::reduce, mask, value, site);
    std::uint32_t rest = values.mask;
    T result = values[static_cast<unsigned>(__builtin_ctz(rest))];
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
        result = op(result, values[static_cast<unsigned>(__builtin_ctz(rest))]);
    }
    return result;
}

/// Lane that each kind of shuffle reads from, after the pseudocode of `shfl.sync` in the PTX ISA. The warp is cut into
/// segments of `width` lanes; whoever would read outside its segment reads its own value.
struct ShuffleSource {
    unsigned lane = lane_id();
    unsigned first;  ///< of the caller's segment
    unsigned last;

    explicit ShuffleSource(int width) {
        if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
            abort_kernel(cudaErrorLaunchFailure, "a shuffle of width %d: the width is a power of two from 1 to 32",
                         width);
        }
        first = lane & ~(static_cast<unsigned>(width) - 1);
        last = first + static_cast<unsigned>(width) - 1;
    }
    unsigned index(unsigned source) const { return first | (source & (last - first)); }
    unsigned up(unsigned delta) const { return lane >= first + (delta & 31) ? lane - (delta & 31) : lane; }
    unsigned down(unsigned delta) const { return lane + (delta & 31) <= last ? lane + (delta & 31) : lane; }
    unsigned exclusive_or(unsigned bits) const { return (lane ^ (bits & 31)) <= last ? lane ^ (bits & 31) : lane; }
};

template <class...>
inline constexpr bool never = false;

}  // namespace cpu_device

// ---- barriers --------------------------------------------------------------------------------------------

CPU_DEVICE_INLINE void __syncthreads(CPU_DEVICE_CALL_SITE) { cpu_device::block_barrier(0, site); }
/// Threads of the block whose predicate is not zero.
CPU_DEVICE_UNSEEN inline int __syncthreads_count(int predicate, CPU_DEVICE_CALL_SITE) {
    return static_cast<int>(cpu_device::block_barrier(predicate != 0, site));
}
CPU_DEVICE_UNSEEN inline int __syncthreads_and(int predicate, CPU_DEVICE_CALL_SITE) {
    return cpu_device::block_barrier(predicate == 0, site) == 0;
}
CPU_DEVICE_UNSEEN inline int __syncthreads_or(int predicate, CPU_DEVICE_CALL_SITE) {
    return cpu_device::block_barrier(predicate != 0, site) != 0;
}

CPU_DEVICE_UNSEEN inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, CPU_DEVICE_CALL_SITE) {
    cpu_device::leave_collective(cpu_device::enter_collective(cpu_device::Collective::syncwarp, mask, 0, site));
}

// ---- votes and matches -----------------------------------------------------------------------------------

CPU_DEVICE_UNSEEN inline unsigned __activemask(CPU_DEVICE_CALL_SITE) { return cpu_device::converged_lanes(site); }

CPU_DEVICE_UNSEEN inline unsigned __ballot_sync(unsigned mask, int predicate, CPU_DEVICE_CALL_SITE) {
    return cpu_device::vote(mask, predicate != 0, site);
}
CPU_DEVICE_UNSEEN inline int __any_sync(unsigned mask, int predicate, CPU_DEVICE_CALL_SITE) {
    return cpu_device::vote(mask, predicate != 0, site) != 0;
}
CPU_DEVICE_UNSEEN inline int __all_sync(unsigned mask, int predicate, CPU_DEVICE_CALL_SITE) {
    return cpu_device::vote(mask, predicate == 0, site) == 0;
}

#define CPU_DEVICE_MATCH(type)                                                                          \
    inline unsigned __match_any_sync(unsigned mask, type value, CPU_DEVICE_CALL_SITE) {                 \
        return cpu_device::match(mask, value, site);                                                    \
    }                                                                                                   \
    inline unsigned __match_all_sync(unsigned mask, type value, int* predicate, CPU_DEVICE_CALL_SITE) { \
        std::uint32_t came = 0;                                                                         \
        *predicate = cpu_device::match(mask, value, site, &came) == came;                               \
        return *predicate ? came : 0;                                                                   \
    }
CPU_DEVICE_MATCH(int)
CPU_DEVICE_MATCH(unsigned)
CPU_DEVICE_MATCH(long)
CPU_DEVICE_MATCH(unsigned long)
CPU_DEVICE_MATCH(long long)
CPU_DEVICE_MATCH(unsigned long long)
CPU_DEVICE_MATCH(float)
CPU_DEVICE_MATCH(double)
#undef CPU_DEVICE_MATCH

// ---- reductions ------------------------------------------------------------------------------------------

#define CPU_DEVICE_WARP_REDUCE(name, type, expression)                                                        \
    inline type name(unsigned mask, type value, CPU_DEVICE_CALL_SITE) {                                       \
        return cpu_device::reduce_lanes(mask, value, site,                                                    \
                                        [](type a, type b) CPU_DEVICE_UNSEEN -> type { return expression; }); \
    }
CPU_DEVICE_WARP_REDUCE(__reduce_add_sync, unsigned, a + b)
CPU_DEVICE_WARP_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
CPU_DEVICE_WARP_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
CPU_DEVICE_WARP_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CPU_DEVICE_WARP_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
CPU_DEVICE_WARP_REDUCE(__reduce_max_sync, int, a > b ? a : b)
CPU_DEVICE_WARP_REDUCE(__reduce_and_sync, unsigned, a& b)
CPU_DEVICE_WARP_REDUCE(__reduce_or_sync, unsigned, a | b)
CPU_DEVICE_WARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CPU_DEVICE_WARP_REDUCE

// ---- shuffles --------------------------------------------------------------------------------------------

namespace cpu_device {

/// The types of cuda_fp16.h and cuda_bf16.h, which a program need not include.
template <class T>
concept HalfType = std::is_same_v<T, __half> || std::is_same_v<T, __half2> || std::is_same_v<T, __nv_bfloat16> ||
    std::is_same_v<T, __nv_bfloat162>;

}  // namespace cpu_device

// `prefix` is `inline`, or the head of a template.
#define CPU_DEVICE_SHUFFLES(prefix, Type)                                                                              \
    prefix Type __shfl_sync(unsigned mask, Type value, int source, int width = 32, CPU_DEVICE_CALL_SITE) {             \
        return cpu_device::shuffle(mask, value, cpu_device::ShuffleSource(width).index(static_cast<unsigned>(source)), \
                                   site);                                                                              \
    }                                                                                                                  \
    prefix Type __shfl_up_sync(unsigned mask, Type value, unsigned delta, int width = 32, CPU_DEVICE_CALL_SITE) {      \
        return cpu_device::shuffle(mask, value, cpu_device::ShuffleSource(width).up(delta), site);                     \
    }                                                                                                                  \
    prefix Type __shfl_down_sync(unsigned mask, Type value, unsigned delta, int width = 32, CPU_DEVICE_CALL_SITE) {    \
        return cpu_device::shuffle(mask, value, cpu_device::ShuffleSource(width).down(delta), site);                   \
    }                                                                                                                  \
    prefix Type __shfl_xor_sync(unsigned mask, Type value, int lane_bits, int width = 32, CPU_DEVICE_CALL_SITE) {      \
        return cpu_device::shuffle(                                                                                    \
            mask, value, cpu_device::ShuffleSource(width).exclusive_or(static_cast<unsigned>(lane_bits)), site);       \
    }
CPU_DEVICE_SHUFFLES(inline, int)
CPU_DEVICE_SHUFFLES(inline, unsigned)
CPU_DEVICE_SHUFFLES(inline, long)
CPU_DEVICE_SHUFFLES(inline, unsigned long)
CPU_DEVICE_SHUFFLES(inline, long long)
CPU_DEVICE_SHUFFLES(inline, unsigned long long)
CPU_DEVICE_SHUFFLES(inline, float)
CPU_DEVICE_SHUFFLES(inline, double)
CPU_DEVICE_SHUFFLES(template <cpu_device::HalfType T>, T)
#undef CPU_DEVICE_SHUFFLES

// ---- functions that left CUDA ----------------------------------------------------------------------------

#define CPU_DEVICE_GONE(name, advice)                                                                          \
    template <class... Arguments>                                                                              \
    auto name(Arguments...) {                                                                                  \
        static_assert(cpu_device::never<Arguments...>, #name " left CUDA with compute capability 7: " advice); \
        return 0;                                                                                              \
    }
CPU_DEVICE_GONE(__shfl, "use __shfl_sync and name the lanes that take part")
CPU_DEVICE_GONE(__shfl_up, "use __shfl_up_sync and name the lanes that take part")
CPU_DEVICE_GONE(__shfl_down, "use __shfl_down_sync and name the lanes that take part")
CPU_DEVICE_GONE(__shfl_xor, "use __shfl_xor_sync and name the lanes that take part")
CPU_DEVICE_GONE(__any, "use __any_sync and name the lanes that take part")
CPU_DEVICE_GONE(__all, "use __all_sync and name the lanes that take part")
CPU_DEVICE_GONE(__ballot, "use __ballot_sync and name the lanes that take part")
#undef CPU_DEVICE_GONE
