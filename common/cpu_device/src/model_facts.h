// What the time model gets to know of a launch.
#pragma once

#include "common/model/facts.h"
#include "tally.h"

namespace cpu_device {

/// All that can be told while the arrays of the launch are known. `tally` has to be kept for `add_code_facts`.
warpwise::model::LaunchFacts memory_facts(const Launch& launch, const Tally& tally, int registers);

/// What the machine code tells: instructions and chains. Takes some milliseconds for each kernel, the first time.
void add_code_facts(warpwise::model::LaunchFacts& facts, const Tally& tally);

}  // namespace cpu_device
