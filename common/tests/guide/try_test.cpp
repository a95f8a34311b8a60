// `warpwise try` without building anything: what it refuses, the commands it would run, what it makes of compilers'
// messages, and the table of counters. Whole programs are tried in common/tests/try_programs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/guide/compile_commands.h"
#include "common/guide/try_build.h"
#include "common/guide/try_messages.h"
#include "common/guide/try_program.h"
#include "common/guide/try_support/kernel_table.h"
#include "common/guide/try_support/launch_groups.h"
#include "common/lesson/refusal.h"

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using guide::BuildMessage;

const guide::MessagePlaces places = {"/home/me/work/add.cu",
                                     "add.cu",
                                     "/home/me/work",
                                     {"/opt/warpwise/include", "/opt/warpwise/build/unsupported_headers"}};

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "warpwise-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const fs::path& path() const { return path_; }
    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }

private:
    fs::path path_;
};

/// The words of a refusal; empty when there is none.
std::string refusal_of(const TemporaryFolder& folder, guide::TryOptions options) {
    guide::Project project;
    project.root = folder.path() / "warpwise";
    project.caller = folder.path();
    try {
        guide::try_program(project, options);
    } catch (const guide::Refusal& refusal) {
        return refusal.what();
    }
    return {};
}

guide::TryOptions options_for(const std::string& file) {
    guide::TryOptions options;
    options.file = file;
    return options;
}

bool has(const std::vector<std::string>& command, const std::string& word) {
    return std::find(command.begin(), command.end(), word) != command.end();
}

// ---- what cannot be tried --------------------------------------------------------------------------------

TEST_CASE("refuses a file that is not there, and names one of nearly the same name") {
    const TemporaryFolder folder;
    folder.write("vector_add.cu", "");
    CHECK(refusal_of(folder, options_for("vectoradd.cu")) ==
          "vectoradd.cu: there is no such file; did you mean vector_add.cu?");
    CHECK(refusal_of(folder, options_for("missing/vector_add.cu")) == "missing/vector_add.cu: there is no such file");
    CHECK_THAT(refusal_of(folder, options_for("")), StartsWith("which program?"));
    guide::TryOptions several = options_for("vector_add.cu");
    several.more_files = {"scale.cu"};
    CHECK(refusal_of(folder, several) == "scale.cu: there is no such file");
    several.more_files = {"1000"};
    CHECK_THAT(refusal_of(folder, several),
               StartsWith("1000: there is no such file") && EndsWith("try vector_add.cu -- 1000"));
}

TEST_CASE("says of C files, headers, folders and other files what to try instead") {
    const TemporaryFolder folder;
    for (const char* name : {"my program.c", "tile.cuh", "tile.h", "add.py"}) folder.write(name, "");
    fs::create_directory(folder.path() / "folder.cu");
    CHECK_THAT(refusal_of(folder, options_for("my program.c")),
               ContainsSubstring("CUDA is C++") && ContainsSubstring("cp 'my program.c' 'my program.cu'"));
    CHECK_THAT(refusal_of(folder, options_for("tile.cuh")), ContainsSubstring("is a header"));
    CHECK_THAT(refusal_of(folder, options_for("tile.h")), ContainsSubstring("is a header"));
    CHECK_THAT(refusal_of(folder, options_for("add.py")), ContainsSubstring("should end in .cu"));
    CHECK_THAT(refusal_of(folder, options_for("folder.cu")), ContainsSubstring("is no file"));
}

TEST_CASE("refuses folders for headers and files for results that cannot be used, before anything is built") {
    const TemporaryFolder folder;
    folder.write("add.cu", "int main() {}\n");
    guide::TryOptions options = options_for("add.cu");
    options.include_folders = {"nowhere"};
    CHECK(refusal_of(folder, options) == "-I nowhere: there is no such folder");
    options = options_for("add.cu");
    options.json_file = "nowhere/results.json";
    CHECK(refusal_of(folder, options) == "--json nowhere/results.json: cannot write this file");
    options = options_for("add.cu");
    options.keep = "add.cu/below_a_file";
    CHECK_THAT(refusal_of(folder, options), StartsWith("--keep: cannot write into "));
}

TEST_CASE("takes folders and definitions from a compile_commands.json") {
    const TemporaryFolder folder;
    const fs::path source = folder.path() / "src/add.cu";
    folder.write("src/add.cu", "int main() {}\n");
    folder.write("build/includes.rsp", "-I/opt/lib/include -isystem=/opt/system");
    folder.write("compile_commands.json",
                 fmt::format(R"([{{"directory": "{0}", "file": "{0}/src/other.cu", "command": "nvcc -DOTHER -c"}},
                                 {{"directory": "{0}/build", "file": "../src/add.cu", "command":
                 "nvcc -DSIZE=3 -D 'NAME=\"a b\"' --options-file includes.rsp -I../include -std=c++17 -c ../src/add.cu"}}])",
                             folder.path().string()));
    const guide::CompileOptions options = guide::read_compile_commands(folder.path() / "compile_commands.json", source);
    CHECK(options.include_folders ==
          std::vector<fs::path>{"/opt/lib/include", "/opt/system", folder.path() / "include"});
    CHECK(options.definitions == std::vector<std::string>{"SIZE=3", "NAME=\"a b\""});

    guide::TryOptions without = options_for("src/add.cu");
    without.compile_commands = "src/add.cu";
    CHECK_THAT(refusal_of(folder, without), ContainsSubstring("is no compile_commands.json"));
    folder.write("compile_commands.json", "[]");
    without.compile_commands = "compile_commands.json";
    CHECK_THAT(refusal_of(folder, without), ContainsSubstring("does not say how") && ContainsSubstring("add.cu"));
}

TEST_CASE("finds the headers of NVIDIA's samples for a program in their folders") {
    const TemporaryFolder folder;
    folder.write("samples/Common/helper_cuda.h", "");
    folder.write("samples/Samples/0_Introduction/clock/clock.cu", "");
    CHECK(guide::find_samples_headers(folder.path() / "samples/Samples/0_Introduction/clock/clock.cu") ==
          folder.path() / "samples/Common");
    CHECK(guide::find_samples_headers(folder.path() / "other/clock.cu").empty());
}

TEST_CASE("names Nsight Compute when a GPU run is asked for counts") {
    const TemporaryFolder folder;
    folder.write("add.cu", "int main() {}\n");
    guide::TryOptions options = options_for("add.cu");
    options.gpu = true;
    options.lines = true;
    CHECK_THAT(refusal_of(folder, options), StartsWith("--lines") && EndsWith("ncu --set full ./add.gpu"));
}

// ---- commands --------------------------------------------------------------------------------------------

guide::TryTools example_tools() {
    return {"/usr/bin/c++", {"-O1", "-include", "cuda_runtime.h"}, {"/w/include", "/w/unsupported"},
            {"/w"},         {"libtry_support.a", "-lfmt"},         "/w/cuda_to_cpp"};
}

const guide::TryParts parts = {"/t/add.cpu.cpp", "/t/include", "/t/add.o", "/t/add"};

TEST_CASE("reads what CMake wrote down, and says what to do when it is not there or broken") {
    const TemporaryFolder folder;
    folder.write("try.json", R"({"compiler": "/usr/bin/c++", "options": ["-O1"],
                                 "cpu_device_headers": ["/w/include"], "include_folders": ["/w"],
                                 "libraries": ["-lfmt"], "toolkit_libraries": ["/w/libtoolkit.a"],
                                 "rewriter": "/w/cuda_to_cpp"})");
    const guide::TryTools tools = guide::read_try_tools(folder.path() / "try.json");
    CHECK(tools.compiler == "/usr/bin/c++");
    CHECK(tools.options == std::vector<std::string>{"-O1"});
    CHECK(tools.cpu_device_headers == std::vector<std::string>{"/w/include"});
    CHECK(tools.include_folders == std::vector<std::string>{"/w"});
    CHECK(tools.libraries == std::vector<std::string>{"-lfmt"});
    CHECK(tools.rewriter == "/w/cuda_to_cpp");
    CHECK(tools.toolkit_libraries == std::vector<std::string>{"/w/libtoolkit.a"});
    folder.write("try.json", R"({"compiler": 3})");
    CHECK_THROWS_MATCHES(guide::read_try_tools(folder.path() / "try.json"), guide::Refusal,
                         MessageMatches(ContainsSubstring("cannot be read") && EndsWith("and try again")));
    CHECK_THROWS_MATCHES(guide::read_try_tools(folder.path() / "none.json"), guide::Refusal,
                         MessageMatches(ContainsSubstring("is not there")));
}

TEST_CASE("lets the CPU device's headers come before the reader's, and quoted ones be found beside the file") {
    const guide::TrySource source = {"/home/me/add.cu", {"/home/me/inc"}, {"N=3", "FAST"}, false};
    const std::vector<std::string> command = guide::compile_command(example_tools(), source, parts);
    const auto at = [&](const char* word) { return std::find(command.begin(), command.end(), word); };
    CHECK(at("-I/w/include") < at("-I/home/me/inc"));
    CHECK(at("-I/home/me/inc") < command.end());
    CHECK(*(at("-iquote") + 1) == "/home/me");
    CHECK(has(command, "-DN=3"));
    CHECK(has(command, "-DFAST"));
    CHECK(has(command, "-w"));
    CHECK(*(at("-c") + 1) == "/t/add.cpu.cpp");
    const std::vector<std::string> rewrite = guide::rewrite_command(example_tools(), source, parts);
    const auto folder = std::find(rewrite.begin(), rewrite.end(), "-I");
    REQUIRE(folder != rewrite.end());
    CHECK(*(folder + 1) == "/home/me/inc");
}

TEST_CASE("links the part that counts, and no runtime of a sanitizer") {
    const std::vector<std::string> command = guide::link_command(example_tools(), {}, parts);
    CHECK(has(command, "-Wl,--undefined=warpwise_try_support"));
    CHECK(command.back() == "-lfmt");
    CHECK_FALSE(has(command, "-O1"));
    CHECK_FALSE(std::any_of(command.begin(), command.end(),
                            [](const std::string& word) { return word.find("-fsanitize") != std::string::npos; }));
}

TEST_CASE("links the program's other files, the reader's libraries, and what stands in for cuBLAS where it is called") {
    guide::TryTools tools = example_tools();
    tools.toolkit_libraries = {"/w/libtoolkit.a"};
    guide::TrySource source;
    source.libraries = {"png"};
    guide::TryParts several = parts;
    several.more_objects = {"/t/program_2.o"};
    const auto at = [](const std::vector<std::string>& command, const char* word) {
        return std::find(command.begin(), command.end(), word) - command.begin();
    };
    std::vector<std::string> command = guide::link_command(tools, source, several);
    CHECK(has(command, "/t/program_2.o"));
    CHECK(has(command, "-lpng"));
    CHECK_FALSE(has(command, "/w/libtoolkit.a"));
    several.toolkit_libraries = true;
    command = guide::link_command(tools, source, several);
    CHECK(at(command, "/t/program_2.o") < at(command, "/w/libtoolkit.a"));
    CHECK(at(command, "/w/libtoolkit.a") < at(command, "-lfmt"));
    CHECK(guide::wants_toolkit_libraries("add.cu:2: undefined reference to `cublasSgemm'\n"));
    CHECK(guide::wants_toolkit_libraries("undefined reference to `cpu_device::curand::skip_xorwow(unsigned int "));
    CHECK_FALSE(guide::wants_toolkit_libraries("undefined reference to `helper(int)'\n"));
}

TEST_CASE("links for a GPU what the program's includes ask for") {
    const guide::TrySource source = {"/home/me/add.cu", {}, {"N=3"}, false};
    const char* text = "#include <cublas_v2.h>\n  #  include \"curand.h\"\n// #include <cufft.h>\nint cuda;\n";
    const std::vector<std::string> command = guide::nvcc_command("nvcc", source, text, false, "/t/add");
    CHECK(has(command, "-arch=native"));
    CHECK(has(command, "-DN=3"));
    CHECK(has(command, "-lcublas"));
    CHECK(has(command, "-lcurand"));
    CHECK_FALSE(has(command, "-lcufft"));
    CHECK_FALSE(has(command, "-lcuda"));
    CHECK_FALSE(has(command, "-rdc=true"));
    CHECK(has(guide::nvcc_command("nvcc", source, "", true, "/t/add"), "-rdc=true"));
}

TEST_CASE("knows nvcc's refusal of launches in kernels") {
    CHECK(
        guide::wants_separate_compilation("d.cu(3): error: kernel launch from __device__ or __global__ functions "
                                          "requires separate compilation mode\n"));
    CHECK_FALSE(guide::wants_separate_compilation("d.cu(3): error: identifier \"x\" is undefined\n"));
}

TEST_CASE("recognizes the toolkit's headers") {
    const TemporaryFolder folder;
    folder.write("toolkit/cuda_runtime.h", "");
    folder.write("samples/helper_cuda.h", "");
    CHECK(guide::is_toolkit_folder(folder.path() / "toolkit"));
    CHECK_FALSE(guide::is_toolkit_folder(folder.path() / "samples"));
    CHECK_FALSE(guide::is_toolkit_folder(folder.path() / "none"));
}

// ---- messages --------------------------------------------------------------------------------------------

TEST_CASE("shows an ordinary error as the compiler put it, with the path as the reader typed it") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu: In function 'void k(float*)':\n"
        "/home/me/work/add.cu:4:5: error: expected ',' or ';' before 'p'\n"
        "    4 |     p[i] = 1;\n"
        "      |     ^\n",
        places);
    CHECK(message.text ==
          "add.cu: In function 'void k(float*)':\n"
          "add.cu:4:5: error: expected ',' or ';' before 'p'\n"
          "    4 |     p[i] = 1;\n"
          "      |     ^\n");
    CHECK_FALSE(message.needs_gpu);
    CHECK_FALSE(message.shortened);
}

TEST_CASE("says in one line that a library is missing, whatever errors follow") {
    const BuildMessage message = guide::explain_compiler(
        "In file included from /home/me/work/add.cu:2:\n"
        "/opt/warpwise/build/unsupported_headers/thrust/sort.h:1:2: error: #error \"The CPU device does not support "
        "the parallel "
        "algorithms of Thrust (<thrust/sort.h>): build this program with nvcc\"\n"
        "    1 | #error \\\n"
        "In file included from /home/me/work/lib/more.h:7,\n"
        "                 from /home/me/work/add.cu:3:\n"
        "/opt/warpwise/build/unsupported_headers/thrust/copy.h:1:2: error: #error \"The CPU device does not support "
        "the parallel "
        "algorithms of Thrust (<thrust/copy.h>): build this program with nvcc\"\n"
        "/home/me/work/add.cu: In function 'int main()':\n"
        "/home/me/work/add.cu:3:14: error: 'thrust' has not been declared\n"
        "/home/me/work/add.cu:3:36: error: expected primary-expression before 'int'\n",
        places);
    CHECK(message.text ==
          "add.cu:2: error: not supported on the CPU device: the parallel algorithms of Thrust (<thrust/sort.h>)\n");
    CHECK(message.needs_gpu);
    CHECK(message.shortened);
}

TEST_CASE("names the innermost file of the reader's that includes what is missing") {
    const BuildMessage message = guide::explain_compiler(
        "In file included from /opt/warpwise/include/cub/device/device_scan.cuh:1,\n"
        "                 from /home/me/work/lib/more.h:7,\n"
        "                 from /home/me/work/add.cu:3:\n"
        "/opt/warpwise/include/cub/cub.cuh:1:2: error: #error \"The CPU device does not support the primitives of CUB "
        "(<cub/cub.cuh>): build this program with nvcc\"\n",
        places);
    CHECK_THAT(message.text, StartsWith("lib/more.h:7: error: not supported on the CPU device: the primitives of CUB"));
}

TEST_CASE("says once what a name belongs to that the CPU device does not have") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu:3:14: error: 'cuInit' was not declared in this scope; did you mean 'uint'?\n"
        "/home/me/work/add.cu:3:37: error: 'cuDeviceGet' was not declared in this scope\n"
        "/home/me/work/add.cu:4:1: error: 'CUcontext' was not declared in this scope\n"
        "/home/me/work/add.cu:9:1: error: '__clusterSizeInBlocks' was not declared in this scope\n",
        places);
    CHECK(message.text ==
          "add.cu:3: error: not supported on the CPU device: the driver API (cuInit)\n"
          "add.cu:9: error: not supported on the CPU device: the intrinsics of thread block clusters "
          "(__clusterSizeInBlocks)\n");
    CHECK(message.needs_gpu);
}

TEST_CASE("does not send to a GPU what CUDA itself has dropped") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu:2:45: error: 'cudaBindTexture' was not declared in this scope\n"
        "/home/me/work/add.cu:3:45: error: 'cudaUnbindTexture' was not declared in this scope\n",
        places);
    CHECK(message.text ==
          "add.cu:2: error: cudaBindTexture: texture references are gone since CUDA 12: use texture objects "
          "(cudaCreateTextureObject)\n");
    CHECK_FALSE(message.needs_gpu);
}

TEST_CASE("puts what a header of the CPU device asserts on the reader's line") {
    const BuildMessage message = guide::explain_compiler(
        "In file included from /opt/warpwise/include/cuda_runtime.h:24,\n"
        "                 from /somewhere/else/cuda_runtime.h:1:\n"
        "/opt/warpwise/include/cpu_device/warp.h: In instantiation of 'auto __any(Arguments ...)':\n"
        "/home/me/work/add.cu:12:66:   required from here\n"
        "/opt/warpwise/include/cpu_device/warp.h:263:35: error: static assertion failed: __any left CUDA: use "
        "__any_sync\n"
        "  263 |         static_assert(...)\n",
        places);
    CHECK(message.text == "add.cu:12: error: __any left CUDA: use __any_sync\n");
}

TEST_CASE("says of a launch's wrong argument which one it is and what it should have been") {
    const std::string margin(320, ' ');
    const std::string launcher =
        "In file included from /opt/warpwise/include/cuda_runtime.h:27:\n"
        "/opt/warpwise/include/cpu_device/execution.h:271:24: note:   initializing argument 2 of 'void "
        "cpu_device::TypedLauncher<Body, Parameters>::run(Parameters ...) [with Body = main()::<lambda(auto:6& ...)>; "
        "Parameters = {int, float*}]'\n"
        "  271 |     void run(Parameters... arguments) {\n";
    const auto text = [&](const std::string& error, const std::string& line) {
        return guide::explain_compiler(
                   "/home/me/work/add.cu: In function 'int main()':\n/home/me/work/add.cu:5:328: error: " + error +
                       "\n    5 |     " + line + "\n      | " + margin + "^\n" + launcher,
                   places)
            .text;
    };
    CHECK(text("cannot convert 'int*' to 'float*'", "add_one<<<1, 32>>>(32, x);") ==
          "add.cu:5: error: argument 2 of add_one: cannot convert int* to float*\n");
    CHECK(text("cannot convert \u2018int*\u2019 to \u2018float*\u2019", "add_one<<<1, 32>>>(32, x);") ==
          "add.cu:5: error: argument 2 of add_one: cannot convert int* to float*\n");
    CHECK(text("invalid conversion from 'int' to 'float*' [-fpermissive]", "ns::add<A<int>, 2> <<<1, 32>>>(x, 3);") ==
          "add.cu:5: error: argument 2 of add: cannot convert int to float*\n");
    CHECK(text("cannot convert 'int*' to 'float*'", "LAUNCH(add_one, x);") ==
          "add.cu:5: error: argument 2 of the kernel: cannot convert int* to float*\n");
    const std::string configuration =
        "/home/me/work/add.cu:4:101: error: no matching function for call to "
        "'cpu_device::LaunchConfig::LaunchConfig(int, int, int, float*&)'\n"
        "    4 |     add_one<<<1, 32, 0, x>>>(x, 32);\n"
        "/opt/warpwise/include/cpu_device/execution.h:58:5: note: candidate: "
        "'cpu_device::LaunchConfig::LaunchConfig(dim3, "
        "dim3, std::size_t, cudaStream_t)'\n"
        "/opt/warpwise/include/cpu_device/execution.h:58:89: note:   no known conversion for argument 4 from 'float*' "
        "to "
        "'cudaStream_t' {aka 'CUstream_st*'}\n";
    CHECK(guide::explain_compiler(configuration, places).text ==
          "add.cu:4: error: argument 4 between <<< and >>> is the stream: cannot convert float* to cudaStream_t\n");
    // The same words about another function are an ordinary error.
    const std::string other =
        "/home/me/work/add.cu:5:9: error: cannot convert 'int*' to 'float*'\n"
        "    5 |     f(x);\n"
        "      |       ^\n"
        "/home/me/work/add.cu:2:15: note:   initializing argument 1 of 'void f(float*)'\n";
    CHECK_THAT(guide::explain_compiler(other, places).text, StartsWith("add.cu:5:9: error: cannot convert"));
}

TEST_CASE("shows no column where the rewriter has made the line longer") {
    const std::string far(326, ' ');
    CHECK(guide::explain_compiler("/home/me/work/add.cu:5:326: error: expected ';' before 'cudaFree'\n"
                                  "    5 |     add_one<<<1, 32>>>(x, 32)\n"
                                  "      | " +
                                      far + "^\n      | " + far + ";\n    6 |     cudaFree(x);\n      |     ~~~~~~~~\n",
                                  places)
              .text ==
          "add.cu:5: error: expected ';' before 'cudaFree'\n"
          "    5 |     add_one<<<1, 32>>>(x, 32)\n"
          "    6 |     cudaFree(x);\n"
          "      |     ~~~~~~~~\n");
}

TEST_CASE("says why a constant expression cannot use a function with two versions") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu:1:30: error: call to non-'constexpr' function 'constexpr bool "
        "cpu_device::runs_device_version() [with <template-parameter-1-1> = void]'\n",
        places);
    CHECK_THAT(message.text, StartsWith("add.cu:1: error: not supported on the CPU device: a constant expression"));
    CHECK(message.needs_gpu);
}

TEST_CASE("builds programs that include <omp.h> with OpenMP") {
    CHECK(guide::includes_openmp("// none\n  # include <omp.h>\n"));
    CHECK_FALSE(guide::includes_openmp("// #include <omp.h>\n#pragma omp parallel\n"));
    guide::TrySource source = {"/home/me/add.cu", {}, {}, false};
    CHECK_FALSE(has(guide::compile_command(example_tools(), source, parts), "-fopenmp"));
    CHECK_FALSE(has(guide::link_command(example_tools(), source, parts), "-fopenmp"));
    source.uses_openmp = true;
    CHECK(has(guide::compile_command(example_tools(), source, parts), "-fopenmp"));
    CHECK(has(guide::link_command(example_tools(), source, parts), "-fopenmp"));
    const std::vector<std::string> command = guide::nvcc_command("nvcc", source, "", false, "/t/add");
    const auto passed_on = std::find(command.begin(), command.end(), "-Xcompiler");
    REQUIRE(passed_on != command.end());
    CHECK(*(passed_on + 1) == "-fopenmp");
    const BuildMessage message = guide::explain_linker(
        "/usr/bin/ld: /home/me/work/add.cu:7: undefined reference to `omp_get_max_threads'\n", places);
    CHECK(message.text ==
          "add.cu:7: error: omp_get_max_threads is a function of OpenMP: 'try' builds with OpenMP when the "
          "file itself includes <omp.h>\n");
}

TEST_CASE("reads clang's messages, too") {
    const BuildMessage assertion = guide::explain_compiler(
        "In file included from <built-in>:1:\n"
        "/opt/warpwise/include/cpu_device/warp.h:268:1: error: static assertion failed due to requirement "
        "'cpu_device::never<int>': __any left CUDA: use __any_sync\n"
        "/home/me/work/add.cu:12:66: note: in instantiation of function template specialization '__any<int>' requested "
        "here\n"
        "1 error generated.\n",
        places);
    CHECK(assertion.text == "add.cu:12: error: __any left CUDA: use __any_sync\n");
    const BuildMessage name = guide::explain_compiler(
        "/home/me/work/add.cu:2:1: error: use of undeclared identifier 'cudaIpcGetMemHandle'\n1 error generated.\n",
        places);
    CHECK_THAT(name.text, ContainsSubstring("(cudaIpcGetMemHandle)"));
    const BuildMessage header =
        guide::explain_compiler("/home/me/work/add.cu:1:10: fatal error: 'helper_cuda.h' file not found\n", places);
    CHECK_THAT(header.text, StartsWith("add.cu:1: error: helper_cuda.h: it comes with NVIDIA's cuda-samples"));
}

TEST_CASE("says where a header comes from that is not there") {
    const auto text_for = [](const std::string& header) {
        return guide::explain_compiler("/home/me/work/add.cu:1:10: fatal error: " + header +
                                           ": No such file or directory\n"
                                           "    1 | #include\ncompilation terminated.\n",
                                       places)
            .text;
    };
    CHECK_THAT(text_for("../common/helper_math.h"), ContainsSubstring("cuda-samples") && ContainsSubstring("-I"));
    CHECK_THAT(text_for("cutil_inline.h"), ContainsSubstring("gone since CUDA 5"));
    CHECK_THAT(text_for("nvtx3/nvToolsExt.h"), ContainsSubstring("not supported on the CPU device"));
    CHECK(text_for("book.h") == "add.cu:1: error: book.h: no such file; -I FOLDER names a folder to look in\n");
}

TEST_CASE("names the part of CUB that is missing") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu:41:49: error: 'ScanTileState' is not a member of 'cub'\n"
        "   41 | __global__ void scan(cub::ScanTileState<int> state)\n",
        places);
    CHECK(message.text == "add.cu:41: error: not supported on the CPU device: this part of CUB (cub::ScanTileState)\n");
    CHECK(message.needs_gpu);
}

TEST_CASE("says in one sentence that a program draws with OpenGL") {
    for (const char* header : {"GL/glew.h", "GL/freeglut.h", "GLFW/glfw3.h", "helper_gl.h"}) {
        const BuildMessage message = guide::explain_compiler(
            fmt::format("/home/me/work/add.cu:1:10: fatal error: {}: No such file or directory\n", header), places);
        CHECK(message.text ==
              fmt::format("add.cu:1: error: {}: the program draws with OpenGL, and the CPU device has no "
                          "screen to draw on: 'try' cannot run it\n",
                          header));
        CHECK_FALSE(message.needs_gpu);
    }
}

TEST_CASE("says what today's name of an old warp function is, in templates, too") {
    CHECK(guide::explain_compiler("/home/me/work/add.cu:3:9: error: '__shfl_down' was not declared in this scope\n",
                                  places)
              .text ==
          "add.cu:3: error: __shfl_down: gone since compute capability 7.0: write __shfl_down_sync(mask, value, "
          "delta)\n");
    CHECK_THAT(guide::explain_compiler("/home/me/work/add.cu:3:9: error: there are no arguments to '__any' that depend "
                                       "on a template parameter, so a declaration of '__any' must be available\n",
                                       places)
                   .text,
               ContainsSubstring("__any_sync(mask, predicate)"));
}

TEST_CASE("leaves a misspelled name to the compiler, which knows what was meant") {
    const std::string output =
        "/home/me/work/add.cu:2:24: error: 'cudaMaloc' was not declared in this scope; did you mean 'cudaMalloc'?\n";
    const BuildMessage message = guide::explain_compiler(output, places);
    CHECK(message.text == output.substr(std::string("/home/me/work/").size()));
    CHECK_FALSE(message.needs_gpu);
}

TEST_CASE("adds a hint where a name of the program is one of the C++ library, too, and drops the notes") {
    const BuildMessage message = guide::explain_compiler(
        "/home/me/work/add.cu:5:22: error: reference to 'size' is ambiguous\n"
        "    5 | int main() { cout << size << endl; }\n"
        "In file included from /usr/include/c++/12/array:44,\n"
        "                 from /home/me/work/add.cu:1:\n"
        "/usr/include/c++/12/bits/range_access.h:274:5: note: candidates are: 'constexpr std::size_t std::size()'\n",
        places);
    CHECK(message.text ==
          "add.cu:5:22: error: reference to 'size' is ambiguous\n"
          "    5 | int main() { cout << size << endl; }\n"
          "hint: the C++ library has a std::size, too: write ::size, or do without 'using namespace std'\n");
}

TEST_CASE("cuts a flood of errors, and an endless error") {
    std::string flood;
    for (int i = 1; i <= 50; ++i) flood += "/home/me/work/add.cu:" + std::to_string(i) + ":1: error: expected ';'\n";
    const BuildMessage many = guide::explain_compiler(flood, places);
    CHECK_THAT(many.text, ContainsSubstring("add.cu:8:1:") && EndsWith("and 42 more errors\n"));
    CHECK_FALSE(many.text.find("add.cu:9:1:") != std::string::npos);
    CHECK(many.shortened);
    std::string endless = "/home/me/work/add.cu:1:1: error: no match for 'operator<'\n";
    for (int i = 0; i < 500; ++i) endless += "/usr/include/c++/12/x.h:9:9: note: candidate: 'operator<'\n";
    const BuildMessage one = guide::explain_compiler(endless, places);
    CHECK(std::count(one.text.begin(), one.text.end(), '\n') < 30);
    CHECK(one.shortened);
}

TEST_CASE("finds errors between escape sequences for colors, and keeps those in ordinary errors") {
    const std::string colored =
        "\033[01m\033[K/home/me/work/add.cu:2:1:\033[m\033[K \033[01;31m\033[Kerror: \033[m\033[K'\033[01m\033[KcuInit"
        "\033[m\033[K' was not declared in this scope\n";
    CHECK(guide::explain_compiler(colored, places).text ==
          "add.cu:2: error: not supported on the CPU device: the driver API (cuInit)\n");
    const std::string ordinary = "\033[01m/home/me/work/add.cu:2:1:\033[m \033[01;31merror: \033[mexpected ';'\n";
    CHECK(guide::explain_compiler(ordinary, places).text ==
          "\033[01madd.cu:2:1:\033[m \033[01;31merror: \033[mexpected ';'\n");
}

TEST_CASE("shows whatever it does not understand") {
    CHECK(guide::explain_compiler("c++: internal compiler error: Killed\n", places).text ==
          "c++: internal compiler error: Killed\n");
    CHECK(guide::explain_compiler("", places).text.empty());
    CHECK(guide::explain_linker("ld: cannot find -lboost\n", places).text == "ld: cannot find -lboost\n");
    const std::string long_line(300'000, 'x');
    CHECK(guide::explain_compiler(long_line, places).text == long_line);
}

TEST_CASE("passes the rewriter's line on") {
    const BuildMessage message = guide::explain_rewriter(
        "/home/me/work/add.cu:2: error: inline PTX is not supported on the CPU device: mov.u32\n", places);
    CHECK(message.text == "add.cu:2: error: inline PTX is not supported on the CPU device: mov.u32\n");
    CHECK(message.needs_gpu);
    CHECK_FALSE(guide::explain_rewriter("/home/me/work/add.cu:1: error: texture references left CUDA with version 12; "
                                        "use texture objects\n",
                                        places)
                    .needs_gpu);
}

TEST_CASE("says what the linker misses") {
    CHECK(guide::explain_linker("/usr/bin/ld: /usr/lib/Scrt1.o: in function `_start':\n"
                                "(.text+0x17): undefined reference to `main'\n"
                                "collect2: error: ld returned 1 exit status\n",
                                places)
              .text == "add.cu: error: there is no main() in it, and 'try' runs whole programs\n");
    CHECK(guide::explain_linker("/usr/bin/ld: /tmp/x/program.o: in function `main':\n"
                                "/home/me/work/add.cu:2: undefined reference to `helper(int)'\n"
                                "/usr/bin/ld: /home/me/work/add.cu:3: undefined reference to `helper(int)'\n"
                                "/usr/bin/ld: /home/me/work/add.cu:4: undefined reference to `other()'\n",
                                places)
              .text ==
          "add.cu:2: error: helper(int) is defined nowhere: if another file of the program defines it, name that file, "
          "too (try A.cu B.cu); -l NAME links a library\n"
          "add.cu:4: error: other() is defined nowhere: if another file of the program defines it, name that file, too "
          "(try A.cu B.cu); -l NAME links a library\n");
}

TEST_CASE("names files of the root folder as they are") {
    const guide::MessagePlaces at_root = {"/add.cu", "add.cu", "/", {"/opt"}};
    CHECK(guide::with_shown_paths("/usr/include/a.h:1 and /add.cu:2", at_root) == "/usr/include/a.h:1 and add.cu:2");
}

// ---- the table -------------------------------------------------------------------------------------------

/// `warps` warps that load and store one float per lane, neighbors side by side.
warpwise::LaunchCounts launch_of(const std::string& kernel, unsigned blocks, unsigned instrumented) {
    warpwise::LaunchCounts launch;
    launch.kernel = kernel;
    launch.file = "/home/me/add.cu";
    launch.line = 20;
    launch.grid = {blocks, 1, 1};
    launch.block = {32, 1, 1};
    launch.blocks = blocks;
    launch.instrumented_blocks = instrumented;
    launch.occupancy = 0.5;
    for (warpwise::RequestCounts* requests : {&launch.total.global_load, &launch.total.global_store}) {
        requests->requests = instrumented;
        requests->lanes = 32.0 * instrumented;
        requests->sectors = requests->needed_sectors = 4.0 * instrumented;
    }
    launch.total.steps = instrumented;
    launch.total.active_lanes = 32.0 * instrumented;
    launch.lines = {{"/home/me/add.cu", 5, launch.total}};
    launch.arrays = {{"in", launch.total}};
    return launch;
}

TEST_CASE("adds up launches that are alike, and keeps others apart in their order") {
    guide::LaunchGroups groups;
    for (int i = 0; i < 3; ++i) {
        groups.add(launch_of("add", 10, 10));
        groups.add(launch_of("add", 20, 20));
    }
    warpwise::LaunchCounts other_lines = launch_of("add", 10, 10);
    other_lines.lines = {{"/home/me/add.cu", 4, other_lines.total}, {"/home/me/add.cu", 5, other_lines.total}};
    other_lines.arrays.push_back({"out", other_lines.total});
    groups.add(other_lines);
    REQUIRE(groups.all().size() == 2);
    const guide::LaunchGroup& first = groups.all()[0];
    CHECK(first.launches == 4);
    CHECK(first.blocks_each() == 10);
    CHECK(first.counts.total.global_load.requests == 40);
    CHECK(first.counts.scale() == 1);
    REQUIRE(first.counts.lines.size() == 2);
    CHECK(first.counts.lines[0].line == 4);
    CHECK(first.counts.lines[0].counts.global_load.requests == 10);
    CHECK(first.counts.lines[1].counts.global_load.requests == 40);
    REQUIRE(first.counts.arrays.size() == 2);
    CHECK(first.counts.arrays[0].counts.global_load.requests == 40);
    CHECK(groups.all()[1].launches == 3);
}

/// The cells of the row that begins with `name`.
std::vector<std::string> row_of(const std::string& table, const std::string& name) {
    std::size_t at = table.find("\n" + name + " ");
    if (at == std::string::npos) return {};
    std::string line = table.substr(at + 1, table.find('\n', at + 1) - at - 1);
    std::vector<std::string> cells;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find("  "), line.size());
        cells.push_back(line.substr(0, end));
        line.erase(0, line.find_first_not_of(' ', end));
    }
    return cells;
}

TEST_CASE("prints a row for each kernel, its launches added up") {
    guide::LaunchGroups groups;
    groups.add(launch_of("add", 10, 10));
    groups.add(launch_of("add", 10, 10));
    groups.add(launch_of("scale<float, 4>", 1, 1));
    groups.add(launch_of("scale<float, 4>", 5, 5));
    const std::string table = guide::kernel_table(groups.all(), 256, false, {});
    CHECK_THAT(table, StartsWith("kernel           launches  blocks  threads  requests  sectors/ld  sectors/st"));
    CHECK(row_of(table, "add") ==
          std::vector<std::string>{"add", "2", "10", "32", "40", "4 of 4", "4 of 4", "5.12 kB", "50 %"});
    const std::vector<std::string> scale = row_of(table, "scale<float, 4>");
    REQUIRE(scale.size() == 9);
    CHECK(scale[1] == "2");
    CHECK(scale[2] == "1..5");
    CHECK_THAT(table,
               ContainsSubstring("sectors/ld: ") && !ContainsSubstring("conflicts") && !ContainsSubstring("sample"));
}

TEST_CASE("says which share of the occupancy is known") {
    const auto table_of = [](int registers, double occupancy) {
        warpwise::LaunchCounts launch = launch_of("add", 10, 10);
        launch.registers = registers;
        launch.occupancy = occupancy;
        guide::LaunchGroups groups;
        groups.add(launch);
        return guide::kernel_table(groups.all(), 256, false, {});
    };
    CHECK_THAT(table_of(0, 0.5), ContainsSubstring("  max occupancy\n") && ContainsSubstring("  50 %\n"));
    CHECK_THAT(table_of(0, 1), !ContainsSubstring("occupancy"));
    CHECK_THAT(table_of(32, 1), ContainsSubstring("  occupancy\n") && ContainsSubstring("  100 %\n"));
}

TEST_CASE("shows shapes of several dimensions, and barriers of one launch") {
    warpwise::LaunchCounts launch = launch_of("tiles", 6, 6);
    launch.grid = {3, 2, 1};
    launch.block = {8, 2, 2};
    launch.total.barriers = 12;  // two for each of six warps
    guide::LaunchGroups groups;
    for (int i = 0; i < 5; ++i) groups.add(launch);
    const std::vector<std::string> row = row_of(guide::kernel_table(groups.all(), 0, false, {}), "tiles");
    REQUIRE(row.size() == 10);
    CHECK(row[2] == "3x2");
    CHECK(row[3] == "8x2x2");
    CHECK(row[8] == "2");
}

TEST_CASE("scales a sample up and says so, but not of a kernel that died early") {
    guide::LaunchGroups groups;
    groups.add(launch_of("large", 1000, 250));
    groups.add(launch_of("large", 1000, 250));
    const std::string table = guide::kernel_table(groups.all(), 250, false, {});
    CHECK(row_of(table, "large").at(4) == "4000");
    CHECK_THAT(table, ContainsSubstring("a sample of 250 blocks of each large launch; the") &&
                          ContainsSubstring("--all-blocks"));
    guide::LaunchGroups died;
    died.add(launch_of("died", 4, 0));
    CHECK_THAT(guide::kernel_table(died.all(), 250, false, {}), !ContainsSubstring("sample"));
    CHECK_THAT(guide::kernel_table(groups.all(), 0, false, {}), !ContainsSubstring("sample"));
}

TEST_CASE("splits a table that is wider than the terminal, with the kernels' names in each part") {
    guide::LaunchGroups groups;
    groups.add(launch_of("a_kernel_with_quite_a_long_name_of_its_own", 10, 10));
    warpwise::Terminal narrow;
    narrow.table_width = 80;
    const std::string table = guide::kernel_table(groups.all(), 256, false, narrow);
    const std::size_t first = table.find("\na_kernel_with");
    REQUIRE(first != std::string::npos);
    CHECK(table.find("\na_kernel_with", first + 1) != std::string::npos);
    CHECK(table.find("\nkernel ") != std::string::npos);
}

TEST_CASE("lists a kernel's source without the lines that launch it") {
    const TemporaryFolder folder;
    folder.write(
        "add.cu",
        "__global__ void add(float* a) {\n    a[threadIdx.x] = 1;\n}\nint main() {\n    add<<<1, 32>>>(a);\n}\n");
    warpwise::LaunchCounts launch = launch_of("add", 10, 10);
    launch.file = (folder.path() / "add.cu").string();
    launch.line = 5;
    warpwise::Counts only_steps;
    only_steps.steps = 10;
    only_steps.active_lanes = 320;
    launch.lines = {{launch.file, 2, launch.total}, {launch.file, 5, only_steps}};
    guide::LaunchGroups groups;
    groups.add(launch);
    const std::string listing = guide::kernel_listing(groups.all(), {});
    CHECK_THAT(listing, StartsWith("Kernel add\n") && ContainsSubstring("a[threadIdx.x] = 1;"));
    CHECK_THAT(listing, !ContainsSubstring("<<<"));
}

}  // namespace
