#include "device_properties.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "allocations.h"
#include "cpu_device/device_model.h"
#include "cpu_device/execution.h"

namespace cpu_device {
namespace {

using namespace model;

std::atomic<int> modelled_multiprocessors{multiprocessors};

void set_identity(cudaDeviceProp& p) {
    std::snprintf(p.name, sizeof p.name, "Warpwise CPU device");
    std::memcpy(p.uuid.bytes, "Warpwise CPU dev", sizeof p.uuid.bytes);
    p.major = compute_capability_major;
    p.minor = compute_capability_minor;
    p.deviceNumaId = -1;
}

void set_limits_of_launches(cudaDeviceProp& p) {
    p.warpSize = warp_size;
    p.maxThreadsPerBlock = max_threads_per_block;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.maxThreadsPerMultiProcessor = max_threads_per_sm;
    p.maxBlocksPerMultiProcessor = max_blocks_per_sm;
    p.regsPerBlock = registers_per_block;
    p.regsPerMultiprocessor = registers_per_sm;
    p.sharedMemPerBlock = shared_bytes_per_block;
    p.sharedMemPerBlockOptin = shared_bytes_per_block_opt_in;
    p.sharedMemPerMultiprocessor = shared_bytes_per_sm;
    p.reservedSharedMemPerBlock = reserved_shared_bytes_per_block;
    p.kernelExecTimeoutEnabled = 1;  // the watchdog
}

void set_limits_of_textures(cudaDeviceProp& p) {
    const auto set = [](auto& target, auto... values) {
        int i = 0;
        ((target[i++] = values), ...);
    };
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
    p.surfaceAlignment = 512;
    p.maxTexture1D = 131072;
    p.maxTexture1DMipmap = 32768;
    p.maxTexture1DLinear = 268435456;
    set(p.maxTexture2D, 131072, 65536);
    set(p.maxTexture2DMipmap, 32768, 32768);
    set(p.maxTexture2DLinear, 131072, 65000, 2097120);
    set(p.maxTexture2DGather, 32768, 32768);
    set(p.maxTexture3D, 16384, 16384, 16384);
    set(p.maxTexture3DAlt, 8192, 8192, 32768);
    p.maxTextureCubemap = 32768;
    set(p.maxTexture1DLayered, 32768, 2048);
    set(p.maxTexture2DLayered, 32768, 32768, 2048);
    set(p.maxTextureCubemapLayered, 32768, 2046);
    p.maxSurface1D = 32768;
    set(p.maxSurface2D, 131072, 65536);
    set(p.maxSurface3D, 16384, 16384, 16384);
    set(p.maxSurface1DLayered, 32768, 2048);
    set(p.maxSurface2DLayered, 32768, 32768, 2048);
    p.maxSurfaceCubemap = 32768;
    set(p.maxSurfaceCubemapLayered, 32768, 2046);
}

void set_memory(cudaDeviceProp& p) {
    p.totalGlobalMem = device_memory().total_bytes;
    p.totalConstMem = constant_bytes;
    p.memPitch = max_pitch;
    p.memoryClockRate = memory_clock_kilohertz;
    p.memoryBusWidth = memory_bus_bits;
    p.l2CacheSize = l2_bytes;
    p.persistingL2CacheMaxSize = persisting_l2_bytes;
    p.accessPolicyMaxWindowSize = access_policy_window_bytes;
}

void set_abilities(cudaDeviceProp& p) {
    p.integrated = 1;  // it shares the host's memory
    p.canMapHostMemory = 1;
    p.unifiedAddressing = 1;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.hostRegisterSupported = 1;
    p.hostRegisterReadOnlySupported = 1;
    p.memoryPoolsSupported = 1;
    p.cooperativeLaunch = 1;
    p.clusterLaunch = 1;
    p.concurrentKernels = 1;
    p.computePreemptionSupported = 1;
    p.asyncEngineCount = copy_engines;
    p.deviceOverlap = 1;
    p.clockRate = clock_kilohertz;
    p.streamPrioritiesSupported = 1;
    p.globalL1CacheSupported = 1;
    p.localL1CacheSupported = 1;
    p.computeMode = cudaComputeModeDefault;
    p.singleToDoublePrecisionPerfRatio = 2;
}

}  // namespace

int multiprocessor_count() { return modelled_multiprocessors; }

void set_multiprocessors(int count) { modelled_multiprocessors = std::max(1, count); }

cudaDeviceProp device_properties(int device) {
    static const cudaDeviceProp all = [] {
        cudaDeviceProp p{};
        set_identity(p);
        set_memory(p);
        set_limits_of_launches(p);
        set_limits_of_textures(p);
        set_abilities(p);
        return p;
    }();
    cudaDeviceProp now = all;
    now.multiProcessorCount = multiprocessor_count();
    now.pciBusID = device;
    now.uuid.bytes[15] = static_cast<char>(now.uuid.bytes[15] + device);
    return now;
}

bool device_attribute(cudaDeviceAttr attribute, int device, int* value) {
    const cudaDeviceProp p = device_properties(device);
    const auto is = [value](auto number) {
        *value = static_cast<int>(number);
        return true;
    };
    switch (attribute) {  // without a default, so that the compiler names an attribute that is missing
        case cudaDevAttrMaxThreadsPerBlock:
            return is(p.maxThreadsPerBlock);
        case cudaDevAttrMaxBlockDimX:
            return is(p.maxThreadsDim[0]);
        case cudaDevAttrMaxBlockDimY:
            return is(p.maxThreadsDim[1]);
        case cudaDevAttrMaxBlockDimZ:
            return is(p.maxThreadsDim[2]);
        case cudaDevAttrMaxGridDimX:
            return is(p.maxGridSize[0]);
        case cudaDevAttrMaxGridDimY:
            return is(p.maxGridSize[1]);
        case cudaDevAttrMaxGridDimZ:
            return is(p.maxGridSize[2]);
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return is(p.sharedMemPerBlock);
        case cudaDevAttrTotalConstantMemory:
            return is(p.totalConstMem);
        case cudaDevAttrWarpSize:
            return is(p.warpSize);
        case cudaDevAttrMaxPitch:
            return is(p.memPitch);
        case cudaDevAttrMaxRegistersPerBlock:
            return is(p.regsPerBlock);
        case cudaDevAttrTextureAlignment:
            return is(p.textureAlignment);
        case cudaDevAttrMultiProcessorCount:
            return is(p.multiProcessorCount);
        case cudaDevAttrKernelExecTimeout:
            return is(p.kernelExecTimeoutEnabled);
        case cudaDevAttrIntegrated:
            return is(p.integrated);
        case cudaDevAttrCanMapHostMemory:
            return is(p.canMapHostMemory);
        case cudaDevAttrComputeMode:
            return is(p.computeMode);
        case cudaDevAttrMaxTexture1DWidth:
            return is(p.maxTexture1D);
        case cudaDevAttrMaxTexture2DWidth:
            return is(p.maxTexture2D[0]);
        case cudaDevAttrMaxTexture2DHeight:
            return is(p.maxTexture2D[1]);
        case cudaDevAttrMaxTexture3DWidth:
            return is(p.maxTexture3D[0]);
        case cudaDevAttrMaxTexture3DHeight:
            return is(p.maxTexture3D[1]);
        case cudaDevAttrMaxTexture3DDepth:
            return is(p.maxTexture3D[2]);
        case cudaDevAttrMaxTexture2DLayeredWidth:
            return is(p.maxTexture2DLayered[0]);
        case cudaDevAttrMaxTexture2DLayeredHeight:
            return is(p.maxTexture2DLayered[1]);
        case cudaDevAttrMaxTexture2DLayeredLayers:
            return is(p.maxTexture2DLayered[2]);
        case cudaDevAttrSurfaceAlignment:
            return is(p.surfaceAlignment);
        case cudaDevAttrPciBusId:
            return is(p.pciBusID);
        case cudaDevAttrPciDeviceId:
            return is(p.pciDeviceID);
        case cudaDevAttrPciDomainId:
            return is(p.pciDomainID);
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return is(p.maxThreadsPerMultiProcessor);
        case cudaDevAttrUnifiedAddressing:
            return is(p.unifiedAddressing);
        case cudaDevAttrMaxTexture1DLayeredWidth:
            return is(p.maxTexture1DLayered[0]);
        case cudaDevAttrMaxTexture1DLayeredLayers:
            return is(p.maxTexture1DLayered[1]);
        case cudaDevAttrMaxTexture2DGatherWidth:
            return is(p.maxTexture2DGather[0]);
        case cudaDevAttrMaxTexture2DGatherHeight:
            return is(p.maxTexture2DGather[1]);
        case cudaDevAttrMaxTexture3DWidthAlt:
            return is(p.maxTexture3DAlt[0]);
        case cudaDevAttrMaxTexture3DHeightAlt:
            return is(p.maxTexture3DAlt[1]);
        case cudaDevAttrMaxTexture3DDepthAlt:
            return is(p.maxTexture3DAlt[2]);
        case cudaDevAttrTexturePitchAlignment:
            return is(p.texturePitchAlignment);
        case cudaDevAttrMaxTextureCubemapWidth:
            return is(p.maxTextureCubemap);
        case cudaDevAttrMaxTextureCubemapLayeredWidth:
            return is(p.maxTextureCubemapLayered[0]);
        case cudaDevAttrMaxTextureCubemapLayeredLayers:
            return is(p.maxTextureCubemapLayered[1]);
        case cudaDevAttrMaxSurface1DWidth:
            return is(p.maxSurface1D);
        case cudaDevAttrMaxSurface2DWidth:
            return is(p.maxSurface2D[0]);
        case cudaDevAttrMaxSurface2DHeight:
            return is(p.maxSurface2D[1]);
        case cudaDevAttrMaxSurface3DWidth:
            return is(p.maxSurface3D[0]);
        case cudaDevAttrMaxSurface3DHeight:
            return is(p.maxSurface3D[1]);
        case cudaDevAttrMaxSurface3DDepth:
            return is(p.maxSurface3D[2]);
        case cudaDevAttrMaxSurface1DLayeredWidth:
            return is(p.maxSurface1DLayered[0]);
        case cudaDevAttrMaxSurface1DLayeredLayers:
            return is(p.maxSurface1DLayered[1]);
        case cudaDevAttrMaxSurface2DLayeredWidth:
            return is(p.maxSurface2DLayered[0]);
        case cudaDevAttrMaxSurface2DLayeredHeight:
            return is(p.maxSurface2DLayered[1]);
        case cudaDevAttrMaxSurface2DLayeredLayers:
            return is(p.maxSurface2DLayered[2]);
        case cudaDevAttrMaxSurfaceCubemapWidth:
            return is(p.maxSurfaceCubemap);
        case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
            return is(p.maxSurfaceCubemapLayered[0]);
        case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
            return is(p.maxSurfaceCubemapLayered[1]);
        case cudaDevAttrMaxTexture1DLinearWidth:
            return is(p.maxTexture1DLinear);
        case cudaDevAttrMaxTexture2DLinearWidth:
            return is(p.maxTexture2DLinear[0]);
        case cudaDevAttrMaxTexture2DLinearHeight:
            return is(p.maxTexture2DLinear[1]);
        case cudaDevAttrMaxTexture2DLinearPitch:
            return is(p.maxTexture2DLinear[2]);
        case cudaDevAttrMaxTexture2DMipmappedWidth:
            return is(p.maxTexture2DMipmap[0]);
        case cudaDevAttrMaxTexture2DMipmappedHeight:
            return is(p.maxTexture2DMipmap[1]);
        case cudaDevAttrComputeCapabilityMajor:
            return is(p.major);
        case cudaDevAttrComputeCapabilityMinor:
            return is(p.minor);
        case cudaDevAttrMaxTexture1DMipmappedWidth:
            return is(p.maxTexture1DMipmap);
        case cudaDevAttrStreamPrioritiesSupported:
            return is(p.streamPrioritiesSupported);
        case cudaDevAttrGlobalL1CacheSupported:
            return is(p.globalL1CacheSupported);
        case cudaDevAttrLocalL1CacheSupported:
            return is(p.localL1CacheSupported);
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return is(p.sharedMemPerMultiprocessor);
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return is(p.regsPerMultiprocessor);
        case cudaDevAttrManagedMemory:
            return is(p.managedMemory);
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            return is(p.singleToDoublePrecisionPerfRatio);
        case cudaDevAttrConcurrentManagedAccess:
            return is(p.concurrentManagedAccess);
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
            return is(p.canUseHostPointerForRegisteredMem);
        case cudaDevAttrCooperativeLaunch:
            return is(p.cooperativeLaunch);
        case cudaDevAttrClusterLaunch:
            return is(p.clusterLaunch);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return is(p.sharedMemPerBlockOptin);
        case cudaDevAttrHostRegisterSupported:
            return is(p.hostRegisterSupported);
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return is(p.maxBlocksPerMultiProcessor);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return is(p.reservedSharedMemPerBlock);
        case cudaDevAttrHostRegisterReadOnlySupported:
            return is(p.hostRegisterReadOnlySupported);
        case cudaDevAttrMemoryPoolsSupported:
            return is(p.memoryPoolsSupported);
        case cudaDevAttrNumaId:
            return is(p.deviceNumaId);
        case cudaDevAttrClockRate:
            return is(p.clockRate);
        case cudaDevAttrMemoryClockRate:
            return is(p.memoryClockRate);
        case cudaDevAttrGlobalMemoryBusWidth:
            return is(p.memoryBusWidth);
        case cudaDevAttrL2CacheSize:
            return is(p.l2CacheSize);
        case cudaDevAttrMaxPersistingL2CacheSize:
            return is(p.persistingL2CacheMaxSize);
        case cudaDevAttrMaxAccessPolicyWindowSize:
            return is(p.accessPolicyMaxWindowSize);
        case cudaDevAttrGpuOverlap:
            return is(p.deviceOverlap);
        case cudaDevAttrConcurrentKernels:
            return is(p.concurrentKernels);
        case cudaDevAttrAsyncEngineCount:
            return is(p.asyncEngineCount);
        case cudaDevAttrComputePreemptionSupported:
            return is(p.computePreemptionSupported);

        // What the CPU device does not have.
        case cudaDevAttrEccEnabled:
        case cudaDevAttrTccDriver:
        case cudaDevAttrIsMultiGpuBoard:
        case cudaDevAttrMultiGpuBoardGroupID:
        case cudaDevAttrHostNativeAtomicSupported:
        case cudaDevAttrPageableMemoryAccess:
        case cudaDevAttrCooperativeMultiDeviceLaunch:
        case cudaDevAttrCanFlushRemoteWrites:
        case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        case cudaDevAttrDirectManagedMemAccessFromHost:
        case cudaDevAttrSparseCudaArraySupported:
        case cudaDevAttrTimelineSemaphoreInteropSupported:
        case cudaDevAttrGPUDirectRDMASupported:
        case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
        case cudaDevAttrGPUDirectRDMAWritesOrdering:
        case cudaDevAttrMemoryPoolSupportedHandleTypes:
        case cudaDevAttrDeferredMappingCudaArraySupported:
        case cudaDevAttrIpcEventSupport:
        case cudaDevAttrMemSyncDomainCount:
        case cudaDevAttrNumaConfig:
        case cudaDevAttrMpsEnabled:
        case cudaDevAttrHostNumaId:
        case cudaDevAttrD3D12CigSupported:
        case cudaDevAttrVulkanCigSupported:
        case cudaDevAttrGpuPciDeviceId:
        case cudaDevAttrGpuPciSubsystemId:
        case cudaDevAttrHostNumaMemoryPoolsSupported:
        case cudaDevAttrHostNumaMultinodeIpcSupported:
        case cudaDevAttrHostMemoryPoolsSupported:
        case cudaDevAttrOnlyPartialHostNativeAtomicSupported:
            return is(0);
    }
    return false;
}

}  // namespace cpu_device
