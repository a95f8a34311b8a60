// How much memory a lesson may use.
//
//     if (bytes > free_device_bytes()) ...
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "common/lesson/lesson.h"

namespace warpwise {

/// Memory of the current device that is free now. Throws CudaError.
std::size_t free_device_bytes();

/// Memory that this process can still get from the host without swapping: what the kernel calls available, less where
/// a control group limits it. The largest std::size_t where the system does not tell.
std::size_t free_host_bytes();

/// "3.2 GiB", "120 MiB", "96 bytes".
std::string bytes_text(double bytes);

/// Why a problem of `device_bytes` does not fit; empty when it does. It may take 80 % of the free device memory and,
/// for inputs, reference and copies, twice as much of the host's (three times where the device's memory is the host's).
std::string why_it_does_not_fit(std::size_t device_bytes, std::size_t free_device, std::size_t free_host,
                                bool device_is_host);

/// `largest` or, while it takes more than half of the free device memory and is above `least`, half of it, and so on.
/// `bytes_of`: what a count takes. Throws CudaError.
std::size_t halve_to_fit(std::size_t largest, std::size_t least,
                         const std::function<std::size_t(std::size_t)>& bytes_of);

/// Halves the largest extent until `fits`, or until nothing is left to halve.
Size halve_until(Size size, const std::function<bool(const Size&)>& fits);

}  // namespace warpwise
