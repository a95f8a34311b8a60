// "Did you mean": the names nearest to a misspelled one.
//
//     suggest("vectoradd", {"vector_add", "matrix_add", "pi"})    // {"vector_add"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwise {

/// The names that contain `word` or are the fewest edits (insert, delete, replace a character) away from it; none when
/// the nearest is more than half of the word away.
std::vector<std::string> suggest(std::string_view word, const std::vector<std::string>& names);

}  // namespace warpwise
