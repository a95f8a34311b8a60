// Loads and stores of several values per thread, in the arrangements that CUB has, by a block or by a warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_device/cub_block.h"
#include "cpu_device/vector_types.h"

namespace cpu_device::cub_parts {

/// Calls `visit(i, place)` for values whose place is less than `end`.
template <int Items, class Place, class Visit>
CPU_DEVICE_INLINE void visit_items(Place place, int end, Visit visit) {
    for (int i = 0; i < Items; ++i) {
        if (place(i) < end) visit(i, place(i));
    }
}

/// The widest words that a thread's `bytes` bytes are made of.
template <std::size_t bytes>
using WordOf = std::conditional_t<bytes % 16 == 0, uint4, std::conditional_t<bytes % 8 == 0, uint2, unsigned>>;

/// Whether a thread's values may be loaded and stored as wider words.
template <class T, int Items, class Iterator>
constexpr bool is_vectorized =
    std::is_pointer_v<Iterator>&& std::is_same_v<std::remove_cv_t<std::remove_pointer_t<Iterator>>, T>&&
                std::is_trivially_copyable_v<T>&& Items *
            sizeof(T) % 4 ==
        0 &&
    sizeof(T) <= 16;

template <class T, int Items>
CPU_DEVICE_INLINE void load_words(const T* from, T (&items)[Items]) {
    using Word = WordOf<Items * sizeof(T)>;
    constexpr int words = Items * sizeof(T) / sizeof(Word);
    Word parts[words];
    for (int w = 0; w < words; ++w) parts[w] = reinterpret_cast<const Word*>(from)[w];
    std::memcpy(static_cast<void*>(items), parts, sizeof parts);
}
template <class T, int Items>
CPU_DEVICE_INLINE void store_words(T* to, const T (&items)[Items]) {
    using Word = WordOf<Items * sizeof(T)>;
    constexpr int words = Items * sizeof(T) / sizeof(Word);
    Word parts[words];
    std::memcpy(parts, static_cast<const void*>(items), sizeof parts);
    for (int w = 0; w < words; ++w) reinterpret_cast<Word*>(to)[w] = parts[w];
}

}  // namespace cpu_device::cub_parts
