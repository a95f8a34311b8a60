// Texts in JSON.
#pragma once

#include <string>
#include <string_view>

namespace cpu_device {

/// The text in quotes, escaped; what is no UTF-8 becomes a replacement character.
std::string json_string(std::string_view text);

}  // namespace cpu_device
