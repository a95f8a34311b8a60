// The graders' own tools: what they notice and what they say. Only runtime calls, so it needs no kernel and runs on
// every device.
#include "common/grading/grading.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;

namespace {

/// Message of a matcher that must not accept the buffer.
template <class T, class Matcher>
std::string refusal(const Matcher& matcher, const grading::Guarded<T>& buffer) {
    CHECK_FALSE(matcher.match(buffer));
    return matcher.describe();
}

template <class T>
void write(T* at, const std::vector<T>& values) {
    REQUIRE(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
}

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
}

std::vector<double> as_double(const std::vector<float>& values) { return {values.begin(), values.end()}; }

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("names elements by ranges") {
    CHECK(grading::name_elements({5}) == "element 5");
    CHECK(grading::name_elements({5, 6, 7}) == "elements 5 to 7");
    CHECK(grading::name_elements({0, 1, 4}) == "elements 0 to 1 and 4");
    CHECK(grading::name_elements({0, 2, 4, 6}) == "elements 0, 2, 4, ...");
}

TEST_CASE("names elements of a matrix by row and column") {
    CHECK(grading::name_elements({7}, 5) == "row 1, column 2");
    CHECK(grading::name_elements({3, 4, 5, 6}, 5) == "row 0, columns 3 to 4; row 1, columns 0 to 1");
    CHECK(grading::name_elements({0, 5, 10, 15}, 5) == "row 0, column 0; row 1, column 0; row 2, column 0; ...");
}

TEST_CASE("a fresh buffer holds poison and was not written") {
    const grading::Guarded<float> buffer(33);
    for (float value : buffer.download()) CHECK(value != value);
    CHECK_THAT(refusal(grading::WrittenEverywhere(), buffer), ContainsSubstring("none was ever written"));
    CHECK_THAT(buffer, grading::StaysInside());
}

TEST_CASE("an empty buffer passes everything") {
    const grading::Guarded<float> buffer(0);
    CHECK_THAT(buffer, grading::WrittenEverywhere());
    CHECK_THAT(buffer, grading::StaysInside());
    CHECK_THAT(buffer, grading::EqualTo({}));
}

TEST_CASE("names the elements that were never written, with the hint") {
    grading::Guarded<float> buffer(100);
    write(buffer.data(), ramp(32));
    write(buffer.data() + 64, ramp(36));
    const std::string text = refusal(grading::WrittenEverywhere("Try this."), buffer);
    CHECK_THAT(text, ContainsSubstring("elements 32 to 63 were never written"));
    CHECK_THAT(text, ContainsSubstring("32 of 100"));
    CHECK_THAT(text, ContainsSubstring("\nTry this."));
}

TEST_CASE("a NaN that a kernel computed counts as written but not as right") {
    grading::Guarded<float> buffer(2);
    write(buffer.data(), {1.0f, not_a_number});
    CHECK_THAT(buffer, grading::WrittenEverywhere());
    CHECK_THAT(refusal(grading::CloseTo({1, 2}, {.absolute = 1e9, .relative = 1e9}), buffer),
               ContainsSubstring("1 wrong\nelement 1 is nan, should be 2\nlargest error nan"));
}

TEST_CASE("names wrong values and the tolerance") {
    grading::Guarded<float> buffer(ramp(40));
    CHECK_THAT(buffer, grading::EqualTo(as_double(ramp(40))));
    std::vector<double> expected = as_double(ramp(40));
    for (std::size_t i : {3, 5, 7, 9}) expected[i] += 0.5;
    CHECK_THAT(buffer, grading::CloseTo(expected, {.absolute = 0.5}));
    const std::string text = refusal(grading::CloseTo(expected, {.absolute = 0.25}), buffer);
    CHECK_THAT(text, ContainsSubstring("4 wrong\nelement 3 is 3, should be 3.5\nelement 5"));
    CHECK_THAT(text, ContainsSubstring("and 1 more\nlargest error 0.5, allowed 0.25"));
    CHECK_THAT(refusal(grading::EqualTo({1, 2}), buffer), ContainsSubstring("40"));
}

TEST_CASE("names elements by row and column when told the row length") {
    grading::Guarded<int> buffer(std::vector<int>(6, 1));
    buffer.show_as_rows_of(3);
    CHECK_THAT(refusal(grading::EqualTo({1, 1, 1, 1, 2, 1}), buffer),
               ContainsSubstring("row 1, column 1 is 1, should be 2"));
}

TEST_CASE("notices writes behind the array") {
    grading::Guarded<float> buffer(ramp(10));
    write(buffer.data() + 10, {1.0f});
    CHECK_THAT(refusal(grading::StaysInside(), buffer),
               ContainsSubstring("element 10 written: past the end of an array whose last element is element 9"));
    write(buffer.data() + 11, ramp(3));
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("elements 10 to 13 written"));
}

TEST_CASE("notices writes before the array") {
    grading::Guarded<double> buffer(10);
    write(buffer.data() - 2, {1.5, 2.5});
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("from element -2 to element -1"));
}

TEST_CASE("notices the last element of a red zone") {
    grading::Guarded<float> buffer(std::size_t{3}, 64);
    write(buffer.data() + 3 + 63, {1.0f});
    CHECK_THAT(refusal(grading::StaysInside(), buffer), ContainsSubstring("element 66 written"));
}

TEST_CASE("notices that an input was changed") {
    grading::Guarded<float> buffer(ramp(10));
    CHECK_THAT(buffer, grading::Unchanged());
    write(buffer.data() + 4, {40.0f});
    const std::string text = refusal(grading::Unchanged(), buffer);
    CHECK_THAT(text, ContainsSubstring("element 4 is 40, should be 4"));
    CHECK_THAT(text, ContainsSubstring("only to be read"));
}

TEST_CASE("poisons again") {
    grading::Guarded<float> buffer(ramp(10));
    buffer.poison();
    CHECK_FALSE(grading::WrittenEverywhere().match(buffer));
    CHECK_THAT(buffer, grading::StaysInside());
}

TEST_CASE("finish returns the pending error once") {
    cudaSetDevice(9999);
    grading::forget_findings();
    CHECK(grading::finish().status == cudaErrorInvalidDevice);
    CHECK_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("shows statuses by name and text") {
    CHECK_THAT(grading::text_of(cudaErrorInvalidConfiguration),
               ContainsSubstring("cudaErrorInvalidConfiguration: invalid configuration"));
    CHECK_FALSE(grading::Succeeds().match(cudaErrorInvalidValue));
    CHECK(Catch::Detail::stringify(cudaErrorInvalidValue) == grading::text_of(cudaErrorInvalidValue));
}
