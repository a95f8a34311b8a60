// Correct answer: one index runs through the picture; fields copied into locals
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    const Counted exposure = camera.exposure, gain = camera.gain;
    const Counted line_time = camera.line_time, lifetime = camera.lifetime;
    const Counted inverse_lifetime = 1 / lifetime;
    std::size_t i = 0;
    for (int row = 0; row < rows; ++row) {
        const Counted left = exp(-row * line_time * inverse_lifetime);
        const Counted denominator = exposure * gain * left;
        const Counted reciprocal = 1 / denominator;
        for (int col = 0; col < cols; ++col, ++i) {
            Counted pixel = counts[i];
            pixel -= dark[col];
            pixel *= reciprocal;
            light[i] = pixel;
        }
    }
}
