// From what the recorder kept of the traced blocks to LaunchTrace.
#pragma once

#include "cpu_device/instrument.h"
#include "tally.h"

namespace cpu_device {

struct Launch;

/// Arrays are named; lines of source are not known yet.
LaunchTrace trace_of(const Launch& launch, const Tally& tally);

/// Finds the lines of all events; drops steps that are not the program's own, and those that say nothing new.
void find_lines(LaunchTrace& trace, Site launch);

}  // namespace cpu_device
