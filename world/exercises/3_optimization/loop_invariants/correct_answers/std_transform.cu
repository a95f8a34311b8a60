// Correct answer: a row is a std::transform with a lambda
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

#include <algorithm>

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    for (int row = 0; row < rows; ++row) {
        const Counted left = exp(-(row * camera.line_time) / camera.lifetime);
        const Counted factor = 1 / scale / left;
        const auto light_of = [factor](Counted n, Counted d) { return (n - d) * factor; };
        std::transform(counts, counts + cols, dark, light, light_of);
        counts += cols;
        light += cols;
    }
}
