// Cooperative groups: threads that synchronize and exchange values under a name of their own. After "Cooperative
// Groups" of the CUDA C++ Programming Guide. Tiles of more than one warp are missing.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "cpu_device/clusters.h"
#include "cpu_device/warp.h"

namespace cpu_device {

/// True in a kernel launched by cudaLaunchCooperativeKernel.
bool launched_cooperatively();

/// Lane with the given rank among the lanes of `mask`; 32 if there are not that many.
CPU_DEVICE_UNSEEN inline unsigned lane_of_rank(std::uint32_t mask, unsigned rank) {
    for (; rank > 0 && mask != 0; --rank) mask &= mask - 1;
    return mask == 0 ? 32 : static_cast<unsigned>(__builtin_ctz(mask));
}

/// Number of lanes of `mask` below `lane`.
CPU_DEVICE_UNSEEN inline unsigned rank_of_lane(std::uint32_t mask, unsigned lane) {
    return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane) - 1)));
}

/// The bits of `lanes`, one for each lane of `mask`, moved together: bit r belongs to the lane of rank r.
CPU_DEVICE_UNSEEN inline std::uint32_t bits_by_rank(std::uint32_t mask, std::uint32_t lanes) {
    std::uint32_t result = 0;
    for (unsigned rank = 0; mask != 0; ++rank, mask &= mask - 1) {
        if ((lanes & mask & -mask) != 0) result |= 1u << rank;
    }
    return result;
}

/// Lanes of `mask` that share a tile of `size` ranks with the caller.
CPU_DEVICE_UNSEEN inline std::uint32_t tile_of_ranks(std::uint32_t mask, unsigned size) {
    const unsigned first = rank_of_lane(mask, lane_id()) / size * size;
    std::uint32_t tile = 0;
    for (unsigned rank = first; rank < first + size; ++rank) {
        const unsigned lane = lane_of_rank(mask, rank);
        if (lane < 32) tile |= 1u << lane;
    }
    return tile;
}

inline void check_tile_size(unsigned size) {
    if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
        abort_kernel(cudaErrorLaunchFailure,
                     "tiled_partition into tiles of %u threads: a tile has 1, 2, 4, 8, 16 or 32", size);
    }
}

/// What groups inside one warp have in common.
class LaneGroup {
public:
    void sync(CPU_DEVICE_CALL_SITE) const { __syncwarp(mask_, site); }

    int any(int predicate, CPU_DEVICE_CALL_SITE) const { return vote(mask_, predicate != 0, site) != 0; }
    int all(int predicate, CPU_DEVICE_CALL_SITE) const { return vote(mask_, predicate == 0, site) == 0; }
    /// Bit r tells the predicate of the thread of rank r.
    unsigned ballot(int predicate, CPU_DEVICE_CALL_SITE) const {
        return bits_by_rank(mask_, vote(mask_, predicate != 0, site));
    }

    /// Bit r is set if the thread of rank r brought the same value as the caller.
    template <class T>
    unsigned match_any(T value, CPU_DEVICE_CALL_SITE) const {
        return bits_by_rank(mask_, match(mask_, value, site));
    }
    /// All threads of the group if every one brought the same value, else 0.
    template <class T>
    unsigned match_all(T value, int& all_equal, CPU_DEVICE_CALL_SITE) const {
        std::uint32_t came = 0;
        all_equal = match(mask_, value, site, &came) == came;
        return all_equal ? bits_by_rank(mask_, came) : 0;
    }

    /// Which of the parts that the parent group was cut into this group is, and how many there are.
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

    CPU_DEVICE_UNSEEN std::uint32_t lane_mask() const { return mask_; }

protected:
    LaneGroup(std::uint32_t mask, unsigned meta_rank, unsigned meta_size)
        : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

    template <class T>
    static void check_shuffled_type() {
        static_assert(std::is_trivially_copyable_v<T>, "a group shuffles trivially copyable types only");
        static_assert(sizeof(T) <= 32, "a group shuffles types of at most 32 bytes");
    }

    std::uint32_t mask_;
    unsigned meta_rank_;
    unsigned meta_size_;
};

}  // namespace cpu_device

namespace cooperative_groups {

/// All threads of the grid. `sync` needs a launch by cudaLaunchCooperativeKernel.
class grid_group {
public:
    bool is_valid() const { return cpu_device::launched_cooperatively(); }
    void sync(CPU_DEVICE_CALL_SITE) const { cpu_device::grid_barrier(site); }

    static unsigned long long num_threads() { return num_blocks() * cpu_device::threads_per_block(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank() {
        return block_rank() * cpu_device::threads_per_block() + cpu_device::current_thread.linear_thread;
    }
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_threads() { return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z}; }
    static dim3 thread_index() {
        return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z};
    }

private:
    grid_group() = default;
    friend grid_group this_grid();
};

inline grid_group this_grid() { return {}; }

/// All threads of the blocks of a cluster: launches name its shape by cudaLaunchAttributeClusterDimension, and kernels
/// by `__cluster_dims__`. A block that was launched without is a cluster of its own.
class cluster_group {
public:
    struct arrival_token {};

    static void sync(CPU_DEVICE_CALL_SITE) {
        cpu_device::arrive_at_cluster(site);
        cpu_device::wait_for_cluster(site);
    }
    static arrival_token barrier_arrive(CPU_DEVICE_CALL_SITE) {
        cpu_device::arrive_at_cluster(site);
        return {};
    }
    static void barrier_wait(CPU_DEVICE_CALL_SITE) { cpu_device::wait_for_cluster(site); }
    static void barrier_wait(arrival_token&&, CPU_DEVICE_CALL_SITE) { cpu_device::wait_for_cluster(site); }

    /// Where the block of this rank has what this block has at `address`, in shared memory.
    template <class T>
    static T* map_shared_rank(T* address, int rank, CPU_DEVICE_CALL_SITE) {
        return static_cast<T*>(cpu_device::map_shared_rank(
            const_cast<const void*>(static_cast<const volatile void*>(address)), rank, site));
    }
    /// The rank of the block whose shared memory holds the address.
    static unsigned query_shared_rank(const void* address, CPU_DEVICE_CALL_SITE) {
        return cpu_device::query_shared_rank(address, site);
    }

    static dim3 block_index() { return cpu_device::block_index_in_cluster(); }
    static unsigned block_rank() { return cpu_device::block_rank_in_cluster(); }
    static dim3 dim_blocks() { return cpu_device::cluster_shape(); }
    static unsigned num_blocks() {
        const dim3 shape = dim_blocks();
        return shape.x * shape.y * shape.z;
    }
    static dim3 thread_index() {
        const dim3 block = block_index();
        return {block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z};
    }
    static unsigned thread_rank() {
        return block_rank() * cpu_device::threads_per_block() + cpu_device::current_thread.linear_thread;
    }
    static dim3 dim_threads() {
        const dim3 shape = dim_blocks();
        return {shape.x * blockDim.x, shape.y * blockDim.y, shape.z * blockDim.z};
    }
    static unsigned num_threads() { return num_blocks() * cpu_device::threads_per_block(); }
    static unsigned size() { return num_threads(); }

private:
    cluster_group() = default;
    friend cluster_group this_cluster();
};

inline cluster_group this_cluster() { return {}; }

/// All threads of the block.
class thread_block {
public:
    static void sync(CPU_DEVICE_CALL_SITE) { cpu_device::block_barrier(0, site); }
    static unsigned num_threads() { return cpu_device::threads_per_block(); }
    static unsigned size() { return num_threads(); }
    static unsigned thread_rank() { return cpu_device::current_thread.linear_thread; }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }

private:
    thread_block() = default;
    friend thread_block this_thread_block();
};

inline thread_block this_thread_block() { return {}; }

/// Threads of one warp that run together at the moment of the call, or a part of such a group.
class coalesced_group : public cpu_device::LaneGroup {
public:
    CPU_DEVICE_UNSEEN unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
    CPU_DEVICE_UNSEEN unsigned size() const { return num_threads(); }
    CPU_DEVICE_UNSEEN unsigned thread_rank() const { return cpu_device::rank_of_lane(mask_, cpu_device::lane_id()); }

    template <class T>
    T shfl(T value, unsigned source_rank, CPU_DEVICE_CALL_SITE) const {
        return shuffle_from(value, source_rank, site);
    }
    /// From the rank `delta` below; the first `delta` threads get their own value.
    template <class T>
    T shfl_up(T value, unsigned delta, CPU_DEVICE_CALL_SITE) const {
        const unsigned rank = thread_rank();
        return shuffle_from(value, rank >= delta ? rank - delta : rank, site);
    }
    /// From the rank `delta` above; the last `delta` threads get their own value.
    template <class T>
    T shfl_down(T value, unsigned delta, CPU_DEVICE_CALL_SITE) const {
        const unsigned rank = thread_rank();
        return shuffle_from(value, delta < size() - rank ? rank + delta : rank, site);
    }

private:
    explicit coalesced_group(std::uint32_t mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : LaneGroup(mask, meta_rank, meta_size) {}

    template <class T>
    T shuffle_from(const T& value, unsigned rank, cpu_device::Site site) const {
        check_shuffled_type<T>();
        return cpu_device::shuffle(mask_, value, cpu_device::lane_of_rank(mask_, rank), site);
    }

    friend coalesced_group coalesced_threads(cpu_device::Site);
    friend coalesced_group tiled_partition(const coalesced_group&, unsigned);
    template <class Group>
    friend coalesced_group cut_in_two(const Group&, bool, cpu_device::Site);
    template <class Group, class Label>
    friend coalesced_group cut_by_label(const Group&, Label, cpu_device::Site);
};

inline coalesced_group coalesced_threads(CPU_DEVICE_CALL_SITE) {
    return coalesced_group(cpu_device::converged_lanes(site));
}

/// `Size` neighboring threads of a block: a power of two, up to a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public cpu_device::LaneGroup {
    static_assert(Size >= 1 && (Size & (Size - 1)) == 0 && Size <= 512, "the size of a tile is a power of two");
    static_assert(Size <= 32,
                  "The CPU device does not support tiles of more than one warp (thread_block_tile of more "
                  "than 32 threads): build this program with nvcc");

public:
    /// A tile forgets its parent: thread_block_tile<32> stands for a tile of any group.
    template <class OtherParent>
    requires std::is_void_v<Parent> thread_block_tile(
        const thread_block_tile<Size, OtherParent>& tile)  // NOLINT: implicit in CUDA too
        : LaneGroup(tile) {}

    CPU_DEVICE_UNSEEN static constexpr unsigned num_threads() { return Size; }
    CPU_DEVICE_UNSEEN static constexpr unsigned size() { return Size; }
    CPU_DEVICE_UNSEEN static unsigned thread_rank() { return cpu_device::lane_id() % Size; }

    template <class T>
    T shfl(T value, int source_rank, CPU_DEVICE_CALL_SITE) const {
        return shuffle_from(value, cpu_device::ShuffleSource(Size).index(static_cast<unsigned>(source_rank)), site);
    }
    /// From the rank `delta` below; the first `delta` threads get their own value.
    template <class T>
    T shfl_up(T value, unsigned delta, CPU_DEVICE_CALL_SITE) const {
        return shuffle_from(value, cpu_device::ShuffleSource(Size).up(delta), site);
    }
    /// From the rank `delta` above; the last `delta` threads get their own value.
    template <class T>
    T shfl_down(T value, unsigned delta, CPU_DEVICE_CALL_SITE) const {
        return shuffle_from(value, cpu_device::ShuffleSource(Size).down(delta), site);
    }
    /// From the rank that differs in the bits of `rank_bits`.
    template <class T>
    T shfl_xor(T value, unsigned rank_bits, CPU_DEVICE_CALL_SITE) const {
        return shuffle_from(value, cpu_device::ShuffleSource(Size).exclusive_or(rank_bits), site);
    }

private:
    thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : LaneGroup((Size == 32 ? ~0u : (1u << Size % 32) - 1) << (cpu_device::lane_id() / Size * Size), meta_rank,
                    meta_size) {}

    template <class T>
    T shuffle_from(const T& value, unsigned lane, cpu_device::Site site) const {
        check_shuffled_type<T>();
        return cpu_device::shuffle(mask_, value, lane, site);
    }

    template <unsigned N>
    friend thread_block_tile<N, thread_block> tiled_partition(const thread_block&);
    template <unsigned N, unsigned ParentSize, class GrandParent>
    friend thread_block_tile<N, thread_block_tile<ParentSize, GrandParent>> tiled_partition(
        const thread_block_tile<ParentSize, GrandParent>&);
    friend thread_block_tile<1> this_thread();
};

inline thread_block_tile<1> this_thread() { return {0, 1}; }

/// Any of the groups above but a tile of fixed size, for functions that take them all.
class thread_group {
public:
    thread_group(const grid_group&) : kind_(Kind::grid) {}                                        // NOLINT: as in CUDA
    thread_group(const thread_block&) : kind_(Kind::block) {}                                     // NOLINT
    thread_group(const coalesced_group& group) : kind_(Kind::lanes), mask_(group.lane_mask()) {}  // NOLINT

    unsigned long long num_threads() const {
        if (kind_ == Kind::grid) return grid_group::num_threads();
        return kind_ == Kind::block ? thread_block::num_threads() : static_cast<unsigned>(__builtin_popcount(mask_));
    }
    unsigned long long size() const { return num_threads(); }
    unsigned long long thread_rank() const {
        if (kind_ == Kind::grid) return grid_group::thread_rank();
        return kind_ == Kind::block ? thread_block::thread_rank()
                                    : cpu_device::rank_of_lane(mask_, cpu_device::lane_id());
    }
    void sync(CPU_DEVICE_CALL_SITE) const {
        switch (kind_) {
            case Kind::grid:
                return cpu_device::grid_barrier(site);
            case Kind::block:
                return thread_block::sync(site);
            case Kind::lanes:
                return __syncwarp(mask_, site);
        }
    }

private:
    enum class Kind { grid, block, lanes };

    explicit thread_group(std::uint32_t mask) : kind_(Kind::lanes), mask_(mask) {}

    Kind kind_;
    std::uint32_t mask_ = 0;

    friend thread_group tiled_partition(const thread_group&, unsigned);
};

// ---- cutting a group into parts --------------------------------------------------------------------------

/// Cuts a block into tiles of `Size` threads.
template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
    return {thread_block::thread_rank() / Size, (thread_block::num_threads() + Size - 1) / Size};
}

/// Cuts a tile into smaller ones.
template <unsigned Size, unsigned ParentSize, class GrandParent>
thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>> tiled_partition(
    const thread_block_tile<ParentSize, GrandParent>&) {
    static_assert(Size < ParentSize, "a part of a tile is smaller than the tile");
    return {cpu_device::lane_id() % ParentSize / Size, ParentSize / Size};
}

/// Cuts a coalesced group into tiles of `size` neighboring ranks; the last one may be smaller.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    cpu_device::check_tile_size(size);
    return coalesced_group(cpu_device::tile_of_ranks(parent.lane_mask(), size), parent.thread_rank() / size,
                           (parent.size() + size - 1) / size);
}

/// Cuts a group into tiles whose size is known at run time only. A grid cannot be cut.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    cpu_device::check_tile_size(size);
    switch (parent.kind_) {
        case thread_group::Kind::lanes:
            return thread_group(cpu_device::tile_of_ranks(parent.mask_, size));
        case thread_group::Kind::block:
            return thread_group(cpu_device::tile_of_ranks(~0u, size));
        case thread_group::Kind::grid:
            break;
    }
    cpu_device::abort_kernel(cudaErrorLaunchFailure, "tiled_partition of a grid: only blocks and tiles can be cut");
}
inline thread_group tiled_partition(const thread_block& parent, unsigned size) {
    return tiled_partition(thread_group(parent), size);
}

template <class Group>
coalesced_group cut_in_two(const Group& group, bool predicate, cpu_device::Site site) {
    std::uint32_t came = 0;
    const std::uint32_t yes = cpu_device::vote(group.lane_mask(), predicate, site, &came);
    if (yes == 0 || yes == came) return coalesced_group(came);
    return coalesced_group(predicate ? yes : came & ~yes, predicate, 2);
}

template <class Group, class Label>
coalesced_group cut_by_label(const Group& group, Label label, cpu_device::Site site) {
    if constexpr (std::is_same_v<Label, bool>) {
        return cut_in_two(group, label, site);
    } else {
        const std::uint32_t part = cpu_device::match(group.lane_mask(), label, site);
        const auto leader = static_cast<unsigned>(__builtin_ctz(part));
        const std::uint32_t leaders = cpu_device::vote(group.lane_mask(), leader == cpu_device::lane_id(), site);
        return coalesced_group(part, cpu_device::rank_of_lane(leaders, leader),
                               static_cast<unsigned>(__builtin_popcount(leaders)));
    }
}

/// Cuts a group into the threads whose predicate is true and the others.
inline coalesced_group binary_partition(const coalesced_group& group, bool predicate, CPU_DEVICE_CALL_SITE) {
    return cut_in_two(group, predicate, site);
}
template <unsigned Size, class Parent>
coalesced_group binary_partition(const thread_block_tile<Size, Parent>& tile, bool predicate, CPU_DEVICE_CALL_SITE) {
    return cut_in_two(tile, predicate, site);
}

/// Cuts a group into parts whose threads brought the same label, ordered by their first threads.
template <class Label>
requires(std::is_integral_v<Label> || std::is_pointer_v<Label>) coalesced_group
    labeled_partition(const coalesced_group& group, Label label, CPU_DEVICE_CALL_SITE) {
    return cut_by_label(group, label, site);
}
template <class Label, unsigned Size, class Parent>
requires(std::is_integral_v<Label> || std::is_pointer_v<Label>) coalesced_group
    labeled_partition(const thread_block_tile<Size, Parent>& tile, Label label, CPU_DEVICE_CALL_SITE) {
    return cut_by_label(tile, label, site);
}

// ---- functions of any group ------------------------------------------------------------------------------

template <class Group>
void sync(const Group& group, CPU_DEVICE_CALL_SITE) {
    group.sync(site);
}
template <class Group>
auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
    return group.num_threads();
}

/// Calls `function(arguments...)` in one thread of the group: here always in the one of rank 0.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}

/// The same, and gives what the function returned to all threads of the group (a tile or a coalesced group).
template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
    using Result = std::decay_t<decltype(std::forward<Function>(function)(std::forward<Arguments>(arguments)...))>;
    static_assert(!std::is_void_v<Result>, "the function returns nothing: call invoke_one");
    Result result{};
    if (group.thread_rank() == 0) result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups
