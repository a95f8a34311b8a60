// this_cluster() for kernels that are also compiled for GPUs without clusters, and launches with clusters.
//
//     __global__ void kernel(int* out) {
//         const auto cluster = warpwise::this_cluster();    // cooperative_groups::this_cluster()
//         ...
//     }
//     check(launch_in_clusters(kernel, {.blocks = 8, .cluster = 2, .threads = 256}, d_out.data()));
//
// Clusters begin with compute capability 9.0. For an older one nvcc has no cooperative_groups::this_cluster(): there
// something of the same form takes its place, so that the kernel compiles. It must not be launched there.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace warpwise {

#if !defined(__CPU_DEVICE__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
struct NoCluster {
    __device__ unsigned num_blocks() const { return 1; }
    __device__ unsigned num_threads() const { return blockDim.x; }
    __device__ unsigned block_rank() const { return 0; }
    __device__ unsigned thread_rank() const { return threadIdx.x; }
    __device__ dim3 block_index() const { return dim3(0, 0, 0); }
    __device__ dim3 dim_blocks() const { return dim3(1, 1, 1); }
    __device__ void sync() const { __syncthreads(); }
    __device__ void barrier_arrive() const {}
    __device__ void barrier_wait() const { __syncthreads(); }
    template <class T>
    __device__ T* map_shared_rank(T* address, int) const {
        return address;
    }
    __device__ unsigned query_shared_rank(const void*) const { return 0; }
};
__device__ inline NoCluster this_cluster() { return {}; }
#else
using cooperative_groups::this_cluster;
#endif

/// The shape of a launch: `blocks` in clusters of `cluster`, all along x.
struct InClusters {
    unsigned blocks = 1;
    unsigned cluster = 1;
    unsigned threads = 1;  ///< per block
    std::size_t shared_bytes = 0;
};

/// Launches `kernel` in the default stream and returns what cudaLaunchKernelEx does.
template <class... Parameters, class... Arguments>
cudaError_t launch_in_clusters(void (*kernel)(Parameters...), const InClusters& shape, Arguments... arguments) {
    cudaLaunchAttribute attributes[1] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = shape.cluster;
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.attrs = attributes;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// Whether the current device has clusters.
inline bool has_clusters() {
    int device = 0, launches = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&launches, cudaDevAttrClusterLaunch, device) == cudaSuccess && launches != 0;
}

}  // namespace warpwise
