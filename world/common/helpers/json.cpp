#include "common/helpers/json.h"

namespace warpwise {

template <class Json>
Json parse_json(std::string_view text) {
    return Json::parse(text);
}

template <class Json>
Json parse_json(std::istream& stream) {
    return Json::parse(stream);
}

template <class Json>
Json json_or_discarded(std::string_view text) {
    return Json::parse(text, nullptr, false);
}

template <class Json>
Json json_or_discarded(std::istream& stream) {
    return Json::parse(stream, nullptr, false);
}

template <class Json>
std::string json_text(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

using nlohmann::json;
using nlohmann::ordered_json;
template json parse_json(std::string_view);
template json parse_json(std::istream&);
template json json_or_discarded(std::string_view);
template json json_or_discarded(std::istream&);
template std::string json_text(const json&, int);
template ordered_json parse_json(std::string_view);
template ordered_json parse_json(std::istream&);
template ordered_json json_or_discarded(std::string_view);
template ordered_json json_or_discarded(std::istream&);
template std::string json_text(const ordered_json&, int);

}  // namespace warpwise
