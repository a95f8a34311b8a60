// Wrong answer: leaves two factors in the inner loop that could be one
// Rejected by: multiplies once per pixel
// Message: The inner loop multiplies more than once per pixel.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    const Counted unscale = 1 / (camera.exposure * camera.gain);
    const Counted decay = camera.line_time / camera.lifetime;
    for (int row = 0; row < rows; ++row) {
        const Counted grown = exp(row * decay);
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * grown * unscale;
        }
    }
}
