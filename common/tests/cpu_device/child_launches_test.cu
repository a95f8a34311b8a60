// Kernels that kernels launch: they run after the parent, in an order that does not change from run to run.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "cpu_device/execution.h"

namespace {

struct Notes {
    unsigned count;
    int entries[64];
};

__device__ void note(Notes* notes, int entry) { notes->entries[atomicAdd(&notes->count, 1u) % 64] = entry; }

__global__ void grandchild(Notes* notes, int entry) { note(notes, entry); }

__global__ void child(Notes* notes, int entry) {
    grandchild<<<1, 1>>>(notes, entry * 10);
    note(notes, entry);
}

__global__ void parent(Notes* notes) {
    if (threadIdx.x == 0) {
        grandchild<<<1, 1, 0, cudaStreamTailLaunch>>>(notes, -1 - static_cast<int>(blockIdx.x));
        int local = static_cast<int>(blockIdx.x) + 1;
        child<<<1, 1>>>(notes, local);
        local = 1000;  // the child has a copy
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        child<<<1, 1, 0, stream>>>(notes, static_cast<int>(blockIdx.x) + 5);
        cudaStreamDestroy(stream);
    }
    __syncthreads();
    if (threadIdx.x == 1) note(notes, 0);
}

/// What `run(notes)` made kernels note, in order.
template <class Run>
std::vector<int> noted_by(const Run& run) {
    Notes* notes = nullptr;
    REQUIRE(cudaMallocManaged(&notes, sizeof(Notes)) == cudaSuccess);
    *notes = {};
    run(notes);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<int> noted(notes->entries, notes->entries + notes->count);
    REQUIRE(cudaFree(notes) == cudaSuccess);
    return noted;
}

template <class T>
__global__ void descend(Notes* notes, T depth) {
    note(notes, depth);
    descend<<<1, 1>>>(notes, depth + 1);
    if (cudaGetLastError() == cudaErrorLaunchMaxDepthExceeded) note(notes, -1);
}

__global__ void launch_too_many_threads(Notes* notes) {
    grandchild<<<1, 2048>>>(notes, 7);
    note(notes, static_cast<int>(cudaGetLastError()));
}

}  // namespace

TEST_CASE("children run after their parent, block by block, each with its own children; the tail comes last") {
    const auto run = [](Notes* notes) { parent<<<2, 32>>>(notes); };
    const std::vector<int> expected = {0, 0, 1, 10, 5, 50, 2, 20, 6, 60, -1, -2};
    CHECK(noted_by(run) == expected);
    cpu_device::set_cores(1);
    CHECK(noted_by(run) == expected);
    cpu_device::set_cores(2);
}

TEST_CASE("kernels that launch kernels are nested at most 24 deep") {
    const std::vector<int> noted = noted_by([](Notes* notes) { descend<<<1, 1>>>(notes, 0); });
    REQUIRE(noted.size() == 25);
    CHECK(noted[23] == 23);
    CHECK(noted[24] == -1);
}

TEST_CASE("a launch by a kernel that the device refuses leaves its error in the kernel") {
    const std::vector<int> noted = noted_by([](Notes* notes) { launch_too_many_threads<<<1, 1>>>(notes); });
    CHECK(noted == std::vector<int>{static_cast<int>(cudaErrorInvalidConfiguration)});
}
