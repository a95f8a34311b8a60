#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"2_memory_model", "pitched_rows"};

namespace {

// What the grader writes before a call: into the padding, into the matrix that copy_in
// fills, and into the memory that copy_out fills. No element has one of these values.
constexpr float padding = -9, before_copy_in = -2, before_copy_out = -3;

std::size_t width_of(int cols) { return static_cast<std::size_t>(cols) * sizeof(float); }

struct Shape {
    int rows;
    int cols;
    std::size_t elements() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    }
};

std::vector<Shape> shapes() {
    std::vector<Shape> all = {{1, 1},  {1, 33},  {33, 1},   {2, 31},
                              {3, 32}, {17, 70}, {64, 101}, {3, 1500}};
    for (const std::size_t rows : grading::sizes({}, 3, 90)) {
        all.push_back(
            {static_cast<int>(rows), static_cast<int>(grading::random_size(1, 300, rows))});
    }
    return all;
}

/// Floats from row to row. Rows may begin anywhere, because pitches that a program gets
/// need not be powers of two.
std::size_t floats_of_pitch(const Shape& shape) {
    const auto cols = static_cast<std::size_t>(shape.cols);
    return (cols / 32 + 1 + grading::random_size(0, 2, shape.elements())) * 32;
}

/// The rows, each with its padding; the last one ends with its elements.
template <class T>
std::vector<T> pitched(const Shape& shape, std::size_t floats,
                       const std::vector<T>& tight) {
    const auto rows = static_cast<std::size_t>(shape.rows);
    const auto cols = static_cast<std::size_t>(shape.cols);
    std::vector<T> values((rows - 1) * floats + cols, padding);
    for (std::size_t i = 0; i < tight.size(); ++i)
        values[i / cols * floats + i % cols] = tight[i];
    return values;
}

std::vector<double> with_row_numbers(const Shape& shape, const std::vector<float>& tight) {
    std::vector<double> values;
    for (std::size_t i = 0; i < tight.size(); ++i) {
        values.push_back(tight[i] +
                         static_cast<float>(i / static_cast<std::size_t>(shape.cols)));
    }
    return values;
}

std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// What a copy gives that takes the number of columns for the width of a row in bytes.
std::vector<float> with_a_quarter_copied(const Shape& shape,
                                         const std::vector<float>& tight, float before) {
    std::vector<float> values(tight.size(), before);
    const auto cols = static_cast<std::size_t>(shape.cols);
    for (std::size_t first = 0; first < values.size(); first += cols)
        std::memcpy(&values[first], &tight[first], cols);
    return values;
}

/// Some wrong element lies in the padding, past the end of its row.
grading::Cause padding_is_wrong(const Shape& shape) {
    return [cols = static_cast<std::size_t>(shape.cols)](
               const grading::MismatchedArray& mismatch) {
        return std::any_of(mismatch.wrong.begin(), mismatch.wrong.end(),
                           [&](std::size_t i) { return i % mismatch.row_length >= cols; });
    };
}

/// The first row is right: where a later one begins may be wrong.
grading::Cause only_later_rows_wrong(const Shape& shape) {
    return [cols = static_cast<std::size_t>(shape.cols)](
               const grading::MismatchedArray& mismatch) {
        return mismatch.wrong.front() >= cols;
    };
}

constexpr const char* quarter_question =
    "Of each row, the first quarter was copied. In which unit does your call give the "
    "width of a row?";
constexpr const char* pitches_question =
    "Which of the two pitches is less than the width that you give, all three in bytes?";
constexpr const char* address_question =
    "Which row and column does this thread have, and how many bytes after matrix.first is "
    "the address that it uses?";

/// A matrix in memory of the grader, with a pitch that the grader has chosen. Messages name
/// rows and columns, and columns from `cols` on are padding.
class Chosen {
public:
    Chosen(const Shape& shape, const std::vector<float>& tight)
        : floats_(floats_of_pitch(shape)),
          memory_(pitched(shape, floats_, tight)),
          shape_(shape) {
        memory_.show_as_rows_of(floats_);
    }

    std::size_t floats() const { return floats_; }
    PitchedMatrix matrix() {
        return {memory_.data(), floats_ * sizeof(float), shape_.rows, shape_.cols};
    }
    const grading::Guarded<float>& memory() const { return memory_; }
    std::string text() const {
        return grading::counted(shape_.rows, "row") + " of " +
               grading::counted(shape_.cols, "float") + ", a pitch of " +
               std::to_string(floats_ * sizeof(float)) +
               " bytes\nIn messages, columns from " + std::to_string(shape_.cols) +
               " on are padding, which holds -9.";
    }

private:
    std::size_t floats_;
    grading::Guarded<float> memory_;
    Shape shape_;
};

/// Memory of the learner's, freed at the end.
class Allocated {
public:
    explicit Allocated(const Shape& shape)
        : matrix_{.rows = shape.rows, .cols = shape.cols}, status_(allocate(matrix_)) {}
    ~Allocated() { (void)cudaFree(matrix_.first); }
    Allocated(const Allocated&) = delete;
    Allocated& operator=(const Allocated&) = delete;

    const PitchedMatrix& matrix() const { return matrix_; }
    cudaError_t status() const { return status_; }

private:
    PitchedMatrix matrix_;
    cudaError_t status_;
};

/// Kernels wrote each element, once, and many threads took part. Padding does not count.
void check_writers(const Chosen& chosen, const Shape& shape) {
    const std::vector<grading::ElementActivity> all = grading::activity_of(chosen.memory());
    std::set<warpwise::KernelThread> threads;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % chosen.floats() >= static_cast<std::size_t>(shape.cols)) continue;
        if (all[i].writer != warpwise::Writer::kernel) {
            FAIL(grading::name_elements({i}, chosen.floats())
                 << " was not written by a kernel.\nWhich thread should write it?");
        }
        if (all[i].writes != 1) {
            FAIL(grading::name_elements({i}, chosen.floats())
                 << " was written " << grading::counted(all[i].writes, "time")
                 << " by kernels, and the task asks for once.\nWhich threads write it?");
        }
        threads.insert(all[i].written_by);
    }
    if (all.empty() || shape.rows < 32 || shape.cols < 32) return;
    if (threads.size() < 256) {
        FAIL_CHECK("Only " << grading::counted(threads.size(), "thread")
                           << " took part; at least 256 are wanted.\nHow many elements "
                              "does each thread take?");
    }
}

/// At most one call copies, and the host waits until it is done.
void check_copies(const grading::Instrumented& instrumented) {
    std::size_t copies = 0;
    bool is_done = true;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        const bool copies_later =
            !call.direction.empty() && call.function.ends_with("Async");
        copies += !call.direction.empty();
        is_done = copies_later ? false : is_done || call.waits;
    }
    if (!is_done) {
        FAIL_CHECK(
            "A copy was begun, and no call of the host waits until it is done.\nWhich "
            "call of yours makes sure that the rows have arrived?");
    }
    if (copies > 1) {
        FAIL_CHECK(copies << " calls copied; one call is enough for a whole matrix.\nWhich "
                             "function copies rows that lie apart from each other?");
    }
}

void check_host(const std::vector<float>& host, const std::vector<float>& expected,
                const Shape& shape) {
    const auto end = host.begin() + static_cast<std::ptrdiff_t>(expected.size());
    const std::vector<float> tight(host.begin(), end);
    CHECK_THAT(
        tight,
        grading::EqualTo(as_doubles(expected))
            .when(grading::equals(
                      as_doubles(with_a_quarter_copied(shape, expected, before_copy_out))),
                  quarter_question)
            .when(only_later_rows_wrong(shape),
                  "Row 0 is right and a later row is not. How many rows does your call "
                  "copy, and where does row 1 begin on the host and on the device, by the "
                  "two pitches that you give?")
            .when(grading::equal(before_copy_out),
                  "These elements still hold -3, which was there before the copy. How "
                  "many bytes of each row does your call copy?"));
    const bool writes_more =
        std::any_of(end, host.end(), [](float value) { return value != before_copy_out; });
    if (writes_more) {
        FAIL("The copy to the host wrote past the end of "
             << grading::counted(shape.rows, "row") << " of "
             << grading::counted(shape.cols, "float")
             << ".\nHow far apart are two rows on the host, in bytes?");
    }
}

}  // namespace

TEST_CASE("copies rows in and leaves the padding alone") {
    for (const Shape& shape : shapes()) {
        Chosen chosen(shape, std::vector<float>(shape.elements(), before_copy_in));
        INFO(chosen.text());
        const std::vector<float> tight = grading::random_floats(shape.elements());
        // Longer than the matrix, so that a copy that steps by the device's pitch here
        // reads nobody else's memory.
        std::vector<float> host = tight;
        host.resize(static_cast<std::size_t>(shape.rows) * chosen.floats(), padding);
        cudaError_t status = cudaSuccess;
        const grading::Instrumented instrumented =
            grading::instrument([&] { status = copy_in(chosen.matrix(), host.data()); });
        REQUIRE_THAT(status, grading::Succeeds().when({"cudaErrorInvalidPitchValue"},
                                                      pitches_question));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        const grading::Guarded<float>& matrix = chosen.memory();
        const auto on_device = [&](const std::vector<float>& values) {
            return pitched(shape, chosen.floats(), as_doubles(values));
        };
        CHECK_THAT(
            matrix,
            grading::EqualTo(on_device(tight))
                .when(padding_is_wrong(shape),
                      "The copy wrote to the padding. How many bytes after the beginning "
                      "of row 0 does row 1 begin, on the host and on the device?")
                .when(grading::equals(
                          on_device(with_a_quarter_copied(shape, tight, before_copy_in))),
                      quarter_question)
                .when(only_later_rows_wrong(shape),
                      "Row 0 is right and a later row is not. How many rows does your "
                      "call copy, and where does row 1 begin on the host, by the pitch "
                      "that you give for that side?")
                .when(grading::equal(before_copy_in),
                      "These elements still hold -2, which was there before the copy. How "
                      "many bytes of each row does your call copy?"));
        CHECK_THAT(matrix, grading::StaysInside());
        check_copies(instrumented);
        CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    }
}

TEST_CASE("copies rows out and leaves the padding behind") {
    for (const Shape& shape : shapes()) {
        const std::vector<float> tight = grading::random_floats(shape.elements());
        Chosen chosen(shape, tight);
        INFO(chosen.text());
        // As large as the matrix with its padding, so that a copy that brings the padding
        // along harms nobody.
        std::vector<float> host(static_cast<std::size_t>(shape.rows) * chosen.floats(),
                                before_copy_out);
        cudaError_t status = cudaSuccess;
        const grading::Instrumented instrumented =
            grading::instrument([&] { status = copy_out(host.data(), chosen.matrix()); });
        REQUIRE_THAT(status, grading::Succeeds().when({"cudaErrorInvalidPitchValue"},
                                                      pitches_question));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        check_host(host, tight, shape);
        const grading::Guarded<float>& matrix = chosen.memory();
        CHECK_THAT(matrix,
                   grading::Unchanged("The matrix on the device is only to be read."));
        check_copies(instrumented);
        CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    }
}

TEST_CASE("adds the number of its row to every element") {
    for (const Shape& shape : shapes()) {
        const std::vector<float> tight = grading::random_floats(shape.elements());
        Chosen chosen(shape, tight);
        INFO(chosen.text());
        const grading::Instrumented instrumented =
            grading::instrument([&] { add_row_numbers(chosen.matrix()); });
        REQUIRE_THAT(grading::finish(),
                     grading::Succeeds().when({"out of bounds"}, address_question));
        const grading::Guarded<float>& matrix = chosen.memory();
        CHECK_THAT(matrix, grading::StaysInside());
        CHECK_THAT(
            matrix,
            grading::EqualTo(
                pitched(shape, chosen.floats(), with_row_numbers(shape, tight)))
                .when(padding_is_wrong(shape),
                      "The kernel wrote to the padding. How many bytes after the beginning "
                      "of row 0 does row 1 begin, and how many does your kernel step?")
                .when(grading::equals(pitched(shape, chosen.floats(), as_doubles(tight))),
                      "Nothing was added there. Where does the row of these elements "
                      "begin?"));
        check_writers(chosen, shape);
        CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    }
}

TEST_CASE("allocates rows that begin where a request likes to begin") {
    for (const Shape& shape :
         {Shape{1, 1}, Shape{5, 33}, Shape{64, 101}, Shape{9, 1024}, Shape{300, 2}}) {
        INFO(grading::counted(shape.rows, "row")
             << " of " << grading::counted(shape.cols, "float"));
        PitchedMatrix matrix{.rows = shape.rows, .cols = shape.cols};
        cudaError_t status = cudaSuccess;
        const grading::Instrumented instrumented =
            grading::instrument([&] { status = allocate(matrix); });
        REQUIRE_THAT(status, grading::Succeeds());
        CHECK_THAT(instrumented, grading::Calls({"cudaMallocPitch"}));
        CHECK_THAT(instrumented,
                   grading::CallsNot({"cudaMalloc", "cudaMalloc3D", "cudaMallocManaged",
                                      "cudaMallocAsync", "cudaMallocFromPoolAsync",
                                      "cudaHostAlloc"}));
        if (matrix.first == nullptr) {
            FAIL(
                "allocate left matrix.first a null pointer.\nWhich argument of the "
                "allocation tells where the first row is?");
        }
        if (matrix.pitch < width_of(shape.cols)) {
            FAIL("The pitch is " << matrix.pitch << " bytes, but a row has "
                                 << width_of(shape.cols)
                                 << " bytes.\nWhich width does your call of "
                                    "cudaMallocPitch get here, and what do you store as "
                                    "the pitch?");
        }
        if (matrix.pitch % 32 != 0) {
            FAIL("The pitch is "
                 << matrix.pitch
                 << " bytes, no multiple of 32.\nWhere a row begins in the middle of a "
                    "sector, each request touches one sector more.\n"
                    "Where does the value of matrix.pitch come from in your code?");
        }
        // All rows are there.
        REQUIRE_THAT(cudaMemset2D(matrix.first, matrix.pitch, 0, width_of(shape.cols),
                                  static_cast<std::size_t>(shape.rows)),
                     grading::Succeeds());
        REQUIRE_THAT(cudaFree(matrix.first), grading::Succeeds());
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("tells when there is no memory") {
    PitchedMatrix matrix{.rows = 1 << 30, .cols = 1 << 28};
    const cudaError_t status = allocate(matrix);
    (void)cudaGetLastError();
    grading::forget_diagnostics();  // of a call that failed
    if (status == cudaSuccess) {
        FAIL_CHECK(
            "allocate returned cudaSuccess, although there is not so much memory.\nWhat "
            "does "
            "it do with the status of the allocation?");
    }
}

TEST_CASE("does it all together and touches few sectors") {
    for (const Shape& shape :
         {Shape{1, 1}, Shape{7, 31}, Shape{64, 101}, Shape{64, 129}, Shape{33, 1001}}) {
        INFO(grading::counted(shape.rows, "row")
             << ", " << grading::counted(shape.cols, "column"));
        const Allocated allocated(shape);
        REQUIRE_THAT(allocated.status(), grading::Succeeds());
        const std::vector<float> tight = grading::random_floats(shape.elements());
        REQUIRE_THAT(copy_in(allocated.matrix(), tight.data()), grading::Succeeds());
        const grading::Instrumented instrumented =
            grading::instrument([&] { add_row_numbers(allocated.matrix()); });
        std::vector<float> result(tight.size());
        REQUIRE_THAT(copy_out(result.data(), allocated.matrix()), grading::Succeeds());
        REQUIRE_THAT(grading::finish(),
                     grading::Succeeds().when({"out of bounds"}, address_question));
        CHECK_THAT(result, grading::EqualTo(with_row_numbers(shape, tight)));
        if (shape.cols >= 32) {
            CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.9));
        }
    }
}

// Not instrumented: who does what was judged above.
TEST_CASE("handles long columns and long rows") {
    for (const Shape& shape : {Shape{50'000, 1}, Shape{1, 2'100'000}}) {
        INFO(grading::counted(shape.rows, "row")
             << ", " << grading::counted(shape.cols, "column"));
        const std::vector<float> tight = grading::random_floats(shape.elements());
        grading::Guarded<float> d_tight(tight);
        add_row_numbers({d_tight.data(), width_of(shape.cols), shape.rows, shape.cols});
        REQUIRE_THAT(grading::finish(),
                     grading::Succeeds().when({"out of bounds"}, address_question));
        CHECK_THAT(d_tight, grading::EqualTo(with_row_numbers(shape, tight)));
    }
}
