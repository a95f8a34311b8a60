// What CUB's block-wide primitives are made of. They keep what threads hand to each other in the program's TempStorage,
// by loads and stores that are seen, with the barriers that CUB has: none before and none after. So a TempStorage that
// is used again without a barrier is found like any other data race.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cpu_device/cub_warp.h"
#include "cpu_device/execution.h"

namespace cpu_device::cub_parts {

/// `Count` values in shared memory, where no constructor runs.
template <class T, int Count>
struct Places {
    alignas(T) unsigned char bytes[(Count > 0 ? Count : 1) * sizeof(T)];

    CPU_DEVICE_INLINE T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

struct Empty {};

/// The shared memory of a primitive that was given none.
template <class Storage>
CPU_DEVICE_UNSEEN Storage& private_storage() {
    static constinit SharedVariable variable("storage of a primitive of CUB", sizeof(Storage), alignof(Storage), {});
    return shared<Storage>(variable);
}

/// Ends the kernel if the block has another size than the primitive was made for.
CPU_DEVICE_INLINE void check_block(const char* primitive, int threads) {
    if (threads_per_block() == static_cast<unsigned>(threads)) return;
    abort_kernel(
        cudaErrorLaunchFailure,
        "%s is made for blocks of %d threads, and this block has %u: all threads of the block, and no more, take "
        "part",
        primitive, threads, threads_per_block());
}

CPU_DEVICE_INLINE int linear_thread() { return static_cast<int>(current_thread.linear_thread); }

/// Reductions and scans of one value per thread.
template <class T, int Threads>
class BlockValues {
public:
    static constexpr int kWarps = (Threads + 31) / 32;

    struct Storage {
        Places<T, kWarps> of_warp;
        Places<T, 1> prefix;
    };

    CPU_DEVICE_INLINE BlockValues(Storage& storage, Site site) : storage_(storage), site_(site) {}

    /// The first `valid` values combined, in thread 0; the others hold nothing.
    template <class Op>
    CPU_DEVICE_INLINE T reduce(const T& value, Op op, int valid) {
        const int first = linear_thread() / 32 * 32;
        const int here = valid - first < 32 ? valid - first : 32;
        const LogicalWarp<32> warp;
        WarpValues<T, 32> values(warp, value, site_);
        if (warp.rank == 0 && here > 0) {
            storage_.of_warp[first / 32] = values.reduce(
                0, static_cast<unsigned>(here) < warp.lanes ? static_cast<unsigned>(here) : warp.lanes, op);
        }
        block_barrier(0, site_);
        if (linear_thread() != 0) return WarpValues<T, 32>::nothing();
        T result = storage_.of_warp[0];
        for (int w = 1; w * 32 < valid && w < kWarps; ++w) result = op(result, storage_.of_warp[w]);
        return result;
    }

    /// Sets what all values before the caller's make together, except in thread 0, which has none before it, and what
    /// all values of the block make.
    template <class Op>
    CPU_DEVICE_INLINE void scan(const T& value, Op op, T& before, T& all) {
        const int warp_of_thread = linear_thread() / 32;
        const LogicalWarp<32> warp;
        WarpValues<T, 32> values(warp, value, site_);
        bool has_before = warp.rank != 0;
        if (has_before) before = values.prefix(warp.rank - 1, op);
        if (warp.rank == warp.lanes - 1) {
            storage_.of_warp[warp_of_thread] = has_before ? static_cast<T>(op(before, value)) : value;
        }
        block_barrier(0, site_);
        T sum = storage_.of_warp[0];
        for (int w = 1; w <= kWarps; ++w) {
            if (w == warp_of_thread) {
                before = has_before ? static_cast<T>(op(sum, before)) : sum;
                has_before = true;
            }
            if (w < kWarps) sum = op(sum, storage_.of_warp[w]);
        }
        all = sum;
    }

    /// What comes before the block, as the first warp asks `callback`: the answer in lane 0 counts.
    template <class Callback>
    CPU_DEVICE_INLINE T prefix_of_block(Callback& callback, const T& all) {
        if (linear_thread() < 32) {
            const T prefix = callback(all);
            if (linear_thread() == 0) storage_.prefix[0] = prefix;
        }
        block_barrier(0, site_);
        return storage_.prefix[0];
    }

private:
    Storage& storage_;
    Site site_;
};

/// Where values of a block go from and to: thread t holds Items of them, in one of three arrangements.
template <class T, int Threads, int Items>
class BlockExchanger {
public:
    static constexpr bool kPads = Items > 4 && (Items & (Items - 1)) == 0;  // against bank conflicts
    static constexpr int kPlaces = Threads * Items + (kPads ? Threads * Items / 32 : 0);
    using Storage = Places<T, kPlaces>;

    CPU_DEVICE_INLINE explicit BlockExchanger(Storage& storage) : storage_(storage) {}

    CPU_DEVICE_INLINE static int blocked(int i) { return linear_thread() * Items + i; }
    CPU_DEVICE_INLINE static int striped(int i) { return i * Threads + linear_thread(); }
    CPU_DEVICE_INLINE static int warp_striped(int i) {
        const int first = linear_thread() / 32 * 32;
        const int lanes = Threads - first < 32 ? Threads - first : 32;
        return first * Items + i * lanes + linear_thread() % 32;
    }

    CPU_DEVICE_INLINE T& at(int place) { return storage_[kPads ? place + place / 32 : place]; }

    template <class From, class To, class U>
    CPU_DEVICE_INLINE void exchange(const T (&in)[Items], U (&out)[Items], From from, To to, bool in_warps, Site site) {
        for (int i = 0; i < Items; ++i) at(from(i)) = in[i];
        if (in_warps) {
            const LogicalWarp<32> warp;
            __syncwarp(warp.mask, site);
        } else {
            block_barrier(0, site);
        }
        for (int i = 0; i < Items; ++i) out[i] = at(to(i));
    }

private:
    Storage& storage_;
};

}  // namespace cpu_device::cub_parts
