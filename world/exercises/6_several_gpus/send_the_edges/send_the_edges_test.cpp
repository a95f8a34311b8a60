#include "exercises/6_several_gpus/send_the_edges/send_the_edges.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"6_several_gpus", "send_the_edges"};

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

std::vector<double> smoothed(std::vector<double> rod, unsigned steps) {
    for (unsigned step = 0; step < steps; ++step) {
        std::vector<double> next = rod;
        for (std::size_t i = 1; i + 1 < rod.size(); ++i)
            next[i] = 0.25 * rod[i - 1] + 0.5 * rod[i] + 0.25 * rod[i + 1];
        rod = next;
    }
    return rod;
}

/// Whether two copies use the same memory, or a copy and a kernel that both write it. No
/// missing wait can be the reason: copies read edges, kernels write the values of their own
/// strip, and only one device writes each halo.
bool is_copy_of_wrong_place(const std::string& found) {
    const std::string first = found.substr(0, found.find('\n'));
    const std::size_t copy = first.find("cudaMemcpy");
    return copy != std::string::npos &&
           (first.find("cudaMemcpy", copy + 1) != std::string::npos ||
            first.find("both write it") != std::string::npos);
}

std::string question_about_race(const std::string& found, bool has_all_waits) {
    if (is_copy_of_wrong_place(found))
        return "Which place of the neighbor's array is its halo, and which value belongs "
               "there?";
    if (!has_all_waits) return "Which event tells a stream that the halo has arrived?";
    return "Which of the neighbor's two arrays gets the halo? And does the neighbor wait "
           "for an event that is recorded behind this copy?";
}

void check_rod(const std::vector<unsigned>& counts, unsigned steps) {
    const int devices = static_cast<int>(counts.size());
    INFO(grading::counted(devices, "strip")
         << ", the first with " << grading::counted(counts[0], "value") << ", "
         << grading::counted(steps, "step"));
    std::size_t all = 2;
    for (const unsigned count : counts) all += count;
    const std::vector<float> rod = grading::random_floats(all, steps);
    const std::vector<double> expected =
        smoothed(std::vector<double>(rod.begin(), rod.end()), steps);
    std::vector<std::unique_ptr<grading::Guarded<float>>> even, odd;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Strip> strips;
    std::size_t first = 0;
    for (int device = 0; device < devices; ++device) {
        const On current(device);
        const unsigned count = counts[static_cast<std::size_t>(device)];
        const auto begin = rod.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<float> values(begin, begin + count + 2);
        std::vector<float> other(count + 2, std::numeric_limits<float>::quiet_NaN());
        if (device == 0) other.front() = values.front();
        if (device + 1 == devices) other.back() = values.back();
        even.push_back(std::make_unique<grading::Guarded<float>>(values));
        odd.push_back(std::make_unique<grading::Guarded<float>>(other));
        streams.push_back(std::make_unique<Stream>(device));
        strips.push_back(
            {even.back()->data(), odd.back()->data(), count, streams.back()->stream});
        first += count;
    }
    const On current(devices - 1);
    const grading::Instrumented instrumented =
        grading::instrument([&] { smooth_strips(devices, strips.data(), steps); });
    int now = -1;
    REQUIRE_THAT(cudaGetDevice(&now), grading::Succeeds());
    if (now != devices - 1)
        FAIL_CHECK(
            "Another device is current after the call than before.\nWhich call makes the "
            "former one current again?");
    for (const auto& stream : streams) stream->wait();
    // In each step after the first one, each device needs what each of its neighbors sent.
    const bool has_all_waits =
        instrumented.calls_of({"cudaStreamWaitEvent"}) >=
        2 * static_cast<std::size_t>(devices - 1) * (std::max(steps, 1u) - 1);
    for (int device = 0; device < devices; ++device) {
        const On its(device);
        const grading::Outcome outcome = grading::finish();
        REQUIRE_THAT(outcome, grading::Succeeds().when(
                                  {"data race", "on device"},
                                  question_about_race(outcome.diagnostics, has_all_waits)));
    }
    first = 1;
    for (int device = 0; device < devices; ++device) {
        const On its(device);
        const std::size_t d = static_cast<std::size_t>(device);
        const std::vector<float> got = (steps % 2 == 0 ? even[d] : odd[d])->download();
        const std::vector<float> values(got.begin() + 1, got.end() - 1);
        INFO("strip " << device);
        const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(first);
        CHECK_THAT(values,
                   grading::CloseTo(std::vector<double>(begin, begin + counts[d]),
                                    {.absolute = 1e-6 * (steps + 1)})
                       .when(grading::both(grading::not_a_number(),
                                           grading::unless(grading::all_wrong())),
                             "Which halo is read before anything was sent there, and who "
                             "should send it?"));
        first += counts[d];
    }
    if (!instrumented.countable || devices == 1 || steps < 2) return;
    CHECK_THAT(instrumented, grading::WaitsForNothing("Streams can wait for each other."));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    std::size_t bytes = 0;
    for (const warpwise::ApiCall& call : instrumented.calls) bytes += call.bytes;
    const std::size_t needed = 2 * static_cast<std::size_t>(devices - 1) * sizeof(float);
    if (bytes > needed * (steps + 1))
        FAIL_CHECK(
            "More is sent than two values per step and border.\nWhich values does a "
            "neighbor need for its next step?");
    if (!has_all_waits)
        FAIL_CHECK(
            "The streams wait for fewer events than there are borders and steps.\nWhich "
            "neighbors does each device wait for, and for which step of theirs?");
}

}  // namespace

TEST_CASE("does one step") {
    check_rod({1000}, 1);
    check_rod(std::vector<unsigned>(static_cast<std::size_t>(all_devices()), 100), 1);
}

TEST_CASE("sends the edges in each step") {
    for (const unsigned steps : {2u, 3u, 7u, 20u})
        check_rod(std::vector<unsigned>(static_cast<std::size_t>(all_devices()), 50),
                  steps);
}

TEST_CASE("handles strips of any size") {
    for (const std::size_t count : grading::sizes({1, 2, 31, 32, 33, 257}, 2, 2000)) {
        std::vector<unsigned> counts(static_cast<std::size_t>(all_devices()), 7);
        counts.front() = static_cast<unsigned>(count);
        check_rod(counts, 4);
        std::reverse(counts.begin(), counts.end());
        check_rod(counts, 5);
    }
}
