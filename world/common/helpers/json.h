// JSON from text and to text. nlohmann's parser and writer are compiled once, in json.cpp: a file that has them of its
// own takes seconds longer to compile.
//
//     const auto document = parse_json<nlohmann::json>(text);
#pragma once

#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpwise {

/// Json: nlohmann::json, or nlohmann::ordered_json, which keeps the order of members. Throws Json::exception.
template <class Json>
Json parse_json(std::string_view text);
template <class Json>
Json parse_json(std::istream& stream);

/// Discarded (`is_discarded()`) where the text is no JSON.
template <class Json>
Json json_or_discarded(std::string_view text);
template <class Json>
Json json_or_discarded(std::istream& stream);

/// On one line, or indented by so many spaces. What is not UTF-8 is replaced: it must not cost the rest.
template <class Json>
std::string json_text(const Json& json, int indent = -1);

}  // namespace warpwise
