#include "common/guide/improvement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/helpers/counts.h"
#include "common/helpers/json.h"

namespace guide {
namespace {

using Json = nlohmann::json;

constexpr double worth_telling = 0.05;  // counts that differ by less are the same to a reader

struct Counter {
    const char* key;  ///< in a grader's facts
    const char* name;
    bool more_is_better = false;
};
constexpr Counter counters[] = {{"launches", "launches"},
                                {"global_requests", "requests to global memory, with atomics"},
                                {"global_sectors", "sectors of global memory"},
                                {"global_atomics", "atomic operations on global memory"},
                                {"shared_wavefronts", "shared-memory wavefronts"},
                                {"bank_conflicts", "bank conflicts"},
                                {"constant_wavefronts", "reads of constant memory, one address each"},
                                {"barriers_per_warp", "barriers per warp"},
                                {"active_lanes", "active lanes of 32, on average", true}};

/// Counts become fewer, and times and ratios less.
std::string change_text(double before, double after, bool is_count) {
    if (after == 0) return is_count ? "none left" : "nothing left";
    if (before == 0) return "new";
    const bool is_less = after < before;
    const double factor = is_less ? before / after : after / before;
    const char* const less = is_count ? "fewer" : "less";
    if (factor < 1.995) return fmt::format("{:.0f} % {}", 100 * std::fabs(after / before - 1), is_less ? less : "more");
    return fmt::format("{} times {}", warpwise::three_digits(factor),
                       is_less    ? less
                       : is_count ? "as many"
                                  : "as much");
}

bool is_about_the_same(double was, double is) {
    return std::fabs(was - is) <= worth_telling * std::max(std::fabs(was), std::fabs(is));
}

/// Figures of one test case, in their order.
struct FigureOfTest {
    std::string name;
    double value = 0;
};
std::vector<FigureOfTest> figures_of(const Json& facts, const std::string& test) {
    std::vector<FigureOfTest> figures;
    const auto all = facts.find("figures");
    if (all == facts.end() || !all->is_array()) return figures;
    for (const Json& figure : *all) {
        if (!figure.is_object() || figure.value("test", "") != test) continue;
        figures.push_back({figure.value("name", ""), figure.value("value", 0.0)});
    }
    return figures;
}

/// The test of the stub ends at its first figure that is too bad, so the last one of each name tells most. In the
/// answer's test the one that was taken at the same time stands at the same place among those of its name.
std::vector<Improvement> improved_figures(const std::vector<FigureOfTest>& before,
                                          const std::vector<FigureOfTest>& after) {
    std::vector<Improvement> found;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const std::string& name = before[i].name;
        const auto has_name = [&](const FigureOfTest& figure) { return figure.name == name; };
        if (std::any_of(before.begin() + static_cast<std::ptrdiff_t>(i) + 1, before.end(), has_name)) continue;
        auto place = std::count_if(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(i), has_name);
        const auto same = std::find_if(after.begin(), after.end(),
                                       [&](const FigureOfTest& figure) { return has_name(figure) && place-- == 0; });
        if (same == after.end() || is_about_the_same(before[i].value, same->value)) continue;
        found.push_back({name, before[i].value, same->value, change_text(before[i].value, same->value, false)});
    }
    return found;
}

const Json* call_named(const Json& facts, const std::string& name) {
    const auto counts = facts.find("counts");
    if (counts == facts.end() || !counts->is_array()) return nullptr;
    for (const Json& call : *counts) {
        if (call.is_object() && call.value("name", "") == name) return &call;
    }
    return nullptr;
}

}  // namespace

std::vector<Improvement> improvements(std::string_view stub, std::string_view answer) {
    const Json before = warpwise::json_or_discarded<Json>(stub);
    const Json after = warpwise::json_or_discarded<Json>(answer);
    if (!before.is_object() || !after.is_object()) return {};
    const auto failure = before.find("failure");
    if (failure == before.end() || !failure->is_object()) return {};
    const std::string test = failure->value("test", "");
    std::vector<Improvement> found = improved_figures(figures_of(before, test), figures_of(after, test));
    const std::string name = failure->value("call", "");
    const Json* const stub_call = name.empty() ? nullptr : call_named(before, name);
    const Json* const answer_call = name.empty() ? nullptr : call_named(after, name);
    if (stub_call == nullptr || answer_call == nullptr) return found;
    for (const Counter& counter : counters) {
        const double was = stub_call->value(counter.key, 0.0);
        const double is = answer_call->value(counter.key, 0.0);
        if (is_about_the_same(was, is)) continue;
        found.push_back({counter.name, was, is, change_text(was, is, true)});
    }
    return found;
}

std::string improvement_table(const std::vector<Improvement>& improvements, const warpwise::Terminal& terminal) {
    const auto number = [](double value) {
        return value == std::floor(value) ? warpwise::count_text(value) : warpwise::ratio_text(value);
    };
    std::vector<std::vector<warpwise::Cell>> rows;
    for (const Improvement& row : improvements) {
        rows.push_back({{row.name}, {number(row.before)}, {number(row.after)}, {row.change}});
    }
    return format_table({"counted", "the stub", "your answer", "that is"}, rows, terminal);
}

}  // namespace guide
