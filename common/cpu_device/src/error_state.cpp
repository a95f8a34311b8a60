#include "cpu_device/error_state.h"

#include <atomic>
#include <utility>

#include "api_call.h"
#include "cpu_device/findings.h"
#include "cpu_device/runtime_api.h"

namespace cpu_device {
namespace {

constinit thread_local cudaError_t last_error = cudaSuccess;

/// What the first kernel that failed died of, and whether any call has waited for the device since.
constinit std::atomic<cudaError_t> failure = cudaSuccess;
constinit std::atomic<bool> failure_seen = false;

}  // namespace

cudaError_t api_result(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

void launch_refused(cudaError_t error) { api_result(error); }

void kernel_failed(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    failure.compare_exchange_strong(none, error);
}

cudaError_t device_status(bool waits) {
    const cudaError_t error = failure.load(std::memory_order_acquire);
    if (error == cudaSuccess) return cudaSuccess;
    if (waits) failure_seen = true;
    return failure_seen ? error : cudaSuccess;
}

bool device_is_lost() { return failure.load(std::memory_order_acquire) != cudaSuccess; }

cudaError_t exchange_last_error(cudaError_t next) { return std::exchange(last_error, next); }

void forget_kernel_failure() {
    failure_seen = false;
    failure = cudaSuccess;
}

cudaError_t unsupported(const char* feature, Site site, const char* hint) {
    Finding found{};
    found.kind = FindingKind::unsupported;
    found.message = std::string("the program uses ") + feature;
    found.site = site;
    found.hint = hint;
    report(std::move(found));
    return cudaErrorNotSupported;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaGetLastError() { return exchange_last_error(cudaSuccess); }

cudaError_t cudaPeekAtLastError() { return last_error; }
