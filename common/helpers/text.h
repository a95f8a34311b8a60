// Numbers as the tables of lessons show them.
//
//     rows.push_back({name, text_of("%.2f ms", seconds * 1e3)});
#pragma once

#include <cstdio>
#include <string>

namespace warpwise {

/// `value` by a format of printf's for one double, "%.1f GB/s". Longer texts than 63 characters are cut there.
inline std::string text_of(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace warpwise
