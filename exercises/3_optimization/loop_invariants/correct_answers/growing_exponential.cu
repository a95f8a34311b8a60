// Correct answer: the exponential of the positive exponent: no division a row at all
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted inverse_scale = 1 / (camera.exposure * camera.gain);
    const Counted growth = camera.line_time / camera.lifetime;
    for (int row = 0; row < rows; ++row) {
        const Counted factor = inverse_scale * exp(row * growth);
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
