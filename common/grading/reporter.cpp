#include "common/grading/reporter.h"

#include <catch2/catch_test_case_info.hpp>
#include <catch2/internal/catch_console_colour.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <string>

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

class Reporter : public Catch::StreamingReporterBase {
public:
    using StreamingReporterBase::StreamingReporterBase;
    static std::string getDescription() { return "What was observed, and a question; --details shows more"; }

    void assertionEnded(const Catch::AssertionStats& stats) override {
        const Catch::AssertionResult& result = stats.assertionResult;
        if (result.isOk()) return;
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
        m_stream << '\n';
        if (tests.failed == 0 && tests.total() > 0) {
            m_stream << m_colour->guardColour(Catch::Colour::ResultSuccess) << tests.passed
                     << (tests.passed == 1 ? " test" : " tests") << " passed";
            m_stream << '\n';
        } else if (tests.total() > 0) {
            m_stream << tests.passed << " of " << tests.total() << (tests.total() == 1 ? " test" : " tests")
                     << " passed so far; --details shows more\n";
        }
        m_stream << '\n';
        m_stream.flush();
        StreamingReporterBase::testRunEnded(stats);
    }

private:
    void show(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const bool asks = line.ends_with('?');
            if (asks) {
                m_stream << "  " << m_colour->guardColour(Catch::Colour::BrightYellow) << line;
            } else {
                m_stream << "  " << line;
            }
            m_stream << '\n';
        }
    }
};

CATCH_REGISTER_REPORTER("grader", Reporter)

}  // namespace

const char* reporter_name() { return "grader"; }

std::string observation(const std::string& expression, const std::string& expansion) {
    std::string text = expansion;
    const std::string subject = first_argument(expression);
    if (subject.empty()) {
        if (expression == expansion) return expression;
        return expression + "\nthat is: " + expansion;
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
