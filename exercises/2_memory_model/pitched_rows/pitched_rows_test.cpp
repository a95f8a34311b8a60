#include "exercises/2_memory_model/pitched_rows/pitched_rows.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

const grading::Exercise grading::exercise{"2_memory_model", "pitched_rows"};

namespace {

constexpr float padding = -1;  // what the grader writes into the padding

/// 1000 * row + col: a wrong element tells where it comes from.
float element(int row, int col) { return static_cast<float>(1000 * row + col); }

std::size_t width_of(int cols) { return static_cast<std::size_t>(cols) * sizeof(float); }

std::vector<float> tight_matrix(int rows, int cols) {
    std::vector<float> values;
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) values.push_back(element(row, col));
    }
    return values;
}

/// Rows of `floats` floats, the padding behind them included; `value(row, col)` gives the elements.
template <class T, class Value>
std::vector<T> pitched(int rows, int cols, std::size_t floats, const Value& value) {
    std::vector<T> values(static_cast<std::size_t>(rows) * floats, padding);
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
            values[static_cast<std::size_t>(row) * floats + static_cast<std::size_t>(col)] = value(row, col);
        }
    }
    return values;
}

/// Floats from row to row: 128 bytes are a multiple of every size that a request has, but no multiple of the width.
std::size_t floats_of_pitch(int cols) { return (static_cast<std::size_t>(cols) / 32 + 1) * 32; }

struct Shape {
    int rows;
    int cols;
};
constexpr Shape shapes[] = {{1, 1}, {1, 33}, {33, 1}, {2, 31}, {3, 32}, {17, 70}, {64, 101}};

/// A matrix in memory of the grader, with a pitch that the grader has chosen. Messages name rows and columns, and
/// columns from `cols` on are padding.
class Chosen {
public:
    Chosen(Shape shape, const std::vector<float>& values)
        // A wrong pitch may go four times too far: room enough to name the elements that were hit.
        : floats_(floats_of_pitch(shape.cols)), memory_(values, 4 * values.size()), shape_(shape) {
        memory_.show_as_rows_of(floats_);
    }

    PitchedMatrix matrix() { return {memory_.data(), floats_ * sizeof(float), shape_.rows, shape_.cols}; }
    const grading::Guarded<float>& memory() const { return memory_; }

private:
    std::size_t floats_;
    grading::Guarded<float> memory_;
    Shape shape_;
};

/// Memory of the learner's, freed at the end.
class Allocated {
public:
    Allocated(int rows, int cols) : matrix_{.rows = rows, .cols = cols}, status_(allocate(matrix_)) {}
    ~Allocated() { (void)cudaFree(matrix_.first); }
    Allocated(const Allocated&) = delete;
    Allocated& operator=(const Allocated&) = delete;

    const PitchedMatrix& matrix() const { return matrix_; }
    cudaError_t status() const { return status_; }

private:
    PitchedMatrix matrix_;
    cudaError_t status_;
};

}  // namespace

TEST_CASE("copies rows in and leaves the padding alone") {
    for (const Shape shape : shapes) {
        const auto [rows, cols] = shape;
        const std::size_t floats = floats_of_pitch(cols);
        INFO(rows << " rows, " << cols << " columns, a pitch of " << floats * sizeof(float) << " bytes");
        Chosen chosen(shape, pitched<float>(rows, cols, floats, [](int, int) { return -2.0f; }));
        const std::vector<float> tight = tight_matrix(rows, cols);
        REQUIRE_THAT(copy_in(chosen.matrix(), tight.data()), grading::Succeeds());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(chosen.memory(), grading::EqualTo(pitched<double>(rows, cols, floats, element),
                                                     "The value 1000 r + c belongs to row r, column c; -2 was there "
                                                     "before, and -1 is padding.\n"
                                                     "Are the width and both pitches in bytes?"));
        CHECK_THAT(chosen.memory(), grading::StaysInside("Does the copy step by the pitch that the matrix has?"));
    }
}

TEST_CASE("copies rows out and leaves the padding behind") {
    for (const Shape shape : shapes) {
        const auto [rows, cols] = shape;
        const std::size_t floats = floats_of_pitch(cols);
        INFO(rows << " rows, " << cols << " columns, a pitch of " << floats * sizeof(float) << " bytes");
        Chosen chosen(shape, pitched<float>(rows, cols, floats, element));
        // As large as the matrix with its padding, so that a copy that brings the padding along harms nobody.
        std::vector<float> host(static_cast<std::size_t>(rows) * floats, -3.0f);
        REQUIRE_THAT(copy_out(host.data(), chosen.matrix()), grading::Succeeds());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());

        const std::vector<float> expected = tight_matrix(rows, cols);
        std::vector<std::size_t> wrong;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (host[i] != expected[i]) wrong.push_back(i);
        }
        INFO("On the host the rows lie right behind each other: their pitch is their width, in bytes.");
        if (!wrong.empty()) {
            FAIL("wrong on the host: " << grading::name_elements(wrong, static_cast<std::size_t>(cols)) << "\nelement "
                                       << wrong[0] << " is " << host[wrong[0]] << ", should be " << expected[wrong[0]]
                                       << " (-1 is padding, and -3 was there before)");
        }
        for (std::size_t i = expected.size(); i < host.size(); ++i) {
            if (host[i] != -3.0f) FAIL("written behind the end of the matrix on the host, which has no padding");
        }
        CHECK_THAT(chosen.memory(), grading::Unchanged("The matrix on the device is only to be read."));
    }
}

TEST_CASE("adds the number of its row to every element") {
    for (const Shape shape : shapes) {
        const auto [rows, cols] = shape;
        const std::size_t floats = floats_of_pitch(cols);
        INFO(rows << " rows, " << cols << " columns, a pitch of " << floats * sizeof(float) << " bytes");
        Chosen chosen(shape, pitched<float>(rows, cols, floats, element));
        add_row_numbers(chosen.matrix());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        const auto added = [](int row, int col) { return static_cast<double>(element(row, col)) + row; };
        CHECK_THAT(chosen.memory(), grading::StaysInside("The pitch counts bytes. How many floats are that?"));
        CHECK_THAT(chosen.memory(), grading::EqualTo(pitched<double>(rows, cols, floats, added),
                                                     "Row r begins r * pitch bytes behind the first one; -1 is "
                                                     "padding, which stays as it is."));
    }
}

TEST_CASE("allocates rows that begin where a request likes to begin") {
    for (const Shape shape : {Shape{1, 1}, Shape{5, 33}, Shape{64, 101}, Shape{9, 1024}}) {
        const auto [rows, cols] = shape;
        const Allocated allocated(rows, cols);
        const PitchedMatrix& matrix = allocated.matrix();
        INFO(rows << " rows of " << cols << " floats: the pitch is " << matrix.pitch << " bytes");
        REQUIRE_THAT(allocated.status(), grading::Succeeds());
        REQUIRE(matrix.first != nullptr);
        REQUIRE(matrix.pitch >= width_of(cols));
        INFO("A row that begins at no multiple of 32 bytes costs one sector more in each request.");
        REQUIRE(matrix.pitch % 32 == 0);
        // All rows are there.
        REQUIRE_THAT(cudaMemset2D(matrix.first, matrix.pitch, 0, width_of(cols), static_cast<std::size_t>(rows)),
                     grading::Succeeds());
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("does it all together with 4 sectors a request") {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {7, 31}, {64, 129}, {33, 1001}}) {
        INFO(rows << " rows, " << cols << " columns");
        const Allocated allocated(rows, cols);
        REQUIRE_THAT(allocated.status(), grading::Succeeds());
        const std::vector<float> tight = tight_matrix(rows, cols);
        REQUIRE_THAT(copy_in(allocated.matrix(), tight.data()), grading::Succeeds());
        const grading::Watched watched = grading::watch([&] { add_row_numbers(allocated.matrix()); });
        std::vector<float> result(tight.size());
        REQUIRE_THAT(copy_out(result.data(), allocated.matrix()), grading::Succeeds());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        for (std::size_t i = 0; i < tight.size(); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(cols);
            const float expected = tight[i] + static_cast<float>(row);
            if (result[i] == expected) continue;
            FAIL("row " << row << ", column " << i % static_cast<std::size_t>(cols) << " is " << result[i]
                        << ", should be " << expected);
        }
        CHECK_THAT(watched, grading::SectorsPerRequestAtMost(
                                4, "Do neighboring threads work on neighboring columns, and is the pitch used?"));
    }
}
