// Work of streams that cannot be done at once.
//
// The CPU device carries out each piece of work inside the call that asks for it. With several devices that is not
// always possible: a kernel may wait for one of another device that is launched after it, and an operation of NCCL for
// those of the other ranks. Such work is set aside, and what its stream is given then waits behind it. It goes on
// whenever a call waits, or is given other work.
//
// Programs with one device have none of it: `device_work()` is null.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "cpu_device/types.h"

namespace cpu_device {

class DeviceWork {
public:
    /// Does a part of the work, or all of it: then it returns true. It must not wait. `overdue`: nothing has been done
    /// for as long as the watchdog allows; the work has to end with an error.
    using Step = std::function<bool(bool overdue)>;
    using Lock = std::unique_lock<std::recursive_mutex>;

    /// Nobody else works on any device while this is held; variables of the device are those of the current one.
    virtual Lock enter() = 0;
    /// Whether work that the stream is given now has to wait for other work.
    virtual bool is_busy(cudaStream_t stream) = 0;
    /// Gives the stream work, which is done now or later.
    virtual void add(cudaStream_t stream, Step step) = 0;
    /// The same for a launch: `run(park)` is called in another thread, and calls `park` whenever it can only wait.
    virtual void launch(cudaStream_t stream,
                        std::function<void(const std::function<void()>& park, std::atomic<bool>& overdue)> run) = 0;
    virtual void record(cudaEvent_t event, cudaStream_t stream, std::function<void()> note_time) = 0;
    virtual void wait(cudaStream_t stream, cudaEvent_t event) = 0;
    virtual bool is_done(cudaEvent_t event) = 0;
    // These wait, and return the error with which the work has ended.
    virtual cudaError_t finish(cudaStream_t stream) = 0;
    virtual cudaError_t finish(cudaEvent_t event) = 0;
    virtual cudaError_t finish_device() = 0;
    /// Does what can be done of what was set aside.
    virtual void progress() = 0;
    /// Work of the device has ended with an error that the next call which waits for it returns.
    virtual void fail(int device, cudaError_t error) = 0;
    /// cudaDeviceReset: what the current device was given is forgotten.
    virtual void reset_device() = 0;

protected:
    ~DeviceWork() = default;
};

extern constinit std::atomic<DeviceWork*> present_device_work;

/// Null while all work is done at once.
inline DeviceWork* device_work() { return present_device_work.load(std::memory_order_acquire); }

/// From now on work may be set aside.
void enable_device_work();

/// Waits for work that the stream was given before.
inline cudaError_t finish_stream(cudaStream_t stream) {
    DeviceWork* const work = device_work();
    return work == nullptr ? cudaSuccess : work->finish(stream);
}

inline cudaError_t finish_device() {
    DeviceWork* const work = device_work();
    return work == nullptr ? cudaSuccess : work->finish_device();
}

inline bool is_busy(cudaStream_t stream) {
    DeviceWork* const work = device_work();
    return work != nullptr && work->is_busy(stream);
}

/// While this is held, nobody else works on a device.
inline DeviceWork::Lock enter_device() {
    DeviceWork* const work = device_work();
    return work == nullptr ? DeviceWork::Lock() : work->enter();
}

}  // namespace cpu_device
