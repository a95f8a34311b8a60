// Wrong answer: scale and decay are static: those of the first camera stay
// Rejected by: develops pictures of any shape
// Message: a picture of 7 x 5 pixels
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    static const Counted scale = camera.exposure * camera.gain;
    static const Counted decay = camera.line_time / camera.lifetime;
    for (int row = 0; row < rows; ++row) {
        const Counted factor = 1 / (scale * exp(-row * decay));
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
