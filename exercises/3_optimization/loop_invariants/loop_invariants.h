// The function that the grader calls, and the numbers that it is called with.
#pragma once

#include <cmath>

/// How often each operation was done.
struct Operations {
    long additions = 0;  ///< and subtractions
    long multiplications = 0;
    long divisions = 0;
    long exponentials = 0;
};

/// A number that counts what is done with it. Write it like a double: + - * / and exp(x), without std::.
/// Signs and assignments cost nothing.
class Counted {
public:
    static inline Operations done;  ///< since the grader set it to zero

    Counted() = default;
    Counted(double value) : value_(value) {}  // implicit, so that 1 / x and row * x can be written

    friend Counted operator+(Counted a, Counted b) { return ++done.additions, Counted(a.value_ + b.value_); }
    friend Counted operator-(Counted a, Counted b) { return ++done.additions, Counted(a.value_ - b.value_); }
    friend Counted operator*(Counted a, Counted b) { return ++done.multiplications, Counted(a.value_ * b.value_); }
    friend Counted operator/(Counted a, Counted b) { return ++done.divisions, Counted(a.value_ / b.value_); }
    friend Counted operator-(Counted a) { return Counted(-a.value_); }
    friend Counted exp(Counted x) { return ++done.exponentials, Counted(std::exp(x.value_)); }

    Counted& operator+=(Counted b) { return *this = *this + b; }
    Counted& operator-=(Counted b) { return *this = *this - b; }
    Counted& operator*=(Counted b) { return *this = *this * b; }
    Counted& operator/=(Counted b) { return *this = *this / b; }

    /// For the grader: the number itself. Arithmetic with it would not be counted, which is not the task.
    friend double value_of(Counted x) { return x.value_; }

private:
    double value_ = 0;
};

/// What is known of a camera and of a picture that it took.
struct Camera {
    Counted exposure;   ///< seconds that light was collected
    Counted gain;       ///< counts for a unit of light a second
    Counted line_time;  ///< seconds from the reading of a row to that of the next
    Counted lifetime;   ///< seconds until 1/e of the charge is left, while it waits to be read
};

/// The light of every pixel, from the counts that were read:
///
///     light[row][col] = (counts[row][col] - dark[col]) / (exposure * gain * e^(-row * line_time / lifetime))
///
/// Pictures are stored row after row; dark[col] is what a column reads without light. The arrays do not overlap.
/// Without pixels it does nothing. For `rows` x `cols` pixels it takes at most
///     rows + 4                       exponentials
///     6 rows + 4                     divisions
///     rows x cols + 6 rows + 8       multiplications
///     rows x cols + 3 rows + 4       additions and subtractions
void develop(const Counted* counts, const Counted* dark, Counted* light, int rows, int cols, const Camera& camera);
