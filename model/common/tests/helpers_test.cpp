#include <algorithm>
#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/timer.h"
#include "common/tests/device_or_skip.h"

using namespace warpwise;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string message_of_failed_check() {
    try {
        check(cudaErrorInvalidValue);  // this line is quoted
    } catch (const CudaError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a failed call says where it stands and what went wrong") {
    const std::string message = message_of_failed_check();
    CHECK_THAT(message, ContainsSubstring("helpers_test.cpp:"));
    CHECK_THAT(message, ContainsSubstring("in message_of_failed_check"));
    CHECK_THAT(message, ContainsSubstring("cudaErrorInvalidValue"));
    CHECK_THAT(message, ContainsSubstring("invalid argument"));
    CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("a failed call quotes its source line where the file can be read") {
    const CudaError quoted(cudaErrorInvalidValue, {__FILE__, 1, "f"});
    if (std::string(quoted.what()).find("#include <algorithm>") == std::string::npos) {
        SKIP("the source file is not where it was compiled");
    }
    const CudaError no_such_file(cudaErrorInvalidValue, {"no/such/file.cu", 3, "f"});
    CHECK_THAT(no_such_file.what(), ContainsSubstring("no/such/file.cu:3: in f: cudaErrorInvalidValue"));
    const CudaError no_such_line(cudaErrorInvalidValue, {__FILE__, 1000000, "f"});
    CHECK_THAT(no_such_line.what(), ContainsSubstring("in f: cudaErrorInvalidValue"));
}

TEST_CASE("an error carries its code") {
    try {
        check(cudaErrorMemoryAllocation);
        FAIL("nothing was thrown");
    } catch (const CudaError& error) {
        CHECK(error.code() == cudaErrorMemoryAllocation);
    }
    CHECK_NOTHROW(check(cudaSuccess));
}

TEST_CASE("a call that was refused is seen by check_launch") {
    device_or_skip();
    REQUIRE(cudaMemcpy(nullptr, nullptr, 1, static_cast<cudaMemcpyKind>(99)) != cudaSuccess);
    CHECK_THROWS_AS(check_launch(), CudaError);
    CHECK_NOTHROW(check_launch());  // seen and forgotten
    CHECK_NOTHROW(check_finished());
}

TEST_CASE("a buffer gives back what was uploaded") {
    device_or_skip();
    const std::vector<int> values = {1, 2, 3};
    DeviceBuffer<int> buffer(values);
    CHECK(buffer.size() == 3);
    CHECK(buffer.bytes() == 12);
    CHECK(buffer.download() == values);
    buffer.upload({4, 5, 6});
    CHECK(std::as_const(buffer).download() == std::vector<int>{4, 5, 6});
}

TEST_CASE("a buffer of no elements is allowed") {
    DeviceBuffer<float> buffer(0);
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.download().empty());
    CHECK_NOTHROW(buffer.upload({}));
    CHECK_NOTHROW(buffer.fill_bytes(0));
    CHECK(DeviceBuffer<float>().size() == 0);
}

TEST_CASE("a buffer filled with 0xFF bytes holds NaN or -1") {
    device_or_skip();
    DeviceBuffer<float> floats(3);
    floats.fill_bytes(0xFF);
    for (const float value : floats.download()) CHECK(std::isnan(value));
    DeviceBuffer<int> integers(2);
    integers.fill_bytes(0xFF);
    CHECK(integers.download() == std::vector<int>{-1, -1});
}

TEST_CASE("moving a buffer moves the memory") {
    device_or_skip();
    DeviceBuffer<int> first(std::vector<int>{1, 2});
    const int* memory = first.data();
    DeviceBuffer<int> second(std::move(first));
    CHECK(second.data() == memory);
    DeviceBuffer<int> third(std::vector<int>{7});
    third = std::move(second);
    CHECK(third.data() == memory);
    CHECK(third.download() == std::vector<int>{1, 2});
}

TEST_CASE("an upload of the wrong size is refused") {
    device_or_skip();
    DeviceBuffer<int> buffer(2);
    CHECK_THROWS_AS(buffer.upload({1, 2, 3}), std::invalid_argument);
}

TEST_CASE("more memory than there is gives the allocation error") {
    try {
        DeviceBuffer<double> buffer(std::numeric_limits<std::size_t>::max() / 4);
        FAIL("nothing was thrown");
    } catch (const CudaError& error) {
        CHECK(error.code() == cudaErrorMemoryAllocation);
        CHECK_THAT(error.what(), ContainsSubstring("helpers_test.cpp"));
    }
}

TEST_CASE("division rounds up without overflow") {
    STATIC_REQUIRE(ceil_div(0, 256) == 0);
    STATIC_REQUIRE(ceil_div(1, 256) == 1);
    STATIC_REQUIRE(ceil_div(256, 256) == 1);
    STATIC_REQUIRE(ceil_div(257, 256) == 2);
    STATIC_REQUIRE(ceil_div(std::numeric_limits<std::size_t>::max(), 2) == (std::size_t{1} << 63));
}

TEST_CASE("a grid has at least one block and at most as many as a GPU takes") {
    CHECK(blocks_for(0, 256) == 1);
    CHECK(blocks_for(256, 256) == 1);
    CHECK(blocks_for(257, 256) == 2);
    CHECK(blocks_for(std::size_t{0x7FFFFFFF} * 32, 32) == 0x7FFFFFFF);
    CHECK_THROWS_AS(blocks_for(std::size_t{0x7FFFFFFF} * 32 + 1, 32), std::length_error);
}

TEST_CASE("a grid for a matrix has x along the columns") {
    const dim3 grid = blocks_for_matrix(100, 33, dim3(32, 8));
    CHECK(grid.x == 2);
    CHECK(grid.y == 13);
    CHECK(grid.z == 1);
    const dim3 empty = blocks_for_matrix(0, 0, dim3(32, 8));
    CHECK(empty.x == 1);
    CHECK(empty.y == 1);
    CHECK_THROWS_AS(blocks_for_matrix(65536, 1, dim3(32, 1)), std::length_error);
}

TEST_CASE("a parallel loop covers every element once") {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1'000'003}}) {
        std::vector<unsigned char> visits(count);
        parallel_for(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        CHECK(std::count(visits.begin(), visits.end(), 1) == static_cast<std::ptrdiff_t>(count));
    }
}

TEST_CASE("a parallel loop with more parts than elements leaves the rest empty") {
    std::atomic<int> calls = 0;
    std::atomic<int> single = 0;  // Catch2 takes assertions of one thread at a time
    parallel_for_parts(3, 8, [&](std::size_t part, std::size_t begin, std::size_t end) {
        ++calls;
        if (part == begin && end == begin + 1) ++single;
    });
    CHECK(calls == 3);
    CHECK(single == 3);
}

TEST_CASE("an exception in a parallel loop reaches the caller") {
    CHECK_THROWS_AS(parallel_for_parts(4, 4,
                                       [](std::size_t part, std::size_t, std::size_t) {
                                           if (part == 2) throw std::out_of_range("part 2");
                                       }),
                    std::out_of_range);
}

TEST_CASE("the host timer measures time that passes") {
    const HostTimer timer;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(timer.seconds() >= 0.02);
    CHECK(HostTimer::resolution() > 0);
    CHECK(HostTimer::resolution() < 1e-3);
}

TEST_CASE("the device timer measures no negative time") {
    device_or_skip();
    DeviceTimer timer;
    timer.start();
    timer.stop();
    CHECK(timer.seconds() >= 0);
    CHECK(timer.seconds() < 1);
}
