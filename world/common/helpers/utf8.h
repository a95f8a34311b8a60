// UTF-8: the first character of a text, and the bytes of a character.
//
//     while (!text.empty()) {
//         const Utf8Character first = decode_utf8(text);
//         text.remove_prefix(first.length);
//     }
//
// Depends on nothing, so that the CPU device may use it, too.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace warpwise {

struct Utf8Character {
    char32_t value = U'\uFFFD';  ///< the replacement character where the bytes are no character
    std::size_t length = 1;      ///< bytes; at least 1
    bool valid = false;
    bool unfinished = false;  ///< the text ends inside of what may become a character; length is 1 then
};

/// The first character of a text that is not empty. Bytes that have the form of a character and are none (written
/// longer than needed, half of a UTF-16 pair, beyond the last character) are one invalid character; any other byte that
/// belongs to no character is one by itself.
inline Utf8Character decode_utf8(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {.value = lead, .length = 1, .valid = true};
    if (lead < 0xC2 || lead > 0xF4) return {};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    char32_t value = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size()) return {.unfinished = true};
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        value = value << 6U | (byte(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least[length] || is_surrogate || value > 0x10FFFF) return {.length = length};
    return {.value = value, .length = length, .valid = true};
}

/// Whether a byte continues a character that an earlier byte began.
inline bool continues_utf8(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// The bytes of a character up to U+10FFFF.
inline std::string encode_utf8(char32_t character) {
    const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
    const auto rest = [&](unsigned shift) { return byte(0x80 | ((character >> shift) & 0x3F)); };
    if (character < 0x80) return {byte(character)};
    if (character < 0x800) return {byte(0xC0 | (character >> 6)), rest(0)};
    if (character < 0x10000) return {byte(0xE0 | (character >> 12)), rest(6), rest(0)};
    return {byte(0xF0 | (character >> 18)), rest(12), rest(6), rest(0)};
}

}  // namespace warpwise
