#include "exercises/1_basics_and_pi/swallowed_launch_error/swallowed_launch_error.h"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

const grading::Exercise grading::exercise{"1_basics_and_pi", "swallowed_launch_error"};

namespace {

constexpr int threads_that_fit = 256;
constexpr int threads_too_many = 2048;  // a block may have 1024

/// Ten elements of which `n` are picked, backwards and over again.
struct Request {
    explicit Request(int n_) : n(n_), d_input(input), d_index(indices(n_)), d_output(static_cast<std::size_t>(n_)) {}

    static std::vector<int> indices(int n) {
        std::vector<int> index;
        for (int i = 0; i < n; ++i) index.push_back(9 - i % 10);
        return index;
    }

    std::vector<double> expected() const {
        std::vector<double> values;
        for (int index : indices(n)) values.push_back(input[static_cast<std::size_t>(index)]);
        return values;
    }

    cudaError_t run(int threads_per_block) {
        return pick_elements(d_input.data(), 10, d_index.data(), d_output.data(), n, threads_per_block);
    }

    int n;
    std::vector<float> input{0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
    grading::Guarded<float> d_input;
    grading::Guarded<int> d_index;
    grading::Guarded<float> d_output;
};

}  // namespace

TEST_CASE("succeeds and picks the elements when all is well") {
    for (int n : {1, 31, 32, 33, 1009}) {
        CAPTURE(n);
        Request request(n);
        CHECK_THAT(request.run(threads_that_fit), grading::Succeeds());
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(request.d_output, grading::EqualTo(request.expected()));
        CHECK_THAT(request.d_output, grading::StaysInside());
    }
}

TEST_CASE("reports a launch that was refused") {
    Request request(4096);
    const cudaError_t status = request.run(threads_too_many);
    grading::forget_findings();
    INFO("a block of 2048 threads is refused: the kernel never ran, and cudaGetLastError says so");
    // CUDA 13 calls it an invalid value, CUDA 12 an invalid configuration.
    const bool refused = status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration;
    INFO("the call returned " << grading::text_of(status));
    CHECK(refused);
}

TEST_CASE("works again after a refused launch") {
    Request request(4096);
    request.run(threads_too_many);
    grading::forget_findings();
    const cudaError_t status = request.run(threads_that_fit);
    INFO("the second call is in order; cudaGetLastError also takes the error away, cudaPeekAtLastError leaves it");
    CHECK_THAT(status, grading::Succeeds());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(request.d_output, grading::EqualTo(request.expected()));
}

TEST_CASE("does not lose an error from before the call") {
    Request request(100);
    cudaSetDevice(9999);  // somebody's mistake, made without looking at what the call returned
    grading::forget_findings();
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    const cudaError_t status = request.run(threads_that_fit);
    INFO("cudaErrorInvalidDevice was pending before the call; who clears it without telling hides a mistake");
    CHECK(status == cudaErrorInvalidDevice);
    grading::finish();
}

// Stays last: after a kernel died the device works no more for this program.
TEST_CASE("reports a kernel that died") {
    Request request(100);
    std::vector<int> index = Request::indices(100);
    index[50] = 10;  // one past the end of the input: the kernel traps
    grading::Guarded<int> d_index(index);
    const cudaError_t status =
        pick_elements(request.d_input.data(), 10, d_index.data(), request.d_output.data(), request.n, threads_that_fit);
    cudaDeviceSynchronize();
    grading::forget_findings();
    INFO("the launch was in order, the kernel stopped later. Who waits for the kernel to end?");
    CHECK(status != cudaSuccess);
}
