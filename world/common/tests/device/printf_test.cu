// printf of kernels: in which order, and when, its output comes.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

/// What comes out of standard output while `body` runs.
std::string printed_by(const std::function<void()>& body) {
    std::fflush(stdout);
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    body();
    std::fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    std::string text;
    std::rewind(file);
    for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

/// "0 1 2 ", for the lanes of a warp for which `chosen(lane)` holds, with `name` ahead of each.
std::string of_lanes(
    const std::string& name, const std::function<bool(int)>& chosen = [](int) { return true; }) {
    std::string text;
    for (int lane = 0; lane < 32; ++lane) {
        if (chosen(lane)) text += name + std::to_string(lane) + " ";
    }
    return text;
}

template <class Kernel>
std::string printed_by_kernel(Kernel kernel, int blocks = 1, int threads = 32) {
    return printed_by([=] {
        kernel<<<blocks, threads>>>();
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
    });
}

__global__ void print_once() { printf("a%d ", static_cast<int>(threadIdx.x)); }

__global__ void print_twice() {
    printf("a%d ", static_cast<int>(threadIdx.x));
    printf("b%d ", static_cast<int>(threadIdx.x));
}

__global__ void print_either() {
    if (threadIdx.x % 2 == 0) {
        printf("a%d ", static_cast<int>(threadIdx.x));
    } else {
        printf("b%d ", static_cast<int>(threadIdx.x));
    }
    printf("c%d ", static_cast<int>(threadIdx.x));
}

__global__ void print_by_few() {
    if (threadIdx.x >= 16) printf("a%d ", static_cast<int>(threadIdx.x));
    printf("b%d ", static_cast<int>(threadIdx.x));
}

__global__ void print_in_a_loop() {
    for (unsigned i = 0; i < threadIdx.x % 4; ++i) printf("a%d ", static_cast<int>(threadIdx.x));
    printf("b%d ", static_cast<int>(threadIdx.x));
}

__global__ void print_around_a_barrier() {
    printf("a");
    __syncthreads();
    printf("b");
}

__global__ void print_lines() {
    printf("first\n");
    printf("%s\n", "second");
    printf("%c", 'x');
}

__global__ void print_blocks() {
    if (threadIdx.x == 0) printf("%u ", blockIdx.x);
}

}  // namespace

TEST_CASE("lanes of a warp print in their order") { CHECK(printed_by_kernel(print_once) == of_lanes("a")); }

TEST_CASE("a warp finishes one printf before the next") {
    CHECK(printed_by_kernel(print_twice) == of_lanes("a") + of_lanes("b"));
}

TEST_CASE("lanes that come from different sides of an if print on together") {
    const std::string even = of_lanes("a", [](int lane) { return lane % 2 == 0; });
    const std::string odd = of_lanes("b", [](int lane) { return lane % 2 != 0; });
    const std::string text = printed_by_kernel(print_either);
    CHECK((text == even + odd + of_lanes("c") || text == odd + even + of_lanes("c")));
    const std::string few = of_lanes("a", [](int lane) { return lane >= 16; });
    CHECK(printed_by_kernel(print_by_few) == few + of_lanes("b"));
}

TEST_CASE("lanes that leave a loop wait for the others before they print on") {
    std::string expected;
    for (int round = 0; round < 3; ++round) {
        expected += of_lanes("a", [=](int lane) { return lane % 4 > round; });
    }
    CHECK(printed_by_kernel(print_in_a_loop) == expected + of_lanes("b"));
}

TEST_CASE("what a block prints ahead of a barrier comes first") {
    CHECK(printed_by_kernel(print_around_a_barrier, 1, 96) == std::string(96, 'a') + std::string(96, 'b'));
}

TEST_CASE("lines and characters that are printed as they are keep their place") {
    CHECK(printed_by_kernel(print_lines, 1, 2) == "first\nfirst\nsecond\nsecond\nxx");
}

TEST_CASE("what a kernel prints comes when the host waits, launches again, or resets the device") {
    int* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, sizeof(int)) == cudaSuccess);
    const auto wait = [](const std::function<void()>& how) {
        return printed_by([&] {
            print_blocks<<<1, 32>>>();
            std::printf("launched ");
            how();
            std::printf("waited ");
        });
    };
    CHECK(wait([] { cudaDeviceSynchronize(); }) == "launched 0 waited ");
    CHECK(wait([] { cudaStreamSynchronize(nullptr); }) == "launched 0 waited ");
    CHECK(wait([=] {
              int value = 0;
              cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
          }) == "launched 0 waited ");
    CHECK(cudaFree(memory) == cudaSuccess);
}

#ifdef __CPU_DEVICE__
TEST_CASE("blocks print in their order, and warps in theirs") {
    std::string expected;
    for (int block = 0; block < 3000; ++block) expected += std::to_string(block) + " ";
    CHECK(printed_by_kernel(print_blocks, 3000, 64) == expected);
    expected.clear();
    for (int thread = 0; thread < 100; ++thread) expected += "a" + std::to_string(thread) + " ";
    CHECK(printed_by_kernel(print_once, 1, 100) == expected);
}

TEST_CASE("a launch shows what the one before it has printed") {
    const auto two = [] {
        print_once<<<1, 2>>>();
        print_blocks<<<1, 32>>>();
    };
    CHECK(printed_by(two) == "a0 a1 ");
    CHECK(printed_by([] { CHECK(cudaDeviceSynchronize() == cudaSuccess); }) == "0 ");
}
#endif
