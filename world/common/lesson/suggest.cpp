#include "common/lesson/suggest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace warpwise {
namespace {

/// Levenshtein distance, by dynamic programming over one row.
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> suggest(std::string_view word, const std::vector<std::string>& names) {
    std::vector<std::string> nearest;
    if (word.empty()) return nearest;
    for (const std::string& name : names) {
        if (name.find(word) != std::string::npos) nearest.push_back(name);
    }
    if (!nearest.empty()) return nearest;
    std::size_t fewest = std::max<std::size_t>(1, word.size() / 2);
    for (const std::string& name : names) {
        const std::size_t edits = edits_between(word, name);
        if (edits > fewest) continue;
        if (edits < fewest) nearest.clear();
        fewest = edits;
        nearest.push_back(name);
    }
    return nearest;
}

}  // namespace warpwise
