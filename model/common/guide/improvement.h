// How much cheaper the answer is than the stub.
//
//     for (const Improvement& improvement : improvements(facts_of_stub, facts)) ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/lesson/terminal.h"

namespace guide {

/// A figure of the stub and of the answer in the test that the stub fails (common/grading/figure.h), or the CPU
/// device's count of one kind in the call that it fails for.
struct Improvement {
    std::string name;  ///< "sectors of global memory", "waits for loads per four elements"
    double before = 0;
    double after = 0;
    std::string change;  ///< "4 times fewer"
    bool operator==(const Improvement&) const = default;
};

/// From two graders' facts (common/grading/facts.h), as JSON: figures, then counts. What is about the same is left out;
/// empty when the stub failed for something else.
std::vector<Improvement> improvements(std::string_view stub, std::string_view answer);
std::string improvement_table(const std::vector<Improvement>& improvements, const warpwise::Terminal& terminal);

}  // namespace guide
