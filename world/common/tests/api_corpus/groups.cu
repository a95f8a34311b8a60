// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;
namespace cg = cooperative_groups;

constexpr int kGroupThreads = 64;

template <class Call>
__global__ void call_in_a_block(Call call, int* out) {
    out[threadIdx.x] = call(static_cast<int>(threadIdx.x));
}
template <class Call>
Results block(Call call) {
    const OnDevice<int> d_out{std::vector<int>(kGroupThreads)};
    call_in_a_block<Call><<<1, kGroupThreads>>>(call, d_out.data());
    return results_of(d_out.values());
}

struct Ranks {
    __device__ int operator()(int) const {
        const cg::thread_block block = cg::this_thread_block();
        const cg::grid_group grid = cg::this_grid();
        const auto warp = cg::tiled_partition<32>(block);
        const auto four = cg::tiled_partition<4>(warp);
        const cg::thread_group eight = cg::tiled_partition(block, 8);
        const auto alone = cg::this_thread();
        cg::sync(block);
        block.sync();
        eight.sync();
        return static_cast<int>(block.thread_rank() + 100 * warp.thread_rank() + 10000 * four.thread_rank() +
                                100000 * eight.thread_rank() + 1000000 * (grid.size() == block.size()) +
                                10000000 * cg::thread_rank(alone) +
                                100000000 * (cg::group_size(block) == kGroupThreads));
    }
};
const Case ranks("this_thread_block, this_grid, tiled_partition, this_thread, sync, thread_rank, group_size",
                 [] { return block(Ranks{}); });

struct Collectives {
    __device__ int operator()(int thread) const {
        const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        const int sum = cg::reduce(tile, thread, cg::plus<int>());
        const int most = cg::reduce(tile, thread * 7 % 13, cg::greater<int>());
        const int before = cg::exclusive_scan(tile, thread % 3);
        const int up_to = cg::inclusive_scan(tile, thread % 3, cg::plus<int>());
        return sum + 1000 * most + 100000 * before + 10000000 * (up_to % 10) + tile.shfl_xor(thread, 1) +
               static_cast<int>(tile.ballot(thread % 2) & 3u);
    }
};
const Case collectives("reduce, exclusive_scan, inclusive_scan of a tile", [] { return block(Collectives{}); });

struct Parts {
    __device__ int operator()(int thread) const {
        const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        const auto halves = cg::binary_partition(warp, thread % 3 == 0);
        const auto by_label = cg::labeled_partition(warp, thread % 5);
        int result = static_cast<int>(halves.size() + 100 * halves.thread_rank() + 10000 * by_label.size() +
                                      1000000 * by_label.thread_rank());
        if (thread % 2 == 0) {
            const cg::coalesced_group active = cg::coalesced_threads();
            result += static_cast<int>(active.size()) * 100000000 / 16;
        }
        return result;
    }
};
const Case parts("binary_partition, labeled_partition, coalesced_threads", [] { return block(Parts{}); });

}  // namespace
