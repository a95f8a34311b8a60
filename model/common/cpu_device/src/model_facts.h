// What the time model gets to know of a launch.
#pragma once

#include "common/model/facts.h"
#include "tally.h"

namespace cpu_device {

// Null in programs without the time model, which the first lesson alone is: a learner waits for it to be built.

/// All that can be told while the arrays of the launch are known. `tally` has to be kept for `add_code_facts`.
[[gnu::weak]] warpwise::model::LaunchFacts memory_facts(const Launch& launch, const Tally& tally, int registers);

/// What the machine code tells: instructions and chains. Takes some milliseconds for each kernel, the first time.
[[gnu::weak]] void add_code_facts(warpwise::model::LaunchFacts& facts, const Tally& tally);

}  // namespace cpu_device
