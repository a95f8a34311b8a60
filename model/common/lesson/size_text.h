// Sizes as a user types them.
//
//     Size size = parse_size("1000x700");    // also "16Mi", "2K", "4Kix4Ki"
#pragma once

#include <string_view>

#include "common/lesson/lesson.h"

namespace warpwise {

/// Parses extents separated by `x`. An extent is a whole number with an optional factor: K, M, G are powers of 1000,
/// Ki, Mi, Gi powers of 1024. Throws Refusal when the text is no such size or has more than 2^44 elements.
Size parse_size(std::string_view text);

}  // namespace warpwise
