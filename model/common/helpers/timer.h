// Clocks for host code and for device code.
//
//     DeviceTimer timer;
//     timer.start();
//     scale<<<blocks, threads>>>(d_values, n);
//     timer.stop();
//     double seconds = timer.seconds();    // waits for the kernel
#pragma once

#include <cuda_runtime.h>

#include <chrono>

namespace warpwise {

/// Time on the host, by std::chrono::steady_clock. It knows nothing of the device: synchronize before reading it.
class HostTimer {
public:
    HostTimer() { start(); }

    void start() { begin_ = std::chrono::steady_clock::now(); }

    /// Seconds since start().
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

    /// The shortest time above zero that this clock shows here, in seconds; measured.
    static double resolution();

private:
    std::chrono::steady_clock::time_point begin_;
};

/// Time on the device between two points of a stream, by CUDA events; resolution about 0.5 microseconds.
/// All functions throw CudaError.
class DeviceTimer {
public:
    DeviceTimer();
    ~DeviceTimer();
    DeviceTimer(const DeviceTimer&) = delete;
    DeviceTimer& operator=(const DeviceTimer&) = delete;

    void start(cudaStream_t stream = nullptr);
    void stop(cudaStream_t stream = nullptr);

    /// Seconds between start and stop; waits until the device has passed stop.
    double seconds();

private:
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

}  // namespace warpwise
