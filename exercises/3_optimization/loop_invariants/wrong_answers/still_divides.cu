// Wrong answer: takes the exponential out of the loop, and divides every pixel
// Rejected by: divides a few times a row
// Message: Dividing by a number is multiplying by its reciprocal.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    for (int row = 0; row < rows; ++row) {
        const Counted divisor = scale * exp(-row * camera.line_time / camera.lifetime);
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) / divisor;
        }
    }
}
