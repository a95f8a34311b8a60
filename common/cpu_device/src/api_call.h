// How every function of the runtime API begins and ends.
#pragma once

#include "cpu_device/error_state.h"
#include "cpu_device/execution.h"

namespace cpu_device {

/// Whether a function waits for the device: only then a kernel's failure comes to light.
enum class Waits : bool { no, yes };

/// Returns the sticky error if there is one, else what `body()` returns; remembers either as the last error.
template <class Body>
cudaError_t api_call(Waits waits, const Body& body) {
    const cudaError_t status = device_status(waits == Waits::yes);
    return api_result(status != cudaSuccess ? status : body());
}

/// The calling thread's last error; from now on it is `next`.
cudaError_t exchange_last_error(cudaError_t next);

/// The next call finds a device on which no kernel ever failed.
void forget_kernel_failure();

/// Reports that a program asks for `feature`, which the CPU device does not have. Returns cudaErrorNotSupported.
cudaError_t unsupported(const char* feature, Site site, const char* hint = "");

}  // namespace cpu_device
