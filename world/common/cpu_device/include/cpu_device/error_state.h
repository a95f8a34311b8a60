// The runtime's error state, with the rules of the real one: refused calls and launches are remembered until
// cudaGetLastError(); what goes wrong inside a kernel shows at the next call that waits for the device, and stays.
#pragma once

#include <optional>
#include <string>

#include "cpu_device/execution.h"
#include "cpu_device/types.h"

namespace cpu_device {

/// Remembers `error` as the calling thread's last error (unless it is cudaSuccess) and returns it.
/// Every API function returns through it.
cudaError_t api_result(cudaError_t error);

/// A launch was refused: seen by the next cudaGetLastError() or cudaPeekAtLastError(), not sticky. `reason` says why,
/// with figures: "a block of 2048 x 1 x 1 threads: at most 1024 x 1024 x 64, and 1024 altogether". While errors are
/// looked for, an error at which the thread never looks is reported.
void launch_refused(cudaError_t error, const LaunchSite& launch = {"", {}}, const std::string& reason = {});

/// A call of the runtime API that returned an error.
struct FailedCall {
    std::string function;  ///< "cudaMemcpy"
    Site site;             ///< where the program called it; line 0 when unknown
};

/// The first call of this thread that returned this error by itself (not that of a kernel that died), since somebody
/// took one last. Forgets all others. Calls are remembered while errors are looked for; those that answer a question,
/// as cudaStreamQuery does, are not.
std::optional<FailedCall> take_failed_call(cudaError_t error);

/// A kernel died. Nothing shows before the next call that waits for the device; from then on every call returns it.
/// While errors are looked for, it is reported at the end of the process that no call ever waited.
void kernel_failed(cudaError_t error, const LaunchSite& launch = {"", {}});

/// To be called first by every API function. `waits`: the call waits for the device (synchronization, blocking
/// copies, cudaFree ...). Returns the sticky error, or cudaSuccess.
cudaError_t device_status(bool waits);

/// True once a kernel failed: further launches do nothing.
bool device_is_lost();

/// While errors are looked for, reports the calling thread's calls and launches that failed and whose errors it has
/// not looked at, and a kernel's failure that no call has waited for. Shows what kernels have printed since the last
/// call that waited. Happens by itself when the process ends.
void report_unseen_errors();

}  // namespace cpu_device
