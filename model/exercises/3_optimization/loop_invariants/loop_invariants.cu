// Exercise: a loop that computes the same things over and over.
// The task: ./warpwise task loop_invariants
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    // TODO 1: which expressions depend on neither row nor col? Compute them once.
    for (int row = 0; row < rows; ++row) {
        // TODO 2: which expressions depend on the row only? Compute them once per row.
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            const Counted waited = row * camera.line_time;
            const Counted left = exp(-waited / camera.lifetime);
            // TODO 3: divide once per row, and multiply here.
            light[i] = (counts[i] - dark[col]) / (camera.exposure * camera.gain * left);
        }
    }
}
