// A request that cannot be met: the guide prints the text and ends with status 2.
#pragma once

#include <stdexcept>

namespace guide {

class Refusal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace guide
