#include "common/helpers/compare.h"

#include <algorithm>
#include <cstdio>

namespace warpwise {

std::string Comparison::summary() const {
    if (!note.empty()) return note;
    char text[96];
    if (mismatched != 0) {
        std::snprintf(text, sizeof text, "%zu of %zu wrong", mismatched, compared);
        return text;
    }
    if (compared == 0) return "nothing to compare";
    if (largest_error == 0) return "exact";
    std::snprintf(text, sizeof text, "max error %.2g <= %.2g", largest_error, tolerance);
    return text;
}

double sum_tolerance(std::size_t count, double eps, double sum_of_magnitudes, double safety) {
    return std::max(1.0, safety * std::sqrt(static_cast<double>(count))) * eps * sum_of_magnitudes;
}

namespace detail {

std::string why_not_comparable(std::size_t got, std::size_t expected, Tolerance tolerance) {
    const auto usable = [](double bound) { return std::isfinite(bound) && bound >= 0; };
    if (got != expected) {
        return "got " + std::to_string(got) + " values, expected " + std::to_string(expected);
    }
    if (!usable(tolerance.absolute) || !usable(tolerance.relative)) return "the tolerance is negative or not finite";
    return {};
}

Comparison join(const std::vector<Comparison>& parts, Tolerance tolerance) {
    Comparison whole;
    whole.tolerance = tolerance.absolute;
    for (const Comparison& part : parts) {
        whole.compared += part.compared;
        whole.mismatched += part.mismatched;
        if (!(part.largest_error <= whole.largest_error) && !std::isnan(whole.largest_error)) {
            whole.largest_error = part.largest_error;
            whole.tolerance = part.tolerance;
        }
        const std::size_t room = kept_mismatches - whole.mismatches.size();
        const std::size_t taken = std::min(room, part.mismatches.size());
        whole.mismatches.insert(whole.mismatches.end(), part.mismatches.begin(),
                                part.mismatches.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    whole.passed = whole.mismatched == 0;
    return whole;
}

}  // namespace detail
}  // namespace warpwise
