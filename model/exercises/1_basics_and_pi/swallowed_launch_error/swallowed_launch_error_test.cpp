#include "exercises/1_basics_and_pi/swallowed_launch_error/swallowed_launch_error.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "swallowed_launch_error"};

namespace {

constexpr int threads_that_fit = 256;
constexpr int threads_too_many = 2048;  // a block may have 1024

/// An input of which `n` elements are picked, among them the first and the last one.
struct Request {
    explicit Request(int n_)
        : n(n_),
          input(grading::random_floats(
              grading::random_size(300, 3000, static_cast<std::uint64_t>(n_)))),
          index(grading::random_ints(static_cast<std::size_t>(n_), 0, size() - 1,
                                     static_cast<std::uint64_t>(n_))),
          d_input(input),
          d_index(with_both_ends()),
          d_output(static_cast<std::size_t>(n_)) {}

    int size() const { return static_cast<int>(input.size()); }

    const std::vector<int>& with_both_ends() {
        index.front() = 0;
        index.back() = size() - 1;
        return index;
    }

    std::vector<double> expected() const {
        std::vector<double> values;
        for (int i : index) values.push_back(input[static_cast<std::size_t>(i)]);
        return values;
    }

    cudaError_t run(int threads_per_block) {
        return pick_elements(d_input.data(), size(), d_index.data(), d_output.data(), n,
                             threads_per_block);
    }

    int n;
    std::vector<float> input;
    std::vector<int> index;
    grading::Guarded<float> d_input;
    grading::Guarded<int> d_index;
    grading::Guarded<float> d_output;
};

/// After the last launch the host calls something that blocks until the kernel has ended.
bool waits_for_the_kernel(const grading::Instrumented& instrumented) {
    if (instrumented.calls.empty()) return true;  // nobody could see the calls
    bool waited = false;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.function == "<<<>>>") waited = false;
        for (const char* blocking :
             {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize"}) {
            waited = waited || call.function == blocking;
        }
    }
    return waited;
}

}  // namespace

TEST_CASE("succeeds and picks the elements when all is well") {
    for (const std::size_t size : grading::sizes({1, 31, 32, 33, 1009}, 3, 20'000)) {
        const int n = static_cast<int>(size);
        INFO("n is " << n);
        Request request(n);
        cudaError_t status = cudaErrorUnknown;
        const grading::Instrumented instrumented =
            grading::instrument([&] { status = request.run(threads_that_fit); });
        CHECK_THAT(status, grading::Succeeds());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(request.d_output, grading::EqualTo(request.expected()));
        CHECK_THAT(request.d_output, grading::StaysInside());
        CHECK_THAT(request.d_input, grading::Unchanged());
        CHECK_THAT(request.d_index, grading::Unchanged());

        const unsigned blocks =
            static_cast<unsigned>(n + threads_that_fit - 1) / threads_that_fit;
        CHECK_THAT(instrumented, grading::LaunchesExactly(1));
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas({blocks, 1, 1}, {threads_that_fit, 1, 1}));
        CHECK_THAT(request.d_output, grading::WrittenByThreads(size));
        CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
        if (!waits_for_the_kernel(instrumented)) {
            FAIL_CHECK(
                "The function makes no call that waits for the kernel, so it returns "
                "before the kernel has ended.\nWhich call returns only when the kernel "
                "has ended?");
        }
    }
}

TEST_CASE("reports a launch that was refused") {
    for (const int threads_per_block : {threads_too_many, 1025, -32}) {
        Request request(4096);
        const cudaError_t status = request.run(threads_per_block);
        grading::forget_diagnostics();
        // CUDA 13 calls it an invalid value, CUDA 12 an invalid configuration.
        const bool refused =
            status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration;
        if (!refused) {
            FAIL_CHECK("The device refuses a launch with blocks of "
                       << grading::counted(threads_per_block, "thread")
                       << ", so the kernel never ran.\nBut the call "
                       << "returned " << grading::text_of(status)
                       << ".\nWhich runtime call tells after a launch whether it was "
                          "refused, and what does the same call return after that?");
        }
        cudaGetLastError();
    }
}

TEST_CASE("works again after a refused launch") {
    Request request(4096);
    const cudaError_t refused = request.run(threads_too_many);
    grading::forget_diagnostics();
    const cudaError_t pending = cudaPeekAtLastError();
    const cudaError_t status = request.run(threads_that_fit);
    if (status != cudaSuccess && status == refused && status == pending) {
        FAIL("The launch of the first call was refused, and the call returned "
             << grading::text_of(refused)
             << ".\nThe second call is in order, but it returned the same error: the first "
                "call had left it pending. cudaPeekAtLastError tells the error and leaves "
                "it pending.\nWhich call tells the error and takes it away?");
    }
    INFO("the second call is in order, and only the first one was refused");
    CHECK_THAT(status, grading::Succeeds());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(request.d_output, grading::EqualTo(request.expected()));
}

TEST_CASE("does not lose an error from before the call") {
    Request request(100);
    cudaSetDevice(
        9999);  // somebody's mistake, made without looking at what the call returned
    grading::forget_diagnostics();
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    const cudaError_t status = request.run(threads_that_fit);
    if (status != cudaErrorInvalidDevice) {
        FAIL_CHECK(
            "cudaErrorInvalidDevice was pending before the call, and the call returned "
            << grading::text_of(status)
            << ".\nSo nobody learns of the mistake that was made before.\nWhich of your "
               "calls "
               "takes the pending error, and what becomes of it?");
    }
    grading::finish();
}

// Stays last: after a kernel died the device works no more for this program.
TEST_CASE("reports a kernel that died") {
    Request request(700);
    std::vector<int> index = request.index;
    index[grading::random_size(512, 699)] =
        request.size();  // one past the end of the input: the kernel traps
    grading::Guarded<int> d_index(index);
    const cudaError_t status =
        pick_elements(request.d_input.data(), request.size(), d_index.data(),
                      request.d_output.data(), request.n, threads_that_fit);
    const cudaError_t lasting = cudaDeviceSynchronize();
    grading::forget_diagnostics();
    if (status == cudaSuccess) {
        FAIL_CHECK(
            "The launch was accepted, but the kernel died while it ran. The call returned "
            "cudaSuccess.\nWho waits for the kernel to end, and what does that call "
            "return?");
    } else if (status != lasting) {
        FAIL_CHECK("The kernel died of "
                   << grading::text_of(lasting) << ", but the call returned "
                   << grading::text_of(status)
                   << ".\nWhich call returns the error of the kernel?");
    }
}
