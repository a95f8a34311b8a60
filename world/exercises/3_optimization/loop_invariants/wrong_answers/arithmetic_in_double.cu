// Wrong answer: takes the numbers out of their wrappers, so that nothing is counted
// Rejected by: develops pictures of any shape
// Message: The answer called value_of()
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            const double left =
                std::exp(-row * value_of(camera.line_time) / value_of(camera.lifetime));
            light[i] = (value_of(counts[i]) - value_of(dark[col])) /
                       (value_of(camera.exposure) * value_of(camera.gain) * left);
        }
    }
}
