// What is ordered with what between streams, events, and the host, by the rules of CUDA. The CPU device carries out
// each call at once, so nothing goes wrong here that would go wrong on a GPU: these clocks tell it.
//
// The first lesson does without. Functions marked as weak are null in programs that use nothing that depends on the
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "allocations.h"
#include "api_call.h"
#include "cpu_device/types.h"
#include "shadow_memory.h"

namespace cpu_device {

enum class OrderStep : unsigned char {
    work,         ///< the stream was given a piece of work
    record,       ///< the event was recorded in the stream
    wait,         ///< the stream's later work waits for the event
    stream_done,  ///< the host knows that all work of the stream is done
    event_done,   ///< the host knows that the event has happened
    all_done,     ///< the host knows that all work of all streams is done
    stream_destroyed,
    event_destroyed,
    reset,  ///< cudaDeviceReset
    // A function of the host runs in the order of the stream, and may use what the stream's work has left.
    host_function_begins,
    host_function_ends,
};

[[gnu::weak]] void keep_order(OrderStep step, cudaStream_t stream, cudaEvent_t event);

inline void note_order(OrderStep step, cudaStream_t stream = nullptr, cudaEvent_t event = nullptr) {
    if (keep_order != nullptr) keep_order(step, stream, event);
}

/// Runs a function of the host in the order of the stream.
template <class Function>
void run_host_function(cudaStream_t stream, const Function& function) {
    note_order(OrderStep::host_function_begins, stream);
    function();
    note_order(OrderStep::host_function_ends, stream);
}

/// Pools give memory back that nobody uses: a call synchronizes.
[[gnu::weak]] void trim_pools();

/// A piece of work: the `count`-th of the stream with this index. Count 0: none.
struct WorkStamp {
    std::size_t stream = 0;
    std::uint64_t count = 0;
};

/// Gives the stream a piece of work.
WorkStamp stamp_work(cudaStream_t stream);
/// The last piece of work that the stream was given.
WorkStamp last_work(cudaStream_t stream);
/// How much of each stream's work, by index, comes before the end of the stream's last piece of work.
std::vector<std::uint64_t> clock_of(cudaStream_t stream);
/// Whether the stream's last piece of work comes after that work.
bool stream_knows(cudaStream_t stream, WorkStamp work);
/// Whether the host knows that the work is done.
bool host_knows(WorkStamp work);
/// Whether the calling thread runs a function of cudaLaunchHostFunc or cudaStreamAddCallback.
bool in_host_function();

// ---- memory of pools ------------------------------------------------------------------------------------------

/// Whether the memory that begins there is that of cudaMallocAsync.
[[gnu::weak]] bool is_of_pool(const void* pointer);

/// cudaFree of such memory, which does not wait.
[[gnu::weak]] cudaError_t free_of_pool(void* pointer, const ApiCall& call);

/// Work of the stream, a kernel or a copy, uses memory of a pool. `what`: "kernel scale". True if the work is ordered
/// after the allocation, or if the opposite was told before.
[[gnu::weak]] bool note_pool_use(const Allocation& allocation, cudaStream_t stream, const std::string& what,
                                 const ApiCall& place);

// ---- managed memory -------------------------------------------------------------------------------------------

/// A launch uses managed memory. `first`: no stamp of its blocks is older.
[[gnu::weak]] void note_managed_launch(const std::string& kernel, Site site, Stamp first, cudaStream_t stream);

/// Host code uses managed memory: reports it if a kernel has used the same bytes, one of the two writes, and the host
/// has not waited for the kernel.
[[gnu::weak]] void look_at_host_access(const Allocation& allocation, const void* memory, std::size_t bytes, bool writes,
                                       const void* code);

/// For messages: what is to be done where memory is used in another stream than that of its allocation.
inline constexpr const char* order_hint =
    "record an event in the one stream after the call, and let the other stream wait for it with cudaStreamWaitEvent";

}  // namespace cpu_device
