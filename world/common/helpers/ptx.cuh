// cuda::ptx for kernels that are also compiled for GPUs older than compute capability 9.0.
//
//     namespace ptx = warpwise::ptx;                       // cuda::ptx
//     ptx::mbarrier_init(&filled, 1);
//
// For an older GPU, functions of the same form take the place of those that the tensor memory accelerator needs, so
// that the kernel compiles. It must not be launched there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace warpwise {

#if !defined(__CPU_DEVICE__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
namespace ptx {

using namespace cuda::ptx;

template <class Count>
__device__ void mbarrier_init(std::uint64_t*, Count) {}
template <class... Which>
__device__ std::uint64_t mbarrier_arrive_expect_tx(Which...) {
    return 0;
}
template <class Parity>
__device__ bool mbarrier_try_wait_parity(std::uint64_t*, Parity) {
    return true;
}
template <class... Which>
__device__ void fence_mbarrier_init(Which...) {}
template <class... Which>
__device__ void fence_proxy_async(Which...) {}
template <class Bytes>
__device__ void cp_async_bulk(space_cluster_t, space_global_t, void*, const void*, Bytes, std::uint64_t*) {}
template <class Bytes>
__device__ void cp_async_bulk(space_global_t, space_shared_t, void*, const void*, Bytes) {}
template <int rank>
__device__ void cp_async_bulk_tensor(space_cluster_t, space_global_t, void*, const void*, const std::int32_t (&)[rank],
                                     std::uint64_t*) {}
template <int rank>
__device__ void cp_async_bulk_tensor(space_global_t, space_shared_t, const void*, const std::int32_t (&)[rank],
                                     const void*) {}
template <class... None>
__device__ void cp_async_bulk_commit_group(None...) {}
template <class Groups>
__device__ void cp_async_bulk_wait_group_read(Groups) {}
template <class Groups>
__device__ void cp_async_bulk_wait_group(Groups) {}
template <class... Which>
__device__ void mbarrier_expect_tx(Which...) {}

}  // namespace ptx
#else
namespace ptx = cuda::ptx;
#endif

/// Whether the current device has a tensor memory accelerator.
inline bool has_tensor_memory_accelerator() {
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
}

}  // namespace warpwise
