// A request that cannot be met.
//
//     if (cols == 0) throw Refusal("matrix_add needs at least one column");
#pragma once

#include <stdexcept>

namespace warpwise {

/// A request that cannot be met (unknown lesson, size that does not fit): one line on stderr, exit status 2.
class Refusal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace warpwise
