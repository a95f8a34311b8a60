// Solution: a block that sometimes reads a tile before its copy has landed.
//
// Each stage has a barrier of its own, and a phase of it completes once in each two rounds.
// So the parity of the phase to wait for changes every two rounds, and not every round.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cuda/barrier>

#include "exercises/5_modern_cuda/wait_for_the_right_phase/wait_for_the_right_phase.h"

#ifndef __CPU_DEVICE__
// A cuda::barrier has a constructor, which does not run in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;

constexpr unsigned stages = 2;
constexpr unsigned threads_per_block = readings_per_turn;

/// The sum of the five readings around number k of a turn.
__device__ int sum_around(const int* turn, unsigned k) {
    int sum = 0;
    for (unsigned i = 0; i < 5; ++i)
        sum += turn[(k + readings_per_turn - 2 + i) % readings_per_turn];
    return sum;
}

/// While a block adds up one turn, the copy of its next turn is in flight.
__global__ void smooth_kernel(const int* readings, unsigned turns, int* sums) {
    __shared__ alignas(16) int buffers[stages][readings_per_turn];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled[stages];
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x < stages) init(&filled[threadIdx.x], blockDim.x);
    block.sync();

    const auto begin_copy = [&](unsigned turn, unsigned stage) {
        if (turn >= turns) return;
        cuda::memcpy_async(block, buffers[stage], readings + turn * readings_per_turn,
                           cuda::aligned_size_t<16>(sizeof buffers[stage]), filled[stage]);
        (void)filled[stage].arrive();
    };

    begin_copy(blockIdx.x, 0);
    unsigned round = 0;
    for (unsigned turn = blockIdx.x; turn < turns; turn += gridDim.x, ++round) {
        const unsigned stage = round % stages;
        begin_copy(turn + gridDim.x, (round + 1) % stages);
        filled[stage].wait_parity(round / stages % 2 != 0);
        sums[turn * readings_per_turn + threadIdx.x] =
            sum_around(buffers[stage], threadIdx.x);
        block.sync();
    }
}

void smooth_turns(const int* d_readings, unsigned turns, int* d_sums, unsigned blocks) {
    if (turns == 0) return;
    smooth_kernel<<<std::min(blocks, turns), threads_per_block>>>(d_readings, turns,
                                                                  d_sums);
}
