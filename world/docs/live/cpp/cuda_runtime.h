// What the kernels of a live view need of CUDA, for clang and WebAssembly. docs/scripts/live.mjs includes it before the
// definitions that it takes from a lesson.
//
// A kernel with a barrier is a coroutine. The body of such a kernel stays as it is: __syncthreads() becomes a co_await,
// the return type void gets a promise type, and the script writes co_return for its `return;`. So each thread of a
// block keeps its own place and its own variables while it waits, as it does on the CPU device and on a GPU.
#pragma once

#include <stddef.h>

namespace std {
using ::size_t;

template <class Result, class... Arguments>
struct coroutine_traits;

template <class Promise = void>
struct coroutine_handle;
template <>
struct coroutine_handle<void> {
    void* frame;
    static coroutine_handle from_address(void* address) noexcept { return {address}; }
    void* address() const noexcept { return frame; }
};
template <class Promise>
struct coroutine_handle {
    void* frame;
    static coroutine_handle from_address(void* address) noexcept { return {address}; }
    void* address() const noexcept { return frame; }
    operator coroutine_handle<>() const noexcept { return {frame}; }
};
}  // namespace std

namespace live {

enum class Waits : unsigned { nobody, block, warp };

// block.cpp
void wait_at(void* frame, Waits waits, unsigned line) noexcept;
void* new_frame(size_t bytes);
void shared_array(const void* array, unsigned bytes, unsigned name);

struct Barrier {
    Waits waits;
    unsigned line;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> thread) const noexcept { wait_at(thread.frame, waits, line); }
    void await_resume() const noexcept {}
};

// A thread runs at once, up to its first barrier. Its frame is gone when it ends.
struct Thread {
    struct Never {
        bool await_ready() const noexcept { return true; }
        void await_suspend(std::coroutine_handle<>) const noexcept {}
        void await_resume() const noexcept {}
    };
    void get_return_object() {}
    Never initial_suspend() noexcept { return {}; }
    Never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
    static void* operator new(size_t bytes) { return new_frame(bytes); }
    static void operator delete(void*, size_t) {}
};

}  // namespace live

template <class... Arguments>
struct std::coroutine_traits<void, Arguments...> {
    using promise_type = live::Thread;
};

#define __global__
#define __device__ inline __attribute__((always_inline))
#define __host__
#define __shared__ static __attribute__((aligned(128)))
#define __launch_bounds__(...)
#define __syncthreads() \
    co_await live::Barrier { live::Waits::block, __LINE__ }
#define __syncwarp() \
    co_await live::Barrier { live::Waits::warp, __LINE__ }

struct uint3 {
    unsigned x, y, z;
};
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;  // block.cpp changes them between threads

// Vectors of the compiler, so that 16 bytes are one access.
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
inline float2 make_float2(float x, float y) { return float2{x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

// ---- how a kernel is called ---------------------------------------------------------------

namespace live {

template <class T, T... values>
struct Numbers {};

template <class T>
T argument(unsigned word) {
    static_assert(sizeof(T) == 4, "an argument of a kernel has four bytes here");
    return __builtin_bit_cast(T, word);
}

template <class... Parameters, unsigned... places>
void call(void (*kernel)(Parameters...), const unsigned* words, Numbers<unsigned, places...>) {
    kernel(argument<Parameters>(words[places])...);
}

// The arguments of a kernel are words, one for each.
template <class... Parameters>
void call(void (*kernel)(Parameters...), const unsigned* words) {
    call(kernel, words, __make_integer_seq<Numbers, unsigned, sizeof...(Parameters)>{});
}

}  // namespace live
