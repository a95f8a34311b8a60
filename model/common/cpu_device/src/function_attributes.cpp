#include "function_attributes.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "api_call.h"
#include "cpu_device/runtime_api.h"
#include "faults.h"

namespace cpu_device {
namespace {

struct AllFunctionSettings {
    std::mutex mutex;
    std::unordered_map<const void*, FunctionSettings> of_kernel;
    std::unordered_map<const void*, FunctionSettings> declared;  ///< what kernels begin with, where that is special
    int most_dynamic_shared_bytes = FunctionSettings{}.max_dynamic_shared_bytes;
};

AllFunctionSettings& all_function_settings() {
    static AllFunctionSettings* all = new AllFunctionSettings;  // still needed when the process exits
    return *all;
}

}  // namespace

FunctionSettings function_settings(const void* kernel) {
    std::lock_guard lock(all_function_settings().mutex);
    const auto found = all_function_settings().of_kernel.find(kernel);
    return found == all_function_settings().of_kernel.end() ? FunctionSettings{} : found->second;
}

void require_cluster(const void* kernel, unsigned x, unsigned y, unsigned z) {
    AllFunctionSettings& all = all_function_settings();
    std::lock_guard lock(all.mutex);
    FunctionSettings& settings = all.declared[kernel];
    settings.cluster[0] = static_cast<int>(x);
    settings.cluster[1] = static_cast<int>(y);
    settings.cluster[2] = static_cast<int>(z);
    settings.needs_cluster = true;
    all.of_kernel[kernel] = settings;
}

void forget_function_settings() {
    std::lock_guard lock(all_function_settings().mutex);
    all_function_settings().of_kernel = all_function_settings().declared;
    all_function_settings().most_dynamic_shared_bytes = FunctionSettings{}.max_dynamic_shared_bytes;
}

std::size_t dynamic_shared_limit(const void* kernel) {
    if (kernel != nullptr) return static_cast<std::size_t>(function_settings(kernel).max_dynamic_shared_bytes);
    std::lock_guard lock(all_function_settings().mutex);
    return static_cast<std::size_t>(all_function_settings().most_dynamic_shared_bytes);
}

}  // namespace cpu_device

using namespace cpu_device;

// A call that succeeds forgets the last error. So an H200 has it with CUDA 13.0: of calls that fail, one that succeeds,
// and cudaDeviceSynchronize, which elsewhere leaves the last error alone, none is left (common/tests/api_corpus).
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    const cudaError_t error = api_call(Waits::no, [&]() -> cudaError_t {
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        AllFunctionSettings& all = all_function_settings();
        std::lock_guard lock(all.mutex);
        switch (attribute) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
                if (value < 0 || value > static_cast<int>(model::shared_bytes_per_block_opt_in)) {
                    return cudaErrorInvalidValue;
                }
                all.of_kernel[kernel].max_dynamic_shared_bytes = value;
                all.most_dynamic_shared_bytes = std::max(all.most_dynamic_shared_bytes, value);
                return cudaSuccess;
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) {
                    return cudaErrorInvalidValue;
                }
                all.of_kernel[kernel].shared_carveout = value;
                return cudaSuccess;
            case cudaFuncAttributeClusterDimMustBeSet:
                all.of_kernel[kernel].needs_cluster = value != 0;
                return cudaSuccess;
            case cudaFuncAttributeRequiredClusterWidth:
            case cudaFuncAttributeRequiredClusterHeight:
            case cudaFuncAttributeRequiredClusterDepth:
                if (value < 0) return cudaErrorInvalidValue;
                all.of_kernel[kernel].cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = value;
                return cudaSuccess;
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
                all.of_kernel[kernel].larger_clusters = value != 0;
                return cudaSuccess;
            case cudaFuncAttributeClusterSchedulingPolicyPreference:
                if (value < cudaClusterSchedulingPolicyDefault || value > cudaClusterSchedulingPolicyLoadBalancing) {
                    return cudaErrorInvalidValue;
                }
                all.of_kernel[kernel].cluster_policy = value;
                return cudaSuccess;
            case cudaFuncAttributeMax:
                break;
        }
        return cudaErrorInvalidValue;
    });
    if (error == cudaSuccess) exchange_last_error(cudaSuccess);
    return error;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        const FunctionSettings asked = function_settings(kernel);
        constexpr int architecture = model::compute_capability_major * 10 + model::compute_capability_minor;
        *attributes = {};
        attributes->maxThreadsPerBlock = model::max_threads_per_block;
        attributes->numRegs = model::assumed_registers_per_thread;
        attributes->ptxVersion = architecture;
        attributes->binaryVersion = architecture;
        attributes->maxDynamicSharedSizeBytes = asked.max_dynamic_shared_bytes;
        attributes->preferredShmemCarveout = asked.shared_carveout;
        attributes->clusterDimMustBeSet = asked.needs_cluster;
        attributes->requiredClusterWidth = asked.cluster[0];
        attributes->requiredClusterHeight = asked.cluster[1];
        attributes->requiredClusterDepth = asked.cluster[2];
        attributes->clusterSchedulingPolicyPreference = asked.cluster_policy;
        attributes->nonPortableClusterSizeAllowed = asked.larger_clusters;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual ? cudaErrorInvalidValue
                                                                                     : cudaSuccess;
    });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                                                                : cudaSuccess;
    });
}
