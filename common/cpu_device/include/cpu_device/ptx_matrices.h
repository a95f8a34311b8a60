// What the rewriter makes of the instructions of tensor cores in inline PTX: see rewriter/ptx_code.h.
#pragma once

#include "cpu_device/tensor_core.h"

namespace cpu_device::ptx {

/// ldmatrix: see cpu_device::load_matrices.
template <unsigned count>
CPU_DEVICE_INLINE void load_matrices(unsigned (&words)[count], unsigned address, bool transposed,
                                     CPU_DEVICE_CALL_SITE) {
    cpu_device::load_matrices(words, address, transposed, site);
}

/// mma.sync: sums += a b for 16 x 8 sums, where the rows of a and the columns of b have k elements.
template <class Sum, std::size_t count>
CPU_DEVICE_UNSEEN inline void multiply_matrices(unsigned k, MatrixNumber input, MatrixNumber sum, bool saturates,
                                                Sum (&sums)[count], const unsigned (&a)[4], const unsigned (&b)[2],
                                                CPU_DEVICE_CALL_SITE) {
    MatrixShape shape{16, 8, k, input, sum, sum};
    shape.saturates = saturates;
    multiply_fragments(shape, sums, a, b, site);
}

}  // namespace cpu_device::ptx
