// Kernels that end by a trap, and kernels that never end.
#include <cassert>

#include <cooperative_groups.h>

#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 64;

__global__ void check_positive(const int* in) {
    assert(in[threadIdx.x] > 0);  // MISTAKE(kernel_trap): element 40 is 0
}

void assertion_fails() {
    std::vector<int> values(threads, 1);
    values[40] = 0;
    DeviceBuffer<int> d_in(values);
    check_positive<<<1, threads>>>(d_in.data());
    check_finished();
}

__global__ void refuse_negative(const int* in, int* out) {
    if (in[threadIdx.x] < 0) __trap();  // MISTAKE(kernel_trap): element 7 is negative
    out[threadIdx.x] = in[threadIdx.x];
}

void trap_on_bad_input() {
    std::vector<int> values(threads, 1);
    values[7] = -1;
    DeviceBuffer<int> d_in(values), d_out(threads);
    refuse_negative<<<1, threads>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void wait_for_all_blocks(int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    cooperative_groups::this_grid().sync();  // MISTAKE(kernel_trap): not a cooperative launch
}

void grid_sync_in_plain_launch() {
    DeviceBuffer<int> d_out(2 * threads);
    wait_for_all_blocks<<<2, threads>>>(d_out.data());
    check_finished();
}

__global__ void wait_for_flag(const volatile int* flag, int* out) {
    while (*flag == 0) {  // MISTAKE(endless_kernel): nobody sets the flag
    }
    *out = 1;
}

void flag_that_nobody_sets() {
    DeviceBuffer<int> d_flag(std::vector<int>(1, 0)), d_out(1);
    wait_for_flag<<<1, 1>>>(d_flag.data(), d_out.data());
    check_finished();
}

__global__ void count_up(int* out, int count, int stride) {
    int steps = 0;
    int i = static_cast<int>(threadIdx.x);
    while (i < count) steps += out[i] == 0 ? 1 : 2, i += stride;  // MISTAKE(endless_kernel): stride is 0
    out[threadIdx.x] = steps;
}

void stride_of_zero() {
    DeviceBuffer<int> d_out(std::vector<int>(threads, 0));
    const int blocks = 1;
    count_up<<<blocks, 1>>>(d_out.data(), threads, blocks / 2);
    check_finished();
}

__global__ void wait_for_other_blocks(unsigned* arrived) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {  // MISTAKE(endless_kernel): the others cannot start
        }
    }
    __syncthreads();
}

void barrier_between_too_many_blocks() {
    DeviceBuffer<unsigned> d_arrived(std::vector<unsigned>(1, 0));
    wait_for_other_blocks<<<100000, threads>>>(d_arrived.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList kernel_ends() {
    return {__FILE__,
            {{"assertion_fails", "failed assert", assertion_fails},
             {"trap_on_bad_input", "__trap()", trap_on_bad_input},
             {"grid_sync_in_plain_launch", "grid.sync() without a cooperative launch", grid_sync_in_plain_launch},
             {"flag_that_nobody_sets", "spins on a flag that nobody sets", flag_that_nobody_sets, true},
             {"stride_of_zero", "loop whose counter does not move", stride_of_zero, true},
             {"barrier_between_too_many_blocks", "more blocks wait than fit on the device",
              barrier_between_too_many_blocks, true}}};
}

}  // namespace corpus
