// Launches by function, attributes of kernels, and occupancy.
#include <vector>

#include "common/tests/api_corpus/runtime_log.h"

namespace {

using namespace api_corpus;

__global__ void add_to(int* value, int amount) { atomicAdd(value, amount); }
__global__ void do_nothing() {}
__global__ void resident() {}

const Case shapes("launches of bad shapes", [] {
    Log log;
    const auto launch = [&](dim3 grid, dim3 block, std::size_t shared_bytes) {
        do_nothing<<<grid, block, shared_bytes>>>();
        log(cudaGetLastError());
    };
    launch(1, 1024, 0);
    launch(1, 1025, 0);
    launch(0, 32, 0);
    launch(1, 0, 0);
    launch(1, dim3(1, 1, 64), 0);
    launch(1, dim3(1, 1, 65), 0);
    launch(1, dim3(32, 33), 0);
    launch(dim3(1, 65535), 1, 0);
    launch(dim3(1, 65536), 1, 0);
    launch(dim3(1, 1, 65536), 1, 0);
    launch(1, 32, 48 * 1024);
    launch(1, 32, 48 * 1024 + 1);
    log(cudaDeviceSynchronize());
    return log.results();
});

const Case launches("cudaLaunchKernel, cudaLaunchCooperativeKernel, cudaLaunchKernelEx, cudaLaunchKernelExC", [] {
    Log log;
    int *value = nullptr, amount = 3, result = 0;
    log(cudaMalloc(&value, sizeof(int)));
    log(cudaMemset(value, 0, sizeof(int)));
    void* arguments[] = {&value, &amount};
    log(cudaLaunchKernel(reinterpret_cast<const void*>(add_to), dim3(2), dim3(32), arguments, 0, nullptr));
    log(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(add_to), dim3(2), dim3(32), arguments, 0, nullptr));
    log(cudaLaunchKernel(reinterpret_cast<const void*>(add_to), dim3(1), dim3(2000), arguments, 0, nullptr));
    log(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(1), arguments, 0, nullptr));
    log(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(add_to), dim3(1000000), dim3(32), arguments, 0,
                                    nullptr));
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    log(cudaLaunchKernelEx(&config, add_to, value, 1));
    log(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(add_to), arguments));
    config.blockDim = dim3(2000);
    log(cudaLaunchKernelEx(&config, add_to, value, 1));
    log(cudaMemcpy(&result, value, sizeof(int), cudaMemcpyDeviceToHost));
    log.value(result);
    log(cudaFree(value));
    return log.results();
});

const Case attributes("cudaFuncSetAttribute, cudaFuncGetAttributes, cudaFuncSetCacheConfig", [] {
    Log log;
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    cudaFuncAttributes found{};
    log(cudaFuncGetAttributes(&found, do_nothing));
    log.value(found.maxDynamicSharedSizeBytes);
    log.value(found.maxThreadsPerBlock);
    do_nothing<<<1, 32, 100 * 1024>>>();
    log(cudaGetLastError());
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024));
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    log(cudaFuncSetAttribute(do_nothing, static_cast<cudaFuncAttribute>(99), 1));
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    log(cudaFuncSetCacheConfig(do_nothing, cudaFuncCachePreferShared));
    log(cudaFuncSetAttribute(static_cast<const void*>(nullptr), cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    log(cudaFuncGetAttributes(nullptr, do_nothing));
    log(cudaFuncSetAttribute(do_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    log(cudaDeviceSynchronize());
    return log.results();
});

const Case occupancy("cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxPotentialBlockSize ...", [] {
    Log log;
    int blocks = 0, grid = 0, threads = 0;
    for (const int size : {1, 32, 64, 100, 512, 768, 1024}) {
        log(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, resident, size, 0));
        log.value(blocks);
    }
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{20000}, std::size_t{48 * 1024}}) {
        log(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, resident, 64, bytes, cudaOccupancyDefault));
        log.value(blocks);
    }
    log(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, resident, 0, 0));
    log(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, resident, 2000, 0));
    log(cudaOccupancyMaxActiveBlocksPerMultiprocessor(static_cast<int*>(nullptr), resident, 64, 0));
    log(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, resident, 0, 0));
    log.value(threads);
    log(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, resident, 0, 200));
    log.value(threads);
    log(cudaOccupancyMaxPotentialBlockSizeWithFlags(&grid, &threads, resident, 16 * 1024, 0, 0));
    log.value(threads);
    const auto bytes_of = [](int size) { return static_cast<std::size_t>(size) * 64; };
    log(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &threads, resident, bytes_of, 0));
    log.value(threads);
    log(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(&grid, &threads, resident, bytes_of, 0, 0));
    log.value(threads);
    std::size_t room = 0;
    log(cudaOccupancyAvailableDynamicSMemPerBlock(&room, resident, 2, 256));
    return log.results();
});

}  // namespace
