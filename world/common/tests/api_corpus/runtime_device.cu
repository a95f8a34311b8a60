// The device, its properties and limits, errors, streams and events.
#include <algorithm>
#include <cstring>
#include <string>

#include "common/tests/api_corpus/runtime_log.h"

namespace {

using namespace api_corpus;

const Case devices("cudaGetDeviceCount, cudaGetDevice, cudaSetDevice, cudaInitDevice, cudaChooseDevice", [] {
    Log log;
    int device = 7;
    log(cudaGetDeviceCount(&device));
    log(cudaGetDeviceCount(nullptr));
    log(cudaSetDevice(0));
    log(cudaSetDevice(4711));
    log(cudaSetDevice(-1));
    log(cudaGetDevice(&device));
    log.value(device);
    log(cudaGetDevice(nullptr));
    log(cudaInitDevice(0, 0, 0));
    log(cudaInitDevice(4711, 0, 0));
    cudaDeviceProp properties{};
    log(cudaGetDeviceProperties(&properties, 0));
    log(cudaGetDeviceProperties(&properties, 4711));
    log(cudaChooseDevice(&device, &properties));
    log(cudaChooseDevice(&device, nullptr));
    char id[32] = {};
    log(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    log(cudaDeviceGetPCIBusId(id, 3, 0));
    log(cudaDeviceGetPCIBusId(nullptr, 32, 0));
    log(cudaDeviceGetByPCIBusId(&device, nullptr));
    int version = 0;
    log(cudaRuntimeGetVersion(&version));
    log.value(version / 1000);
    log(cudaRuntimeGetVersion(nullptr));
    log(cudaDriverGetVersion(&version));
    log(cudaDriverGetVersion(nullptr));
    return log.results();
});

const Case capabilities("properties of compute capability 9.0", [] {
    Log log;
    cudaDeviceProp p{};
    log(cudaGetDeviceProperties(&p, 0));
    for (const long long value : {static_cast<long long>(p.major),
                                  static_cast<long long>(p.minor),
                                  static_cast<long long>(p.warpSize),
                                  static_cast<long long>(p.maxThreadsPerBlock),
                                  static_cast<long long>(p.maxThreadsDim[0]),
                                  static_cast<long long>(p.maxThreadsDim[2]),
                                  static_cast<long long>(p.maxGridSize[0]),
                                  static_cast<long long>(p.maxGridSize[1]),
                                  static_cast<long long>(p.maxGridSize[2]),
                                  static_cast<long long>(p.sharedMemPerBlock),
                                  static_cast<long long>(p.sharedMemPerBlockOptin),
                                  static_cast<long long>(p.sharedMemPerMultiprocessor),
                                  static_cast<long long>(p.reservedSharedMemPerBlock),
                                  static_cast<long long>(p.regsPerBlock),
                                  static_cast<long long>(p.regsPerMultiprocessor),
                                  static_cast<long long>(p.maxThreadsPerMultiProcessor),
                                  static_cast<long long>(p.maxBlocksPerMultiProcessor),
                                  static_cast<long long>(p.totalConstMem),
                                  static_cast<long long>(p.memPitch),
                                  static_cast<long long>(p.textureAlignment),
                                  static_cast<long long>(p.texturePitchAlignment),
                                  static_cast<long long>(p.surfaceAlignment),
                                  static_cast<long long>(p.canMapHostMemory),
                                  static_cast<long long>(p.unifiedAddressing),
                                  static_cast<long long>(p.managedMemory),
                                  static_cast<long long>(p.concurrentManagedAccess),
                                  static_cast<long long>(p.concurrentKernels),
                                  static_cast<long long>(p.asyncEngineCount),
                                  static_cast<long long>(p.cooperativeLaunch),
                                  static_cast<long long>(p.streamPrioritiesSupported),
                                  static_cast<long long>(p.globalL1CacheSupported),
                                  static_cast<long long>(p.localL1CacheSupported),
                                  static_cast<long long>(p.hostRegisterSupported),
                                  static_cast<long long>(p.memoryPoolsSupported),
                                  static_cast<long long>(p.computePreemptionSupported),
                                  static_cast<long long>(p.maxTexture1D),
                                  static_cast<long long>(p.maxTexture2D[0]),
                                  static_cast<long long>(p.maxTexture2D[1]),
                                  static_cast<long long>(p.maxTexture3D[0]),
                                  static_cast<long long>(p.maxSurface2D[0])}) {
        log.value(value);
    }
    int value = -1;
    log(cudaDeviceGetAttribute(&value, cudaDevAttrGpuOverlap, 0));
    log.value(value);
    log(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
    log.value(value);
    log(cudaDeviceGetAttribute(&value, cudaDevAttrSingleToDoublePrecisionPerfRatio, 0));
    log.value(value);
    log(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
    log(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    return log.results();
});

const Case settings("cudaDeviceSetLimit, cudaDeviceSetCacheConfig, cudaSetDeviceFlags ...", [] {
    Log log;
    std::size_t bytes = 0;
    log(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    log(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    log(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    log.value(static_cast<long long>(bytes));
    log(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2));
    log(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 2));
    log(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    log(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(99)));
    cudaFuncCache cache{};
    log(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    log(cudaDeviceGetCacheConfig(&cache));
    log(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
    log(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    unsigned flags = 0;
    log(cudaSetDeviceFlags(0x1000));
    log(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    log(cudaGetDeviceFlags(&flags));
    log(cudaGetDeviceFlags(nullptr));
    int least = 9, greatest = 9, can = 9;
    log(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    log.value(least);
    log.value(greatest);
    log(cudaDeviceCanAccessPeer(&can, 0, 0));
    log.value(can);
    log(cudaDeviceCanAccessPeer(&can, 0, 4711));
    log(cudaDeviceEnablePeerAccess(4711, 0));
    log(cudaDeviceDisablePeerAccess(4711));
    return log.results();
});

const Case errors("cudaGetLastError, cudaPeekAtLastError, cudaGetErrorName, cudaGetErrorString", [] {
    Log log;
    log(cudaGetLastError());
    log(cudaSetDevice(4711));
    log(cudaPeekAtLastError());
    log(cudaSetDevice(0));
    log(cudaPeekAtLastError());
    log(cudaGetLastError());
    log(cudaGetLastError());
    for (int error = 0; error < 1000; ++error) {
        const std::string name = cudaGetErrorName(static_cast<cudaError_t>(error));
        if (name != "unrecognized error code") log.value(std::to_string(error) + " " + name);
    }
    for (const cudaError_t error :
         {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration,
          cudaErrorInvalidPitchValue, cudaErrorInvalidMemcpyDirection, cudaErrorInvalidDeviceFunction,
          cudaErrorNoDevice, cudaErrorInvalidDevice, cudaErrorInvalidResourceHandle, cudaErrorNotReady,
          cudaErrorIllegalAddress, cudaErrorLaunchOutOfResources, cudaErrorLaunchTimeout, cudaErrorMisalignedAddress,
          cudaErrorLaunchFailure, cudaErrorNotSupported}) {
        log.value(cudaGetErrorString(error));
    }
    return log.results();
});

const Case streams("cudaStreamCreate, cudaStreamDestroy, cudaStreamQuery ...", [] {
    Log log;
    cudaStream_t stream = nullptr;
    log(cudaStreamCreate(nullptr));
    log(cudaStreamCreate(&stream));
    unsigned flags = 9;
    int priority = 9;
    unsigned long long id = 0, other_id = 0;
    log(cudaStreamGetFlags(stream, &flags));
    log.value(flags);
    log(cudaStreamGetPriority(stream, &priority));
    log.value(priority);
    log(cudaStreamGetId(stream, &id));
    log(cudaStreamGetId(nullptr, &other_id));
    log.value(id != other_id);
    log(cudaStreamQuery(stream));
    log(cudaStreamSynchronize(stream));
    log(cudaStreamSynchronize(nullptr));
    cudaStreamCaptureStatus status{};
    log(cudaStreamIsCapturing(stream, &status));
    log.value(status);
    log(cudaStreamDestroy(stream));
    log(cudaStreamCreateWithFlags(&stream, 0x99));
    log(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    log(cudaStreamGetFlags(stream, &flags));
    log.value(flags);
    log(cudaStreamDestroy(stream));
    for (const int wanted : {-100, -1, 100}) {
        log(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, wanted));
        log(cudaStreamGetPriority(stream, &priority));
        log.value(priority);
        log(cudaStreamDestroy(stream));
    }
    return log.results();
});

const Case calls_in_streams("cudaStreamAddCallback, cudaLaunchHostFunc", [] {
    Log log;
    int calls = 0;
    log(cudaLaunchHostFunc(
        nullptr, [](void* data) { ++*static_cast<int*>(data); }, &calls));
    log(cudaStreamAddCallback(
        nullptr,
        [](cudaStream_t, cudaError_t status, void* data) {
            *static_cast<int*>(data) += status == cudaSuccess ? 10 : 100;
        },
        &calls, 0));
    log(cudaDeviceSynchronize());
    log.value(calls);
    log(cudaLaunchHostFunc(nullptr, nullptr, &calls));
    log(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0));
    return log.results();
});

const Case events("cudaEventCreate, cudaEventRecord, cudaEventElapsedTime ...", [] {
    Log log;
    cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
    float milliseconds = -1;
    log(cudaEventCreate(nullptr));
    log(cudaEventCreate(&start));
    log(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    log(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    log(cudaEventCreateWithFlags(&untimed, 0x100));
    log(cudaEventCreateWithFlags(&untimed, cudaEventInterprocess));
    log(cudaEventQuery(start));
    log(cudaEventElapsedTime(&milliseconds, start, end));
    log(cudaEventRecord(start, nullptr));
    log(cudaEventRecordWithFlags(end, nullptr, cudaEventRecordDefault));
    log(cudaEventSynchronize(end));
    log(cudaEventQuery(end));
    log(cudaEventElapsedTime(&milliseconds, start, end));
    log.value(milliseconds >= 0);
    log(cudaEventElapsedTime(nullptr, start, end));
    log(cudaEventRecord(untimed, nullptr));
    log(cudaEventSynchronize(untimed));
    log(cudaEventElapsedTime(&milliseconds, start, untimed));
    log(cudaStreamWaitEvent(nullptr, start, 0));
    log(cudaStreamWaitEvent(nullptr, start, 77));
    for (cudaEvent_t event : {start, end, untimed}) log(cudaEventDestroy(event));
    return log.results();
});

}  // namespace
