#include "json_text.h"

#include <cstdio>

#include "common/helpers/utf8.h"

namespace cpu_device {
std::string json_string(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const warpwise::Utf8Character first = warpwise::decode_utf8(text);
        const auto c = static_cast<unsigned char>(text[0]);
        if (!first.valid) {
            json += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            json += {'\\', text[0]};
        } else if (c < 0x20 || c == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            json += escape;
        } else {
            json += text.substr(0, first.length);
        }
        text.remove_prefix(first.valid ? first.length : 1);
    }
    return json + "\"";
}

}  // namespace cpu_device
