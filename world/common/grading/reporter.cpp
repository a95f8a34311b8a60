#include "common/grading/reporter.h"

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/internal/catch_console_colour.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/helpers/lines.h"

namespace grading {
namespace {

/// What stands before the first comma that is in no brackets; empty when there is none.
std::string first_argument(const std::string& expression) {
    int depth = 0;
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char c = expression[i];
        if (c == '(' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '}' || c == ']') --depth;
        if (c == ',' && depth == 0) return expression.substr(0, i);
    }
    return {};
}

bool is_name(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') return false;
    }
    return true;
}

void remove_ending(std::string& text, const std::string& ending) {
    if (text.ends_with(ending)) text.erase(text.size() - ending.size());
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
}

/// Between the marks of `<<<4, 64>>>`.
bool is_inside_launch(const std::string& text, std::size_t at) {
    const std::size_t begin = text.rfind("<<<", at);
    const std::size_t end = begin == text.npos ? text.npos : text.find(">>>", begin);
    return end != text.npos && end > at;
}

ReporterOptions reporter_options;

const char* escape_of(Tone tone) {
    switch (tone) {
        case Tone::bad:
            return "\033[31m";
        case Tone::good:
            return "\033[32m";
        case Tone::missing:
            return "\033[33m";
        case Tone::question:
            return "\033[1;33m";
        case Tone::faint:
            return "\033[2m";
        case Tone::plain:
            break;
    }
    return "";
}

std::string painted(const Line& line, bool colors) {
    if (!colors) return text_of(line);
    std::string text;
    for (const Span& span : line) {
        const std::string escape = escape_of(span.tone);
        text += escape + span.text + (escape.empty() ? "" : "\033[0m");
    }
    return text;
}

/// In the learner's terms, or nothing where a matcher has them.
std::string observation_without_matcher(const Catch::AssertionResult& result) {
    const std::string expression = result.getExpression();
    const std::string expansion = result.getExpandedExpression();
    if (!first_argument(expression).empty()) return observation(expression, expansion);
    if (expression == expansion) return "The grader requires: " + expression;
    return "The grader requires: " + expression + "\nHere this is: " + expansion;
}

class Reporter : public Catch::StreamingReporterBase {
public:
    using StreamingReporterBase::StreamingReporterBase;
    static std::string getDescription() { return "What was observed, where, and a question; --full shows more"; }

    void assertionStarting(const Catch::AssertionInfo& info) override {
        StreamingReporterBase::assertionStarting(info);
        take_failed_match();  // an older one has nothing to do with this assertion
    }

    void assertionEnded(const Catch::AssertionStats& stats) override {
        const Catch::AssertionResult& result = stats.assertionResult;
        if (result.isOk()) return;
        const Failure failure = failure_of(stats);
        set_first_failure(failure);
        if (!reporter_options.full) {
            m_stream << '\n' << shown(failure, reporter_options);
            m_stream.flush();
            return;
        }
        const std::string title = currentTestCaseInfo != nullptr ? currentTestCaseInfo->name : "the grader";
        m_stream << '\n' << m_colour->guardColour(Catch::Colour::ResultError) << "FAILED: " << title << '\n';
        bool had_message = false;
        for (const Catch::MessageInfo& message : stats.infoMessages) {
            if (message.type == Catch::ResultWas::Info) show(message.message);
        }
        switch (result.getResultType()) {
            case Catch::ResultWas::ThrewException:
                show("unexpected exception: " + std::string(result.getMessage()));
                had_message = true;
                break;
            case Catch::ResultWas::FatalErrorCondition:
                show("fatal error condition: " + std::string(result.getMessage()));
                had_message = true;
                break;
            case Catch::ResultWas::ExplicitFailure:
                if (result.hasMessage()) show(std::string(result.getMessage()));
                had_message = result.hasMessage();
                break;
            case Catch::ResultWas::DidntThrowException:
                show("no exception was thrown by " + result.getExpression());
                had_message = true;
                break;
            default:
                break;
        }
        if (!had_message && result.hasExpression()) {
            show(observation(result.getExpression(), result.getExpandedExpression()));
        }
        const Catch::SourceLineInfo place = result.getSourceInfo();
        m_stream << m_colour->guardColour(Catch::Colour::SecondaryText) << "  ("
                 << std::filesystem::path(place.file).filename().string() << ':' << place.line << ")\n";
        m_stream.flush();
    }

    void noMatchingTestCases(Catch::StringRef unmatched) override {
        m_stream << "There is no test '" << unmatched << "'\n";
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        const Catch::Counts& tests = stats.totals.testCases;
        if (tests.failed > 0 && !reporter_options.full) return StreamingReporterBase::testRunEnded(stats);
        m_stream << '\n';
        if (tests.failed == 0 && tests.total() > 0) {
            m_stream << m_colour->guardColour(Catch::Colour::ResultSuccess) << tests.passed
                     << (tests.passed == 1 ? " test" : " tests") << " passed";
            m_stream << '\n';
        } else if (tests.total() > 0) {
            m_stream << tests.passed << " of " << tests.total() << (tests.total() == 1 ? " test" : " tests")
                     << " passed so far; --catch2 shows more\n";
        }
        m_stream << '\n';
        m_stream.flush();
        StreamingReporterBase::testRunEnded(stats);
    }

private:
    Failure failure_of(const Catch::AssertionStats& stats) const {
        const Catch::AssertionResult& result = stats.assertionResult;
        std::vector<std::string> infos;
        for (const Catch::MessageInfo& message : stats.infoMessages) {
            if (message.type == Catch::ResultWas::Info) infos.push_back(message.message);
        }
        const std::optional<FailedMatch> match = take_failed_match();
        std::string text;
        std::string question;
        switch (result.getResultType()) {
            case Catch::ResultWas::ThrewException:
                text = "An exception ended the test: " + std::string(result.getMessage());
                break;
            case Catch::ResultWas::FatalErrorCondition:
                text = "The program crashed in host code: " + std::string(result.getMessage());
                question =
                    "Which pointer or index does your host code use there? (A device pointer is no use to the host.)";
                break;
            case Catch::ResultWas::ExplicitFailure:
                text = std::string(result.getMessage());
                break;
            case Catch::ResultWas::DidntThrowException:
                text = "No exception was thrown by " + result.getExpression();
                break;
            default:
                if (result.hasExpression()) text = observation_without_matcher(result);
                break;
        }
        const std::string argument = result.hasExpression() ? first_argument(result.getExpression()) : std::string();
        const bool needs_no_name = match && (match->names_its_subject || !match->call.empty());
        Failure failure = make_failure(is_name(argument) && !needs_no_name ? argument : "", text, infos, match);
        if (failure.question.empty()) failure.question = question;
        failure.test = currentTestCaseInfo != nullptr ? currentTestCaseInfo->name : "the grader";
        const Catch::SourceLineInfo place = result.getSourceInfo();
        failure.assertion = std::filesystem::path(place.file).filename().string() + ":" + std::to_string(place.line);
        return failure;
    }

    void show(const std::string& text) {
        for (const std::string& line : warpwise::text_lines(text)) {
            const bool asks = line.ends_with('?');
            for (const std::string& part : broken_at_spaces("  " + line, reporter_options.width)) {
                if (asks) {
                    m_stream << m_colour->guardColour(Catch::Colour::BrightYellow) << part;
                } else {
                    m_stream << part;
                }
                m_stream << '\n';
            }
        }
    }
};

CATCH_REGISTER_REPORTER("grader", Reporter)

}  // namespace

const char* reporter_name() { return "grader"; }

void set_reporter_options(const ReporterOptions& options) { reporter_options = options; }

std::vector<std::string> broken_at_spaces(const std::string& text, std::size_t width) {
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    const std::string next_indent(indent == 0 ? 2 : indent, ' ');
    std::vector<std::string> lines;
    std::string left = text;
    while (left.size() > width) {
        const std::size_t begin = left.find_first_not_of(' ');
        std::size_t end = left.rfind(' ', width);
        while (end != left.npos && end >= begin && is_inside_launch(left, end)) end = left.rfind(' ', end - 1);
        if (end == left.npos || end < begin) end = left.find(' ', begin);  // the first word is longer than a line
        while (end != left.npos && is_inside_launch(left, end)) end = left.find(' ', end + 1);
        const std::size_t next = end == left.npos ? left.npos : left.find_first_not_of(' ', end);
        if (next == left.npos) break;
        lines.push_back(left.substr(0, left.find_last_not_of(' ', end) + 1));
        left = next_indent + left.substr(next);
    }
    lines.push_back(left);
    return lines;
}

std::string shown(const Failure& failure, const ReporterOptions& options) {
    std::string text;
    const auto show = [&](const Line& line) { text += painted(line, options.colors) + "\n"; };
    // Tables and pictures, which have several colors, are narrow.
    const auto show_text = [&](const Span& span) {
        for (const std::string& part : broken_at_spaces(span.text, options.width)) show({{part, span.tone}});
    };
    for (const Line& line : lines_of(failure)) {
        if (line.size() == 1) {
            show_text(line.front());
        } else {
            show(line);
        }
    }
    std::string place;
    if (!failure.test.empty()) place = "In the test \"" + failure.test + "\"";
    if (!failure.assertion.empty()) place += " (" + failure.assertion + ")";
    if (!place.empty()) show_text({"  " + place, Tone::faint});
    return text;
}

std::string observation(const std::string& expression, const std::string& expansion) {
    std::string text = expansion;
    const std::string subject = first_argument(expression);
    if (subject.empty()) {
        if (expression == expansion) return expression;
        return expression + "\nthat is: " + expansion;
    }
    if (const std::size_t at = text.find(" (should end without an error)"); at != std::string::npos) {
        text.erase(at, std::string(" (should end without an error)").size());
    }
    remove_ending(text, "(should end without an error)");
    // What stands there of a vector or a number of the host, the matcher tells once more.
    if (text.starts_with("{ ")) {
        const std::size_t end = text.find(" } ");
        if (end != std::string::npos) text.erase(0, end + 3);
    } else if (const std::size_t end = text.find(" is "); end != std::string::npos && end < text.find(' ') + 1) {
        text.erase(0, end + 1);
    }
    const bool is_buffer = expansion.find(" elements: ") < 20 || expansion.find(" element: ") < 20;
    if (!is_name(subject)) return text;
    if (is_buffer) return subject + ", " + text;
    return text.starts_with("is ") || expansion.starts_with("{ ") ? subject + ' ' + text : text;
}

}  // namespace grading
