// What <cuda/ptx> and cuda::device of <cuda/barrier> are made of: copies by the tensor memory accelerator, in bulk or
// as boxes of a tensor map. Programs never name anything of cpu_device here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/async_copies.h"

namespace cpu_device {

/// Returns where in the code it was called: for the counts of the line, and for diagnostics.
const void* code_of_bulk_copy();

CPU_DEVICE_INLINE const void* code_if_instrumented() {
#ifdef __CPU_DEVICE_INSTRUMENTED__
    return code_of_bulk_copy();
#else
    return nullptr;
#endif
}

/// The barrier's present phase waits for so many bytes more.
void expect_bytes(const void* barrier, std::uint32_t bytes, Site site);

/// Which blocks of the cluster get what a copy brings: a bit for each rank, or the one whose shared memory it names.
constexpr unsigned kBlockOfAddress = 0;

/// From global to shared memory; the bytes count for the barrier. They land when somebody has waited for its phase.
void load_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* barrier, unsigned blocks,
                  const void* code, Site site);
/// The box of a tensor map that begins at these coordinates.
void load_box(void* to, const void* map, const std::int32_t* at, unsigned rank, const void* barrier, unsigned blocks,
              const void* code, Site site);

/// From shared to global memory. Shared memory is read when the thread has waited for the copy's group.
void store_in_bulk(void* to, const void* from, std::uint32_t bytes, const void* code, Site site);
void store_box(const void* map, const std::int32_t* at, unsigned rank, const void* from, const void* code, Site site);
/// The thread's stores since the last call are a group.
void commit_bulk_stores();
/// Waits for all groups of the thread but the last `prior`.
void wait_for_bulk_stores(unsigned prior);

/// What threads have written becomes visible to the copies above.
void fence_async_proxy();

}  // namespace cpu_device
