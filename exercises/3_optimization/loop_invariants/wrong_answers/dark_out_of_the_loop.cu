// Wrong answer: dark[row] is taken for the whole row
// Rejected by: develops pictures of any shape
// Message: dark[row] was subtracted from the counts.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;  // from one row to the next
    for (int row = 0; row < rows; ++row) {
        const Counted factor = 1 / (scale * exp(-row * decay));
        const Counted dark_of_row = dark[row];
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark_of_row) * factor;
        }
    }
}
