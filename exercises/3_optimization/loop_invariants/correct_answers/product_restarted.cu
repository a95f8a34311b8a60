// Correct answer: from row to row a product, begun anew by exp every 32 rows
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted rate = camera.line_time / camera.lifetime;
    const Counted growth = exp(rate);  // from one row to the next
    Counted factor;
    for (int row = 0; row < rows; ++row) {
        if (row % 32 == 0) {
            factor = exp(row * rate) / scale;
        } else {
            factor *= growth;
        }
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
