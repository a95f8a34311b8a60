// How the steps with wgmma move data between global and shared memory: the tensor memory
// accelerator with its barriers (sm_90a).
#pragma once

#include <cuda.h>  // types of tensor maps; no function of the driver is linked
#include <cuda_runtime.h>

#include <cstdint>

#include "common/helpers/tensor_core.cuh"

namespace modern_cuda {
namespace {

using warpwise::shared_address;

#if WARPWISE_SM_90A

// A barrier in shared memory (mbarrier). Its phase ends when as many threads as it was
// initialized with have arrived, and all bytes that were announced to it have come. Phases
// have parity 0, 1, 0, ...; a thread waits for the phase of one parity to end. For a new
// barrier, the phase of parity 1 "before the first" counts as ended.
__device__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// Makes new barriers visible to the tensor memory accelerator and to the cluster.
__device__ void barriers_are_initialized() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void barrier_arrive_and_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

__device__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the barrier that is at the same place in the shared memory of another block of
// the cluster (or of this one). Without `.release.cluster`, for which nvcc puts a fence of
// the whole GPU before each arrival: no writes have to become visible to the other block,
// and the reads by wgmma are complete.
__device__ void barrier_arrive_in(unsigned block, unsigned barrier) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(barrier),
        "r"(block)
        : "memory");
}

__device__ void barrier_wait(unsigned barrier, unsigned parity) {
    unsigned ended = 0;
    while (ended == 0) {  // try_wait sleeps for a while by itself
        asm volatile(
            "{\n"
            ".reg .pred ended;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
            "selp.u32 %0, 1, 0, ended;\n"
            "}"
            : "=r"(ended)
            : "r"(barrier), "r"(parity)
            : "memory");
    }
}

// Has the tensor memory accelerator load a box of a matrix, from this column and row on:
// one thread asks. The hardware computes addresses, fills in zeros outside of the matrix,
// swizzles, and counts the bytes at the barrier.
__device__ void load_box(unsigned to, const CUtensorMap& map, int col, int row,
                         unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(col), "r"(row), "r"(barrier)
        : "memory");
}

// The same for all blocks of the cluster that `blocks` has a bit for (multicast): box and
// bytes go to the same place in each of them.
__device__ void load_box_in(unsigned blocks, unsigned to, const CUtensorMap& map, int col,
                            int row, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(col), "r"(row), "r"(barrier),
        "h"(static_cast<unsigned short>(blocks))
        : "memory");
}

// Stores two sums to an address in shared memory.
__device__ void put_pair(unsigned to, float first, float second) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second)
                 : "memory");
}
__device__ void put_pair(unsigned to, int first, int second) {
    asm volatile("st.shared.v2.s32 [%0], {%1, %2};" ::"r"(to), "r"(first), "r"(second)
                 : "memory");
}

__device__ void sync_cluster() {
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\n"
        "barrier.cluster.wait.acquire.aligned;" ::
            : "memory");
}

// Has the accelerator store a box. What lies outside of the matrix is dropped.
__device__ void store_box(const CUtensorMap& map, int col, int row, unsigned from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(col), "r"(row), "r"(from)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

#endif

}  // namespace
}  // namespace modern_cuda
