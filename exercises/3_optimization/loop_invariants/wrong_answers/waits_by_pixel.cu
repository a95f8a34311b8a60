// Wrong answer: adds the time of a line for every pixel, not for every row
// Rejected by: develops pictures of any shape
// Message: 28 wrong
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    Counted waited = 0;
    for (int row = 0; row < rows; ++row) {
        const Counted factor = 1 / (scale * exp(-waited / camera.lifetime));
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
            waited += camera.line_time;
        }
    }
}
