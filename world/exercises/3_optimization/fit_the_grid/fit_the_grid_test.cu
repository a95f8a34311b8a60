#include "exercises/3_optimization/fit_the_grid/fit_the_grid.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"3_optimization", "fit_the_grid"};

namespace {

__global__ void nothing() {}

int multiprocessors() {
    int count = 0;
    REQUIRE_THAT(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0),
                 grading::Succeeds());
    return count;
}

/// Of one SM. The CPU device assumes the same number of registers for all kernels.
std::size_t resident(int threads, std::size_t shared_bytes) {
    int blocks = 0;
    REQUIRE_THAT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, threads,
                                                               shared_bytes),
                 grading::Succeeds());
    return static_cast<std::size_t>(blocks);
}

struct Call {
    std::size_t n;
    int table_size;
    int threads;
    int sms = 16;  // of the device that the CPU device models
};

void check_launch(const Call& call, const grading::Instrumented& instrumented) {
    if (!instrumented.countable) return;
    REQUIRE_THAT(instrumented, grading::LaunchesExactly(call.n == 0 ? 0 : 1));
    if (call.n == 0) return;
    const warpwise::LaunchCounts& launch = instrumented.launches[0];
    const auto threads = static_cast<unsigned>(call.threads);
    CHECK_THAT(instrumented, grading::EveryLaunchHas({0, 1, 1}, {threads, 1, 1}));
    const std::size_t bytes = static_cast<std::size_t>(call.table_size) * sizeof(float);
    if (launch.shared_bytes != bytes) {
        FAIL("a block has "
             << launch.shared_bytes << " bytes of shared memory; the table of "
             << grading::counted(call.table_size, "float") << " has " << bytes
             << " bytes.\nWhich argument of the launch is that, and what does it "
                "count?");
    }
    const std::size_t needed = (call.n + threads - 1) / threads;
    const std::size_t per_sm = resident(call.threads, bytes);
    const std::size_t fit = per_sm * static_cast<std::size_t>(multiprocessors());
    const std::size_t expected = std::min(needed, fit);
    if (launch.blocks == expected) return;
    std::string text =
        "the launch has " + grading::counted(launch.blocks, "block") + ", should have " +
        std::to_string(expected) + "\nthe work needs " + grading::counted(needed, "block") +
        "; one of the " + std::to_string(multiprocessors()) + " SMs holds " +
        std::to_string(per_sm) + " of them, all SMs hold " + std::to_string(fit);
    const std::size_t without_shared =
        resident(call.threads, 0) * static_cast<std::size_t>(multiprocessors());
    if (launch.blocks == needed) {
        text +=
            "\nThese are all the blocks that the work needs. How many of them are "
            "resident?";
    } else if (launch.blocks == fit) {
        text += "\nThese are as many blocks as fit. How many of them have something to do?";
    } else if (launch.blocks == std::min(needed, per_sm)) {
        text += "\nThese are the blocks of one SM. How many SMs does the device have?";
    } else if (launch.blocks == std::min(needed, without_shared)) {
        text +=
            "\nThese are as many blocks as would fit without dynamic shared memory. How "
            "much of it does a block have?";
    } else if (launch.blocks == std::min(needed, per_sm * 16)) {
        text +=
            "\nThese are the blocks of a device with 16 SMs. How many does this one have?";
    } else if (launch.blocks == static_cast<std::size_t>(multiprocessors())) {
        text += "\nThis is one block per SM. How many does an SM hold?";
    } else {
        text += "\nHow many blocks does the work need, and how many are resident?";
    }
    FAIL(text);
}

/// Checks the translation and the launch, and returns what the kernel did.
grading::Instrumented check_translation(const Call& call) {
#ifdef __CPU_DEVICE__
    cpu_device::set_multiprocessors(call.sms);
#endif
    INFO(grading::counted(call.n, "code")
         << ", a table of " << grading::counted(call.table_size, "float") << ", blocks of "
         << grading::counted(call.threads, "thread") << ", " << multiprocessors()
         << " SMs");
    const std::vector<float> table =
        grading::random_floats(static_cast<std::size_t>(call.table_size), 1);
    const std::vector<int> codes = grading::random_ints(call.n, 0, call.table_size - 1, 2);
    std::vector<double> expected;
    for (const int code : codes) expected.push_back(table[static_cast<std::size_t>(code)]);
    const grading::Guarded<float> d_table(table);
    const grading::Guarded<int> d_codes(codes);
    grading::Guarded<float> d_out(call.n);
    const grading::Instrumented instrumented = grading::instrument([&] {
        translate(d_table.data(), call.table_size, d_codes.data(), d_out.data(),
                  static_cast<int>(call.n), call.threads);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const std::size_t launched =
        instrumented.launches.size() == 1
            ? instrumented.launches[0].blocks * static_cast<std::size_t>(call.threads)
            : 0;
    CHECK_THAT(
        d_out,
        grading::EqualTo(expected).when(
            [=](const grading::MismatchedArray& mismatch) {
                return launched > 0 && grading::only_first_right(launched)(mismatch);
            },
            "The first " + std::to_string(launched) + " are right, and the launch has " +
                grading::counted(launched, "thread") +
                ". How does a thread go on after its first code?"));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_table, grading::Unchanged());
    CHECK_THAT(d_codes, grading::Unchanged());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    check_launch(call, instrumented);
    if (call.n > 0) {
        CHECK_THAT(d_out, grading::WrittenOnce());
        if (instrumented.countable) {
            const std::size_t threads =
                instrumented.launches[0].blocks * static_cast<std::size_t>(call.threads);
            CHECK_THAT(d_out, grading::WrittenByThreads(std::min(call.n, threads)));
        }
    }
#ifdef __CPU_DEVICE__
    cpu_device::set_multiprocessors(16);
#endif
    return instrumented;
}

}  // namespace

TEST_CASE("translates any number of codes") {
    for (const std::size_t n : grading::sizes({1, 31, 32, 33, 255, 257, 10'007}, 3, 50'000))
        check_translation({n, 1000, 256});
}

TEST_CASE("launches nothing for no codes") { check_translation({0, 1000, 256}); }

TEST_CASE("launches no more blocks than the work needs") {
    check_translation({256, 100, 256});
    check_translation({257, 100, 256});
    check_translation({1000, 100, 1});
    check_translation({1000, 12'288, 1024});
    check_translation({1001, 12'288, 100});
}

TEST_CASE("launches as many blocks as are resident") {
    for (const int threads : {32, 128, 500, 1024})
        check_translation({34'000, 100, threads});
}

TEST_CASE("counts the dynamic shared memory of a block") {
    for (const int table_size : {1, 3000, 12'288})
        check_translation({34'000, table_size, 128});
    check_translation(
        {34'000, static_cast<int>(grading::random_size(2000, 12'288, 5)), 160});
}

TEST_CASE("works on devices with any number of SMs") {
    for (const int sms : {1, 3}) check_translation({40'009, 5000, 256, sms});
    check_translation({84'001, 5000, 256, 40});
    check_translation({20'011, 300, 128, static_cast<int>(grading::random_size(2, 60, 6))});
}

TEST_CASE("reads the table once per block") {
    const Call call = {50'000, 6000, 256};
    const grading::Instrumented instrumented = check_translation(call);
    if (!instrumented.countable) return;
    const auto blocks = static_cast<double>(instrumented.launches[0].blocks);
    const double least = 2.0 * sizeof(float) * static_cast<double>(call.n) +
                         blocks * call.table_size * sizeof(float);
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(1.2 * least));
    CHECK_THAT(instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    CHECK_THAT(instrumented, grading::UsesSharedMemory());
}
