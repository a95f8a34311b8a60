#include "common/helpers/lines.h"

#include <fstream>
#include <istream>
#include <sstream>

namespace warpwise {
namespace {

std::vector<std::string> lines_of(std::istream& stream) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace

std::vector<std::string> text_lines(const std::string& text) {
    std::istringstream stream(text);
    return lines_of(stream);
}

std::vector<std::string> file_lines(const std::string& file) {
    std::ifstream stream(file);
    return lines_of(stream);
}

}  // namespace warpwise
