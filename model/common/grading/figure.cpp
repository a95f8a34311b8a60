#include "common/grading/figure.h"

#include <cuda_runtime.h>

#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "common/grading/failure.h"
#include "common/helpers/counts.h"

namespace grading {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<NotedFigure> all_figures;

std::string value_text(double value, const std::string& unit) {
    std::string text;
    if (value == std::floor(value)) {
        text = warpwise::count_text(value);
    } else if (std::fabs(value) >= 0.1) {
        text = warpwise::ratio_text(value);
    } else {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.2g", value);
        text = digits;
    }
    return unit.empty() ? text : text + " " + unit;
}

}  // namespace

Figure figure(std::string name, double value, FigureDetails details) {
    all_figures.push_back(
        {Catch::getResultCapture().getCurrentTestName(), {std::move(name), value, std::move(details)}});
    return all_figures.back().figure;
}

Figure time_beside(const warpwise::Timing& answer, const warpwise::Timing& other, const std::string& name_of_other) {
    const Figure microseconds = figure("time of your kernel in us", answer.median * 1e6);
    return figure("time of your kernel, as a multiple of that of " + name_of_other, answer.median / other.median,
                  {.lines = "your kernel: " + text_of(microseconds) + " us; " + name_of_other + ": " +
                            value_text(other.median * 1e6, "us")});
}

TimesBesideCopy measure_beside_copy(const std::function<void()>& answer, void* to, const void* from, std::size_t bytes,
                                    warpwise::SourceLocation where) {
    const auto copy = [=] { warpwise::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), where); };
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn({{answer, false}, {copy, false}});
    return {timings[0], timings[1]};
}

std::string text_of(const Figure& figure) { return value_text(figure.value, figure.details.unit); }

FigureMatcher::FigureMatcher(double least, double most, std::string question)
    : least_(least), most_(most), question_(std::move(question)) {}

bool FigureMatcher::match(const Figure& figure) const {
    const std::string& unit = figure.details.unit;
    text_ = text_of(figure);
    if (figure.value >= least_ && figure.value <= most_) return true;
    if (least_ == most_) {
        text_ += ", should be " + value_text(most_, unit);
    } else if (most_ < infinity && least_ > -infinity) {
        text_ += ", should be " + value_text(least_, "") + " to " + value_text(most_, unit);
    } else if (most_ < infinity) {
        text_ += ", at most " + value_text(most_, unit) + " allowed";
    } else {
        text_ += ", at least " + value_text(least_, unit) + " wanted";
    }
    if (!figure.details.lines.empty()) text_ += "\n" + figure.details.lines;
    if (text_.ends_with('\n')) text_.pop_back();
    note_failed_match({.judgement = {false, figure.name + ": " + text_, nullptr, question_},
                       .hint = question_,
                       .place = {},
                       .call = figure.details.call,
                       .names_its_subject = true});
    text_ += "\n" + question_;
    return false;
}

FigureMatcher AtMost(double most, std::string question) { return {-infinity, most, std::move(question)}; }

FigureMatcher AtLeast(double least, std::string question) { return {least, infinity, std::move(question)}; }

FigureMatcher Between(double least, double most, std::string question) { return {least, most, std::move(question)}; }

const std::vector<NotedFigure>& noted_figures() { return all_figures; }

}  // namespace grading
