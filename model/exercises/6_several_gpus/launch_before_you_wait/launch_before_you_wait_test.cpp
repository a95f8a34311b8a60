#include "exercises/6_several_gpus/launch_before_you_wait/launch_before_you_wait.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"6_several_gpus", "launch_before_you_wait"};

namespace {

/// The CPU device has three devices here; on GPUs, there are as many as the machine has.
const bool with_three = setenv("CPU_DEVICE_COUNT", "3", 0) == 0;

int all_devices() {
    int count = 0;
    REQUIRE_THAT(cudaGetDeviceCount(&count), grading::Succeeds());
    return with_three ? std::min(count, 3) : count;
}

/// A device is the current one for as long as this lives.
struct On {
    int before = 0;
    explicit On(int device) {
        (void)cudaGetDevice(&before);
        (void)cudaSetDevice(device);
    }
    ~On() { (void)cudaSetDevice(before); }
    On(const On&) = delete;
    On& operator=(const On&) = delete;
};

/// A stream of a device.
struct Stream {
    int device;
    cudaStream_t stream = nullptr;
    explicit Stream(int of) : device(of) {
        const On current(device);
        REQUIRE_THAT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                     grading::Succeeds());
    }
    ~Stream() {
        const On current(device);
        (void)cudaStreamDestroy(stream);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    void wait() const { REQUIRE_THAT(cudaStreamSynchronize(stream), grading::Succeeds()); }
};

void check_parts(const std::vector<unsigned>& counts) {
    const int devices = static_cast<int>(counts.size());
    INFO(grading::counted(devices, "device")
         << ", the first with " << grading::counted(counts[0], "number"));
    std::vector<std::unique_ptr<grading::Guarded<int>>> parts;
    std::vector<const int*> pointers;
    std::vector<double> expected;
    for (int device = 0; device < devices; ++device) {
        const On current(device);
        const std::vector<int> values =
            grading::random_ints(counts[static_cast<std::size_t>(device)], -1000, 1000,
                                 static_cast<std::uint64_t>(device) + 1);
        parts.push_back(std::make_unique<grading::Guarded<int>>(values));
        pointers.push_back(parts.back()->data());
        expected.push_back(std::accumulate(values.begin(), values.end(), 0.0));
    }
    const int before = devices - 1;
    const On current(before);
    std::vector<int> sums(counts.size(), 0x7FFD7FFD);
    const grading::Instrumented instrumented = grading::instrument(
        [&] { sums_of_parts(devices, pointers.data(), counts.data(), sums.data()); });
    for (int device = 0; device < devices; ++device) {
        const On its(device);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
    }
    CHECK_THAT(sums, grading::EqualTo(expected));
    for (const auto& part : parts) CHECK_THAT(*part, grading::Unchanged());
    int now = -1;
    REQUIRE_THAT(cudaGetDevice(&now), grading::Succeeds());
    if (now != before)
        FAIL_CHECK(
            "Another device is current after the call than before.\nWhich call makes the "
            "former one current again?");
    if (!instrumented.countable) return;
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    int launches = 0, before_wait = 0;
    bool waited = false;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.launch != 0) {
            ++launches;
            if (!waited) ++before_wait;
        } else if (launches > 0 && (call.waits || call.function == "cudaFree")) {
            waited = true;
        }
    }
    if (launches < devices)
        FAIL_CHECK(
            "Fewer kernels were launched than there are devices.\nWho adds up the numbers "
            "of each device: a kernel on it, or the host?");
    else if (before_wait < devices)
        FAIL_CHECK(
            "The host has waited for a device before the last one got its kernel.\nWhich "
            "calls in the loop wait for the device?");
    for (const auto& part : parts) CHECK_THAT(*part, grading::ReadByKernels());
}

}  // namespace

TEST_CASE("adds up the parts of all devices") {
    const std::vector<unsigned> counts = {1000, 33, 257};
    check_parts({counts.begin(), counts.begin() + all_devices()});
}

TEST_CASE("works with one device") { check_parts({1009}); }

TEST_CASE("handles parts of any size") {
    for (const std::size_t count : grading::sizes({1, 31, 32, 33, 256}, 3, 4000))
        check_parts(std::vector<unsigned>(static_cast<std::size_t>(all_devices()),
                                          static_cast<unsigned>(count)));
}
