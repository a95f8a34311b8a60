#include "common/lesson/results.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/helpers/check.h"

namespace warpwise {

bool LessonResult::passed() const {
    return failure.empty() && !any_error(diagnostics) &&
           std::all_of(steps.begin(), steps.end(), [](const StepResult& s) { return s.passed(); }) &&
           std::all_of(expectations.begin(), expectations.end(), [](const Expectation& e) { return e.passed; });
}

std::string DeviceInfo::text() const {
    return fmt::format("{} (compute capability {}.{}, {} SMs)", name, major, minor, processors);
}

DeviceInfo query_device() {
    DeviceInfo info;
    int device = 0;
    check(cudaGetDevice(&device));
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device));
    info.name = properties.name;
    info.on_gpu = Lesson::on_gpu();
    info.major = properties.major;
    info.minor = properties.minor;
    info.processors = properties.multiProcessorCount;
    if (info.on_gpu) info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    info.memory_bytes = properties.totalGlobalMem;
    check(cudaDriverGetVersion(&info.driver_version));
    check(cudaRuntimeGetVersion(&info.runtime_version));
    int kilohertz = 0;
    if (info.on_gpu && cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device) == cudaSuccess) {
        info.clock = kilohertz / 1000;
    }
    return info;
}

}  // namespace warpwise
