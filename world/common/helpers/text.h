// Numbers as the tables of lessons show them.
//
//     rows.push_back({name, text_of("%.2f ms", seconds * 1e3)});
//     const std::string title = "The sum of " + counted(count, "float");  // "1 float", "2 floats"
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace warpwise {

/// `value` by a format of printf's for one double, "%.1f GB/s". Longer texts than 63 characters are cut there.
inline std::string text_of(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// The number with a noun whose plural ends with s: "1 element", "2 elements".
inline std::string counted(std::size_t number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace warpwise
