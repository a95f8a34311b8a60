// Wrong answer: takes each factor from that of the row before, and uses it one row too early
// Rejected by: develops pictures of any shape
// Message: Each row has the factor of the row after it.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted growth = exp(camera.line_time / camera.lifetime);
    Counted factor = 1 / (camera.exposure * camera.gain);
    for (int row = 0; row < rows; ++row) {
        factor *= growth;
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
