// A program with NVTX ranges, and three with a mistake in them. Each uploads a row, runs
// two kernels, and downloads the result.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <nvtx3/nvtx3.hpp>
#include <vector>

#include "chapters/5_modern_cuda/profiling/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"

namespace modern_cuda {
namespace {

struct Job {
    std::vector<float> row = std::vector<float>(1000, 0.25f), result = row;
    warpwise::DeviceBuffer<float> d_row{row.size()}, d_result{row.size()};

    void upload() {
        warpwise::check(cudaMemcpyAsync(d_row.data(), row.data(), d_row.bytes(),
                                        cudaMemcpyHostToDevice));
    }
    void compute() {
        warps_add<<<1, kRowThreads>>>(d_row.data(), row.size(), d_result.data());
        warps_add<<<1, kRowThreads>>>(d_result.data(), row.size(), d_row.data());
        warpwise::check_launch();
    }
    void download() {
        warpwise::check(cudaMemcpyAsync(result.data(), d_row.data(), d_row.bytes(),
                                        cudaMemcpyDeviceToHost));
        warpwise::check(cudaStreamSynchronize(nullptr));
    }
};

// A range ends where its scope ends, also if something is thrown.
void scoped_ranges(Job& job) {
    const nvtx3::scoped_range step("step");
    {
        const nvtx3::scoped_range range("upload");
        job.upload();
    }
    {
        const nvtx3::scoped_range range("compute");
        job.compute();
    }
    {
        const nvtx3::scoped_range range("download");
        job.download();
    }
}

// WRONG: the range has no name as a variable, so it ends at its semicolon.
void range_without_name(Job& job) {
    const nvtx3::scoped_range step("step");
    job.upload();
    nvtx3::scoped_range("compute");  // NOLINT(bugprone-unused-raii)
    job.compute();
    job.download();
}

// WRONG: returns before the end of the range. All that comes later is inside of it.
void range_never_ended(Job& job) {
    nvtxRangePushA("compute");
    job.upload();
    job.compute();
    job.download();
    if (job.result[0] > 0) return;
    nvtxRangePop();
}

// WRONG: ends its range twice, and with the second end the range around it.
void range_ended_twice(Job& job) {
    const nvtx3::scoped_range step("step");
    nvtxRangePushA("upload");
    job.upload();
    nvtxRangePop();
    nvtxRangePop();
    job.compute();
    job.download();
}

}  // namespace
}  // namespace modern_cuda
