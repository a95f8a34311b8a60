#include "common/grading/mismatch.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace grading {
namespace {

/// A cause that holds when every wrong element satisfies `test(mismatch, index)`.
template <class Test>
Cause every_wrong(Test test) {
    return [test = std::move(test)](const MismatchedArray& mismatch) {
        return std::all_of(mismatch.wrong.begin(), mismatch.wrong.end(),
                           [&](std::size_t i) { return test(mismatch, i); });
    };
}

/// The first element of a wrong tail: everything from it on is wrong, and nothing before.
std::optional<std::size_t> tail_of(const MismatchedArray& mismatch) {
    const std::size_t first = mismatch.wrong.front();
    if (first == 0 || mismatch.got.size() - first != mismatch.wrong.size()) return std::nullopt;
    return first;
}

}  // namespace

bool MismatchedArray::fits(double value, double wanted) const {
    return warpwise::compare(std::vector<double>{value}, {wanted}, tolerance).passed;
}

bool MismatchedArray::is_wrong(std::size_t index) const {
    return std::binary_search(wrong.begin(), wrong.end(), index);
}

MismatchedArray mismatch_of(std::vector<double> got, std::vector<double> expected, warpwise::Tolerance tolerance,
                            std::size_t row_length) {
    MismatchedArray mismatch{std::move(got), std::move(expected), {}, tolerance, row_length};
    if (mismatch.got.size() != mismatch.expected.size()) return mismatch;
    for (std::size_t i = 0; i < mismatch.got.size(); ++i) {
        if (mismatch.got[i] == mismatch.expected[i]) continue;
        if (!mismatch.fits(mismatch.got[i], mismatch.expected[i])) mismatch.wrong.push_back(i);
    }
    return mismatch;
}

Cause all_wrong() {
    return [](const MismatchedArray& mismatch) { return mismatch.wrong.size() == mismatch.got.size(); };
}

Cause only_tail_wrong() {
    return [](const MismatchedArray& mismatch) { return tail_of(mismatch).has_value(); };
}

Cause only_tail_wrong_from_multiple_of(std::size_t unit) {
    return [unit](const MismatchedArray& mismatch) {
        const auto first = tail_of(mismatch);
        return first && *first % unit == 0;
    };
}

Cause only_first_right(std::size_t count) {
    return [count](const MismatchedArray& mismatch) { return tail_of(mismatch) == count; };
}

Cause only_first_wrong(std::size_t count) {
    return [count](const MismatchedArray& mismatch) {
        return mismatch.wrong.back() < count && count < mismatch.got.size();
    };
}

Cause only_multiples_wrong(std::size_t unit) {
    return every_wrong([unit](const MismatchedArray&, std::size_t i) { return i % unit == 0; });
}

Cause only_multiples_right(std::size_t unit) {
    return [unit](const MismatchedArray& mismatch) {
        const std::size_t multiples = (mismatch.got.size() + unit - 1) / unit;
        return mismatch.wrong.size() == mismatch.got.size() - multiples &&
               std::none_of(mismatch.wrong.begin(), mismatch.wrong.end(),
                            [unit](std::size_t i) { return i % unit == 0; });
    };
}

Cause only_last_column_wrong() {
    return every_wrong([](const MismatchedArray& mismatch, std::size_t i) {
        return mismatch.row_length > 1 && i % mismatch.row_length == mismatch.row_length - 1;
    });
}

Cause only_last_row_wrong() {
    return every_wrong([](const MismatchedArray& mismatch, std::size_t i) {
        return mismatch.row_length > 0 && mismatch.got.size() > mismatch.row_length &&
               i >= mismatch.got.size() - mismatch.row_length;
    });
}

Cause never_written() {
    return every_wrong([](const MismatchedArray& mismatch, std::size_t i) { return is_poison(mismatch.got[i]); });
}

Cause equal(double value) {
    return every_wrong([value](const MismatchedArray& mismatch, std::size_t i) { return mismatch.got[i] == value; });
}

Cause equals(std::vector<double> other) {
    return every_wrong([other = std::move(other)](const MismatchedArray& mismatch, std::size_t i) {
        return i < other.size() && mismatch.fits(mismatch.got[i], other[i]);
    });
}

Cause times(double factor) {
    return every_wrong([factor](const MismatchedArray& mismatch, std::size_t i) {
        const double bound = std::fabs(factor) * (mismatch.tolerance.absolute +
                                                  mismatch.tolerance.relative * std::fabs(mismatch.expected[i]));
        return std::fabs(mismatch.got[i] - factor * mismatch.expected[i]) <= bound;
    });
}

Cause some_factor() {
    return [](const MismatchedArray& mismatch) {
        if (mismatch.wrong.size() < 2) return false;
        const std::size_t largest =
            *std::max_element(mismatch.wrong.begin(), mismatch.wrong.end(), [&](std::size_t a, std::size_t b) {
                return std::fabs(mismatch.expected[a]) < std::fabs(mismatch.expected[b]);
            });
        if (mismatch.expected[largest] == 0) return false;
        const double factor = mismatch.got[largest] / mismatch.expected[largest];
        return std::isfinite(factor) && factor != 0 && times(factor)(mismatch);
    };
}

Cause plus(double offset) {
    return every_wrong([offset](const MismatchedArray& mismatch, std::size_t i) {
        return mismatch.fits(mismatch.got[i] - offset, mismatch.expected[i]);
    });
}

Cause shifted_by(std::ptrdiff_t distance) {
    return [distance](const MismatchedArray& mismatch) {
        std::size_t compared = 0;
        for (const std::size_t i : mismatch.wrong) {
            const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(i) + distance;
            if (from < 0 || from >= static_cast<std::ptrdiff_t>(mismatch.expected.size())) continue;
            if (!mismatch.fits(mismatch.got[i], mismatch.expected[static_cast<std::size_t>(from)])) return false;
            ++compared;
        }
        return compared > 0;
    };
}

Cause transposed(std::size_t rows, std::size_t cols) {
    return [rows, cols](const MismatchedArray& mismatch) {
        if (mismatch.got.size() != rows * cols) return false;
        return std::all_of(mismatch.wrong.begin(), mismatch.wrong.end(), [&](std::size_t i) {
            // Element i of the result stands where a matrix of cols x rows has its row i % rows ... of the other.
            return mismatch.fits(mismatch.got[i], mismatch.expected[i % rows * cols + i / rows]);
        });
    };
}

Cause too_small() {
    return every_wrong(
        [](const MismatchedArray& mismatch, std::size_t i) { return mismatch.got[i] < mismatch.expected[i]; });
}

Cause too_large() {
    return every_wrong(
        [](const MismatchedArray& mismatch, std::size_t i) { return mismatch.got[i] > mismatch.expected[i]; });
}

Cause not_a_number() {
    return every_wrong([](const MismatchedArray& mismatch, std::size_t i) { return std::isnan(mismatch.got[i]); });
}

Cause both(Cause a, Cause b) {
    return [a = std::move(a), b = std::move(b)](const MismatchedArray& mismatch) { return a(mismatch) && b(mismatch); };
}

Cause either(Cause a, Cause b) {
    return [a = std::move(a), b = std::move(b)](const MismatchedArray& mismatch) { return a(mismatch) || b(mismatch); };
}

Cause unless(Cause cause) {
    return [cause = std::move(cause)](const MismatchedArray& mismatch) { return !cause(mismatch); };
}

bool is_poison(double value) {
    // 0x7FFD in every two bytes: NaN as float and double; as integers of 8, 4, 2, and 1 byte these.
    return std::isnan(value) || value == 2147319805.0 || value == 32765.0 ||
           value == static_cast<double>(0x7FFD7FFD7FFD7FFDll);
}

}  // namespace grading
