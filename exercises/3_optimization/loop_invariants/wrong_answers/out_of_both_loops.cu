// Wrong answer: takes the exponential out of both loops, as if all rows had waited for as long
// Rejected by: develops pictures of any shape
// Message: Is something computed once that differs from row to row
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted left = exp(-camera.line_time / camera.lifetime);
    const Counted factor = 1 / (camera.exposure * camera.gain * left);
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
