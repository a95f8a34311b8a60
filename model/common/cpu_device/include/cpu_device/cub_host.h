// What CUB's device-wide algorithms are made of. They run on the host, inside the call, as other libraries of the CUDA
// Toolkit do on the CPU device: what they do is not counted. Device memory that they are given is checked before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu_device/runtime_api.h"
#include "cpu_device/types.h"
#include "cpu_device/warp.h"

namespace cpu_device {

/// Device memory that an algorithm is about to use; without a pointer it is not known where that is.
struct AlgorithmOperand {
    const char* role = "";
    const void* pointer = nullptr;
    std::size_t bytes = 0;
    bool is_known = false;
};

struct AlgorithmCall {
    const char* function;  ///< "cub::DeviceScan::ExclusiveSum"
    Site site;
    const void* storage;
    std::size_t storage_bytes;   ///< that the program says it has
    std::size_t storage_needed;  ///< 0: the algorithm takes none
    cudaStream_t stream;
    const AlgorithmOperand* operands;
    std::size_t operand_count;
};

/// Calls `body(context, call)`, which may use device memory, unless an argument is wrong: then reports that and returns
/// an error, as a kernel of the algorithm would end with one on a GPU. The body returns false if it had to stop for
/// such a reason.
cudaError_t run_algorithm(const AlgorithmCall& call, bool (*body)(void*, const AlgorithmCall&), void* context);

/// Whether the algorithm may use this memory, of which the body learned later how much it needs; reports it if not.
bool is_usable(const AlgorithmCall& call, const AlgorithmOperand& operand);

/// Stable: `order` receives the places of `bits` from the least to the greatest.
void order_by_bits(const std::vector<std::uint64_t>& bits, std::vector<std::size_t>& order);

namespace cub_parts {

template <class Iterator>
struct ValueOf {
    using type = typename Iterator::value_type;
};
template <class T>
struct ValueOf<T*> {
    using type = std::remove_cv_t<T>;
};
template <class Iterator>
using value_of = typename ValueOf<Iterator>::type;

/// The type of what is written there; `Otherwise` where an iterator takes anything.
template <class Iterator, class Otherwise>
struct WrittenTo {
    using type = Otherwise;
};
template <class Iterator, class Otherwise>
requires requires { typename ValueOf<Iterator>::type; }
struct WrittenTo<Iterator, Otherwise> {
    using type = std::conditional_t<std::is_void_v<typename ValueOf<Iterator>::type>, Otherwise,
                                    typename ValueOf<Iterator>::type>;
};

template <class Iterator>
AlgorithmOperand operand(const char* role, const Iterator& iterator, std::size_t count) {
    if constexpr (std::is_pointer_v<Iterator>) {
        return {role, const_cast<const void*>(static_cast<const volatile void*>(iterator)), count * sizeof(*iterator),
                true};
    } else {
        return {};
    }
}

/// Rounded up to the alignment of cudaMalloc.
inline std::size_t storage_of(std::size_t bytes) { return (bytes + 255) / 256 * 256 + 256; }

/// Temporary storage of algorithms that keep something for each tile of the input.
inline std::size_t storage_of_tiles(std::size_t count, std::size_t bytes) {
    return storage_of((count / 2048 + 1) * (bytes + 8));
}

/// Runs a body that takes nothing, or one that takes the call and returns whether it could go on.
template <class Body>
bool run_body(void* context, const AlgorithmCall& call) {
    Body& body = *static_cast<Body*>(context);
    if constexpr (std::is_invocable_v<Body&, const AlgorithmCall&>) {
        return body(call);
    } else {
        body();
        return true;
    }
}

/// The two phases of a call: without storage it tells how much is needed, otherwise it does the work.
template <std::size_t Count, class Body>
cudaError_t in_two_phases(const char* function, Site site, void* storage, std::size_t& bytes, std::size_t needed,
                          cudaStream_t stream, const AlgorithmOperand (&operands)[Count], Body body) {
    if (storage == nullptr) {
        bytes = needed;
        return cudaSuccess;
    }
    return run_algorithm({function, site, storage, bytes, needed, stream, operands, Count}, run_body<Body>, &body);
}

/// The same for algorithms that need no storage.
template <std::size_t Count, class Body>
cudaError_t in_one_phase(const char* function, Site site, cudaStream_t stream,
                         const AlgorithmOperand (&operands)[Count], Body body) {
    return run_algorithm({function, site, nullptr, 0, 0, stream, operands, Count}, run_body<Body>, &body);
}

/// `get(begin)` to `get(end - 1)` combined, at least one. In halves: so sums of many floats round as little as those of
/// a GPU, which are trees as well.
template <class T, class Get, class Op>
T fold(std::size_t begin, std::size_t end, Get& get, Op& op) {
    constexpr std::size_t few = 64;
    if (end - begin <= few) {
        T result = static_cast<T>(get(begin));
        for (std::size_t i = begin + 1; i < end; ++i) result = static_cast<T>(op(result, static_cast<T>(get(i))));
        return result;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    T left = fold<T>(begin, middle, get, op);
    return static_cast<T>(op(left, fold<T>(middle, end, get, op)));
}

/// The type in which `Op` adds up values of type `T`, beginning with an `Init`.
template <class Op, class Init, class T>
using sum_of = std::decay_t<std::invoke_result_t<Op&, Init, T>>;

/// Calls `put(i, before, up_to)` with what comes before element i, with it and without, for elements of one run. Chunks
/// are scanned by themselves first, for the same reason.
template <class T, class Get, class Op, class Put>
void scan_run(std::size_t begin, std::size_t end, const T* init, Get get, Op& op, Put put) {
    constexpr std::size_t chunk = 512;
    bool has_before = init != nullptr;
    T before_chunk = has_before ? *init : T(get(begin));
    for (std::size_t first = begin; first < end; first += chunk) {
        const std::size_t last = end - first < chunk ? end : first + chunk;
        T inside = static_cast<T>(get(first));
        put(first, has_before ? &before_chunk : nullptr,
            has_before ? static_cast<T>(op(before_chunk, inside)) : inside);
        for (std::size_t i = first + 1; i < last; ++i) {
            const T value = static_cast<T>(get(i));  // before `put` may overwrite it
            const T before = has_before ? static_cast<T>(op(before_chunk, inside)) : inside;
            inside = static_cast<T>(op(inside, value));
            put(i, &before, has_before ? static_cast<T>(op(before_chunk, inside)) : inside);
        }
        before_chunk = has_before ? static_cast<T>(op(before_chunk, inside)) : inside;
        has_before = true;
    }
}

/// Where runs of equal keys begin, and behind the last of them the end.
template <class Key, class Keys>
std::vector<std::size_t> begins_of_runs(Keys keys, std::size_t count) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == 0 || !(static_cast<Key>(keys[i - 1]) == static_cast<Key>(keys[i]))) begins.push_back(i);
    }
    begins.push_back(count);
    return begins;
}

}  // namespace cub_parts
}  // namespace cpu_device
