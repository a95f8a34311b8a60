// The devices of the process, CPU_DEVICE_COUNT of them, and which of them a thread works with.
#pragma once

#include <array>
#include <cstdint>

#include "cpu_device/types.h"

namespace cpu_device {

constexpr int kMostDevices = 16;

/// From 1 to `kMostDevices`; a program with another CPU_DEVICE_COUNT ends with a message.
int device_count();

inline bool device_exists(int device) { return device >= 0 && device < device_count(); }

/// The device of cudaSetDevice; in a thread that runs blocks, theirs.
extern constinit thread_local int current_device;

/// The same for as long as this lives, and then again what it was.
class OnDevice {
public:
    explicit OnDevice(int device) : before_(current_device) { current_device = device; }
    ~OnDevice() { current_device = before_; }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

private:
    int before_;
};

/// Whether kernels of `device` may use memory of cudaMalloc on `owner`: their own, or cudaDeviceEnablePeerAccess.
bool is_peer(int device, int owner);
/// Allows or forbids it. False if that is so already.
bool set_peer(int device, int owner, bool allowed);

/// The device of the stream; the present one for default streams and for what is no stream.
int device_of_stream(cudaStream_t stream);

/// Whether the device may use memory that a pool has given; null in programs without pools.
[[gnu::weak]] bool pool_allows(const void* address, int device);

}  // namespace cpu_device
