#include "includes.h"

#include <optional>
#include <utility>

namespace cpu_device::rewriter {
namespace {

std::optional<Include> read_include(std::string_view source, const Directive& directive) {
    const std::size_t begin = source.find_first_not_of(" \t", directive.begin);
    if (begin == std::string_view::npos || begin >= directive.end) return std::nullopt;
    const char open = source[begin];
    if (open != '"' && open != '<') return std::nullopt;
    const std::size_t close = source.find(open == '"' ? '"' : '>', begin + 1);
    if (close == std::string_view::npos || close >= directive.end) return std::nullopt;
    return Include{begin, close + 1, std::string(source.substr(begin + 1, close - begin - 1)), open == '"'};
}

}  // namespace

std::vector<Include> read_includes(std::string_view source, const FileFacts& facts) {
    std::vector<Include> includes;
    for (const Directive& directive : facts.file.directives)
        if (directive.name == "include")
            if (auto include = read_include(source, directive)) includes.push_back(std::move(*include));
    return includes;
}

}  // namespace cpu_device::rewriter
