#include "common/lesson/guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace warpwise {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

bool take(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

// ---- units ----------------------------------------------------------------------------------------------------------

struct Prefix {
    std::string_view letters;
    double factor;
};
constexpr std::array<Prefix, 8> multiples = {{{"ki", 1024.0},
                                              {"mi", 1048576.0},
                                              {"gi", 1073741824.0},
                                              {"ti", 1099511627776.0},
                                              {"k", 1e3},
                                              {"m", 1e6},
                                              {"g", 1e9},
                                              {"t", 1e12}}};
constexpr std::array<Prefix, 3> parts_of_seconds = {{{"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}}};

/// A unit as so many of its base: "GB/s" is 1e9 of "b/s". The base is empty where the unit has no prefixes.
struct Scaled {
    double factor = 1;
    std::string base;
};

Scaled scaled(std::string_view unit) {
    std::string name = lower(unit);
    for (const std::string_view plural : {"seconds", "second"}) {
        if (name.ends_with(plural)) name.replace(name.size() - plural.size(), plural.size(), "s");
    }
    for (const std::string_view bytes : {"bytes", "byte"}) {
        if (name.ends_with(bytes)) name.replace(name.size() - bytes.size(), bytes.size(), "b");
    }
    for (const std::string_view base : {"b/s", "flop/s", "op/s", "b", "s"}) {
        if (!name.ends_with(base)) continue;
        const std::string_view prefix = trimmed(std::string_view(name).substr(0, name.size() - base.size()));
        if (prefix.empty()) return {1, std::string(base)};
        const auto find = [&](const auto& prefixes) -> Scaled {
            for (const Prefix& known : prefixes) {
                if (known.letters == prefix) return {known.factor, std::string(base)};
            }
            return {};
        };
        return base == "s" ? find(parts_of_seconds) : find(multiples);
    }
    return {};
}

/// Whether `typed` names the unit: "sector" and "sect" do for "sectors per request", "x" and "-fold" for "times".
bool names(std::string_view typed, std::string_view unit) {
    const std::string wanted = lower(unit);
    if (wanted == typed) return true;
    if (wanted.empty() || wanted.starts_with("times")) {
        const std::array<std::string_view, 5> factors = {"times", "x", "fold", "-fold", "times as fast"};
        if (std::find(factors.begin(), factors.end(), typed) != factors.end()) return true;
    }
    return typed.size() >= 2 && wanted.starts_with(typed);
}

// ---- numbers --------------------------------------------------------------------------------------------------------

struct Parsed {
    double value = 0;
    bool is_fraction = false;  ///< written with a slash
};

/// Digits with a point, separators of thousands, and an exponent. "1,024" is 1024, but "4,2" is 4.2.
std::optional<double> take_plain_number(std::string_view& text) {
    std::string digits;
    std::size_t at = 0;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) digits += text[at++];
    bool any = false, point = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const bool digit_follows = at + 1 < text.size() && is_digit(text[at + 1]);
        if (is_digit(c)) {
            digits += c;
            any = true;
        } else if (c == '.' && !point) {
            digits += c;
            point = true;
        } else if ((c == '_' || c == '\'') && any && digit_follows) {
            continue;
        } else if (c == ',' && any && !point && digit_follows) {
            std::size_t end = at + 1;
            while (end < text.size() && is_digit(text[end])) ++end;
            if (end - at == 4) continue;  // three digits: thousands
            digits += '.';
            point = true;
        } else {
            break;
        }
    }
    if (!any) return std::nullopt;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        std::size_t end = at + 1;
        if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
        if (end < text.size() && is_digit(text[end])) {
            while (end < text.size() && is_digit(text[end])) ++end;
            digits += text.substr(at, end - at);
            at = end;
        }
    }
    text.remove_prefix(at);
    return std::strtod(digits.c_str(), nullptr);
}

/// Takes "k", "Ki", "M" ... where no letter follows.
double take_suffix(std::string_view& text) {
    const std::string rest = lower(text);
    for (const Prefix& suffix : multiples) {
        if (!rest.starts_with(suffix.letters)) continue;
        if (rest.size() > suffix.letters.size() && is_letter(rest[suffix.letters.size()])) continue;
        text.remove_prefix(suffix.letters.size());
        return suffix.factor;
    }
    return 1;
}

std::optional<double> take_operand(std::string_view& text) {
    constexpr std::array<std::string_view, 13> words = {"zero",  "one",   "two",  "three", "four",   "five",  "six",
                                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    const std::size_t end =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_letter) - text.begin());
    const std::string word = lower(text.substr(0, end));
    if (word == "none" || word == "no") {
        text.remove_prefix(end);
        return 0;
    }
    if (const auto found = std::find(words.begin(), words.end(), word); found != words.end()) {
        text.remove_prefix(end);
        return static_cast<double>(found - words.begin());
    }
    const std::optional<double> number = take_plain_number(text);
    if (!number) return std::nullopt;
    return *number * take_suffix(text);
}

/// Operands with * / ^ between them, from left to right.
std::optional<Parsed> take_number(std::string_view& text) {
    const std::optional<double> first = take_operand(text);
    if (!first) return std::nullopt;
    Parsed parsed{*first, false};
    while (true) {
        std::string_view rest = trimmed(text);
        if (rest.empty()) break;
        const bool power = take(rest, "**") || take(rest, "^");
        const char sign = power ? '^' : rest.front();
        if (!power) rest.remove_prefix(1);
        rest = trimmed(rest);
        const bool digit_follows = !rest.empty() && (is_digit(rest.front()) || rest.front() == '.');
        if ((sign != '*' && sign != '/' && sign != '^' && sign != 'x') || !digit_follows) break;
        const std::optional<double> next = take_operand(rest);
        if (!next) break;
        text = rest;
        if (power) {
            parsed.value = std::pow(parsed.value, *next);
        } else if (sign == '/') {
            parsed.value /= *next;
            parsed.is_fraction = true;
        } else {
            parsed.value *= *next;
        }
    }
    return parsed;
}

std::string no_number(std::string_view typed) {
    return fmt::format("'{}' is no number. Numbers may be written like 32, 4.2k, 1/32, or 25 %.", typed);
}

}  // namespace

GuessedNumber read_number(std::string_view typed, std::string_view unit) {
    typed = trimmed(typed);
    std::string_view text = typed;
    for (const std::string_view word : {"about ", "approximately ", "roughly ", "circa ", "ca. ", "~", "="}) {
        if (lower(text).starts_with(word)) text = trimmed(text.substr(word.size()));
    }
    const std::optional<Parsed> number = take_number(text);
    if (!number) return {std::nullopt, no_number(typed)};
    double value = number->value;
    std::string rest = lower(trimmed(text));
    const bool wants_percent = unit.starts_with("%");
    if (rest == "%" || rest == "percent") {
        if (!wants_percent) value /= 100;
    } else if (rest.empty()) {
        if (wants_percent && number->is_fraction) value *= 100;
    } else if (!names(rest, unit)) {
        const Scaled wanted = scaled(unit);
        const Scaled said = scaled(rest);
        if (!wanted.base.empty() && said.base == wanted.base) {
            value *= said.factor / wanted.factor;
        } else {
            std::string_view after = rest;
            const double factor = take_suffix(after);  // "4.2 k", "4.2 k sectors"
            after = trimmed(after);
            if (factor == 1 || !(after.empty() || names(after, unit))) {
                return {std::nullopt,
                        unit.empty()
                            ? fmt::format("'{}' has more in it than a number.", typed)
                            : fmt::format("The answer is a number of {}; '{}' says something else.", unit, typed)};
            }
            value *= factor;
        }
    }
    if (!std::isfinite(value)) return {std::nullopt, no_number(typed)};
    return {value, ""};
}

GuessedChoice read_choice(std::string_view typed, const std::vector<std::string>& choices) {
    const std::string_view original = trimmed(typed);
    std::string text = lower(original);
    const std::string last = choice_letter(choices.empty() ? 0 : choices.size() - 1);
    const std::string hint = fmt::format("Type a letter from a to {}.", last);
    const auto same =
        std::find_if(choices.begin(), choices.end(), [&](const std::string& choice) { return lower(choice) == text; });
    if (same != choices.end()) return {static_cast<std::size_t>(same - choices.begin()), ""};
    while (!text.empty() && (text.back() == ')' || text.back() == '.')) text.pop_back();
    if (!text.empty() && text.front() == '(') text.erase(0, 1);
    if (text.empty()) return {std::nullopt, hint};
    if (text.size() == 1 && is_letter(text[0])) {
        const auto index = static_cast<std::size_t>(text[0] - 'a');
        if (index < choices.size()) return {index, ""};
        return {std::nullopt, fmt::format("There is no choice '{}'. {}", original, hint)};
    }
    if (std::all_of(text.begin(), text.end(), is_digit)) {
        const unsigned long number = text.size() < 9 ? std::stoul(text) : 0;
        if (number >= 1 && number <= choices.size()) return {number - 1, ""};
        return {std::nullopt, fmt::format("There is no choice '{}'. {}", original, hint)};
    }
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!lower(choices[i]).starts_with(text)) continue;
        if (found) return {std::nullopt, fmt::format("Several choices begin with '{}'. {}", original, hint)};
        found = i;
    }
    if (found) return {found, ""};
    return {std::nullopt, fmt::format("'{}' is none of the choices. {}", original, hint)};
}

bool is_right(double guess, double answer, double factor) {
    if (guess == answer) return true;
    if (factor <= 1) {
        const bool whole = answer == std::round(answer);
        return !whole && std::abs(guess - answer) <= 0.01 * std::abs(answer);
    }
    if (guess == 0 || answer == 0 || (guess < 0) != (answer < 0)) return false;
    const double ratio = guess / answer;
    constexpr double rounding = 1 + 1e-9;
    return ratio <= factor * rounding && ratio >= 1 / (factor * rounding);
}

std::string number_text(double value) {
    constexpr double all_digits = 1e15;
    if (value == std::round(value) && std::abs(value) < all_digits) return fmt::format("{:.0f}", value);
    if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);
    return fmt::format("{:.3g}", value);
}

std::string with_unit(const std::string& number, const std::string& unit) {
    if (unit.empty()) return number;
    if (number == "1") {
        // "1 sector", "1 block"; but "1 times", "1 GB/s", "1 us"
        const std::string_view first = std::string_view(unit).substr(0, unit.find(' '));
        const bool plural = first.size() > 3 && first.ends_with('s') && !first.ends_with("ss") && first != "times" &&
                            std::all_of(first.begin(), first.end(), is_letter);
        if (plural) {
            const bool passes = first.ends_with("sses") || first.ends_with("ches");
            return fmt::format("1 {}{}", first.substr(0, first.size() - (passes ? 2 : 1)), unit.substr(first.size()));
        }
    }
    return number + " " + unit;
}

std::string choice_letter(std::size_t index) { return std::string(1, static_cast<char>('a' + index)); }

std::string choice_text(const std::vector<std::string>& choices, std::size_t index) {
    return fmt::format("{}) {}", choice_letter(index), choices.at(index));
}

}  // namespace warpwise
