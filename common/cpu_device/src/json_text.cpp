#include "json_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace cpu_device {
namespace {

/// Length of the UTF-8 character that begins `text`; 0 when it is none.
std::size_t length_of_character(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    // Written longer than needed, half of a UTF-16 pair, beyond the last character.
    const unsigned second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return length;
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const std::size_t length = length_of_character(text);
        const auto c = static_cast<unsigned char>(text[0]);
        if (length == 0) {
            json += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            json += {'\\', text[0]};
        } else if (c < 0x20 || c == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            json += escape;
        } else {
            json += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return json + "\"";
}

}  // namespace cpu_device
