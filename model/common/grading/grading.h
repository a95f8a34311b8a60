// What the graders of the exercises are written with: device buffers that end where nobody may go on, and Catch2
// matchers whose messages name the elements that are wrong. docs/fair_graders.md tells how to write a fair grader with
// them.
//
//     grading::Guarded<float> d_in(grading::random_floats(n)), d_out(n);
//     const grading::Instrumented instrumented = grading::instrument([&] {
//         convert(d_in.data(), d_out.data(), n);                              // the learner's function
//     });
//     REQUIRE_THAT(grading::finish(), grading::Succeeds());
//     CHECK_THAT(d_out, grading::WrittenEverywhere());
//     CHECK_THAT(d_out, grading::CloseTo(expected, {.absolute = 1e-6}).when(grading::only_tail_wrong(), "..."));
//     CHECK_THAT(d_out, grading::WrittenByThreads(n));                        // common/grading/activity.h
//     CHECK_THAT(d_out, grading::StaysInside());
//     CHECK_THAT(d_in, grading::Unchanged());
//
// Whatever goes wrong is a failed test: nothing here ends the program.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/grading/mismatch.h"
#include "common/helpers/compare.h"

namespace grading {

/// "cudaErrorInvalidConfiguration: invalid configuration argument".
std::string text_of(cudaError_t status);

/// How kernels ended.
struct Outcome {
    cudaError_t status;        ///< first error: of a launch that was refused, or of a kernel that died
    std::string diagnostics;   ///< errors that the CPU device found, in words; empty on a GPU
    std::string refused = {};  ///< which launch was refused and why, where `status` says so; empty on a GPU
    std::string call = {};     ///< which call returned `status`, where one did; empty on a GPU
};

/// Waits for the device. No error is pending afterwards, unless the device is lost.
Outcome finish();

/// For tests that provoke errors on purpose: drops what the CPU device found so far. Does nothing on a GPU.
void forget_diagnostics();

/// "elements 0 to 31, 64 and 96 to 127" for sorted indices; with a row length "row 0, columns 4 to 7; row 1, ...".
/// After three ranges it ends with "...".
std::string name_elements(const std::vector<std::size_t>& indices, std::size_t row_length = 0);

/// A number with its noun: "1 stream", "3 streams", "2 launches", "2 allocations of device memory".
std::string counted(const std::string& number, const std::string& noun);
std::string counted(double count, const std::string& noun);  ///< "1.05 M requests"; whole below a million
template <std::integral Integer>
std::string counted(Integer count, const std::string& noun) {
    return counted(std::to_string(count), noun);
}

/// Result of a matcher: whether it passed, and what to tell if not.
struct Judgement {
    bool passed;
    std::string text;
    std::shared_ptr<const MismatchedArray> mismatch =
        nullptr;                ///< what hints may depend on, where values were compared
    std::string question = {};  ///< what to ask when no hint was given
};

/// Device memory with guarded ends. `Guarded` gives it a type.
///
/// Where the CPU device looks for errors, the allocation begins and ends with the data, so every access outside is
/// reported, reads included. Elsewhere (on a GPU) red zones lie on both sides. They hold what is NaN in every
/// floating-point type and a huge number in integers, so that a value read from there shows in the result; what is
/// written there is found by untouched_outside().
class GuardedMemory {
public:
    /// Throws std::runtime_error when the device gives no memory, as it does after a kernel died.
    GuardedMemory(std::size_t count, std::size_t element_bytes, std::size_t zone_elements);
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory&) = delete;
    GuardedMemory& operator=(const GuardedMemory&) = delete;

    std::size_t size() const { return count_; }
    std::size_t element_bytes() const { return element_bytes_; }
    const void* memory() const { return start_; }
    std::size_t row_length() const { return row_length_; }

    /// Makes messages name elements by row and column, for a matrix stored row after row.
    void show_as_rows_of(std::size_t cols) { row_length_ = cols; }

    /// Fills the buffer with 0x7FFD in every two bytes: NaN for floating-point types, 2147319805 for int.
    void poison();

    Judgement untouched_outside() const;
    Judgement written_everywhere() const;

protected:
    void* start() const { return start_; }
    void copy_in(const void* values);
    void copy_out(void* values) const;

private:
    unsigned char zone_value(std::size_t offset) const;

    std::size_t count_;
    std::size_t element_bytes_;
    std::size_t zone_bytes_;
    unsigned char zone_byte_;  ///< the lower one of every two bytes of a red zone
    std::size_t row_length_ = 0;
    void* allocation_ = nullptr;
    void* start_ = nullptr;
};

/// Array of `T` in device memory with guarded ends, aligned as cudaMalloc aligns.
template <class T>
class Guarded : public GuardedMemory {
public:
    /// Elements in each red zone, where there are any: a block of the largest size that forgets its bounds check still
    /// writes into it.
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
Judgement judge_values(const std::vector<double>& got, const std::vector<double>& expected,
                       warpwise::Tolerance tolerance, std::size_t row_length);

/// The same for a single number: "is 3, should be 4".
Judgement judge_number(double got, double expected, warpwise::Tolerance tolerance);

/// What a failed matcher says beside the observation: `hint`, and the hint of the first cause that holds, if any.
struct Hint {
    Cause cause;
    std::string text;
};
std::string hint_for(const Judgement& judgement, const std::string& hint, const std::vector<Hint>& hints);

/// Leaves what was found out for the reporter. With a buffer of the device it knows who wrote the first wrong element.
void note_failed_match(const Judgement& judgement, const std::string& hint, const GuardedMemory* buffer);

namespace detail {

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
    std::vector<double> doubles;
    doubles.reserve(values.size());
    for (const T& value : values) doubles.push_back(warpwise::detail::as_double(value));
    return doubles;
}
template <class T>
std::vector<double> values_of(const Guarded<T>& buffer) {
    return as_doubles(buffer.download());
}
template <class T>
std::vector<double> values_of(const std::vector<T>& values) {
    return as_doubles(values);
}
template <class T>
requires std::is_arithmetic_v<T> std::vector<double> values_of(T value) { return as_doubles(std::vector<T>{value}); }

template <class T>
std::size_t row_length_of(const T&) {
    return 0;
}
inline std::size_t row_length_of(const GuardedMemory& buffer) { return buffer.row_length(); }
template <class T>
std::size_t row_length_of(const Guarded<T>& buffer) {
    return buffer.row_length();
}

template <class T>
const GuardedMemory* memory_of(const T& values) {
    if constexpr (std::is_base_of_v<GuardedMemory, T>) {
        return &values;
    } else {
        return nullptr;
    }
}

}  // namespace detail

/// Catch2 matcher for `Guarded`, made of a function that returns a Judgement. Those that compare values also match
/// std::vector and single numbers of the host.
template <class Judge>
class BufferMatcher : public Catch::Matchers::MatcherGenericBase {
public:
    BufferMatcher(Judge judge, std::string hint) : judge_(std::move(judge)), hint_(std::move(hint)) {}

    /// Adds `hint` to the message of a failure for which `cause` holds. Of several, the first one that holds.
    BufferMatcher when(Cause cause, std::string hint) && {
        hints_.push_back({std::move(cause), std::move(hint)});
        return std::move(*this);
    }

    template <class T>
    bool match(const T& values) const {
        const Judgement judgement = judge_(values);
        text_ = judgement.text;
        if (judgement.passed) return true;
        const std::string hint = hint_for(judgement, hint_, hints_);
        if (!hint.empty()) text_ += "\n" + hint;
        note_failed_match(judgement, hint, detail::memory_of(values));
        return false;
    }

    std::string describe() const override { return text_; }

private:
    Judge judge_;
    std::string hint_;
    std::vector<Hint> hints_;
    mutable std::string text_;  // describe() is asked for after match()
};

/// No element still holds the poison. A NaN that a kernel computed from other values counts as written.
/// In all matchers `hint` is added to every message of a failure: only for what holds whatever the cause. `when` adds
/// hints for causes.
inline auto WrittenEverywhere(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return buffer.written_everywhere(); }, std::move(hint));
}

/// Nothing was written outside. Where the CPU device looks for errors, finish() tells, and this always passes.
inline auto StaysInside(std::string hint = "") {
    return BufferMatcher([](const GuardedMemory& buffer) { return buffer.untouched_outside(); }, std::move(hint));
}

/// Every element is within the tolerance of its double-precision reference.
inline auto CloseTo(std::vector<double> expected, warpwise::Tolerance tolerance, std::string hint = "") {
    auto judge = [expected = std::move(expected), tolerance](const auto& values) {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(values)>>) {
            return judge_number(warpwise::detail::as_double(values), expected.at(0), tolerance);
        }
        return judge_values(detail::values_of(values), expected, tolerance, detail::row_length_of(values));
    };
    return BufferMatcher(std::move(judge), std::move(hint));
}

/// Every element is exactly as expected. Integers are compared as double, so up to 2^53.
inline auto EqualTo(std::vector<double> expected, std::string hint = "") {
    return CloseTo(std::move(expected), {}, std::move(hint));
}

/// The same for a single number.
template <class T>
requires std::is_arithmetic_v<T>
auto CloseTo(T expected, warpwise::Tolerance tolerance, std::string hint = "") {
    return CloseTo(std::vector<double>{warpwise::detail::as_double(expected)}, tolerance, std::move(hint));
}
template <class T>
requires std::is_arithmetic_v<T>
auto EqualTo(T expected, std::string hint = "") { return CloseTo(expected, {}, std::move(hint)); }

/// The buffer still holds the values that it was made from.
inline auto Unchanged(std::string hint = "The input arrays are only to be read.") {
    auto judge = [](const auto& buffer) {
        const auto now = buffer.download();
        const auto& before = buffer.uploaded();
        // By bytes: a NaN is unchanged, too.
        if (now.empty() || std::memcmp(now.data(), before.data(), now.size() * sizeof now[0]) == 0) {
            return Judgement{true, "unchanged"};
        }
        return judge_values(detail::as_doubles(now), detail::as_doubles(before), {}, buffer.row_length());
    };
    return BufferMatcher(std::move(judge), std::move(hint));
}

/// The status is cudaSuccess, and nothing was found. For `finish()` and for single statuses.
///
///     REQUIRE_THAT(grading::finish(), grading::Succeeds().when({"data race"}, "Which other thread?"));
class Succeeds : public Catch::Matchers::MatcherGenericBase {
public:
    /// Asks `question` in place of a diagnostic's hint, if the first diagnostic contains all of `texts`: for what a
    /// grader knows of its task and the CPU device does not. Of several, the first one that holds. For a single status,
    /// its name and what it says, and the call that returned it, stand before the first diagnostic.
    Succeeds when(std::vector<std::string> texts, std::string question) && {
        questions_.emplace_back(std::move(texts), std::move(question));
        return std::move(*this);
    }

    bool match(cudaError_t status) const;
    bool match(const Outcome& outcome) const;
    std::string describe() const override { return "(should end without an error)" + more_; }

private:
    std::string question_for(const std::string& text) const;  ///< empty where none holds

    std::vector<std::pair<std::vector<std::string>, std::string>> questions_;
    mutable std::string more_;  // what is known of a single status, and the question; each after a line break
};

}  // namespace grading

template <>
struct Catch::StringMaker<cudaError_t> {
    static std::string convert(cudaError_t status) { return grading::text_of(status); }
};

template <>
struct Catch::StringMaker<grading::Outcome> {
    static std::string convert(const grading::Outcome& outcome) {
        if (outcome.diagnostics.empty()) {
            return grading::text_of(outcome.status) + (outcome.refused.empty() ? "" : "\n" + outcome.refused) +
                   (outcome.call.empty() ? "" : "\n" + outcome.call);
        }
        if (outcome.status == cudaSuccess) return outcome.diagnostics;
        return outcome.diagnostics + "\n" + grading::text_of(outcome.status);
    }
};

template <class T>
struct Catch::StringMaker<grading::Guarded<T>> {
    static std::string convert(const grading::Guarded<T>& buffer) {
        return std::to_string(buffer.size()) + (buffer.size() == 1 ? " element:" : " elements:");
    }
};
