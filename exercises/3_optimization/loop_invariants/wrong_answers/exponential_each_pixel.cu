// Wrong answer: only exposure * gain is taken out; exp stays in the inner loop
// Rejected by: computes one exponential per row
// Message: The inner loop computes exponentials.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) / (scale * exp(-row * decay));
        }
    }
}
