// Wrong answer: the product of two exponentials of half the exponent
// Rejected by: computes one exponential per row
// Message: The answer did 120 exponentials for 60 x 700 pixels.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    for (int row = 0; row < rows; ++row) {
        const Counted age = row * camera.line_time / camera.lifetime;
        const Counted half_left = exp(-age / 2);
        const Counted left = half_left * exp(-age / 2);
        const Counted factor = 1 / (camera.exposure * camera.gain * left);
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
