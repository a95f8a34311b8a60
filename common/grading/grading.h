// What the graders of the exercises are written with: device buffers that notice writes outside, and Catch2 matchers
// whose messages name the elements and the likely cause.
//
//     grading::Guarded<float> d_in(values), d_out(n);
//     convert(d_in.data(), d_out.data(), n);                                  // the learner's function
//     REQUIRE_THAT(grading::finish(), grading::Succeeds());
//     CHECK_THAT(d_out, grading::WrittenEverywhere("Does every block use indices of its own?"));
//     CHECK_THAT(d_out, grading::CloseTo(expected, {.absolute = 1e-6}));
//     CHECK_THAT(d_out, grading::StaysInside());
//     CHECK_THAT(d_in, grading::Unchanged());
//
// Whatever goes wrong is a failed test: nothing here ends the program.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/helpers/compare.h"

namespace grading {

/// "cudaErrorInvalidConfiguration: invalid configuration argument".
std::string text_of(cudaError_t status);

/// How kernels ended.
struct Outcome {
    cudaError_t status;    ///< first error: of a launch that was refused, or of a kernel that died
    std::string findings;  ///< mistakes that the CPU device found, in words; empty on a GPU
};

/// Waits for the device. No error is pending afterwards, unless the device is lost.
Outcome finish();

/// For tests that provoke mistakes on purpose: drops what the CPU device found so far. Does nothing on a GPU.
void forget_findings();

/// "elements 0 to 31, 64 and 96 to 127" for sorted indices; with a row length "row 0, columns 4 to 7; row 1, ...".
/// After three ranges it ends with "...".
std::string name_elements(const std::vector<std::size_t>& indices, std::size_t row_length = 0);

/// Result of a matcher: whether it passed, and what to tell if not.
struct Verdict {
    bool passed;
    std::string text;
};

/// Device memory between two red zones. `Guarded` gives it a type.
class GuardedMemory {
public:
    /// Throws std::runtime_error when the device gives no memory, as it does after a kernel died.
    GuardedMemory(std::size_t count, std::size_t element_bytes, std::size_t zone_elements);
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    std::size_t size() const { return count_; }
    std::size_t row_length() const { return row_length_; }

    /// Makes messages name elements by row and column, for a matrix stored row after row.
    void show_as_rows_of(std::size_t cols) { row_length_ = cols; }

    /// Fills the buffer with 0x7FFD in every two bytes: NaN for floating-point types, 2147319805 for int.
    void poison();

    Verdict untouched_outside() const;
    Verdict written_everywhere() const;

protected:
    void* start() const { return start_; }
    void copy_in(const void* values);
    void copy_out(void* values) const;

private:
    std::size_t count_;
    std::size_t element_bytes_;
    std::size_t zone_bytes_;
    std::size_t row_length_ = 0;
    void* allocation_ = nullptr;
    void* start_ = nullptr;
};

/// Array of `T` in device memory with a red zone before and behind it.
template <class T>
class Guarded : public GuardedMemory {
public:
    /// Elements in each red zone: a block of the largest size that forgets its bounds check still writes into it.
    static constexpr std::size_t default_zone = 1024;

    /// `count` poisoned elements; see GuardedMemory::poison.
    explicit Guarded(std::size_t count, std::size_t zone = default_zone) : GuardedMemory(count, sizeof(T), zone) {}

    /// A copy of `values`.
    explicit Guarded(const std::vector<T>& values, std::size_t zone = default_zone)
        : GuardedMemory(values.size(), sizeof(T), zone), uploaded_(values) {
        copy_in(values.data());
    }

    T* data() { return static_cast<T*>(start()); }
    const T* data() const { return static_cast<const T*>(start()); }

    /// The elements as they are now. Throws std::runtime_error when the device is lost.
    std::vector<T> download() const {
        std::vector<T> values(size());
        copy_out(values.data());
        return values;
    }

    /// The values that the buffer was made from; empty for a poisoned buffer.
    const std::vector<T>& uploaded() const { return uploaded_; }

private:
    std::vector<T> uploaded_;
};

/// Compares as warpwise::compare does, so NaN never passes, and names wrong elements.
Verdict judge_values(const std::vector<double>& got, const std::vector<double>& expected, warpwise::Tolerance tolerance,
                     std::size_t row_length);

/// Catch2 matcher for `Guarded` made of a function that returns a Verdict.
template <class Judge>
class BufferMatcher : public Catch::Matchers::MatcherGenericBase {
public:
    BufferMatcher(Judge judge, std::string hint) : judge_(std::move(judge)), hint_(std::move(hint)) {}

    template <class T>
    bool match(const Guarded<T>& buffer) const {
        const Verdict verdict = judge_(buffer);
        text_ = verdict.text;
        if (!verdict.passed && !hint_.empty()) text_ += "\n" + hint_;
        return verdict.passed;
    }

    std::string describe() const override { return text_; }

private:
    Judge judge_;
    std::string hint_;
    mutable std::string text_;  // describe() is asked for after match()
};

/// No element still holds the poison. A NaN that a kernel computed from other values counts as written.
/// In all matchers `hint` is added to the message of a failure.
inline auto WrittenEverywhere(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return buffer.written_everywhere(); }, std::move(hint));
}

/// Nothing was written into the red zones.
inline auto StaysInside(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return buffer.untouched_outside(); }, std::move(hint));
}

/// Every element is within the tolerance of its double-precision reference.
inline auto CloseTo(std::vector<double> expected, warpwise::Tolerance tolerance, std::string hint = "") {
    auto judge = [expected = std::move(expected), tolerance](const auto& buffer) {
        const auto values = buffer.download();
        return judge_values({values.begin(), values.end()}, expected, tolerance, buffer.row_length());
    };
    return BufferMatcher(std::move(judge), std::move(hint));
}

/// Every element is exactly as expected. Integers are compared as double, so up to 2^53.
inline auto EqualTo(std::vector<double> expected, std::string hint = "") {
    return CloseTo(std::move(expected), {}, std::move(hint));
}

/// The buffer still holds the values that it was made from.
inline auto Unchanged(std::string hint = "The input arrays are only to be read.") {
    auto judge = [](const auto& buffer) {
        const auto now = buffer.download();
        const auto& before = buffer.uploaded();
        return judge_values({now.begin(), now.end()}, {before.begin(), before.end()}, {}, buffer.row_length());
    };
    return BufferMatcher(std::move(judge), std::move(hint));
}

/// The status is cudaSuccess, and nothing was found. For `finish()` and for single statuses.
class Succeeds : public Catch::Matchers::MatcherGenericBase {
public:
    bool match(cudaError_t status) const { return status == cudaSuccess; }
    bool match(const Outcome& outcome) const { return outcome.status == cudaSuccess && outcome.findings.empty(); }
    std::string describe() const override { return "(should end without an error)"; }
};

}  // namespace grading

template <>
struct Catch::StringMaker<cudaError_t> {
    static std::string convert(cudaError_t status) { return grading::text_of(status); }
};

template <>
struct Catch::StringMaker<grading::Outcome> {
    static std::string convert(const grading::Outcome& outcome) {
        if (outcome.findings.empty()) return grading::text_of(outcome.status);
        if (outcome.status == cudaSuccess) return outcome.findings;
        return outcome.findings + "\n" + grading::text_of(outcome.status);
    }
};

template <class T>
struct Catch::StringMaker<grading::Guarded<T>> {
    static std::string convert(const grading::Guarded<T>& buffer) {
        return std::to_string(buffer.size()) + (buffer.size() == 1 ? " element:" : " elements:");
    }
};
