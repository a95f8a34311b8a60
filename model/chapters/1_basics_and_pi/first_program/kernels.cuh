// The kernel of first_program, the same as in complete/square.cu, which is the whole
// program, to be run by itself.
#pragma once

namespace basics_and_pi {
namespace {

// Every thread runs this function once, and squares one number. blockIdx, blockDim, and
// threadIdx are built in: they say which thread this is. The last block has threads beyond
// the end of the array, and the guard keeps them from touching the memory there.
__global__ void square(float* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = values[i] * values[i];
}

}  // namespace
}  // namespace basics_and_pi
