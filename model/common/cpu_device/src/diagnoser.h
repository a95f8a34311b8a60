// Finds errors in the memory accesses of instrumented blocks: bounds, alignment, freed and host memory, reads of
// memory nobody wrote, and data races on shared and global memory, inside a block and between blocks.
//
// While errors are looked for, all blocks of a launch run on one host thread, so nothing here locks. Every access is
// shown before it happens, in the order in which the threads run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu_device/execution.h"
#include "cpu_device/instrumented.h"
#include "tensor_maps.h"
#include "thread_clock.h"

namespace cpu_device {

struct Launch;

enum class AccessKind : unsigned char {
    read,
    write,
    atomic,  ///< looks at the old value and writes
    volatile_read,
    volatile_write,
    atomic_read,   ///< a load: writes nothing
    atomic_write,  ///< a store: the old value does not matter
};

struct Access {
    const std::byte* address = nullptr;
    std::uint32_t bytes = 0;
    AccessKind kind = AccessKind::read;
    bool is_block_copy = false;  ///< of a structure: padding between its members may never have been written
    bool lands = false;          ///< an asynchronous copy, in the thread that has waited for it
    bool in_bulk = false;        ///< the beginning of a copy in bulk: nobody's own access
    ThreadScope scope = ThreadScope::system;  ///< of an atomic; volatile accesses count as relaxed ones of the system
    MemoryOrder order = MemoryOrder::relaxed;
    const void* code = nullptr;  ///< return address behind the access
};

/// What is known of memory during one launch. Made when a launch begins, destroyed when it has ended and all of its
/// blocks are gone.
class LaunchDiagnoser {
public:
    explicit LaunchDiagnoser(Launch& launch);
    ~LaunchDiagnoser();
    LaunchDiagnoser(const LaunchDiagnoser&) = delete;
    LaunchDiagnoser& operator=(const LaunchDiagnoser&) = delete;

    /// All blocks have reached grid.sync().
    void grid_barrier();
    /// How many accesses were looked at so far.
    std::uint64_t accesses() const;

    struct State;
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// What is known of the blocks of a cluster together. Made before those of its blocks, and destroyed after them.
class ClusterDiagnoser {
public:
    /// The blocks' shared memory begins at `arenas`, one after the other. `blocks`: linear indices in the grid, by
    /// rank.
    ClusterDiagnoser(const std::byte* arenas, std::size_t arena_bytes, const std::vector<std::uint64_t>& blocks);
    ~ClusterDiagnoser();
    ClusterDiagnoser(const ClusterDiagnoser&) = delete;
    ClusterDiagnoser& operator=(const ClusterDiagnoser&) = delete;

    /// A phase of the cluster's barrier is complete: all threads have arrived that still run, by rank and thread.
    void complete_phase(const std::vector<std::vector<bool>>& still_run);

    struct State;
    State& state() { return *state_; }

private:
    std::unique_ptr<State> state_;
};

/// What is known of one block.
class BlockDiagnoser {
public:
    /// `block` is its linear index in the grid; `arena` the start of its shared memory. Without `for_races` only races
    /// are not looked for, which costs a fraction of the time. `cluster`: null for a block without one.
    BlockDiagnoser(LaunchDiagnoser& launch, std::uint64_t block, uint3 block_index, const std::byte* arena,
                   std::size_t arena_bytes, bool for_races, ClusterDiagnoser* cluster = nullptr, unsigned rank = 0);
    ~BlockDiagnoser();

    /// Not cudaSuccess: the access must not be carried out, and the kernel has to end with this error as on a GPU.
    [[nodiscard]] cudaError_t access(unsigned thread, const Access& access);
    /// The access that was announced last writes, and may not have been carried out yet.
    bool awaits_a_write() const;
    /// The running thread waits: another one of this block or of another goes on.
    void pause();
    /// All threads of the block (that have not returned) have reached a barrier.
    void barrier(Site site);
    /// `lanes` of `warp` have met for a warp-wide operation. Only __syncwarp orders their accesses.
    void meeting(unsigned warp, std::uint32_t lanes, Collective operation, Site site);
    void fence(unsigned thread, ThreadScope scope, MemoryOrder order);
    /// An asynchronous copy to shared memory has begun, after it was shown as a write: until it lands, nobody may touch
    /// its destination. Returns the copy's number.
    std::uint32_t begin_copy(unsigned thread, const std::byte* to, std::uint32_t bytes, const void* code);
    /// The same by the tensor memory accelerator, for a thread of any block of the cluster: no thread writes there, so
    /// whoever has waited need not know of the thread that began the copy.
    std::uint32_t begin_bulk_copy(unsigned thread, uint3 block, const std::byte* to, std::uint32_t bytes,
                                  const void* code);
    const void* code_of_copy(std::uint32_t number) const;
    /// Such a copy has been carried out.
    void note_async_write(const std::byte* to, std::uint32_t bytes);
    /// A store in bulk has begun, after its reads and writes were shown: until it has read its source, nobody may write
    /// there. Returns the store's number.
    std::uint32_t begin_bulk_store(unsigned thread, const std::vector<BulkPiece>& pieces, const void* code);
    void end_bulk_store(std::uint32_t number, const std::vector<BulkPiece>& pieces);
    /// What the thread knows to have been written may be read by stores in bulk.
    void fence_async_proxy(unsigned thread);
    /// `waiter` has waited for such a copy, which is carried out after this.
    void land_copy(unsigned waiter, std::uint32_t number, const std::byte* to);
    /// The thread arrives at the cuda::barrier at this address, or has waited for its last phase to complete.
    void arrive(unsigned thread, const void* barrier, ThreadClock& arrived);
    void wait(unsigned thread, const void* barrier, const ThreadClock& completed);
    /// The same for the barrier of the block's cluster; phases are counted from 1.
    void arrive_at_cluster(unsigned thread);
    void wait_for_cluster(unsigned thread, std::uint32_t phase);

    /// The thread has waited for the launch ahead in the stream, with which this one may overlap.
    void wait_for_launch_ahead(unsigned thread);

    struct State;

private:
    std::unique_ptr<State> state_;
};

/// The next launch in whatever stream finds nothing in it that may still run.
void nothing_overlaps();

/// True if the last access that a kernel made was reported and touches `address`: the fault that follows need not be
/// reported again.
bool was_reported(const void* address);

/// Host code has written memory that kernels may read: copies, memsets. Cheap when `memory` is not device memory.
void note_host_write(const void* memory, std::size_t bytes);
/// Fresh memory: nobody has written it. Remembered only while errors are looked for. `host_writes_unseen`: host code
/// may write there without a word; the memory has to be filled with kManagedPoison.
void note_allocation(const void* memory, std::size_t bytes, bool host_writes_unseen = false);
void note_release(const void* memory, std::size_t bytes);
/// A launch runs whose accesses nobody sees: it may write any memory.
void note_unseen_launch();
/// Memory that a kernel allocated for itself with malloc or new.
void note_kernel_heap(void* begin, std::size_t bytes);

}  // namespace cpu_device
