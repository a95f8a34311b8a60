// How every function of the runtime API begins and ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "activity_log.h"
#include "capture.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/error_state.h"
#include "cpu_device/execution.h"

namespace cpu_device {

/// Whether a function waits for the device: only then a kernel's failure comes to light.
enum class Waits : bool { no, yes };

/// A call of the runtime API, as diagnostics name it. Functions whose address programs take have no room for a site:
/// they know the code that called them (`__builtin_return_address(0)`).
struct ApiCall {
    const char* function;
    Site site = {};
    const void* code = nullptr;
};

/// Remembers for `take_failed_call` that this call returned an error of its own.
void note_failed_call(const ApiCall& call, cudaError_t error);

/// Returns the sticky error if there is one, else what `body()` returns; remembers either as the last error. Without
/// `call`, the function that calls this is the one that the program has called: functions that share a body hand
/// theirs on.
template <class Body>
cudaError_t api_call(Waits waits, const Body& body, const ApiCall& call) {
    if (logs_activity()) log_call(call.function, waits == Waits::yes);
    const cudaError_t status = device_status(waits == Waits::yes);
    if (status != cudaSuccess) return api_result(status);
    StreamCapture* const capture = stream_capture();
    const cudaError_t refused = capture == nullptr ? cudaSuccess : capture->before(call.function);
    const cudaError_t error = refused == cudaSuccess ? body() : refused;
    if (error != cudaSuccess) note_failed_call(call, error);
    return api_result(error);
}
template <class Body>
cudaError_t api_call(Waits waits, const Body& body, const char* name = __builtin_FUNCTION(),
                     const void* code = __builtin_return_address(0)) {
    return api_call(waits, body, ApiCall{name, {}, code});
}

/// For each address the line whose code, just before it, made a call; line 0 for null and without debug information.
std::vector<Site> sites_of_code(const std::vector<const void*>& code);
Site site_of_code(const void* code);

/// Where the program made the call.
Site place_of(const ApiCall& call);

/// Reports what is wrong with a call, unless errors are not looked for. The message begins with the function's name.
void report_misuse(DiagnosticKind kind, const ApiCall& call, const std::string& message, const char* hint,
                   const std::string& array = {}, const std::optional<OtherSide>& other = std::nullopt);

/// The calling thread's last error; from now on it is `next`.
cudaError_t exchange_last_error(cudaError_t next);

/// The launch that was just refused returns its error to the program: it cannot be missed in the way that one written
/// with `<<< >>>` can.
void forget_refused_launch();

/// The next call finds a device on which no kernel ever failed.
void forget_kernel_failure();

/// Reports that a program asks for `feature`, which the CPU device does not have. Returns cudaErrorNotSupported.
cudaError_t unsupported(const char* feature, Site site, const char* hint = "");

}  // namespace cpu_device
