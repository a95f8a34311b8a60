#include "common/helpers/timer.h"

#include <algorithm>
#include <limits>

#include "common/helpers/check.h"

namespace warpwise {

double HostTimer::resolution() {
    constexpr int attempts = 100;
    double shortest = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const HostTimer timer;
        double seconds = 0;
        while (seconds <= 0) seconds = timer.seconds();
        shortest = std::min(shortest, seconds);
    }
    return shortest;
}

DeviceTimer::DeviceTimer() {
    check(cudaEventCreate(&begin_));
    const cudaError_t status = cudaEventCreate(&end_);
    if (status != cudaSuccess) (void)cudaEventDestroy(begin_);
    check(status);
}

DeviceTimer::~DeviceTimer() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
}

void DeviceTimer::start(cudaStream_t stream) { check(cudaEventRecord(begin_, stream)); }

void DeviceTimer::stop(cudaStream_t stream) { check(cudaEventRecord(end_, stream)); }

double DeviceTimer::seconds() {
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
}

}  // namespace warpwise
