// What is wrong with an array, and which causes can be told from it. A hint is given only where its cause was
// established:
//
//     CHECK_THAT(d_out, grading::CloseTo(expected, tolerance)
//                           .when(grading::only_first_right(block_size), "Which block does an index belong to?")
//                           .when(grading::equals(transposed(expected)), "Were rows and columns swapped?"));
//
// The first cause that holds gives the hint. Without one, the failure tells what was observed and nothing else.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/compare.h"

namespace grading {

/// An array beside what it should be. At least one element is wrong.
struct MismatchedArray {
    std::vector<double> got;
    std::vector<double> expected;
    std::vector<std::size_t> wrong;  ///< indices, ascending
    warpwise::Tolerance tolerance;
    std::size_t row_length = 0;  ///< 0: not shown as a matrix

    bool fits(double value, double wanted) const;  ///< within the tolerance
    bool is_wrong(std::size_t index) const;
};

/// Compares element by element as warpwise::compare does. Arrays of different sizes have no wrong elements.
MismatchedArray mismatch_of(std::vector<double> got, std::vector<double> expected, warpwise::Tolerance tolerance,
                            std::size_t row_length);

/// Says whether a mismatch has a certain cause, or follows a pattern that the hint speaks of.
using Cause = std::function<bool(const MismatchedArray&)>;

// Which elements are wrong.
Cause all_wrong();
Cause only_tail_wrong();                                   ///< from some element on, not the first, all are wrong
Cause only_tail_wrong_from_multiple_of(std::size_t unit);  ///< such as the size of a block
Cause only_first_right(std::size_t count);                 ///< exactly the first `count` are right
Cause only_first_wrong(std::size_t count);                 ///< the wrong ones are among the first `count`
Cause only_multiples_wrong(std::size_t unit);              ///< the index of every wrong element is a multiple of `unit`
Cause only_multiples_right(std::size_t unit);              ///< right are exactly the multiples of `unit`
Cause only_last_column_wrong();                            ///< needs a row length, as the next one
Cause only_last_row_wrong();

// What the wrong elements hold. Every wrong element has to agree.
Cause never_written();                      ///< the poison of a Guarded buffer
Cause equal(double value);                  ///< such as 0
Cause equals(std::vector<double> other);    ///< the same element of another array: of the input, of the result
                                            ///< that a known mistake gives
Cause times(double factor);                 ///< what they should be, times this factor
Cause some_factor();                        ///< the same, whatever the factor; from two elements on
Cause plus(double offset);                  ///< what they should be, plus this
Cause shifted_by(std::ptrdiff_t distance);  ///< what element i + distance should be
Cause transposed(std::size_t rows,
                 std::size_t cols);  ///< of a matrix of rows x cols: what element (column, row) should be
Cause too_small();
Cause too_large();
Cause not_a_number();

/// All of them, one of them, the contrary.
Cause both(Cause a, Cause b);
Cause either(Cause a, Cause b);
Cause unless(Cause cause);

/// Whether a value is the poison of a Guarded buffer of some type.
bool is_poison(double value);

}  // namespace grading
