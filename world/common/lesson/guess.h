// What somebody typed as a guess at the answer of a prediction, read with forgiveness.
//
//     const GuessedNumber guess = read_number("4.2k", "requests");   // 4200
//     if (guess.value && is_right(*guess.value, 4096, 1.2)) ...
//
// Depends on no device and no lesson: the guide asks old predictions again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwise {

struct GuessedNumber {
    std::optional<double> value;  ///< in the unit that was asked for
    std::string why_not;          ///< one line for whoever typed it, where there is no value
};

struct GuessedChoice {
    std::optional<std::size_t> index;
    std::string why_not;
};

/// "32", "4.2k", "16Mi", "1,024", "1/32", "2^20", "4 * 32", "25 %", "8 sectors", "about 8", "none", "twelve". With a
/// unit such as us, bytes or GB/s the same unit with another prefix is understood: "3.9 TB/s" is 3900 GB/s.
GuessedNumber read_number(std::string_view typed, std::string_view unit);

/// A letter from a on, a number from 1 on, the text of a choice, or a beginning that only one of them has.
GuessedChoice read_choice(std::string_view typed, const std::vector<std::string>& choices);

/// Up to `factor` times too large or too small; with factor 1 exactly, up to rounding: 1 % where the answer is not
/// whole.
bool is_right(double guess, double answer, double factor);

/// "32", "4.25", "0.031", "946", "16777216": whole numbers with all digits, others with three.
std::string number_text(double value);

/// "32 sectors", "1 sector", "25 %", "94 times", "0.5".
std::string with_unit(const std::string& number, const std::string& unit);

/// "a" for 0; "a) one block".
std::string choice_letter(std::size_t index);
std::string choice_text(const std::vector<std::string>& choices, std::size_t index);

}  // namespace warpwise
