// Wrong answer: lets the loops change places, so that what belongs to a row is in the inner
//     one
// Rejected by: computes one exponential per row
// Message: The inner loop computes exponentials.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;
    for (int col = 0; col < cols; ++col) {
        const Counted offset = dark[col];
        for (int row = 0; row < rows; ++row) {
            const int i = row * cols + col;
            light[i] = (counts[i] - offset) / (scale * exp(-row * decay));
        }
    }
}
