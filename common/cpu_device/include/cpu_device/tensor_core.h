// The instructions of tensor cores: mma.sync and ldmatrix of the PTX ISA, and what <mma.h> is made of. How the sums are
// made is in src/tensor_sums.h.
//
// All 32 lanes of a warp bring their registers to such an instruction. One lane does the work for all, and the others
// find their results. Programs name nothing of this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu_device/execution.h"
#include "cpu_device/instrumented.h"
#include "cpu_device/ptx.h"
#include "cpu_device/vector_types.h"
#include "cpu_device/warp.h"

namespace cpu_device {

/// The numbers of matrices.
enum class MatrixNumber : unsigned char { f16, bf16, tf32, e4m3, e5m2, s8, u8, f32, f64, s32 };

/// d = a b + c for an m x k and a k x n matrix.
struct MatrixShape {
    unsigned m, n, k;
    MatrixNumber input;
    MatrixNumber sum;         ///< of d
    MatrixNumber sum_before;  ///< of c
    unsigned group = 16;      ///< products along k that are added at once; see src/tensor_sums.h
    bool saturates = false;   ///< 32-bit sums stay in their range
};

// ---- mma.sync --------------------------------------------------------------------------------------------------

/// d += a b for 16 x 8 sums. The fragments of a lane: d is 4 numbers (f16: 2 words), a 4 words, b 2 words.
void multiply_fragments(const MatrixShape& shape, void* d, const unsigned* a, const unsigned* b, Site site);

// ---- ldmatrix --------------------------------------------------------------------------------------------------

/// Hands the rows out: `row` is what this lane has loaded, `fragment` what it gets, one word of each matrix.
void exchange_matrices(unsigned matrices, bool transposed, const void* address, const uint4& row, unsigned* fragment,
                       Site site);
/// Ends the kernel as a GPU does where the address of a row is no multiple of 16 bytes.
[[noreturn]] void end_for_row(const void* address, Site site);
/// Matrices of 8 rows of 16 bytes: lanes 8 i to 8 i + 7 give the rows of matrix i, by their addresses in the shared
/// window.
template <unsigned count>
CPU_DEVICE_INLINE void load_matrices(unsigned (&fragment)[count], unsigned address, bool transposed, Site site) {
    uint4 row{};
    const void* const from = __cvta_shared_to_generic(address);
    if (lane_id() < 8 * count) {
#ifndef __CPU_DEVICE_INSTRUMENTED__
        if (address % 16 != 0) end_for_row(from, site);
#endif
        row = *static_cast<const uint4*>(from);
    }
    exchange_matrices(count, transposed, from, row, fragment, site);
}
template <unsigned count>
CPU_DEVICE_INLINE void ldmatrix(unsigned (&fragment)[count], unsigned row, CPU_DEVICE_CALL_SITE) {
    load_matrices(fragment, row, false, site);
}
template <unsigned count>
CPU_DEVICE_INLINE void ldmatrix_trans(unsigned (&fragment)[count], unsigned row, CPU_DEVICE_CALL_SITE) {
    load_matrices(fragment, row, true, site);
}

/// cvt.rna.tf32.f32: to the nearest number with 10 bits of fraction, ties away from zero. Of NaN an H200 keeps the
/// first 10 bits of the fraction, so NaN with none of them becomes infinity.
CPU_DEVICE_UNSEEN inline std::uint32_t rounded_to_tf32(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr std::uint32_t infinity = 0x7F800000u;
    if ((bits & infinity) != infinity) bits += 0x1000u;
    return bits & ~0x1FFFu;
}

// ---- nvcuda::wmma ----------------------------------------------------------------------------------------------

/// The elements of a fragment that nobody has filled: NaN, or an unlikely number.
constexpr std::uint64_t unfilled(MatrixNumber number) {
    switch (number) {
        case MatrixNumber::f16:
            return 0xFDA5;
        case MatrixNumber::bf16:
            return 0xFFA5;
        case MatrixNumber::f64:
            return 0xFFF5A5A5A5A5A5A5u;
        case MatrixNumber::tf32:
        case MatrixNumber::f32:
            return 0xFFA5A5A5;
        default:
            return 0xA5A5A5A5;
    }
}

/// The elements of a lane's fragment.
struct FragmentView {
    void* elements;
    unsigned count;   ///< elements of a lane
    unsigned copies;  ///< how many of them are the same
};

/// Which element of a matrix of `rows` x `cols` numbers is element `i` of this lane's fragment. For factors a row is
/// what is multiplied out: `per_word` neighbors of it lie in 4 bytes. For sums `per_word` is 2.
struct ElementPlace {
    unsigned row, col;
};
CPU_DEVICE_UNSEEN constexpr ElementPlace element_place(unsigned lane, unsigned i, unsigned rows, unsigned per_word) {
    const unsigned word = i / per_word;
    const unsigned rows_of_lane = rows / 8;
    return {lane / 4 + word % rows_of_lane * 8, (lane % 4 + word / rows_of_lane * 4) * per_word + i % per_word};
}

/// All lanes are there, and they gave the same matrix. Reports what CUDA does not allow: a pointer that is no multiple
/// of 32 bytes, rows whose distance is no multiple of 16 bytes.
void check_matrix(const char* function, const void* matrix, std::size_t element_bytes, unsigned leading_dimension,
                  Site site);

/// The fragments of all lanes are multiplied. d and c have the elements of the sums, in the types of the shape.
void multiply_matrices(const MatrixShape& shape, const FragmentView& d, const FragmentView& a, const FragmentView& b,
                       const FragmentView& c, Site site);

}  // namespace cpu_device
