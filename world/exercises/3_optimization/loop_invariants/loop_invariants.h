// The function that the grader calls, and the numbers that it is called with.
#pragma once

#include <cmath>
#include <cstdint>

/// A number whose arithmetic is counted. Write it like a double: + - * / and exp(x),
/// without std::. Signs, assignments, and conversions from ordinary numbers cost nothing.
///
/// The value is sealed: only the operators below can use it, so no arithmetic goes
/// uncounted.
class Counted {
public:
    Counted() = default;    ///< 0
    Counted(double value);  // implicit, so that 1 / x and row * x can be written

    friend Counted operator+(Counted a, Counted b);
    friend Counted operator-(Counted a, Counted b);
    friend Counted operator*(Counted a, Counted b);
    friend Counted operator/(Counted a, Counted b);
    friend Counted operator-(Counted a);
    friend Counted exp(Counted x);

    Counted& operator+=(Counted b) { return *this = *this + b; }
    Counted& operator-=(Counted b) { return *this = *this - b; }
    Counted& operator*=(Counted b) { return *this = *this * b; }
    Counted& operator/=(Counted b) { return *this = *this / b; }

    /// Opens the seal, so that you can print a value while you look for a mistake.
    /// Arithmetic with an opened value is not counted. Therefore the grader rejects an
    /// answer that still calls this function.
    friend double value_of(Counted x);

private:
    friend class Seal;  // of the grader
    std::uint64_t seal_ = 0;
    std::uint64_t sealed_value_ = 0;
};

/// What is known about a camera and about a picture that it took.
struct Camera {
    Counted exposure;   ///< seconds during which light was collected
    Counted gain;       ///< counts per second for one unit of light
    Counted line_time;  ///< seconds between the readout of one row and the readout of the
                        ///< next; may be 0
    Counted lifetime;   ///< seconds until 1/e of the charge is left, while it waits to be
                        ///< read; may be infinite
};

/// Computes the light of every pixel from the counts that were read:
///
///     light[row][col] = (counts[row][col] - dark[col]) / (exposure * gain * e^(-row *
///     line_time / lifetime))
///
/// Pictures are stored row after row; dark[col] is what a column reads without light. The
/// arrays do not overlap. Without pixels, the function does nothing. For `rows` x `cols`
/// pixels it takes at most
///     rows + 4                       exponentials
///     6 rows + 4                     divisions
///     rows x cols + 6 rows + 8       multiplications
///     rows x cols + 3 rows + 4       additions and subtractions
///
/// The relative error of each pixel is at most 1e-12, and 5e-16 x rows in pictures of more
/// than 2000 rows. So the factor of a row may be computed from the factor of the row before
/// it, which adds a rounding error per row.
void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols,
             const Camera& camera);
