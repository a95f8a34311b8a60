// A text's lines.
#pragma once

#include <string>
#include <vector>

namespace warpwise {

/// The lines of a text, without their ends.
std::vector<std::string> text_lines(const std::string& text);

/// The lines of a file, without their ends; none where it cannot be read.
std::vector<std::string> file_lines(const std::string& file);

}  // namespace warpwise
