// What one warp-wide memory request costs on a GPU: sectors of global memory, passes through the banks of shared
// memory. Calibrated against an NVIDIA H200; see common/tests/ground_truth.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cpu_device/instrument.h"
#include "cpu_device/instrumented.h"

namespace cpu_device {

/// Calls `visit(lane)` for each lane of the mask, ascending.
template <class Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

/// The accesses of a warp's lanes by one instruction. All are `bytes` wide (1, 2, 4, 8 or 16).
struct WarpRequest {
    std::uint32_t lanes = 0;                  ///< mask of the lanes that take part; not 0
    std::uint32_t bytes = 4;                  ///< of each lane
    AtomicUse atomic = AtomicUse::update;     ///< update, increment or compare_and_swap
    std::array<std::uint64_t, 32> address{};  ///< by lane; shared memory begins at a multiple of 128
};

/// Adds up requests. Not for several host threads at once.
class RequestModel {
public:
    RequestModel();

    /// The counts of one request: `requests` is 1.
    RequestCounters count(MemoryOperation operation, const WarpRequest& request);

private:
    /// True the first time that this value comes since the last `forget`.
    bool is_new(std::uint64_t value);
    void forget();

    /// Neighboring lanes access neighboring elements, forwards or backwards, as in most requests: then the counts
    /// follow from the lowest address.
    static bool is_contiguous(const WarpRequest& request);
    unsigned distinct(const WarpRequest& request, unsigned shift);
    bool all_differ(const WarpRequest& request, unsigned shift);
    unsigned sectors_of_atomics(const WarpRequest& request);
    void count_shared(MemoryOperation operation, const WarpRequest& request, RequestCounters& counters);
    unsigned wavefronts_of(const WarpRequest& request, std::uint32_t lanes, bool each_lane);

    struct Slot {
        std::uint64_t value = 0;
        std::uint32_t round = 0;
    };
    static constexpr std::size_t kSlots = 512;  // at most 32 lanes with 4 words each are put in
    std::array<Slot, kSlots> slots_{};
    std::uint32_t round_ = 0;
    std::array<unsigned char, 4096> stamps_{};  ///< by hash: that of the request that came last
    unsigned char stamp_ = 0;
};

}  // namespace cpu_device
