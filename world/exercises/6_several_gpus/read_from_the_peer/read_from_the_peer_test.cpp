#include "exercises/6_several_gpus/read_from_the_peer/read_from_the_peer.h"

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

const grading::Exercise grading::exercise{"6_several_gpus", "read_from_the_peer"};

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

std::unique_ptr<grading::Guarded<float>> on(int device, const std::vector<float>& values) {
    const On current(device);
    return std::make_unique<grading::Guarded<float>>(values);
}

void check_pair(int device, int peer, unsigned count, int current_device) {
    INFO("device " << device << ", peer " << peer << ", "
                   << grading::counted(count, "float") << ", current device "
                   << current_device);
    const std::vector<float> own = grading::random_floats(count, 1),
                             peers = grading::random_floats(count, 2);
    std::vector<double> expected(count);
    for (unsigned i = 0; i < count; ++i)
        expected[i] = static_cast<double>(own[i] + peers[i]);
    const auto d_own = on(device, own), d_peers = on(peer, peers);
    const Stream stream(device);
    const On current(current_device);
    const grading::Instrumented instrumented = grading::instrument([&] {
        add_array_of_peer(device, d_own->data(), peer, d_peers->data(), count,
                          stream.stream);
    });
    int now = -1;
    REQUIRE_THAT(cudaGetDevice(&now), grading::Succeeds());
    if (now != current_device)
        FAIL_CHECK(
            "Another device is current after the call than before.\nWhich call makes the "
            "former one current again?");
    if (cudaPeekAtLastError() == cudaErrorPeerAccessAlreadyEnabled) {
        FAIL_CHECK(
            "cudaErrorPeerAccessAlreadyEnabled is left for cudaGetLastError.\nWho looks at "
            "this error, and takes it away?");
        (void)cudaGetLastError();
    }
    stream.wait();
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(*d_own, grading::EqualTo(expected));
    CHECK_THAT(*d_peers, grading::Unchanged());
    if (!instrumented.countable || count == 0) return;
    CHECK_THAT(*d_own, grading::WrittenByKernels());
    CHECK_THAT(instrumented, grading::WaitsForNothing("The caller waits for the stream."));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    for (const warpwise::ApiCall& call : instrumented.calls)
        if (call.launch != 0 && call.stream != stream.stream)
            FAIL_CHECK(
                "A kernel was launched in another stream than `stream`.\nWhich argument of "
                "the launch names the stream?");
}

}  // namespace

TEST_CASE("adds the array of a peer") {
    if (all_devices() < 2) return;  // one GPU
    check_pair(0, 1, 1000, 0);
}

TEST_CASE("works for any current device and for access that is enabled already") {
    if (all_devices() < 2) return;  // one GPU
    for (int turn = 0; turn < 2; ++turn)
        for (int device = 0; device < all_devices(); ++device)
            for (int peer = 0; peer < all_devices(); ++peer)
                for (int current = 0; current < all_devices(); ++current)
                    if (device != peer) check_pair(device, peer, 33, current);
}

TEST_CASE("handles any number of floats") {
    if (all_devices() < 2) return;  // one GPU
    for (const std::size_t count : grading::sizes({0, 1, 31, 32, 33, 256, 1009}, 3, 5000))
        check_pair(1, 0, static_cast<unsigned>(count), 0);
}
