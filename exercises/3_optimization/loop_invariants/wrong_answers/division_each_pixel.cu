// Wrong answer: all is taken out, but each pixel is divided
// Rejected by: divides at most six times per row
// Message: The inner loop divides.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;  // from one row to the next
    for (int row = 0; row < rows; ++row) {
        const Counted denominator = scale * exp(-row * decay);
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) / denominator;
        }
    }
}
