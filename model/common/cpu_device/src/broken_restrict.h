// The promise of `__restrict__`: that nobody reaches the memory of this pointer by another one, while a kernel changes
// it.
#pragma once

namespace cpu_device {

struct Launch;

/// Reports each array that was passed to the kernel by two pointers, one of them `__restrict__`, and that it changed.
/// Needs the launch's counters; says nothing without them.
void report_broken_restrict(const Launch& launch);

}  // namespace cpu_device
