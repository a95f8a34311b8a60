// Wrong answer: the factor of a row by as many products as there are rows above
// Rejected by: develops pictures of any shape
// Message: The answer was stopped after
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera) {
    const Counted scale = 1 / (camera.exposure * camera.gain);
    const Counted growth = exp(camera.line_time / camera.lifetime);
    for (int row = 0; row < rows; ++row) {
        Counted factor = scale;
        for (int above = 0; above < row; ++above) factor *= growth;
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
