// The runtime's error state, with the rules of the real one: refused calls and launches are remembered until
// cudaGetLastError(); what goes wrong inside a kernel shows at the next call that waits for the device, and stays.
#pragma once

#include "cpu_device/types.h"

namespace cpu_device {

/// Remembers `error` as the calling thread's last error (unless it is cudaSuccess) and returns it.
/// Every API function returns through it.
cudaError_t api_result(cudaError_t error);

/// A launch was refused: seen by the next cudaGetLastError() or cudaPeekAtLastError(), not sticky.
void launch_refused(cudaError_t error);

/// A kernel died. Nothing shows before the next call that waits for the device; from then on every call returns it.
void kernel_failed(cudaError_t error);

/// To be called first by every API function. `waits`: the call waits for the device (synchronization, blocking
/// copies, cudaFree ...). Returns the sticky error, or cudaSuccess.
cudaError_t device_status(bool waits);

/// True once a kernel failed: further launches do nothing.
bool device_is_lost();

}  // namespace cpu_device
