// Machines that never were: each has all it needs, and then something is taken away or broken.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/guide/doctor.h"
#include "common/helpers/json.h"

using namespace guide;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

CommandResult says(const std::string& output, int status = 0) {
    CommandResult result;
    result.status = status;
    result.output = output;
    return result;
}

/// A healthy machine with a GPU, whose files lie in a temporary folder.
class Machine {
public:
    Machine() {
        std::string name = (fs::temp_directory_path() / "doctor_test_XXXXXX").string();
        files = mkdtemp(name.data());
        project.root = files / "home/me/warpwise";
        project.caller = project.root;
        programs = {"g++",  "addr2line", "cmake", "ninja", "nvcc",    "nvidia-smi",       "diff",
                    "tmux", "ncu",       "node",  "npm",   "apt-get", "compute-sanitizer"};
        answers = {
            {"g++ --version", says("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright\n")},
            {"addr2line --version", says("GNU addr2line (GNU Binutils for Debian) 2.40\n")},
            {"cmake --version", says("cmake version 3.25.1\n\nCMake suite\n")},
            {"ninja --version", says("1.11.1\n")},
            {"nvcc --version", says("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, "
                                    "V13.0.88\n")},
            {"nvidia-smi", says("| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0 |\n")},
            {"nvidia-smi --query-gpu=name,compute_cap,memory.total,driver_version --format=csv,noheader,nounits",
             says("NVIDIA H200, 9.0, 143771, 580.65.06\nNVIDIA H200, 9.0, 143771, 580.65.06\n")},
            {"ncu --version", says("NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 1)\n")},
            {"compute-sanitizer --version", says("NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1\n")},
            {"diff --version", says("diff (GNU diffutils) 3.8\n")},
            {"tmux -V", says("tmux 3.3a\n")},
            {"node --version", says("v18.20.4\n")},
            {"npm --version", says("9.2.0\n")},
        };
        write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun\n");
        write("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
        write("proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n");
        write("proc/sys/fs/inotify/max_user_instances", "128\n");
        write("proc/sys/fs/inotify/max_user_watches", "65536\n");
        write("dev/nvidiactl", "");
        write("dev/nvidia0", "");
    }
    ~Machine() { fs::remove_all(files); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    void write(const fs::path& file, const std::string& text) const {
        fs::create_directories((files / file).parent_path());
        std::ofstream(files / file) << text;
    }

    void take_gpu_away() {
        fs::remove_all(files / "dev");
        fs::remove_all(files / "proc/driver");
        for (const char* name : {"nvcc", "nvidia-smi", "ncu", "compute-sanitizer"}) programs.erase(name);
    }

    std::vector<Item> items() const {
        const System system{.run = [this](const Words& arguments) { return run(arguments); },
                            .has_program = [this](const std::string& name) { return programs.count(name) > 0; },
                            .variable =
                                [this](const std::string& name) {
                                    const auto found = variables.find(name);
                                    return found == variables.end() ? std::string() : found->second;
                                },
                            .open_inotify = [this] { return inotify_error; },
                            .free_bytes = [this](const fs::path&) { return free_bytes; },
                            .files = files,
                            .is_root = is_root};
        return examine(project, system);
    }

    Item item(const std::string& name) const {
        for (const Item& one : items()) {
            if (one.name == name) return one;
        }
        throw std::runtime_error("no item " + name);
    }

    fs::path files;
    Project project;
    std::set<std::string> programs;
    std::map<std::string, CommandResult> answers;  ///< by the command line
    std::map<std::string, std::string> variables;
    std::set<std::string> missing_headers;
    bool compiles_cpp20 = true;
    int inotify_error = 0;
    std::optional<double> free_bytes = 50e9;
    bool is_root = false;

private:
    CommandResult run(const Words& arguments) const {
        std::string line;
        for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + argument;
        if (const auto found = answers.find(line); found != answers.end()) return found->second;
        const auto has = [&](const char* word) {
            return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
        };
        if (has("-fsyntax-only"))
            return says(compiles_cpp20 ? "" : "fatal error: span: no such file\n", !compiles_cpp20);
        if (has("-dM")) {
            for (const std::string& header : missing_headers) {
                if (has(header.c_str())) return says("fatal error: " + header + "\n", 1);
            }
            return says(
                "#define BOOST_LIB_VERSION \"1_74\"\n#define FMT_VERSION 90100\n#define CLI11_VERSION \"2.1.2\"\n"
                "#define NLOHMANN_JSON_VERSION_MAJOR 3\n#define NLOHMANN_JSON_VERSION_MINOR 11\n"
                "#define NLOHMANN_JSON_VERSION_PATCH 2\n#define CATCH_VERSION_MAJOR 3\n"
                "#define CATCH_VERSION_MINOR 7\n#define CATCH_VERSION_PATCH 1\n");
        }
        return says("no answer was prepared for: " + line, 99);
    }
};

}  // namespace

TEST_CASE("a healthy machine has nothing to fix") {
    const Machine machine;
    const std::vector<Item> items = machine.items();
    for (const Item& item : items) {
        INFO(item.name << ": " << item.detail);
        CHECK(item.health == Health::ok);
        CHECK(item.fix.empty());
        CHECK_FALSE(item.purpose.empty());
    }
    CHECK(is_usable(items));
    const std::string text = doctor_text(items, {}, "./warpwise");
    CHECK_THAT(text, ContainsSubstring("The CPU device can be used here, and so can the GPU."));
}

TEST_CASE("versions are those that the programs and libraries say") {
    const Machine machine;
    CHECK(machine.item("C++ compiler").detail == "g++ 12.2.0, C++20");
    CHECK(machine.item("addr2line").detail == "2.40");
    CHECK(machine.item("cmake").detail == "3.25.1");
    CHECK(machine.item("ninja").detail == "1.11.1");
    CHECK(machine.item("Boost.Context").detail == "1.74");
    CHECK(machine.item("fmt").detail == "9.1.0");
    CHECK(machine.item("nlohmann-json").detail == "3.11.2");
    CHECK(machine.item("CLI11").detail == "2.1.2");
    CHECK(machine.item("Catch2 3").detail == "3.7.1");
    CHECK(machine.item("nvcc").detail == "nvcc 13.0");
    CHECK(machine.item("NVIDIA driver").detail == "580.65.06, runs CUDA 13");
    CHECK(machine.item("GPU 1").detail == "NVIDIA H200, compute capability 9.0, 140 GiB");
    CHECK(machine.item("ncu").detail == "ncu 2025.3.1.0");
}

TEST_CASE("a machine without a GPU is healthy, too") {
    Machine machine;
    machine.take_gpu_away();
    const std::vector<Item> items = machine.items();
    CHECK(is_usable(items));
    for (const Item& item : items) {
        INFO(item.name);
        CHECK((item.health == Health::ok || item.health == Health::optional_missing));
    }
    CHECK_THAT(doctor_text(items, {}, "./warpwise"), !ContainsSubstring("so can the GPU"));
}

TEST_CASE("a missing program is named with the command of this system") {
    const std::map<std::string, std::string> commands = {{"apt-get", "sudo apt-get install ninja-build"},
                                                         {"dnf", "sudo dnf install ninja-build"},
                                                         {"pacman", "sudo pacman -S --needed ninja"}};
    for (const auto& [manager, command] : commands) {
        Machine machine;
        machine.programs.erase("ninja");
        machine.programs.erase("apt-get");
        machine.programs.insert(manager);
        const Item item = machine.item("ninja");
        CHECK(item.health == Health::missing);
        CHECK(item.fix == command);
        CHECK_FALSE(is_usable(machine.items()));
        machine.is_root = true;
        CHECK("sudo " + machine.item("ninja").fix == command);
    }
    Machine other;
    other.programs.erase("ninja");
    other.programs.erase("apt-get");
    CHECK_THAT(other.item("ninja").fix, ContainsSubstring("package manager"));
}

TEST_CASE("an optional program that is missing is no problem") {
    Machine machine;
    machine.programs.erase("tmux");
    CHECK(machine.item("tmux").health == Health::optional_missing);
    CHECK(is_usable(machine.items()));
}

TEST_CASE("a program that does not run is a problem, and is quoted") {
    Machine machine;
    machine.answers["ninja --version"] = says("ninja: cannot execute binary file\n", 126);
    CHECK(machine.item("ninja").health == Health::problem);
    CHECK(machine.item("ninja").detail == "ninja: cannot execute binary file");
    CommandResult slow;
    slow.timed_out = true;
    slow.status = 143;
    machine.answers["cmake --version"] = slow;
    CHECK_THAT(machine.item("cmake").detail, ContainsSubstring("no answer within 5 s"));
}

TEST_CASE("versions that are too old are problems") {
    Machine machine;
    machine.answers["cmake --version"] = says("cmake version 3.18.4\n");
    CHECK(machine.item("cmake").health == Health::problem);
    CHECK_THAT(machine.item("cmake").detail, ContainsSubstring("3.22 or newer"));
    machine.answers["cmake --version"] = says("cmake version 4.0.2\n");
    CHECK(machine.item("cmake").health == Health::ok);
    machine.answers["g++ --version"] = says("g++ (Debian 10.2.1-6) 10.2.1 20210110\n");
    CHECK_THAT(machine.item("C++ compiler").detail, ContainsSubstring("g++ 12 or newer"));
    CHECK_FALSE(is_usable(machine.items()));
}

TEST_CASE("the compiler is the one that builds: CXX, g++, clang++") {
    Machine machine;
    machine.answers["clang++ --version"] = says("Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64\n");
    machine.variables["CXX"] = "clang++";
    CHECK(machine.item("C++ compiler").detail == "clang++ 18.1.3, C++20");
    machine.variables["CXX"] = "/opt/none";
    CHECK(machine.item("C++ compiler").health == Health::problem);
    CHECK_THAT(machine.item("C++ compiler").fix, ContainsSubstring("unset CXX"));
    machine.variables.clear();
    machine.programs.erase("g++");
    CHECK(machine.item("C++ compiler").health == Health::missing);
    CHECK(machine.item("C++ compiler").fix == "sudo apt-get install g++");
    machine.programs.insert("clang++");
    CHECK(machine.item("C++ compiler").health == Health::ok);
}

TEST_CASE("a compiler without the library of C++20 is a problem") {
    Machine machine;
    machine.compiles_cpp20 = false;
    CHECK(machine.item("C++ compiler").health == Health::problem);
    CHECK_THAT(machine.item("C++ compiler").detail, ContainsSubstring("span"));
}

TEST_CASE("missing libraries are named with their packages") {
    Machine machine;
    machine.missing_headers = {"CLI/CLI.hpp", "boost/context/detail/fcontext.hpp"};
    CHECK(machine.item("CLI11").fix == "sudo apt-get install libcli11-dev");
    CHECK(machine.item("Boost.Context").fix == "sudo apt-get install libboost-context-dev");
    CHECK(machine.item("fmt").health == Health::ok);
    CHECK_FALSE(is_usable(machine.items()));
    CHECK_THAT(doctor_text(machine.items(), {}, "./warpwise"),
               ContainsSubstring("All that is missing at once: ./warpwise setup"));
}

TEST_CASE("libraries are found without a compiler, too") {
    Machine machine;
    machine.programs.erase("g++");
    machine.write("usr/include/fmt/core.h", "");
    CHECK(machine.item("fmt").health == Health::ok);
    CHECK(machine.item("CLI11").health == Health::missing);
}

TEST_CASE("Catch2 3 comes with the script, or was fetched by CMake") {
    Machine machine;
    machine.missing_headers = {"catch2/catch_test_macros.hpp"};
    CHECK(machine.item("Catch2 3").fix == "./warpwise setup");
    fs::create_directories(machine.project.build_folder() / "_deps/catch2-src");
    CHECK(machine.item("Catch2 3").health == Health::ok);
    CHECK(machine.item("Catch2 3").detail == "fetched by CMake");
}

TEST_CASE("an nvcc that the driver is too old for is a problem") {
    Machine machine;
    const std::string page = "nvidia-smi";
    machine.answers[page] = says("Driver Version: 535.104.05   CUDA Version: 12.2\n");
    CHECK(machine.item("nvcc").health == Health::problem);
    CHECK_THAT(machine.item("nvcc").detail, ContainsSubstring("newer than the driver, which runs CUDA 12"));
    machine.answers["nvcc --version"] = says("Cuda compilation tools, release 12.6, V12.6.20\n");
    CHECK(machine.item("nvcc").health == Health::ok);  // the same first number will do
    CHECK(is_usable(machine.items()));
}

TEST_CASE("without nvidia-smi the driver's number tells which CUDA it runs") {
    Machine machine;
    machine.programs.erase("nvidia-smi");
    CHECK(machine.item("NVIDIA driver").detail == "580.65.06, runs CUDA 13");
    CHECK(machine.item("GPU").health == Health::ok);
    machine.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat\n");
    CHECK(machine.item("nvcc").health == Health::problem);
}

TEST_CASE("an nvcc that is too old, or broken, or missing beside a GPU") {
    Machine machine;
    machine.answers["nvcc --version"] = says("Cuda compilation tools, release 11.5, V11.5.119\n");
    CHECK_THAT(machine.item("nvcc").detail, ContainsSubstring("12.0 or newer"));
    machine.answers["nvcc --version"] = says("nvcc: no such file\n", 127);
    CHECK_THAT(machine.item("nvcc").detail, ContainsSubstring("no such file"));
    machine.programs.erase("nvcc");
    CHECK(machine.item("nvcc").health == Health::missing);
    CHECK_THAT(machine.item("nvcc").fix, ContainsSubstring("https://developer.nvidia.com/cuda-downloads"));
    CHECK(is_usable(machine.items()));
    machine.write("usr/local/cuda/bin/nvcc", "");
    const std::string program = (machine.files / "usr/local/cuda/bin/nvcc").string();
    machine.answers[program + " --version"] = says("Cuda compilation tools, release 13.0, V13.0.88\n");
    CHECK(machine.item("nvcc").detail == program + " 13.0");
}

TEST_CASE("GPUs that nvcc cannot build for are problems") {
    Machine machine;
    const auto gpu = [&](const std::string& line) {
        machine.answers
            ["nvidia-smi --query-gpu=name,compute_cap,memory.total,driver_version --format=csv,noheader,nounits"] =
            says(line + "\n");
        return machine.item("GPU 0");
    };
    CHECK(gpu("Tesla V100-SXM2-16GB, 7.0, 16384, 580.65.06").health == Health::problem);
    CHECK(gpu("Tesla T4, 7.5, 15360, 580.65.06").health == Health::ok);
    machine.answers["nvcc --version"] = says("Cuda compilation tools, release 12.4, V12.4.99\n");
    CHECK(gpu("Tesla V100-SXM2-16GB, 7.0, 16384, 580.65.06").health == Health::ok);
    CHECK_THAT(gpu("NVIDIA GeForce RTX 5090, 12.0, 32607, 580.65.06").detail, ContainsSubstring("too new"));
    CHECK(gpu("Some GPU, [N/A], [N/A], 580.65.06").health == Health::ok);
}

TEST_CASE("a driver that does not answer is a problem") {
    Machine machine;
    machine.answers
        ["nvidia-smi --query-gpu=name,compute_cap,memory.total,driver_version "
         "--format=csv,noheader,nounits"] = says("Failed to initialize NVML: Driver/library version mismatch\n", 18);
    const Item driver = machine.item("NVIDIA driver");
    CHECK(driver.health == Health::problem);
    CHECK_THAT(driver.detail, ContainsSubstring("version mismatch"));
    CHECK_THAT(driver.fix, ContainsSubstring("reboot"));
    CHECK(machine.item("GPU").health == Health::problem);
    CHECK(is_usable(machine.items()));
}

TEST_CASE("a GPU without a driver is noticed on the bus") {
    Machine machine;
    machine.take_gpu_away();
    machine.write("sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n");
    machine.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    CHECK(machine.item("NVIDIA driver").health == Health::missing);
    CHECK_THAT(machine.item("NVIDIA driver").fix, ContainsSubstring("apt-get install nvidia-driver"));
    machine.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
    CHECK(machine.item("NVIDIA driver").health == Health::optional_missing);
}

TEST_CASE("counters that only root may read come with the way to change that") {
    Machine machine;
    machine.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
    const Item item = machine.item("GPU counters");
    CHECK(item.health == Health::problem);
    CHECK_THAT(item.fix, ContainsSubstring("NVreg_RestrictProfilingToAdminUsers=0"));
    CHECK_THAT(item.fix, ContainsSubstring("update-initramfs"));
    machine.is_root = true;
    CHECK(machine.item("GPU counters").health == Health::ok);
    CHECK(is_usable(machine.items()));
}

TEST_CASE("a system without free inotify instances is told how to get more") {
    Machine machine;
    machine.inotify_error = EMFILE;
    CHECK(machine.item("inotify").health == Health::problem);
    CHECK_THAT(machine.item("inotify").detail, ContainsSubstring("128"));
    CHECK(machine.item("inotify").fix == "sudo sysctl fs.inotify.max_user_instances=1024");
    machine.inotify_error = ENOSYS;
    CHECK(machine.item("inotify").fix.empty());
    CHECK(is_usable(machine.items()));
}

TEST_CASE("a full disk keeps everything from being built") {
    Machine machine;
    machine.free_bytes = 1e8;
    CHECK(machine.item("disk").health == Health::problem);
    CHECK_FALSE(is_usable(machine.items()));
    machine.free_bytes.reset();
    CHECK(machine.item("disk").health == Health::ok);
}

TEST_CASE("free memory is what a container gives, where it gives less") {
    Machine machine;
    CHECK(machine.item("memory").detail == "8.2 GB free");
    machine.write("sys/fs/cgroup/memory.max", "2000000000\n");
    machine.write("sys/fs/cgroup/memory.current", "1500000000\n");
    CHECK(machine.item("memory").health == Health::problem);
    CHECK_THAT(machine.item("memory").fix, ContainsSubstring("CMAKE_BUILD_PARALLEL_LEVEL=1"));
    machine.write("sys/fs/cgroup/memory.max", "max\n");
    CHECK(machine.item("memory").health == Health::ok);
}

TEST_CASE("the doctor's JSON holds every item with its state") {
    Machine machine;
    machine.programs.erase("ninja");
    machine.programs.erase("tmux");
    const Json json = warpwise::parse_json<Json>(doctor_json(machine.items()));
    CHECK(json["cpu_usable"] == false);
    CHECK(json["gpu_usable"] == false);
    CHECK(json["checks"].size() == machine.items().size());
    std::map<std::string, std::string> states;
    for (const Json& check : json["checks"]) states[check["name"]] = check["state"];
    CHECK(states["ninja"] == "missing");
    CHECK(states["tmux"] == "optional_missing");
    CHECK(states["cmake"] == "ok");
}

TEST_CASE("every item that is not well is followed by what puts it right") {
    Machine machine;
    machine.programs.erase("ninja");
    CHECK_THAT(doctor_text(machine.items(), {}, "./warpwise"),
               ContainsSubstring("missing   ninja              not here (runs the builds)\n"
                                 "          -> sudo apt-get install ninja-build\n"));
}

TEST_CASE("probes run at the same time") {
    std::mutex mutex;
    std::condition_variable five_run;
    int running = 0;
    bool at_the_same_time = false;
    bool waited_in_vain = false;
    const System slow{.run =
                          [&](const Words&) {
                              std::unique_lock lock(mutex);
                              if (++running > 4) at_the_same_time = true;
                              five_run.notify_all();
                              const auto enough = [&] { return at_the_same_time || waited_in_vain; };
                              if (!five_run.wait_for(lock, std::chrono::seconds(20), enough)) waited_in_vain = true;
                              --running;
                              return says("1.0\n");
                          },
                      .has_program = [](const std::string&) { return true; },
                      .variable = [](const std::string&) { return std::string(); },
                      .open_inotify = [] { return 0; },
                      .free_bytes = [](const fs::path&) { return std::optional(1e12); },
                      .files = "/nowhere"};
    examine(Project{}, slow);
    CHECK(at_the_same_time);
}

TEST_CASE("this machine, on which the tests were built, can be used") {
    Project project;
    project.root = fs::temp_directory_path();
    const std::vector<Item> items = examine(project, real_system());
    for (const Item& item : items) {
        if (item.name == "C++ compiler" || item.name == "cmake") {
            INFO(item.detail);
            CHECK(item.health == Health::ok);
        }
    }
}
