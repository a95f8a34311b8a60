// nvcuda::wmma: matrices in the registers of a warp, after "Warp Matrix Functions" of the CUDA C++ Programming Guide.
//
// Which lane holds which element is that of mma.sync here. CUDA leaves it open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_device/bfloat16.h"
#include "cpu_device/half.h"
#include "cpu_device/tensor_core.h"

// What the CUDA Toolkit's header defines for this compute capability.
#define __CUDA_MMA_H__
#define __CUDA_IMMA__ 1
#define __CUDA_SUBBYTE_IMMA__ 1
#define __CUDA_AMPERE_MMA__ 1

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;

namespace precision {
struct tf32;
}

namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
}  // namespace experimental

enum layout_t { mem_row_major, mem_col_major };

inline float __float_to_tf32(float value) {
    const std::uint32_t bits = cpu_device::rounded_to_tf32(value);
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

}  // namespace nvcuda::wmma

namespace cpu_device {

namespace wmma = nvcuda::wmma;

template <class T>
constexpr MatrixNumber matrix_number() {
    if constexpr (std::is_same_v<T, __half>) return MatrixNumber::f16;
    if constexpr (std::is_same_v<T, __nv_bfloat16>) return MatrixNumber::bf16;
    if constexpr (std::is_same_v<T, wmma::precision::tf32>) return MatrixNumber::tf32;
    if constexpr (std::is_same_v<T, signed char>) return MatrixNumber::s8;
    if constexpr (std::is_same_v<T, unsigned char>) return MatrixNumber::u8;
    if constexpr (std::is_same_v<T, float>) return MatrixNumber::f32;
    if constexpr (std::is_same_v<T, double>) return MatrixNumber::f64;
    return MatrixNumber::s32;
}

template <class T>
constexpr bool is_small_matrix_number =
    std::is_same_v<T, wmma::experimental::precision::u4> || std::is_same_v<T, wmma::experimental::precision::s4> ||
    std::is_same_v<T, wmma::experimental::precision::b1>;

template <class T>
struct StoredElement {
    using type = T;
};
template <>
struct StoredElement<wmma::precision::tf32> {
    using type = float;
};
template <class T>
requires is_small_matrix_number<T>
struct StoredElement<T> {
    using type = int;
};

/// Whether CUDA has such a fragment.
template <class Use, int m, int n, int k, class T, class Layout>
constexpr bool fragment_exists() {
    constexpr bool is_sum = std::is_same_v<Use, wmma::accumulator>;
    constexpr bool is_wide = k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
    constexpr bool is_tf32 = m == 16 && n == 16 && k == 8;
    constexpr bool is_f64 = m == 8 && n == 8 && k == 4;
    if constexpr (is_sum) {
        if (!std::is_void_v<Layout>) return false;
        if constexpr (std::is_same_v<T, float>) return is_wide || is_tf32;
        if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, int>) return is_wide;
        return std::is_same_v<T, double> && is_f64;
    } else {
        if (!std::is_same_v<Use, wmma::matrix_a> && !std::is_same_v<Use, wmma::matrix_b>) return false;
        if (!std::is_same_v<Layout, wmma::row_major> && !std::is_same_v<Layout, wmma::col_major>) return false;
        if constexpr (std::is_same_v<T, wmma::precision::tf32>) return is_tf32;
        if constexpr (std::is_same_v<T, double>) return is_f64;
        return is_wide && (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                           std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>);
    }
}

/// Rows of k factors of a matrix, or of n sums.
template <class Use, int m, int n>
constexpr unsigned rows_of_fragment = std::is_same_v<Use, wmma::matrix_b> ? n : m;

/// Different elements of a lane.
template <class Use, int m, int n, int k>
constexpr int different_elements = std::is_same_v<Use, wmma::accumulator> ? m* n / 32
                                   : std::is_same_v<Use, wmma::matrix_a>  ? m* k / 32
                                                                          : n* k / 32;

/// num_elements. Fragments of half factors hold each element several times, as those of the first tensor cores did.
template <class Use, int m, int n, int k, class T>
constexpr int elements_of_fragment =
    std::is_same_v<T, __half> && !std::is_same_v<Use, wmma::accumulator> ? 16 : different_elements<Use, m, n, k>;

/// A word of memory, whatever lies there.
template <std::size_t bytes>
struct __attribute__((may_alias)) MemoryWord {
    std::conditional_t<bytes == 8, std::uint64_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint16_t>> bits;
};

}  // namespace cpu_device

namespace nvcuda::wmma {

template <class T, int size, int packed_size = size>
struct alignas(8) __frag_base {
    enum { num_elements = size };
    enum { num_storage_elements = packed_size };
    typedef T element_type;
    typedef typename cpu_device::StoredElement<T>::type storage_element_type;

    storage_element_type x[packed_size];

    CPU_DEVICE_UNSEEN __frag_base() {
        constexpr std::uint64_t nothing = cpu_device::unfilled(cpu_device::matrix_number<T>());
        for (storage_element_type& element : x)
            __builtin_memcpy(static_cast<void*>(&element), &nothing, sizeof element);
    }
};

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment
    : public __frag_base<T, cpu_device::is_small_matrix_number<T> ? 1
                                                                  : cpu_device::elements_of_fragment<Use, m, n, k, T>> {
    static_assert(!cpu_device::is_small_matrix_number<T>,
                  "the CPU device does not support fragments of 4-bit and 1-bit numbers (wmma::experimental)");
    static_assert(cpu_device::is_small_matrix_number<T> || cpu_device::fragment_exists<Use, m, n, k, T, Layout>(),
                  "there is no such fragment: see the table of element types and matrix sizes in the CUDA C++ "
                  "Programming Guide. Accumulators have no layout; factors have row_major or col_major");
};

template <class T, int size, int packed_size>
CPU_DEVICE_UNSEEN void fill_fragment(__frag_base<T, size, packed_size>& f,
                                     const typename __frag_base<T, size, packed_size>::storage_element_type& value) {
    for (auto& element : f.x) element = value;
}

// ---- factors -----------------------------------------------------------------------------------------------------

template <class Use, int m, int n, int k, class T, class Layout>
CPU_DEVICE_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                        const typename fragment<Use, m, n, k, T, Layout>::storage_element_type* p,
                                        unsigned ldm, CPU_DEVICE_CALL_SITE) {
    static_assert(!std::is_same_v<Use, accumulator>,
                  "load_matrix_sync of an accumulator needs a layout: mem_row_major or mem_col_major");
    using Element = typename fragment<Use, m, n, k, T, Layout>::storage_element_type;
    cpu_device::check_matrix("load_matrix_sync", p, sizeof(Element), ldm, site);
    constexpr bool is_a = std::is_same_v<Use, matrix_a>;
    constexpr bool along_k = std::is_same_v<Layout, row_major> == is_a;  // neighbors in memory are neighbors along k
    constexpr unsigned rows = cpu_device::rows_of_fragment<Use, m, n>;
    constexpr unsigned count = cpu_device::different_elements<Use, m, n, k>;
    constexpr unsigned per_word = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;
    const unsigned lane = cpu_device::lane_id();
    if constexpr (along_k) {
        using Word = cpu_device::MemoryWord<per_word * sizeof(Element)>;
        for (unsigned i = 0; i < count; i += per_word) {
            const auto [row, col] = cpu_device::element_place(lane, i, rows, per_word);
            const auto bits = reinterpret_cast<const Word*>(p + std::size_t{row} * ldm + col)->bits;
            __builtin_memcpy(static_cast<void*>(&f.x[i]), &bits, sizeof bits);
        }
    } else {
        for (unsigned i = 0; i < count; ++i) {
            const auto [row, col] = cpu_device::element_place(lane, i, rows, per_word);
            f.x[i] = p[std::size_t{col} * ldm + row];
        }
    }
    for (unsigned i = count; i < static_cast<unsigned>(f.num_elements); ++i) f.x[i] = f.x[i - count];
}

// ---- accumulators ------------------------------------------------------------------------------------------------

template <int m, int n, int k, class T>
CPU_DEVICE_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const std::type_identity_t<T>* p,
                                        unsigned ldm, layout_t layout, CPU_DEVICE_CALL_SITE) {
    cpu_device::check_matrix("load_matrix_sync", p, sizeof(T), ldm, site);
    const unsigned lane = cpu_device::lane_id();
    constexpr unsigned count = static_cast<unsigned>(fragment<accumulator, m, n, k, T>::num_elements);
    if (layout == mem_row_major && sizeof(T) < 8) {
        using Pair = cpu_device::MemoryWord<sizeof(T) < 8 ? 2 * sizeof(T) : 8>;
        for (unsigned i = 0; i < count; i += 2) {
            const auto [row, col] = cpu_device::element_place(lane, i, m, 2);
            const auto bits = reinterpret_cast<const Pair*>(p + std::size_t{row} * ldm + col)->bits;
            __builtin_memcpy(static_cast<void*>(&f.x[i]), &bits, sizeof bits);
        }
    } else {
        for (unsigned i = 0; i < count; ++i) {
            const auto [row, col] = cpu_device::element_place(lane, i, m, 2);
            f.x[i] = layout == mem_row_major ? p[std::size_t{row} * ldm + col] : p[std::size_t{col} * ldm + row];
        }
    }
}

template <int m, int n, int k, class T>
CPU_DEVICE_INLINE void store_matrix_sync(std::type_identity_t<T>* p, const fragment<accumulator, m, n, k, T>& f,
                                         unsigned ldm, layout_t layout, CPU_DEVICE_CALL_SITE) {
    cpu_device::check_matrix("store_matrix_sync", p, sizeof(T), ldm, site);
    const unsigned lane = cpu_device::lane_id();
    constexpr unsigned count = static_cast<unsigned>(fragment<accumulator, m, n, k, T>::num_elements);
    if (layout == mem_row_major && sizeof(T) < 8) {
        using Pair = cpu_device::MemoryWord<sizeof(T) < 8 ? 2 * sizeof(T) : 8>;
        for (unsigned i = 0; i < count; i += 2) {
            const auto [row, col] = cpu_device::element_place(lane, i, m, 2);
            decltype(Pair::bits) bits;
            __builtin_memcpy(&bits, &f.x[i], sizeof bits);
            reinterpret_cast<Pair*>(p + std::size_t{row} * ldm + col)->bits = bits;
        }
    } else {
        for (unsigned i = 0; i < count; ++i) {
            const auto [row, col] = cpu_device::element_place(lane, i, m, 2);
            (layout == mem_row_major ? p[std::size_t{row} * ldm + col] : p[std::size_t{col} * ldm + row]) = f.x[i];
        }
    }
}

// ---- products ----------------------------------------------------------------------------------------------------

/// d = a b + c. `satf`: sums of integers stay in their range.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
CPU_DEVICE_UNSEEN void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                const fragment<accumulator, m, n, k, C>& c, bool satf = false, CPU_DEVICE_CALL_SITE) {
    constexpr bool both_half_or_float = (std::is_same_v<D, __half> || std::is_same_v<D, float>)&&(
        std::is_same_v<C, __half> || std::is_same_v<C, float>);
    if constexpr (std::is_same_v<T, __half>) {
        static_assert(both_half_or_float, "the sums of half factors are half or float");
    } else {
        constexpr bool floats = std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, precision::tf32>;
        using Sum = std::conditional_t<floats, float, std::conditional_t<std::is_same_v<T, double>, double, int>>;
        static_assert(std::is_same_v<D, Sum> && std::is_same_v<C, Sum>, "these factors have sums of another type");
    }
    // TF32 fragments are multiplied by instructions of half their depth.
    const cpu_device::MatrixShape shape = {m,
                                           n,
                                           k,
                                           cpu_device::matrix_number<T>(),
                                           cpu_device::matrix_number<D>(),
                                           cpu_device::matrix_number<C>(),
                                           std::is_same_v<T, precision::tf32> ? 4u : 16u,
                                           satf};
    const auto view = [](auto& f, int different) CPU_DEVICE_UNSEEN {
        const auto count = static_cast<unsigned>(f.num_elements);
        return cpu_device::FragmentView{const_cast<void*>(static_cast<const void*>(f.x)), count,
                                        count / static_cast<unsigned>(different)};
    };
    cpu_device::multiply_matrices(shape, view(d, m * n / 32), view(a, m * k / 32), view(b, n * k / 32),
                                  view(c, m * n / 32), site);
}

}  // namespace nvcuda::wmma
