// Solution: a loop that computes the same things over and over.
//
// exposure and gain do not change at all, and the exponential changes with the row. So the
// whole denominator goes out of the inner loop, and what does not depend on the row goes
// out of both. One division a row makes a factor of it; a pixel takes a subtraction and a
// multiplication.
//
// dark[col] stays where it is: it does not change in the loop over the rows, but that is
// the outer one. To take it out of a loop, the loops would have to change places, and the
// factors of the rows to be kept in an array.
//
// A compiler may not do all of this to doubles. Storing to `light` might change the
// camera's numbers, for all it knows; a division and a multiplication by the reciprocal
// differ in the last bit; and exp may set errno.
//
// The exponential could go, too: the factor of a row is that of the row before, times
// e^(line_time / lifetime). That is one exponential for a picture; but every row adds a
// rounding error to those of the rows before.
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera) {
    const Counted scale = camera.exposure * camera.gain;
    const Counted decay = camera.line_time / camera.lifetime;  // from one row to the next
    for (int row = 0; row < rows; ++row) {
        const Counted factor = 1 / (scale * exp(-row * decay));
        for (int col = 0; col < cols; ++col) {
            const int i = row * cols + col;
            light[i] = (counts[i] - dark[col]) * factor;
        }
    }
}
