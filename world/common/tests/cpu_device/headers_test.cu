// What the headers leave to programs: names of their own, and printf's result; and headers that do next to nothing.
#include <cuda_runtime.h>

#include <iostream>

// As programs write it, before a header that includes more of the standard library.
using namespace std;

__device__ int count = 1, merge = 2, partition = 3, transform = 4, clamp = 5, popcount = 6, bit_cast = 7;

__device__ float lerp(float a, float b, float t) { return a + t * (b - a) + 1000; }

__global__ void use_own_names(float* out) {
    atomicAdd(&count, merge);
    out[0] = static_cast<float>(count + partition + transform + clamp + popcount + bit_cast);
    out[1] = lerp(2.0f, 4.0f, 0.5f);
    out[2] = static_cast<float>(std::lerp(2.0, 4.0, 0.25));
}

#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cudaProfiler.h>
#include <library_types.h>
#include <nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExt.h>

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/tests/device/results_of.h"

namespace {

/// Has no default constructor, and cannot be assigned.
struct Weight {
    const int grams;

    explicit Weight(int value) : grams(value) {}
};

struct Heavier {
    Weight operator()(const Weight& a, const Weight& b) const { return a.grams < b.grams ? b : a; }
};

__global__ void find_heaviest(int* out) {
    namespace cg = cooperative_groups;
    const int lane = static_cast<int>(threadIdx.x);
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[lane] = cg::reduce(tile, Weight(lane * 7 % 32), Heavier()).grams;
    out[32 + lane] = cg::inclusive_scan(tile, Weight(lane * 7 % 32), Heavier()).grams;
}

static_assert(__CUDACC_VER_MAJOR__ == 13 && CUDA_R_16BF == 14);

}  // namespace

TEST_CASE("a program may use names of the standard library's algorithms, and of lerp") {
    CHECK(results_of<float>(3, [](float* d_out) { use_own_names<<<1, 1>>>(d_out); }) ==
          std::vector<float>{28, 1003, 2.5f});
}

TEST_CASE("std::lerp takes all arithmetic types") {
    CHECK(std::lerp(1.0f, 3.0f, 0.5f) == 2.0f);
    CHECK(std::lerp(1, 3, 0.5) == 2.0);
    static_assert(std::is_same_v<decltype(std::lerp(1.0f, 3.0f, 0.5f)), float>);
    static_assert(std::lerp(1.0, 3.0, 0.25L) == 1.5L);
}

TEST_CASE("groups reduce and scan types without a default constructor") {
    const std::vector<int> heaviest = results_of<int>(64, [](int* d_out) { find_heaviest<<<1, 32>>>(d_out); });
    for (int lane = 0; lane < 32; ++lane) {
        int of_tile = 0, so_far = 0;
        for (int other = lane / 8 * 8; other < lane / 8 * 8 + 8; ++other) {
            of_tile = std::max(of_tile, other * 7 % 32);
            if (other <= lane) so_far = std::max(so_far, other * 7 % 32);
        }
        CHECK(heaviest[static_cast<std::size_t>(lane)] == of_tile);
        CHECK(heaviest[static_cast<std::size_t>(32 + lane)] == so_far);
    }
}

TEST_CASE("printf counts characters in host code") { CHECK(printf("%d of %d\n", 5, 10) == 8); }

TEST_CASE("marks and ranges for a profiler return what NVTX returns without one") {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xFF00FF00;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "copy";
    nvtxMark("start");
    CHECK(nvtxRangePush("outer") == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePushEx(&attributes) == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING);
    CHECK(nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING);
    nvtxRangeEnd(nvtxRangeStart("copies"));
    const nvtxDomainHandle_t domain = nvtxDomainCreate("library");
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxDomainDestroy(domain);
    nvtxNameCudaStream(nullptr, "default");
    CHECK(cuProfilerStart() == CUDA_SUCCESS);
}
