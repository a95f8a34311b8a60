// Wrong answer: computes the factor of a row before it asks whether there is a row, and then develops it
// Rejected by: handles pictures without pixels
// Message: Elements before or beyond the arrays were used
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;
    int row = 0;
    do {
        const Counted factor = 1 / (scale * exp(-row * decay));
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    } while (++row < rows);
}
