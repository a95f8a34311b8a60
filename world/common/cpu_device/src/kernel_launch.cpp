// Launches that a program writes as function calls, and what it asks for that the CPU device does not do.
#include <atomic>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "access_policy.h"
#include "api_call.h"
#include "cpu_device/device_model.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/runtime_api.h"
#include "device_properties.h"
#include "function_attributes.h"
#include "kernel_names.h"
#include "streams.h"

namespace cpu_device {

std::atomic<StreamCapture*> running_capture = nullptr;

namespace {

/// Whether all blocks of the grid can be on the device at a time, as far as can be known before the kernel runs.
bool fits_the_device(const void* kernel, const LaunchConfig& config) {
    constexpr auto too_many = std::numeric_limits<int>::max();
    const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
    const unsigned __int128 blocks = static_cast<unsigned __int128>(config.grid.x) * config.grid.y * config.grid.z;
    if (threads == 0 || threads > too_many) return true;  // refused for its shape
    const int resident = resident_blocks(kernel, static_cast<int>(threads), config.shared_bytes);
    return resident == 0 ||
           blocks <= static_cast<std::uint64_t>(resident) * static_cast<unsigned>(multiprocessor_count());
}

cudaError_t launch_and_return_error(const LaunchSite& site, const LaunchConfig& config, const ErasedLaunch& launch,
                                    bool cooperative) {
    const cudaError_t before = exchange_last_error(cudaSuccess);
    launch_erased(site, config, launch, cooperative);
    forget_refused_launch();
    return exchange_last_error(before);
}

/// How to launch the kernels that a program made known, by their addresses.
struct KnownKernels {
    std::mutex mutex;
    std::unordered_map<const void*, UntypedLaunch> launches;
};

KnownKernels& known_kernels() {
    static KnownKernels* all = new KnownKernels;  // filled before main, still needed when the process exits
    return *all;
}

/// Calls `run(erased_launch)` with copies of the arguments.
template <class Run>
cudaError_t with_known_kernel(const void* kernel, void** arguments, const Run& run) {
    UntypedLaunch launch = nullptr;
    {
        KnownKernels& known = known_kernels();
        std::lock_guard lock(known.mutex);
        const auto found = known.launches.find(kernel);
        if (found != known.launches.end()) launch = found->second;
    }
    if (launch == nullptr) {
        return api_result(kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle);
    }
    const auto run_in_context = [](const void* context, const ErasedLaunch& erased) {
        return (*static_cast<const Run*>(context))(erased);
    };
    return launch(kernel, arguments, {run_in_context, &run});
}

}  // namespace

cudaError_t launch_function(const void* kernel, const LaunchConfig& config, const ErasedLaunch& launch,
                            bool cooperative, Site site) {
    const char* name = cooperative ? "(cudaLaunchCooperativeKernel)" : "(cudaLaunchKernel)";
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        if (launch.run_threads == nullptr) return cudaErrorInvalidValue;
        if (!stream_exists(config.stream)) return cudaErrorInvalidResourceHandle;
        if (cooperative && !fits_the_device(kernel, config)) return cudaErrorCooperativeLaunchTooLarge;
        return launch_and_return_error({name, site, "", kAnyKernel, kernel}, config.of(kernel), launch, cooperative);
    });
}

cudaError_t launch_configured(const void* kernel, const cudaLaunchConfig_t* config, const ErasedLaunch& launch,
                              Site site) {
    if (config == nullptr) return api_result(cudaErrorInvalidValue);
    bool cooperative = false, programmatic = false;
    dim3 cluster = {0, 0, 0};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config->attrs[i];
        switch (attribute.id) {
            case cudaLaunchAttributeCooperative:
                cooperative = attribute.val.cooperative != 0;
                break;
            case cudaLaunchAttributeClusterDimension: {
                const auto& shape = attribute.val.clusterDim;
                if (shape.x == 0 || shape.y == 0 || shape.z == 0) return api_result(cudaErrorInvalidValue);
                cluster = {shape.x, shape.y, shape.z};
                break;
            }
            case cudaLaunchAttributeClusterSchedulingPolicyPreference:  // which SMs they get changes no result
                break;
            case cudaLaunchAttributePreferredClusterDimension:
                return api_result(unsupported("a second, preferred size of thread block clusters", site));
            case cudaLaunchAttributeAccessPolicyWindow:
                if (!is_allowed(attribute.val.accessPolicyWindow)) return api_result(cudaErrorInvalidValue);
                break;
            case cudaLaunchAttributeProgrammaticStreamSerialization:
                programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
                break;
            case cudaLaunchAttributeMemSyncDomainMap:
            case cudaLaunchAttributeMemSyncDomain:
            case cudaLaunchAttributeIgnore:
            case cudaLaunchAttributePriority:
            case cudaLaunchAttributePreferredSharedMemoryCarveout:
                break;
            default:
                return api_result(unsupported("this attribute of cudaLaunchKernelEx", site));
        }
    }
    LaunchConfig shape(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    shape.programmatic = programmatic;
    shape.cluster = cluster;
    return launch_function(kernel, shape, launch, cooperative, site);
}

cudaError_t keep_known_kernel(const void* kernel, void** arguments, KeptLaunch** kept) {
    return with_known_kernel(kernel, arguments, [&](const ErasedLaunch& launch) {
        if (launch.run_threads == nullptr || launch.keep == nullptr) return cudaErrorInvalidValue;
        *kept = launch.keep(launch.keeper);
        return cudaSuccess;
    });
}

bool register_kernel(const void* address, UntypedLaunch launch) {
    KnownKernels& known = known_kernels();
    std::lock_guard lock(known.mutex);
    known.launches[address] = launch;
    return true;
}

cudaError_t launch_untyped(const void* kernel, const LaunchConfig& config, void** arguments, bool cooperative,
                           Site site) {
    return with_known_kernel(kernel, arguments, [&](const ErasedLaunch& launch) {
        return launch_function(kernel, config, launch, cooperative, site);
    });
}

cudaError_t launch_untyped(const void* kernel, const cudaLaunchConfig_t* config, void** arguments, Site site) {
    return with_known_kernel(
        kernel, arguments, [&](const ErasedLaunch& launch) { return launch_configured(kernel, config, launch, site); });
}

}  // namespace cpu_device
