// Whether work of several devices uses the same memory without an order between the two. It is carried out one piece
// after the other here, but on GPUs it runs at the same time.
//
// Order comes from streams, events, and the host, as between any two streams; and from flags: a kernel that reads, by
// an atomic, what a kernel of another device has written by one comes after that kernel as a whole. (Which of its
// accesses came before the flag was set is not looked at.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "api_call.h"
#include "cpu_device/types.h"

namespace cpu_device {

/// Counted from 1; 0: none, nobody looks for such races.
using DeviceStep = std::uint32_t;

/// Work that the stream was just given. `what`: "kernel add".
[[gnu::weak]] DeviceStep note_device_step(const std::string& what, cudaStream_t stream, const ApiCall& call);

/// The step for which the thread works now, in host code.
extern constinit thread_local DeviceStep present_device_step;

/// It does so as long as this lives.
class InDeviceStep {
public:
    explicit InDeviceStep(DeviceStep step) : before_(present_device_step) { present_device_step = step; }
    InDeviceStep(const char* function, cudaStream_t stream, const ApiCall& call)
        : InDeviceStep(note_device_step == nullptr ? 0 : note_device_step(function, stream, call)) {}
    ~InDeviceStep() { present_device_step = before_; }
    InDeviceStep(const InDeviceStep&) = delete;
    InDeviceStep& operator=(const InDeviceStep&) = delete;

private:
    DeviceStep before_;
};

/// Kernels run for this step from now on.
void run_device_step(DeviceStep step);

/// The present step copies or fills.
[[gnu::weak]] void use_in_device_step(const void* memory, std::size_t bytes, bool writes);

/// The step comes after all that the other did.
void learn_in_device_step(DeviceStep step, DeviceStep from);

/// The memory is freed.
[[gnu::weak]] void forget_device_uses(const void* memory, std::size_t bytes);

}  // namespace cpu_device
