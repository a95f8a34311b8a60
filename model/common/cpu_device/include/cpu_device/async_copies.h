// What <cuda/barrier>, <cuda/pipeline> and <cooperative_groups/memcpy_async.h> are made of: barriers that count
// arrivals, and copies that land when somebody has waited for them. Programs never name anything of cpu_device here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu_device/instrumented.h"
#include "cpu_device/warp.h"
#include "cuda/atomic"

namespace cpu_device {

// ---- barriers: eight bytes of the program's memory, which say which barrier of the block this is ---------------

void begin_barrier(void* barrier, std::ptrdiff_t expected, Site site);
bool is_barrier(const void* memory);
/// Returns the phase in which the thread has arrived. `drops`: later phases wait for one arrival less.
std::uint64_t arrive_at_barrier(const void* barrier, std::ptrdiff_t count, bool drops, Site site);
void wait_for_phase(const void* barrier, std::uint64_t phase, Site site);
void wait_for_parity(const void* barrier, bool parity, Site site);
/// Lets others run if the phase has not completed yet, and looks once more.
bool has_completed(const void* barrier, std::uint64_t phase, Site site);
bool has_completed_parity(const void* barrier, bool parity, Site site);

/// The barrier is about to be used by the line that calls this. One that nobody has initialized is reported by whoever
/// uses it.
CPU_DEVICE_INLINE void note_barrier([[maybe_unused]] const void* barrier, [[maybe_unused]] bool begins) {
#ifdef __CPU_DEVICE_INSTRUMENTED__
    if (begins || is_barrier(barrier)) see_barrier(barrier, begins);
#endif
}

// ---- copies ------------------------------------------------------------------------------------------------

/// Begins to copy at most 16 bytes. They land with the present phase of `barrier`, or where that is null with the
/// thread's own group. Only copies to shared memory are late. `code`: where see_late_copy was called.
void begin_copy(void* to, const void* from, std::size_t bytes, const void* barrier, const void* code, Site site);
/// The thread's copies since the last call are a group.
void commit_copies();
/// Waits for all groups of the thread but the last `prior`.
void wait_for_copies(unsigned prior);

/// Ends the kernel if a promise about the size of a copy is broken.
CPU_DEVICE_UNSEEN inline void check_aligned_size(std::size_t bytes, std::size_t alignment) {
    if (bytes % alignment == 0) return;
    abort_kernel(cudaErrorMisalignedAddress,
                 "an asynchronous copy of %zu bytes, which aligned_size_t<%zu> promises to be a multiple of %zu", bytes,
                 alignment, alignment);
}

/// The share of one of `threads` threads in a copy, in pieces of `piece` bytes.
CPU_DEVICE_INLINE void copy_in_pieces(std::size_t piece, std::size_t rank, std::size_t threads, void* to,
                                      const void* from, std::size_t bytes, const void* barrier, Site site) {
    for (std::size_t start = rank * piece; start < bytes; start += threads * piece) {
        auto* const there = static_cast<unsigned char*>(to) + start;
        const auto* const here = static_cast<const unsigned char*>(from) + start;
        const std::size_t part = bytes - start < piece ? bytes - start : piece;
        const void* code = nullptr;
#ifdef __CPU_DEVICE_INSTRUMENTED__
        code = see_late_copy(there, here, part);
#endif
        begin_copy(there, here, part, barrier, code, site);
    }
}

template <class T>
constexpr std::size_t alignment_of() {
    if constexpr (std::is_void_v<T>) {
        return 1;
    } else {
        static_assert(std::is_trivially_copyable_v<T>, "memcpy_async copies trivially copyable types only");
        return alignof(T);
    }
}

template <class Size>
constexpr std::size_t alignment_of_size() {
    if constexpr (requires { Size::align; }) {
        return Size::align;
    } else {
        return 1;
    }
}

/// A copy as cuda::memcpy_async makes it: the alignment of the type, or the one that is promised, tells the pieces.
template <class T, class Size>
CPU_DEVICE_INLINE void copy_of_type(std::size_t rank, std::size_t threads, T* to, const T* from, const Size& size,
                                    const void* barrier, Site site) {
    constexpr std::size_t of_type = alignment_of<T>(), of_size = alignment_of_size<Size>();
    constexpr std::size_t alignment = of_type < of_size ? of_size : of_type;
    check_aligned_size(size, of_size);
    copy_in_pieces(alignment < 16 ? alignment : 16, rank, threads, to, from, size, barrier, site);
}

}  // namespace cpu_device

namespace cuda {

/// A number of bytes that is promised to be a multiple of `Alignment`, as are both addresses.
template <::std::size_t Alignment>
struct aligned_size_t {
    static constexpr ::std::size_t align = Alignment;
    ::std::size_t value;

    explicit constexpr aligned_size_t(::std::size_t bytes) : value(bytes) {}
    constexpr operator ::std::size_t() const { return value; }  // NOLINT: implicit in CUDA too
};

/// What a copy says of itself.
enum class async_contract_fulfillment { none, async };

}  // namespace cuda
