// Wrong answer: computes on the host and needs no device
// Rejected by: makes all five moves
// Message: launch: no kernel was launched
#include "exercises/1_basics_and_pi/five_moves/five_moves.h"

cudaError_t scale(const float* in, float* out, int n, float factor) {
    for (int i = 0; i < n; ++i) out[i] = factor * in[i];
    return cudaSuccess;
}
