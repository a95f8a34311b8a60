// Kernels whose machine code was recorded, and what the time model takes from it.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/code/json.h"
#include "common/code/recorded.h"
#include "common/model/model.h"

using namespace warpwise::code;
using warpwise::model::LaunchFacts;
using warpwise::model::Pipe;

namespace {

/// A loop of a load, a product, an integer product, and a comparison.
KernelCode kernel(const char* name, const char* file) {
    KernelCode code;
    code.name = name;
    code.registers = 40;
    code.lines = {{file, 1}, {file, 2}};
    code.blocks = {
        {{{0, 0x119, 0, false, 1}}, {1}},
        {{{1, 0x181, 4, false, 1}, {1, 0x020, 0, false, 1}, {1, 0x024, 0, false, 1}, {1, 0x00c, 0, false, 1}}, {1, 2}},
        {{{0, 0x14d, 0, false, 1}}, {}, true}};
    return code;
}

/// The file is read when a kernel is looked for the first time, so all is in one place.
void record() {
    static const bool done = [] {
        const auto file = std::filesystem::temp_directory_path() /
                          ("recorded_test_" + std::to_string(std::rand()) + "_" + std::to_string(getpid()));
        auto json = record_of({kernel("current()", WARPWISE_SOURCE "/README.md"),
                               kernel("changed()", WARPWISE_SOURCE "/LICENSE"), kernel("elsewhere()", "/tmp/x.cu")},
                              WARPWISE_SOURCE, "nvcc");
        json.at("files").at("LICENSE") = "0123456789abcdef";
        std::ofstream(file) << json;
        setenv("WARPWISE_MACHINE_CODE", file.c_str(), 1);
        recorded_kernel({"current()"});
        std::filesystem::remove(file);
        return true;
    }();
    CHECK(done);
}

LaunchFacts launch_of(const char* function, const char* file) {
    LaunchFacts facts;
    facts.known = true;
    facts.blocks = 10;
    facts.threads = 64;
    facts.registers = 99;
    facts.instructions.fill(1);
    facts.seen.functions = {"main", function};
    SeenLine& body = facts.seen.lines[{file, 2}];
    body.times = 20 * 50;
    body[Counted::load_global] = 4 * 20 * 50;
    facts.seen.lines[{file, 1}].times = 20;
    return facts;
}

}  // namespace

TEST_CASE("finds the machine code of a kernel by its name, unless its source has changed") {
    record();
    REQUIRE(recorded_kernel({"nothing()", "current()"}) != nullptr);
    CHECK(recorded_kernel({"current()"})->registers == 40);
    CHECK(recorded_kernel({"elsewhere()"}) != nullptr);
    CHECK(recorded_kernel({"changed()"}) == nullptr);
    CHECK(recorded_kernel({}) == nullptr);
}

TEST_CASE("the model takes instructions and registers from the machine code") {
    record();
    const LaunchFacts facts = warpwise::model::with_machine_code(launch_of("current()", "/home/me/warpwise/README.md"));
    const auto of = [&](Pipe pipe) { return facts.instructions[static_cast<std::size_t>(pipe)]; };
    CHECK(facts.code_is_known);
    CHECK(facts.registers == 40);
    CHECK_FALSE(facts.registers_are_estimated);
    constexpr double warps = 20;
    CHECK(of(Pipe::memory) == warps * 50);
    CHECK(of(Pipe::fp32) == warps * 100);  // the integer product, too
    CHECK(facts.integer_products == warps * 50);
    CHECK(of(Pipe::integer) == warps * 50);
    CHECK(facts.all_instructions() == warps * (1 + 4 * 50 + 1));
    CHECK(facts.seen.lines.empty());
}

TEST_CASE("the model keeps its estimate of a kernel that nobody recorded") {
    record();
    const LaunchFacts facts = warpwise::model::with_machine_code(launch_of("changed()", "/home/me/warpwise/LICENSE"));
    CHECK_FALSE(facts.code_is_known);
    CHECK(facts.registers == 99);
    CHECK(facts.all_instructions() == warpwise::model::kPipes);
}

TEST_CASE("the model does not take a kernel for another file's of the same name") {
    record();
    CHECK_FALSE(warpwise::model::with_machine_code(launch_of("current()", "/home/me/mine.cu")).code_is_known);
}

TEST_CASE("the model keeps the number of registers that somebody said") {
    record();
    LaunchFacts facts = launch_of("current()", "/home/me/warpwise/README.md");
    facts.registers_are_estimated = false;
    facts = warpwise::model::with_machine_code(facts);
    CHECK(facts.code_is_known);
    CHECK(facts.registers == 99);
}

TEST_CASE("the machine code in common/code/recorded is that of today's sources") {
    const std::filesystem::path root = WARPWISE_SOURCE;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root / "common/code/recorded")) {
        std::ifstream stream(entry.path());
        const auto json = nlohmann::ordered_json::parse(stream);
        for (const auto& [source, recorded] : json.at("files").items()) {
            INFO(source << " has changed since common/code/record.sh wrote " << entry.path().filename());
            CHECK(fingerprint(root / source) == recorded.get<std::string>());
            ++files;
        }
    }
    CHECK(files > 100);
}

TEST_CASE("a comment does not change the fingerprint of a file, code and line breaks do") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("recorded_test_" + std::to_string(getpid()) + ".cu");
    const auto of = [&](const char* text) {
        std::ofstream(file) << text;
        return fingerprint(file);
    };
    const std::string before = of("int a;  // one\n// two\nint b;\n");
    CHECK(of("int a;\n// three words more\nint b;  \n") == before);
    CHECK(of("int a;\nint b;\n") != before);
    CHECK(of("int a;\n\nint c;\n") != before);
    std::filesystem::remove(file);
    CHECK(fingerprint(file).empty());
}
