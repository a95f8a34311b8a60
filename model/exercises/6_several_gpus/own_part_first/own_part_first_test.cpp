#include "exercises/6_several_gpus/own_part_first/own_part_first.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"6_several_gpus", "own_part_first"};

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

void check_order(const grading::Instrumented& instrumented,
                 const std::vector<Share>& shares, std::size_t devices) {
    std::set<const void*> multiplied;  // the streams that have got a kernel
    std::size_t copies = 0;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        for (const Share& share : shares) {
            if (call.launch != 0 && call.stream == share.products)
                multiplied.insert(share.products);
            if (call.bytes > 0 && call.stream == share.products)
                FAIL_CHECK(
                    "A copy is in the stream that multiplies.\nWhat can the device compute "
                    "while the copy is on its way?");
            if (call.launch != 0 && call.stream == share.copies)
                FAIL_CHECK(
                    "A kernel is in the stream `copies`.\nWhat has to wait for this kernel "
                    "there, although it does not need its results?");
        }
        copies += call.bytes > 0 ? 1 : 0;
    }
    if (multiplied.size() != devices)
        FAIL_CHECK(
            "Not every device has a kernel in its stream `products`.\nIn which stream does "
            "your kernel run?");
    if (copies < devices * (devices - 1))
        FAIL_CHECK(
            "There are fewer copies than parts that other devices have.\nHow does each "
            "device get each part that it does not have?");
    if (instrumented.calls_of({"cudaStreamWaitEvent"}) < devices * (devices - 1))
        FAIL_CHECK(
            "The streams wait for fewer events than there are parts of other "
            "devices.\nWhich event tells the stream that multiplies that a part has "
            "arrived?");
    if (instrumented.launches.size() < 2 * devices)
        FAIL_CHECK(
            "A device has a single kernel, which needs all parts.\nWhich part could it "
            "multiply right away?");
}

void check_product(int devices, unsigned rows, unsigned width) {
    INFO(grading::counted(devices, "device")
         << ", " << grading::counted(rows, "row") << " each, parts of "
         << grading::counted(width, "column"));
    const unsigned length = static_cast<unsigned>(devices) * width;
    const std::vector<float> x = grading::random_floats(length, 77);
    std::vector<std::unique_ptr<grading::Guarded<float>>> as, own, whole, ys;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Share> shares;
    std::vector<std::vector<double>> expected, of_own_part, of_others;
    for (int device = 0; device < devices; ++device) {
        const On current(device);
        const auto d = static_cast<std::uint64_t>(device);
        const std::vector<float> a = grading::random_floats(std::size_t{rows} * length,
                                                            d + 1),
                                 y = grading::random_floats(rows, d + 100);
        std::vector<double>& sums = expected.emplace_back(y.begin(), y.end());
        std::vector<double>& own_sums = of_own_part.emplace_back(y.begin(), y.end());
        std::vector<double>& other_sums = of_others.emplace_back(y.begin(), y.end());
        for (unsigned row = 0; row < rows; ++row) {
            for (unsigned k = 0; k < length; ++k) {
                const double product =
                    double{a[std::size_t{row} * length + k]} * double{x[k]};
                sums[row] += product;
                (k / width == d ? own_sums : other_sums)[row] += product;
            }
        }
        as.push_back(std::make_unique<grading::Guarded<float>>(a));
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(d * width);
        own.push_back(std::make_unique<grading::Guarded<float>>(
            std::vector<float>(begin, begin + width)));
        whole.push_back(std::make_unique<grading::Guarded<float>>(length));
        ys.push_back(std::make_unique<grading::Guarded<float>>(y));
        streams.push_back(std::make_unique<Stream>(device));
        streams.push_back(std::make_unique<Stream>(device));
        shares.push_back({as.back()->data(), own.back()->data(), whole.back()->data(),
                          ys.back()->data(), streams[streams.size() - 2]->stream,
                          streams.back()->stream});
    }
    // Not the first one, and not the last one, as soon as there are three.
    const int present = (devices - 1) / 2;
    const On current(present);
    const grading::Instrumented instrumented =
        grading::instrument([&] { multiply_parts(devices, shares.data(), rows, width); });
    int now = -1;
    REQUIRE_THAT(cudaGetDevice(&now), grading::Succeeds());
    if (now != present)
        FAIL_CHECK(
            "Another device is current after the call than before.\nWhich call of "
            "yours makes another device current, and which one comes back to the first?");
    for (const auto& stream : streams) stream->wait();
    for (int device = 0; device < devices; ++device) {
        const On its(device);
        const auto d = static_cast<std::size_t>(device);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        INFO("the results of device " << device);
        CHECK_THAT(
            *ys[d],
            grading::CloseTo(expected[d], {.absolute = 3e-7 * (length + 2)})
                .when(grading::equals(of_own_part[d]),
                      "Only the own part counts here. Which kernels multiply with the "
                      "parts that arrive?")
                .when(grading::equals(of_others[d]),
                      "The own part is missing here. Which kernel multiplies with it?")
                .when(grading::not_a_number(),
                      "Was each part that a kernel reads copied to where it reads?"));
        CHECK_THAT(*own[d], grading::Unchanged());
    }
    if (!instrumented.countable || devices == 1) return;
    CHECK_THAT(instrumented, grading::WaitsForNothing("Streams can wait for each other."));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    check_order(instrumented, shares, static_cast<std::size_t>(devices));
}

}  // namespace

TEST_CASE("multiplies the own part while others arrive") {
    if (all_devices() < 2) return;  // one GPU
    check_product(2, 50, 40);
}

TEST_CASE("works for any number of devices") {
    for (int devices = 1; devices <= all_devices(); ++devices)
        check_product(devices, 33, 17);
}

TEST_CASE("handles any number of rows and columns") {
    for (const std::size_t rows : grading::sizes({1, 31, 32, 33, 129}, 1, 300))
        for (const unsigned width : {1u, 7u, 64u})
            check_product(all_devices(), static_cast<unsigned>(rows), width);
}
