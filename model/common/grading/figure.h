// Numbers that tell how well an answer works, and the matchers that judge them: how often a thread waits for its loads,
// how many floats are loaded per multiply-add, how long a kernel takes beside a copy.
//
//     const double floats = counts.shared_load.bytes / sizeof(float);
//     CHECK_THAT(grading::figure("floats loaded from shared memory per multiply-add", floats / multiply_adds,
//                                {.call = instrumented.name}),
//                grading::AtMost(0.67, "How often does a thread use a float after it has loaded it?"));
//
// A failure says "floats loaded from shared memory per multiply-add: 2, at most 0.67 allowed", the details, and asks
// the question. After success the guide shows the stub's figure beside the answer's (common/guide/improvement.h):
// each figure that the test has in which the stub fails, whether a matcher judges it or not.
#pragma once

#include <catch2/catch_tostring.hpp>
#include <catch2/matchers/catch_matchers_templated.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"

namespace grading {

struct FigureDetails {
    std::string unit = {};   ///< "bytes"; empty where the name says it
    std::string lines = {};  ///< what belongs to it, such as lines of source; ended by line breaks or not
    std::string call = {};   ///< Instrumented::name, where it comes from there: the guide compares its counts as well
};

struct Figure {
    std::string name;  ///< what was counted or measured, as it stands before a colon and in a table
    double value = 0;
    FigureDetails details;
};

/// Makes a figure, and notes it for the guide.
Figure figure(std::string name, double value, FigureDetails details = {});

/// "time of your kernel, as a multiple of that of a copy of the image", with both times as details. Notes the time
/// itself as well, in microseconds.
Figure time_beside(const warpwise::Timing& answer, const warpwise::Timing& other, const std::string& name_of_other);

/// Times of an answer, and of a copy in device memory beside it.
struct TimesBesideCopy {
    warpwise::Timing answer;
    warpwise::Timing copy;
};

/// Times `answer` and a copy of `bytes` bytes of device memory in turn, for time_beside. Throws what
/// warpwise::measure_in_turn does. Whether kernels of the answer failed is for finish() to say.
///
///     const auto [answer, copy] = grading::measure_beside_copy([&] { rotate(d_in.data(), d_out.data(), n); },
///                                                              d_copy.data(), d_in.data(), d_in.bytes());
///     REQUIRE_THAT(grading::finish(), grading::Succeeds());
///     CHECK_THAT(grading::time_beside(answer, copy, "a copy of the image"), grading::AtMost(2, "..."));
TimesBesideCopy measure_beside_copy(const std::function<void()>& answer, void* to, const void* from, std::size_t bytes,
                                    warpwise::SourceLocation where = warpwise::SourceLocation::current());

/// "2", "0.67", "12,345 bytes".
std::string text_of(const Figure& figure);

/// Catch2 matcher for `Figure`; made by the functions below.
class FigureMatcher : public Catch::Matchers::MatcherGenericBase {
public:
    FigureMatcher(double least, double most, std::string question);
    bool match(const Figure& figure) const;
    std::string describe() const override { return text_; }

private:
    double least_, most_;
    std::string question_;
    mutable std::string text_;  // describe() is asked for after match()
};

/// NaN is never accepted. `question` is what a learner is to ask next: in one sentence, whatever the cause.
FigureMatcher AtMost(double most, std::string question);
FigureMatcher AtLeast(double least, std::string question);
FigureMatcher Between(double least, double most, std::string question);

/// A figure of this run of the program, with the title of the test case that has it.
struct NotedFigure {
    std::string test;
    Figure figure;
};
const std::vector<NotedFigure>& noted_figures();

}  // namespace grading

template <>
struct Catch::StringMaker<grading::Figure> {
    static std::string convert(const grading::Figure& figure) { return figure.name + ":"; }
};
