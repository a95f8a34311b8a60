// The arithmetic of the time model: for each limiter a launch that it names, and the data files of GPUs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "common/model/json.h"
#include "common/model/model.h"

using namespace warpwise::model;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

namespace {

/// Enough blocks of 256 threads for many waves, and nothing that they do.
LaunchFacts idle_launch() {
    LaunchFacts facts;
    facts.known = true;
    facts.blocks = 132 * 8 * 20;
    facts.threads = 256;
    facts.registers = 32;
    return facts;
}

double& instructions(LaunchFacts& facts, Pipe pipe) { return facts.instructions[static_cast<std::size_t>(pipe)]; }
double& chain(LaunchFacts& facts, Latency latency) { return facts.chain[static_cast<std::size_t>(latency)]; }

/// Reads an array of so many sectors once, `again` times more in all.
void read_array(LaunchFacts& facts, double sectors, double again = 0) {
    Footprint array;
    array.bytes = sectors * 32;
    array.load_sectors = sectors * (1 + again);
    array.unique_sectors = sectors;
    array.unique_pairs = sectors / 2;
    facts.arrays.push_back(array);
    facts.load_requests += sectors * (1 + again) / 4;
    facts.load_bytes += sectors * (1 + again) * 32;
}

Limiter limiter_of(const LaunchFacts& facts) { return estimate(facts, load_gpu("H200")).limiter; }

}  // namespace

TEST_CASE("names DRAM bandwidth for a large array that is read once") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e8);
    const Estimate modeled = estimate(facts, load_gpu("H100"));
    CHECK(modeled.limiter == Limiter::dram);
    CHECK_THAT(modeled.dram_bytes, WithinRel(3.2e9, 0.01));
    CHECK(modeled.seconds > 3.2e9 / 3.35e12);
}

TEST_CASE("names L2 bandwidth or DRAM bandwidth on an H200, whose L2 is as busy with such an array") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e8);
    const Estimate modeled = estimate(facts, load_gpu("H200"));
    CHECK((modeled.limiter == Limiter::l2 || modeled.limiter == Limiter::dram));
    CHECK((modeled.runner_up == Limiter::l2 || modeled.runner_up == Limiter::dram));
    CHECK(modeled.seconds > 3.2e9 / 4.8e12);
}

TEST_CASE("names L2 bandwidth for data that L2 holds and all blocks read again") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 3e5, 300);
    CHECK(limiter_of(facts) == Limiter::l2);
}

TEST_CASE("names the pipe that has the most to do") {
    const std::pair<Pipe, Limiter> pipes[] = {
        {Pipe::fp64, Limiter::fp64}, {Pipe::special, Limiter::special}, {Pipe::integer, Limiter::integer}};
    for (const auto& [pipe, limiter] : pipes) {
        LaunchFacts facts = idle_launch();
        facts.code_is_known = true;  // otherwise a part of integer arithmetic is on the FP32 pipe
        instructions(facts, pipe) = 1e10;
        CAPTURE(identifier_of(limiter));
        CHECK(limiter_of(facts) == limiter);
    }
}

TEST_CASE("names issue slots where no pipe is full") {
    LaunchFacts facts = idle_launch();
    instructions(facts, Pipe::fp32) = 3e9;
    instructions(facts, Pipe::integer) = 1e9;
    instructions(facts, Pipe::control) = 2e9;
    CHECK(limiter_of(facts) == Limiter::issue);
}

TEST_CASE("names FP32 where floats fill their pipe") {
    LaunchFacts facts = idle_launch();
    instructions(facts, Pipe::fp32) = 1e10;
    const Estimate modeled = estimate(facts, load_gpu("H200"));
    CHECK(modeled.parts[static_cast<std::size_t>(Limiter::fp32)] >=
          0.9 * modeled.parts[static_cast<std::size_t>(modeled.limiter)]);
}

TEST_CASE("names shared memory where its wavefronts take longest") {
    LaunchFacts facts = idle_launch();
    facts.shared_wavefronts = 1e10;
    CHECK(limiter_of(facts) == Limiter::shared);
}

TEST_CASE("names L1 where requests touch many lines") {
    LaunchFacts facts = idle_launch();
    facts.l1_lines = 1e10;
    CHECK(limiter_of(facts) == Limiter::l1);
}

TEST_CASE("names latency for a long chain of loads in few warps") {
    LaunchFacts facts = idle_launch();
    facts.blocks = 1;
    facts.threads = 32;
    read_array(facts, 1e6);
    chain(facts, Latency::global) = 1e5;
    CHECK(limiter_of(facts) == Limiter::latency);
}

TEST_CASE("names atomics where all of them have one address") {
    LaunchFacts facts = idle_launch();
    facts.hottest_address = 1e8;
    CHECK(limiter_of(facts) == Limiter::atomics);
}

TEST_CASE("names atomics where most of what L2 has to do are atomics to few lines") {
    const auto seconds_of = [](double lines) {
        LaunchFacts facts = idle_launch();
        facts.global_atomic_sectors = 1e6;
        Footprint array;
        array.bytes = lines * 128;
        array.store_sectors = 1e6;
        array.unique_sectors = array.written_sectors = lines * 4;
        array.unique_pairs = lines * 2;
        facts.arrays.push_back(array);
        CHECK(limiter_of(facts) == Limiter::atomics);
        return estimate(facts, load_gpu("H200")).parts[static_cast<std::size_t>(Limiter::atomics)];
    };
    CHECK(seconds_of(8) > 1.5 * seconds_of(64));
    CHECK(seconds_of(1e6) == seconds_of(2e6));  // L2 can do no more at a time
}

TEST_CASE("integer products fill half of the FP32 pipe, if the machine code is known") {
    LaunchFacts facts = idle_launch();
    facts.code_is_known = true;
    instructions(facts, Pipe::fp32) = 1e10;
    const Gpu gpu = load_gpu("H200");
    const auto seconds = [&] { return estimate(facts, gpu).parts[static_cast<std::size_t>(Limiter::fp32)]; };
    const double of_floats = seconds();
    facts.integer_products = 1e10;
    CHECK_THAT(seconds(), WithinRel(2 * of_floats, 1e-9));
}

TEST_CASE("cycles between a warp's instructions are a part of latency, if the machine code is known") {
    LaunchFacts facts = idle_launch();
    facts.blocks = 1;
    facts.code_is_known = true;
    const Gpu gpu = load_gpu("H200");
    const auto seconds = [&] { return estimate(facts, gpu).parts[static_cast<std::size_t>(Limiter::latency)]; };
    const double before = seconds();
    chain(facts, Latency::issue) = 1e6;
    CHECK_THAT(seconds() - before, WithinRel(1e6 / gpu.clock_hz, 1e-9));
}

TEST_CASE("asks L2 once per SM for an array that fits into L1") {
    const auto seconds_of = [](double sectors) {
        LaunchFacts facts = idle_launch();
        read_array(facts, sectors, 3e8 / sectors);
        return estimate(facts, load_gpu("H200")).parts[static_cast<std::size_t>(Limiter::l2)];
    };
    CHECK(seconds_of(1e3) < 0.01 * seconds_of(1e5));
}

TEST_CASE("a warp that is alone on its SM uses one of the four schedulers") {
    const auto seconds_of = [](int threads) {
        LaunchFacts facts = idle_launch();
        facts.blocks = 132;
        facts.threads = threads;
        instructions(facts, Pipe::fp64) = 1e8;
        return estimate(facts, load_gpu("H200")).parts[static_cast<std::size_t>(Limiter::fp64)];
    };
    CHECK_THAT(seconds_of(32), WithinRel(4 * seconds_of(128), 1e-9));
}

TEST_CASE("names the launch overhead for a kernel that does next to nothing") {
    LaunchFacts facts = idle_launch();
    facts.blocks = 1;
    CHECK(limiter_of(facts) == Limiter::launch);
}

TEST_CASE("names PCIe for arrays in host memory") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e7);
    facts.arrays.front().in_host_memory = true;
    CHECK(limiter_of(facts) == Limiter::pcie);
    CHECK(estimate(facts, load_gpu("H200")).dram_bytes == 0);
}

TEST_CASE("reads from DRAM nothing that L2 still holds, unless the caches are cold") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e5);
    const Gpu gpu = load_gpu("H200");
    CHECK(estimate(facts, gpu).dram_bytes == 0);
    CHECK_THAT(estimate(facts, gpu, {.cold_caches = true}).dram_bytes, WithinRel(3.2e6, 0.01));
}

TEST_CASE("occupancy is that of the registers, not only of block and shared memory") {
    LaunchFacts facts = idle_launch();
    const Gpu gpu = load_gpu("H200");
    CHECK_THAT(estimate(facts, gpu).occupancy, WithinRel(1.0, 1e-9));
    facts.registers = 128;
    CHECK_THAT(estimate(facts, gpu).occupancy, WithinRel(0.25, 1e-9));
    facts.registers = 32;
    facts.shared_bytes = 100 * 1024;
    CHECK_THAT(estimate(facts, gpu).occupancy, WithinRel(0.25, 1e-9));
}

TEST_CASE("half as many loads in flight take longer where latency limits") {
    LaunchFacts facts = idle_launch();
    facts.blocks = 132;
    read_array(facts, 4e6);
    chain(facts, Latency::global) = 500;
    const double with_few = estimate(facts, load_gpu("H200")).seconds;
    chain(facts, Latency::global) = 125;
    CHECK(estimate(facts, load_gpu("H200")).seconds < 0.6 * with_few);
}

TEST_CASE("reads the data file of each GPU, the default first") {
    const std::vector<std::string> names = known_gpus();
    REQUIRE(names.size() >= 7);
    CHECK(names.front() == default_gpu);
    for (const std::string& name : names) {
        CAPTURE(name);
        const Gpu gpu = load_gpu(name);
        CHECK(gpu.name == name);
        CHECK(gpu.multiprocessors > 0);
        CHECK(gpu.dram_bytes_per_second < gpu.l2_bytes_per_second);
        CHECK(gpu.measured == (name == "H200" || name == "H100"));
        if (!gpu.measured) CHECK_THAT(gpu.note, ContainsSubstring("never measured"));
        LaunchFacts facts = idle_launch();
        read_array(facts, 1e8);
        const Limiter limiter = estimate(facts, gpu).limiter;
        CHECK((limiter == Limiter::dram || limiter == Limiter::l2));
    }
    CHECK(load_gpu("rtx 4090").name == "RTX_4090");
    CHECK_THROWS_WITH(load_gpu("H300"), ContainsSubstring("Known are: H200"));
}

TEST_CASE("the text names time, GPU, limiter, and runner-up, and marks itself as a model's") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e8);
    const Gpu gpu = load_gpu("H100");
    const std::string text = estimate(facts, gpu).text(gpu);
    CHECK(text.starts_with("~ "));
    CHECK_THAT(text, ContainsSubstring("on H100, limited by DRAM bandwidth ("));
    CHECK_THAT(text, ContainsSubstring("; next: "));
}

TEST_CASE("facts survive the way through JSON") {
    LaunchFacts facts = idle_launch();
    read_array(facts, 1e6, 2);
    chain(facts, Latency::shared) = 7;
    instructions(facts, Pipe::fp64) = 9;
    const Gpu gpu = load_gpu("H100");
    const Estimate before = estimate(facts, gpu);
    const Estimate after = estimate(facts_of(json_of(facts)), gpu);
    CHECK(before.seconds == after.seconds);
    CHECK(json_of(after, gpu).at("limiter") == identifier_of(before.limiter));
}
