// What the CPU device finds in kernels and launches: each mistake is planted once and has to be named.
#include <cooperative_groups.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <cuda/ptx>
#include <string>
#include <vector>

#include "common/helpers/tensor_map.h"
#include "cpu_device/diagnostics.h"

using Catch::Matchers::ContainsSubstring;
using cpu_device::Diagnostic;
using cpu_device::DiagnosticKind;

namespace {

/// Keeps diagnostics off the screen while a test makes mistakes on purpose, and leaves the device usable.
struct Quiet {
    bool printing = cpu_device::print_diagnostics(false);
    Quiet() { cpu_device::take_diagnostics(); }
    ~Quiet() {
        cpu_device::take_diagnostics();
        cudaDeviceReset();
        cudaGetLastError();
        cpu_device::print_diagnostics(printing);
    }
};

Diagnostic only_diagnostic() {
    const std::vector<Diagnostic> found = cpu_device::take_diagnostics();
    REQUIRE(found.size() == 1);
    return found[0];
}

__global__ void return_before_barrier(int threads_that_stay, int* out) {
    if (static_cast<int>(threadIdx.x) >= threads_that_stay) return;
    __syncthreads();
    if (out != nullptr) atomicAdd(out, 1);
}

/// The threads from `begin` on skip a barrier and wait at the next one.
__global__ void skip_a_barrier(unsigned begin) {
    if (threadIdx.x < begin) __syncthreads();
    __syncthreads();
}

__global__ void store_a_box(const __grid_constant__ CUtensorMap to, int col) {
    __shared__ alignas(128) float box[4][8];
    box[threadIdx.x / 8][threadIdx.x % 8] = 1;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (threadIdx.x > 0) return;
    const std::int32_t at[2] = {col, 0};
    cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, &to, at, box);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>{});
}

__global__ void two_barriers() {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

__global__ void barrier_in_second_block() {
    if (blockIdx.x != 1 || threadIdx.x != 7) __syncthreads();
    __syncthreads();
}

__device__ void wait_in_function(bool here) {
    if (here) __syncthreads();
}

__global__ void barrier_in_device_function() {
    wait_in_function(threadIdx.x % 2 == 0);
    __syncthreads();
}

__global__ void barrier_in_a_branch_at_the_end(int* out) {
    if (threadIdx.x < 20) {
        __syncthreads();
        atomicAdd(out, 1);
    }
}

/// One thread never comes: it waits for the others to have passed the barrier.
__global__ void spin_before_the_barrier(int* passed) {
    if (threadIdx.x == 40) {
        while (atomicAdd(passed, 0) == 0) {
        }
    }
    __syncthreads();
    *passed = 1;
}

__global__ void barrier_and_grid_barrier() {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        cooperative_groups::this_grid().sync();
    }
}

__global__ void shuffle_after_return(int* out) {
    if (threadIdx.x == 31) return;
    out[threadIdx.x] = __shfl_down_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x), 1);
}

__global__ void shuffle_and_barrier(int* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x), 0);
    } else {
        __syncthreads();
    }
}

__global__ void wrong_mask(int* out) { out[threadIdx.x] = __shfl_sync(0x0000FFFFu, static_cast<int>(threadIdx.x), 0); }

__global__ void vote_in_branch(int* out) {
    if (threadIdx.x < 20) out[threadIdx.x] = __any_sync(0xFFFFFFFFu, threadIdx.x == 3);
    __syncwarp();
}

__global__ void loop_forever() {
    volatile int turning = 1;
    while (turning) {
    }
}

__global__ void miss_the_end(unsigned n) {
    unsigned i = threadIdx.x;
    while (i != n) i += 2;  // odd threads step over an even end
}

__global__ void wait_for_a_flag_that_nobody_sets(int* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
}

__global__ void write_through(int* pointer) { *pointer = 1; }

__global__ void recurse(int* out, int depth) {
    volatile char room[1024];
    room[0] = static_cast<char>(depth);
    if (depth == 0) return;
    struct Again {
        static void run(int* result, int left) {
            volatile char more[4096];
            more[0] = static_cast<char>(left);
            if (left > 0) run(result, left - 1);
            *result += more[0];
        }
    };
    Again::run(out, depth);
    out[1] = room[0];
}

__global__ void divide(int* out, const int* by) { out[0] = 7 / *by; }

__global__ void assert_small(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

__global__ void trap_in_thread(unsigned thread) {
    if (threadIdx.x == thread) __trap();
}

__global__ void too_much_static_shared(float* out) {
    __shared__ float large[8192];
    __shared__ float more[8192];
    large[threadIdx.x] = 1;
    more[threadIdx.x] = 2;
    out[threadIdx.x] = large[threadIdx.x] + more[threadIdx.x];
}

}  // namespace

TEST_CASE("a barrier does not wait for threads that have exited") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, sizeof(int)) == cudaSuccess);
    for (const unsigned seed : {0u, 1u, 2u}) {
        cpu_device::set_schedule_seed(seed);
        REQUIRE(cudaMemset(out, 0, sizeof(int)) == cudaSuccess);
        return_before_barrier<<<3, 64>>>(48, out);
        barrier_in_a_branch_at_the_end<<<2, 64>>>(out);
        int count = 0;
        CHECK(cudaMemcpy(&count, out, sizeof count, cudaMemcpyDeviceToHost) == cudaSuccess);
        CHECK(count == 3 * 48 + 2 * 20);
    }
    cpu_device::set_schedule_seed(0);
    CHECK(cpu_device::take_diagnostics().empty());
    CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("names the barriers at which the threads of a block wait, and which threads do") {
    const Quiet quiet;
    skip_a_barrier<<<1, 64>>>(48);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::divergent_barrier);
    CHECK_THAT(found.message, ContainsSubstring("threads 0 to 47 wait at a barrier of the block (mistakes_test.cu:") &&
                                  ContainsSubstring("threads 48 to 63 wait at a barrier"));
    CHECK(found.kernel == "skip_a_barrier");
    CHECK(found.thread.x == 48);
    CHECK_THAT(found.site.file, ContainsSubstring("mistakes_test.cu"));
    REQUIRE(found.other);
    CHECK(found.site.line == found.other->site.line + 1);
    CHECK(found.other->thread.x == 0);
    CHECK_THAT(found.hint, !ContainsSubstring("return"));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);  // a GPU goes on as well
}

TEST_CASE("reports a mistake once for a whole launch, however many blocks make it") {
    const Quiet quiet;
    skip_a_barrier<<<100, 64>>>(48);
    CHECK(only_diagnostic().kind == DiagnosticKind::divergent_barrier);
}

TEST_CASE("finds threads of one block at two different barriers, whoever comes last") {
    const Quiet quiet;
    const unsigned seed = GENERATE(0u, 1u, 7u);
    cpu_device::set_schedule_seed(seed);
    two_barriers<<<1, 64>>>();
    cpu_device::set_schedule_seed(0);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::divergent_barrier);
    CHECK_THAT(found.message, ContainsSubstring("different barriers") && ContainsSubstring("threads 0 to 31 wait") &&
                                  ContainsSubstring("threads 32 to 63 wait"));
}

TEST_CASE("finds a divergent barrier that only the second block has") {
    const Quiet quiet;
    barrier_in_second_block<<<3, 32>>>();
    const Diagnostic found = only_diagnostic();
    CHECK(found.block.x == 1);
    CHECK_THAT(found.message,
               ContainsSubstring("threads 0 to 6, 8 to 31 wait at") && ContainsSubstring("thread 7 waits at"));
}

TEST_CASE("finds a divergent barrier inside a device function") {
    const Quiet quiet;
    barrier_in_device_function<<<1, 32>>>();
    CHECK_THAT(only_diagnostic().message, ContainsSubstring("threads 0, 2, 4, 6 and 12 more wait at"));
}

TEST_CASE("says who waits for a thread that never comes") {
    const Quiet quiet;
    int* passed = nullptr;
    REQUIRE(cudaMalloc(&passed, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(passed, 0, sizeof(int)) == cudaSuccess);
    cpu_device::set_watchdog_seconds(0.3);
    spin_before_the_barrier<<<1, 64>>>(passed);
    cpu_device::set_watchdog_seconds(20);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::endless_kernel);
    CHECK(found.thread.x == 40);
    CHECK_THAT(found.message, ContainsSubstring("this thread runs on while threads 0 to 39, 41 to 63 wait at a barrier "
                                                "of the block (mistakes_test.cu:"));
}

TEST_CASE("finds threads at the block's barrier and others at the grid's") {
    const Quiet quiet;
    REQUIRE(cudaLaunchCooperativeKernel(barrier_and_grid_barrier, dim3(1), dim3(64), nullptr) == cudaSuccess);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::divergent_barrier);
    CHECK_THAT(found.message, ContainsSubstring("threads 0 to 31 wait at a barrier of the block") &&
                                  ContainsSubstring("threads 32 to 63 wait at grid.sync()"));
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}

TEST_CASE("a shuffle does not wait for lanes that have exited") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, 32 * sizeof(int)) == cudaSuccess);
    shuffle_after_return<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cpu_device::take_diagnostics()
              .empty());  // what lane 30 takes from lane 31 is looked at in instrumented code only
    CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("names the lanes that a shuffle waits for while they wait at a barrier") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, 32 * sizeof(int)) == cudaSuccess);
    shuffle_and_barrier<<<1, 32>>>(out);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::missing_lane);
    CHECK_THAT(found.message,
               ContainsSubstring("lanes 16 to 31 of warp 0, which never come") &&
                   ContainsSubstring("threads 16 to 31 wait at a barrier of the block (mistakes_test.cu:"));
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);  // a GPU would hang
}

TEST_CASE("refuses a mask that leaves its caller out") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, 32 * sizeof(int)) == cudaSuccess);
    wrong_mask<<<1, 32>>>(out);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::mask_without_caller);
    CHECK_THAT(found.message, ContainsSubstring("0x0000ffff") && ContainsSubstring("lane 16"));
}

TEST_CASE("counts the lanes that a vote in a branch misses") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, 32 * sizeof(int)) == cudaSuccess);
    vote_in_branch<<<1, 32>>>(out);
    CHECK_THAT(only_diagnostic().message, ContainsSubstring("a vote") && ContainsSubstring("lanes 20 to 31 of warp 0"));
}

TEST_CASE("stops a kernel that never ends") {
    const Quiet quiet;
    cpu_device::set_watchdog_seconds(0.3);
    const int line = __LINE__ + 1;
    loop_forever<<<4, 32>>>();
    cpu_device::set_watchdog_seconds(20);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::endless_kernel);
    CHECK_THAT(found.message, ContainsSubstring("no block of the launch in mistakes_test.cu:" + std::to_string(line) +
                                                " has finished for 0.3 seconds"));
    CHECK(found.kernel == "loop_forever");
    CHECK(cudaGetLastError() == cudaSuccess);  // nothing shows before somebody waits
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}

TEST_CASE("stops a loop that does nothing but never end") {
    const Quiet quiet;
    cpu_device::set_watchdog_seconds(0.3);
    miss_the_end<<<2, 64>>>(100);
    cpu_device::set_watchdog_seconds(20);
    CHECK(only_diagnostic().kind == DiagnosticKind::endless_kernel);
}

TEST_CASE("stops a kernel whose threads spin on a flag for ever") {
    const Quiet quiet;
    int* flag = nullptr;
    REQUIRE(cudaMalloc(&flag, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(flag, 0, sizeof(int)) == cudaSuccess);
    cpu_device::set_watchdog_seconds(0.3);
    wait_for_a_flag_that_nobody_sets<<<4, 32>>>(flag);
    cpu_device::set_watchdog_seconds(20);
    CHECK(only_diagnostic().kind == DiagnosticKind::endless_kernel);
}

TEST_CASE("turns a wild pointer into an illegal-address error, not a crash") {
    const Quiet quiet;
    write_through<<<2, 32>>>(nullptr);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::illegal_access);
    CHECK_THAT(found.hint, ContainsSubstring("null pointer"));
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);  // and stays
}

TEST_CASE("works again after cudaDeviceReset") {
    const Quiet quiet;
    write_through<<<1, 1>>>(nullptr);
    REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    int* value = nullptr;
    REQUIRE(cudaMalloc(&value, sizeof(int)) == cudaSuccess);
    write_through<<<1, 1>>>(value);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("reports the stack that a recursion uses up") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, 2 * sizeof(int)) == cudaSuccess);
    recurse<<<1, 1>>>(out, 1000000);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == DiagnosticKind::kernel_trap);
    CHECK_THAT(found.message, ContainsSubstring("stack"));
}

TEST_CASE("reports an integer division by zero") {
    const Quiet quiet;
    int* out = nullptr;
    REQUIRE(cudaMalloc(&out, sizeof(int)) == cudaSuccess);
    REQUIRE(cudaMemset(out, 0, sizeof(int)) == cudaSuccess);
    divide<<<1, 1>>>(out, out);
    CHECK_THAT(only_diagnostic().message, ContainsSubstring("divided by zero"));
}

TEST_CASE("a failed assert ends the kernel and names its line") {
    const Quiet quiet;
    assert_small<<<1, 64>>>(40);
    const Diagnostic found = only_diagnostic();
    CHECK_THAT(found.message, ContainsSubstring("assertion failed") && ContainsSubstring("limit"));
    CHECK(found.thread.x == 40);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
}

TEST_CASE("a trap ends the kernel") {
    const Quiet quiet;
    trap_in_thread<<<1, 64>>>(33);
    CHECK(only_diagnostic().thread.x == 33);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
}

TEST_CASE("names the variable with which static shared memory passes its limit") {
    const Quiet quiet;
    float* out = nullptr;
    REQUIRE(cudaMalloc(&out, 32 * sizeof(float)) == cudaSuccess);
    too_much_static_shared<<<1, 32>>>(out);
    CHECK_THAT(only_diagnostic().message, ContainsSubstring("65536 bytes") && ContainsSubstring("'more'"));
}

TEST_CASE("does nothing for launches after a kernel failed") {
    const Quiet quiet;
    write_through<<<1, 1>>>(nullptr);
    loop_forever<<<1, 1>>>();  // would take the watchdog's time
    CHECK(only_diagnostic().kind == DiagnosticKind::illegal_access);
}

TEST_CASE("a box is not stored before the first column, nor between two multiples of 16 bytes") {
    const Quiet quiet;
    const int col = GENERATE(-4, 2);
    float* d_out = nullptr;
    REQUIRE(cudaMalloc(&d_out, 4 * 32 * sizeof(float)) == cudaSuccess);
    store_a_box<<<1, 32>>>(
        warpwise::tensor_map(
            {.data = d_out, .rows = 4, .cols = 30, .pitch = 32 * sizeof(float), .box_rows = 4, .box_cols = 8}),
        col);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalInstruction);
    const Diagnostic found = only_diagnostic();
    CHECK(found.kind == (col < 0 ? DiagnosticKind::illegal_access : DiagnosticKind::misaligned_access));
    CHECK_THAT(found.message, ContainsSubstring("coordinate " + std::to_string(col) + " of the innermost dimension"));
}
