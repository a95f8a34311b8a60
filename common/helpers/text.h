// Numbers as the tables of lessons show them.
//
//     rows.push_back({name, text_of("%.2f ms", seconds * 1e3)});
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace warpwise {

/// `value` by a format of printf's for one double, "%.1f GB/s". Longer texts than 63 characters are cut there.
inline std::string text_of(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// The same, and "-" where there is no value.
inline std::string text_or_dash(const char* format, std::optional<double> value) {
    return value ? text_of(format, *value) : "-";
}

}  // namespace warpwise
