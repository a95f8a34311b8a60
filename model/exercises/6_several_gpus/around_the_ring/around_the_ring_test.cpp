#include "exercises/6_several_gpus/around_the_ring/around_the_ring.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"6_several_gpus", "around_the_ring"};

namespace {

/// The CPU device has four devices here; on GPUs, there are as many as the machine has.
const bool with_four = setenv("CPU_DEVICE_COUNT", "4", 0) == 0;

int all_devices() {
    int count = 0;
    REQUIRE_THAT(cudaGetDeviceCount(&count), grading::Succeeds());
    return with_four ? std::min(count, 4) : count;
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

/// Asks of a data race what its own hint would not: whether there are enough waits is
/// known.
grading::Succeeds succeeds(bool has_all_waits) {
    if (!has_all_waits) return {};
    return grading::Succeeds().when(
        {"data race"},
        "There are enough waits. Which device does a stream have to wait for in this turn, "
        "and which part comes from there?");
}

void check_ring(int devices, unsigned part) {
    INFO(grading::counted(devices, "device")
         << ", parts of " << grading::counted(part, "number"));
    const std::size_t all = static_cast<std::size_t>(devices) * part;
    std::vector<double> expected(all);
    std::vector<std::vector<int>> owns;
    std::vector<std::unique_ptr<grading::Guarded<int>>> values, arrived;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<RingArray> arrays;
    for (int device = 0; device < devices; ++device) {
        const On current(device);
        const std::vector<int> own = grading::random_ints(
            all, -1000, 1000, static_cast<std::uint64_t>(device) * 7919 + part);
        for (std::size_t i = 0; i < all; ++i) expected[i] += own[i];
        owns.push_back(own);
        values.push_back(std::make_unique<grading::Guarded<int>>(own));
        arrived.push_back(std::make_unique<grading::Guarded<int>>(all));
        streams.push_back(std::make_unique<Stream>(device));
        arrays.push_back(
            {values.back()->data(), arrived.back()->data(), streams.back()->stream});
    }
    // Not the first one, and not the last one, as soon as there are three.
    const int present = (devices - 1) / 2;
    const On current(present);
    const grading::Instrumented instrumented =
        grading::instrument([&] { add_up_in_a_ring(devices, arrays.data(), part); });
    int now = -1;
    REQUIRE_THAT(cudaGetDevice(&now), grading::Succeeds());
    if (now != present)
        FAIL_CHECK(
            "Another device is current after the call than before.\nWhich call of "
            "yours makes another device current, and which one comes back to the first?");
    for (const auto& stream : streams) stream->wait();
    const std::size_t sends =
        2 * static_cast<std::size_t>(devices - 1) * static_cast<std::size_t>(devices);
    const std::size_t waits = instrumented.calls_of({"cudaStreamWaitEvent"});
    std::size_t bytes = 0;
    for (const warpwise::ApiCall& call : instrumented.calls)
        if (call.function.starts_with("cudaMemcpy")) bytes += call.bytes;
    if (instrumented.countable && bytes > sends * part * sizeof(int))
        FAIL_CHECK(
            "More is sent than 2 (devices - 1) parts per device.\nWhich part does the next "
            "device need in this turn?");
    for (int device = 0; device < devices; ++device) {
        const On its(device);
        REQUIRE_THAT(grading::finish(),
                     succeeds(instrumented.countable && devices > 1 && waits >= sends));
        INFO("the array of device " << device);
        const std::vector<int>& own = owns[static_cast<std::size_t>(device)];
        CHECK_THAT(*values[static_cast<std::size_t>(device)],
                   grading::EqualTo(expected).when(
                       grading::equals({own.begin(), own.end()}),
                       "These are still the device's own numbers. In which turn should the "
                       "others come in?"));
    }
    if (!instrumented.countable || devices == 1) return;
    CHECK_THAT(instrumented, grading::WaitsForNothing("Streams can wait for each other."));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (waits < sends)
        FAIL_CHECK(
            "The streams wait for fewer events than there are sends.\nWhich event tells a "
            "stream that a part has arrived?");
}

}  // namespace

TEST_CASE("adds up the arrays of two devices") {
    if (all_devices() < 2) return;  // one GPU
    check_ring(2, 100);
}

TEST_CASE("works for any number of devices") {
    for (int devices = 1; devices <= all_devices(); ++devices) check_ring(devices, 33);
}

TEST_CASE("handles parts of any size") {
    for (const std::size_t part : grading::sizes({1, 31, 32, 33, 257}, 2, 1500))
        check_ring(all_devices(), static_cast<unsigned>(part));
}
