// Wrong answer: takes the dark counts out of the inner loop, though they differ from column to column
// Rejected by: develops pictures of any shape
// Message: from column to column?
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    for (int row = 0; row < rows; ++row) {
        const Counted offset = dark[row];
        const Counted factor = 1 / (scale * exp(-row * camera.line_time / camera.lifetime));
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - offset) * factor;
        }
    }
}
