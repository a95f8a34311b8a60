#include "common/lesson/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace warpwise {
namespace {

/// So far below the largest std::size_t that a lesson can compute its bytes without overflow.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 44;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
    throw Refusal(fmt::format("--size {}: {}; give it like 1000, 16Mi, 1000x700 or 256x256x256", text, why));
}

std::uint64_t parse_extent(std::string_view extent, std::string_view whole) {
    static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> factors = {{
        {"", 1},
        {"K", 1'000},
        {"M", 1'000'000},
        {"G", 1'000'000'000},
        {"Ki", std::uint64_t{1} << 10},
        {"Mi", std::uint64_t{1} << 20},
        {"Gi", std::uint64_t{1} << 30},
    }};
    std::uint64_t number = 0;
    const auto [end, status] = std::from_chars(extent.data(), extent.data() + extent.size(), number);
    if (status == std::errc::result_out_of_range) refuse(whole, "too large");
    if (status != std::errc{}) refuse(whole, fmt::format("'{}' is no whole number", extent));
    const std::string_view suffix = extent.substr(static_cast<std::size_t>(end - extent.data()));
    for (const auto& [name, factor] : factors) {
        if (suffix != name) continue;
        if (number > most_elements / factor) refuse(whole, "too large");
        return number * factor;
    }
    refuse(whole, fmt::format("unknown suffix '{}'", suffix));
}

}  // namespace

Size parse_size(std::string_view text) {
    std::vector<std::size_t> extents;
    std::uint64_t elements = 1;
    std::string_view rest = text;
    while (true) {
        const std::size_t cut = rest.find_first_of("xX");
        const std::uint64_t extent = parse_extent(rest.substr(0, cut), text);
        extents.push_back(extent);
        // An empty matrix has 0 elements, yet its other extent must stay in bounds too; it does, by parse_extent.
        if (elements != 0 && extent > most_elements / elements) refuse(text, "too large");
        elements *= extent;
        if (cut == std::string_view::npos) break;
        rest.remove_prefix(cut + 1);
    }
    return Size(std::move(extents));
}

std::size_t Size::count() const {
    std::size_t product = 1;
    for (const std::size_t extent : extents_) product *= extent;
    return product;
}

std::string Size::text() const { return fmt::format("{}", fmt::join(extents_, " x ")); }

}  // namespace warpwise
