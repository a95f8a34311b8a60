#include "common/guide/doctor.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <regex>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/helpers/json.h"

namespace guide {
namespace {

using warpwise::Style;
using warpwise::Terminal;

constexpr double probe_limit_seconds = 5;
constexpr double gigabyte = 1e9;
constexpr double least_free_disk = 0.5 * gigabyte;  // a build with its tests takes about half of that
constexpr double least_free_memory = gigabyte;      // what g++ takes for the larger files, with some to spare
constexpr const char* toolkit_page = "https://developer.nvidia.com/cuda-downloads";

// ---- versions ------------------------------------------------------------------------------------------------------

struct Version {
    int major = 0;
    int minor = 0;
    auto operator<=>(const Version&) const = default;
};

std::string first_match(const std::string& text, const char* pattern) {
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : std::string();
}

std::string first_line(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
    return text.substr(begin, text.find('\n', begin) - begin);
}

std::string last_version_in(const std::string& line) { return first_match(line, R"(.*[^\d.](\d+\.\d+(\.\d+)?))"); }

/// "13.0.88" -> 13, 0
Version version_of(const std::string& text) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(R"((\d{1,6})(?:\.(\d{1,6}))?)"))) return {};
    return {std::stoi(match[1].str()), match[2].matched ? std::stoi(match[2].str()) : 0};
}

// ---- packages ------------------------------------------------------------------------------------------------------

struct Package {
    const char* apt;
    const char* dnf;
    const char* pacman;
};

std::string as_root(const System& system, const std::string& command) {
    return system.is_root ? command : "sudo " + command;
}

std::string install(const System& system, const Package& package) {
    if (system.has_program("apt-get")) return as_root(system, fmt::format("apt-get install {}", package.apt));
    if (system.has_program("dnf")) return as_root(system, fmt::format("dnf install {}", package.dnf));
    if (system.has_program("pacman")) return as_root(system, fmt::format("pacman -S --needed {}", package.pacman));
    return fmt::format("install {} with the package manager of this system", package.pacman);
}

// ---- looking -------------------------------------------------------------------------------------------------------

bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

/// Empty when there is no such file.
std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string why_it_failed(const CommandResult& result) {
    if (result.timed_out) return fmt::format("gives no answer within {:g} s", probe_limit_seconds);
    const std::string line = first_line(result.output);
    return line.empty() ? fmt::format("ends with status {}", result.status) : line;
}

/// As CMake finds programs of the CUDA Toolkit: in PATH, else in the usual folders. Empty: nowhere.
std::string toolkit_program(const System& system, const std::string& name) {
    if (system.has_program(name)) return name;
    for (const char* folder : {"usr/local/cuda/bin", "opt/cuda/bin"}) {
        const std::filesystem::path program = system.files / folder / name;
        if (is_there(program)) return program.string();
    }
    return "";
}

/// As `./warpwise` chooses it. Empty: there is none.
std::string compiler_of(const System& system) {
    const std::string chosen = system.variable("CXX");
    if (!chosen.empty()) return chosen;
    for (const char* name : {"g++", "clang++"}) {
        if (system.has_program(name)) return name;
    }
    return "";
}

// ---- what everything needs -----------------------------------------------------------------------------------------

Item examine_compiler(const System& system) {
    Item item{.name = "C++ compiler", .purpose = "builds everything"};
    const std::string fix = install(system, {"g++", "gcc-c++", "gcc"});
    const std::string compiler = compiler_of(system);
    if (compiler.empty()) {
        item.health = Health::missing;
        item.detail = "neither g++ nor clang++ is here";
        item.fix = fix;
        return item;
    }
    const bool is_chosen = !system.variable("CXX").empty();
    const CommandResult asked = system.run({compiler, "--version"});
    if (asked.status != 0) {
        item.health = Health::problem;
        item.detail = fmt::format("{}{} {}", compiler, is_chosen ? " (from CXX)" : "", why_it_failed(asked));
        item.fix = is_chosen ? "unset CXX, or set it to a compiler that runs" : fix;
        return item;
    }
    const std::string line = first_line(asked.output);
    const bool is_clang = line.find("clang") != std::string::npos;
    const std::string version = is_clang ? first_match(line, R"(version (\d+(\.\d+)*))") : last_version_in(line);
    item.detail = fmt::format("{} {}", compiler, version.empty() ? line : version);
    const int oldest = is_clang ? 14 : 12;
    if (!version.empty() && version_of(version).major < oldest) {
        item.health = Health::problem;
        item.detail += fmt::format(" is too old: {} {} or newer is needed", is_clang ? "clang" : "g++", oldest);
        item.fix = fmt::format("{}, then 'export CXX=...' if several are here", fix);
        return item;
    }
    const CommandResult compiled =
        system.run({compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-include", "concepts", "-include", "span",
                    "-include", "source_location", "/dev/null"});
    if (compiled.status != 0) {
        item.health = Health::problem;
        item.detail += " cannot compile C++20: " + why_it_failed(compiled);
        item.fix = fix;
    } else {
        item.detail += ", C++20";
    }
    return item;
}

struct Program {
    const char* name;
    const char* version_option;
    const char* purpose;
    Package package;
    Version oldest = {};
    NeededFor needed_for = NeededFor::everything;
};

Item examine_program(const System& system, const Program& program) {
    Item item{.name = program.name, .purpose = program.purpose, .needed_for = program.needed_for};
    const bool is_optional = program.needed_for == NeededFor::extras;
    const std::string fix = install(system, program.package);
    if (!system.has_program(program.name)) {
        item.health = is_optional ? Health::optional_missing : Health::missing;
        item.detail = "not here";
        item.fix = fix;
        return item;
    }
    const CommandResult asked = system.run({program.name, program.version_option});
    if (asked.status != 0) {
        item.health = Health::problem;
        item.detail = why_it_failed(asked);
        item.fix = fix;
        return item;
    }
    const std::string line = first_line(asked.output);
    const std::string version = last_version_in(" " + line);
    item.detail = version.empty() ? line : version;
    if (!version.empty() && version_of(version) < program.oldest) {
        item.health = Health::problem;
        item.detail += fmt::format(" is too old: {}.{} or newer is needed", program.oldest.major, program.oldest.minor);
        item.fix = fix;
    }
    return item;
}

struct Library {
    const char* name;
    const char* header;
    const char* version_header;  ///< which defines the macros below
    std::vector<const char*> version_macros;
    const char* purpose;
    Package package;
};

/// The value of `#define NAME VALUE` in what the preprocessor knows; empty when there is none.
std::string value_of_macro(const std::string& macros, const std::string& name) {
    const std::string start = fmt::format("#define {} ", name);
    std::size_t at = macros.find(start);
    if (at == std::string::npos) return "";
    at += start.size();
    return macros.substr(at, macros.find('\n', at) - at);
}

std::string version_in(const std::string& macros, const Library& library) {
    if (library.version_macros.size() > 1) {
        std::vector<std::string> parts;
        for (const char* name : library.version_macros) parts.push_back(value_of_macro(macros, name));
        return parts.front().empty() ? "" : fmt::format("{}", fmt::join(parts, "."));
    }
    std::string value = value_of_macro(macros, library.version_macros.front());
    value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
    std::replace(value.begin(), value.end(), '_', '.');  // Boost's "1_74"
    const bool is_number =
        !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_number || value.size() > 6) return value;
    const int number = std::stoi(value);  // fmt's 90100
    return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Item examine_library(const System& system, const Library& library, const std::string& fix) {
    Item item{.name = library.name, .purpose = library.purpose};
    const std::string compiler = compiler_of(system);
    bool found = false;
    if (compiler.empty()) {
        found = is_there(system.files / "usr/include" / library.header) ||
                is_there(system.files / "usr/local/include" / library.header);
    } else {
        const CommandResult macros = system.run({compiler, "-std=c++20", "-E", "-dM", "-x", "c++", "-include",
                                                 library.header, "-include", library.version_header, "/dev/null"});
        found = macros.status == 0;
        if (found) item.detail = version_in(macros.output, library);
        if (macros.timed_out) {
            item.health = Health::problem;
            item.detail = why_it_failed(macros);
            return item;
        }
    }
    if (!found) {
        item.health = Health::missing;
        item.detail = fmt::format("the compiler does not find {}", library.header);
        item.fix = fix;
    } else if (item.detail.empty()) {
        item.detail = "here";
    }
    return item;
}

const std::vector<Library>& libraries() {
    static const std::vector<Library> list = {
        {"Boost.Context",
         "boost/context/detail/fcontext.hpp",
         "boost/version.hpp",
         {"BOOST_LIB_VERSION"},
         "threads of a block, on the CPU device",
         {"libboost-context-dev", "boost-devel", "boost"}},
        {"fmt", "fmt/core.h", "fmt/core.h", {"FMT_VERSION"}, "prints", {"libfmt-dev", "fmt-devel", "fmt"}},
        {"nlohmann-json",
         "nlohmann/json.hpp",
         "nlohmann/json.hpp",
         {"NLOHMANN_JSON_VERSION_MAJOR", "NLOHMANN_JSON_VERSION_MINOR", "NLOHMANN_JSON_VERSION_PATCH"},
         "results for programs to read",
         {"nlohmann-json3-dev", "json-devel", "nlohmann-json"}},
        {"CLI11",
         "CLI/CLI.hpp",
         "CLI/CLI.hpp",
         {"CLI11_VERSION"},
         "command lines",
         {"libcli11-dev", "cli11-devel", "cli11"}},
    };
    return list;
}

/// CMake fetches it where it is missing, which takes git and a network.
Item examine_catch2(const System& system, const Project& project) {
    const Library catch2 = {"Catch2 3",
                            "catch2/catch_test_macros.hpp",
                            "catch2/catch_version_macros.hpp",
                            {"CATCH_VERSION_MAJOR", "CATCH_VERSION_MINOR", "CATCH_VERSION_PATCH"},
                            "grades exercises, and the tests",
                            {"catch2", "catch-devel", "catch2"}};
    // Debian 12 has version 2 only: the script knows where to get 3.
    const std::string fix = system.has_program("apt-get") ? project.typed + " setup" : install(system, catch2.package);
    Item item = examine_library(system, catch2, fix);
    if (item.health == Health::missing && is_there(project.build_folder() / "_deps" / "catch2-src")) {
        item = {.name = item.name, .detail = "fetched by CMake", .purpose = item.purpose};
    }
    return item;
}

// ---- GPU -----------------------------------------------------------------------------------------------------------

struct Gpu {
    std::string name;
    std::string compute_capability;  ///< "9.0"
    std::string memory;              ///< MiB
};

/// What is known of the GPU's software, before it is judged.
struct GpuSide {
    std::string nvcc;          ///< the program; empty: none
    std::string nvcc_failure;  ///< why it gave no version
    Version nvcc_version;      ///< "release 13.0"
    bool has_device_file = false;
    bool may_open_device = true;
    bool has_card = false;    ///< a display controller of NVIDIA's on the PCI bus
    std::string driver;       ///< "580.159.04"; empty: not known
    int driver_cuda = 0;      ///< the newest CUDA that it runs, its first number; 0: not known
    std::string smi_failure;  ///< what nvidia-smi complained of
    std::vector<Gpu> gpus;
};

bool has_nvidia_card(const System& system) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(system.files / "sys/bus/pci/devices", error), end;
         !error && entry != end; entry.increment(error)) {
        const bool is_display = text_of(entry->path() / "class").compare(0, 4, "0x03") == 0;
        if (is_display && text_of(entry->path() / "vendor").compare(0, 6, "0x10de") == 0) return true;
    }
    return false;
}

/// Drivers since which CUDA 11, 12, 13 run (CUDA release notes, minor version compatibility).
int cuda_of_driver(const std::string& driver) {
    const int major = version_of(driver).major;
    return major >= 580 ? 13 : major >= 525 ? 12 : major >= 450 ? 11 : 0;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// From lines such as "NVIDIA H200, 9.0, 143771, 580.159.04".
void read_gpus(const std::string& output, GpuSide& side) {
    std::size_t begin = 0;
    while (begin < output.size()) {
        const std::size_t end = std::min(output.find('\n', begin), output.size());
        std::vector<std::string> fields(1);
        for (const char c : output.substr(begin, end - begin)) {
            if (c == ',') {
                fields.emplace_back();
            } else {
                fields.back() += c;
            }
        }
        begin = end + 1;
        if (fields.size() != 4) continue;
        side.gpus.push_back({trimmed(fields[0]), trimmed(fields[1]), trimmed(fields[2])});
        side.driver = trimmed(fields[3]);
    }
}

void ask_nvcc(const System& system, GpuSide& side) {
    const std::string chosen = system.variable("CUDACXX");
    side.nvcc = chosen.empty() ? toolkit_program(system, "nvcc") : chosen;
    if (side.nvcc.empty()) return;
    const CommandResult asked = system.run({side.nvcc, "--version"});
    side.nvcc_version = version_of(first_match(asked.output, R"(release (\d+\.\d+))"));
    if (asked.status != 0 || side.nvcc_version.major == 0) side.nvcc_failure = why_it_failed(asked);
}

void ask_driver(const System& system, GpuSide& side) {
    for (const char* file : {"dev/nvidiactl", "dev/nvidia0", "dev/dxg"}) {
        const std::filesystem::path path = system.files / file;
        if (!is_there(path)) continue;
        side.has_device_file = true;
        side.may_open_device = side.may_open_device && access(path.c_str(), R_OK | W_OK) == 0;
    }
    side.has_card = has_nvidia_card(system);
    side.driver =
        first_match(text_of(system.files / "proc/driver/nvidia/version"), R"(Kernel Module\D*(\d+\.\d+(\.\d+)?))");
    if (!system.has_program("nvidia-smi")) {
        side.driver_cuda = cuda_of_driver(side.driver);
        return;
    }
    auto page = std::async(std::launch::async, [&] { return system.run({"nvidia-smi"}); });
    const CommandResult listed = system.run(
        {"nvidia-smi", "--query-gpu=name,compute_cap,memory.total,driver_version", "--format=csv,noheader,nounits"});
    const CommandResult overview = page.get();
    if (listed.status == 0) read_gpus(listed.output, side);
    // Without a GPU at all it may say so and end well.
    if (listed.status != 0 || side.gpus.empty()) side.smi_failure = why_it_failed(listed);
    side.driver_cuda = version_of(first_match(overview.output, R"(CUDA[A-Za-z ]* Version:\s*(\d+\.\d+))")).major;
    if (side.driver_cuda == 0) side.driver_cuda = cuda_of_driver(side.driver);
}

std::string driver_fix(const System& system) {
    if (system.has_program("ubuntu-drivers")) return as_root(system, "ubuntu-drivers install") + ", then reboot";
    if (system.has_program("apt-get")) {
        return as_root(system, "apt-get install nvidia-driver") + " (of the component non-free), then reboot";
    }
    if (system.has_program("pacman")) return as_root(system, "pacman -S --needed nvidia") + ", then reboot";
    return "https://www.nvidia.com/drivers, then reboot";
}

Item judge_nvcc(const System& system, const GpuSide& side) {
    Item item{.name = "nvcc", .purpose = "builds for a GPU", .needed_for = NeededFor::gpu};
    const std::string fix = system.has_program("pacman") && !system.has_program("apt-get")
                                ? install(system, {"", "", "cuda"})
                                : fmt::format("install the CUDA Toolkit: {}", toolkit_page);
    if (side.nvcc.empty()) {
        const bool wanted = side.has_device_file || side.has_card;
        item.health = wanted ? Health::missing : Health::optional_missing;
        item.detail = "not here";
        item.fix = fix;
        return item;
    }
    if (!side.nvcc_failure.empty()) {
        item.health = Health::problem;
        item.detail = fmt::format("{}: {}", side.nvcc, side.nvcc_failure);
        item.fix = system.variable("CUDACXX").empty() ? fix : "unset CUDACXX, or set it to the path of nvcc";
        return item;
    }
    item.detail = fmt::format("{} {}.{}", side.nvcc, side.nvcc_version.major, side.nvcc_version.minor);
    if (side.nvcc_version.major < 12) {
        item.health = Health::problem;
        item.detail += " is too old: C++20 takes 12.0 or newer";
        item.fix = fix;
    } else if (side.driver_cuda != 0 && side.nvcc_version.major > side.driver_cuda) {
        item.health = Health::problem;
        item.detail += fmt::format(" is newer than the driver, which runs CUDA {} at most", side.driver_cuda);
        item.fix = fmt::format(
            "a newer driver: {}; or the CUDA Toolkit {}: "
            "https://developer.nvidia.com/cuda-toolkit-archive",
            driver_fix(system), side.driver_cuda);
    }
    return item;
}

Item judge_driver(const System& system, const GpuSide& side) {
    Item item{.name = "NVIDIA driver", .purpose = "runs kernels on a GPU", .needed_for = NeededFor::gpu};
    if (!side.smi_failure.empty() && (side.has_device_file || side.has_card || !side.driver.empty())) {
        item.health = Health::problem;
        item.detail = "nvidia-smi: " + side.smi_failure;
        const bool mismatch = side.smi_failure.find("mismatch") != std::string::npos;
        item.fix = mismatch ? "reboot: the driver was updated while it was in use" : driver_fix(system);
    } else if (side.has_device_file && !side.may_open_device) {
        item.health = Health::problem;
        item.detail = "its device files (/dev/nvidia*) may not be opened by you";
        item.fix = as_root(system, "usermod -aG video \"$USER\"") + ", then log in anew";
    } else if (side.has_device_file || !side.gpus.empty()) {
        item.detail = side.driver.empty() ? "here" : side.driver;
        if (side.driver_cuda != 0) item.detail += fmt::format(", runs CUDA {}", side.driver_cuda);
    } else if (side.has_card) {
        item.health = Health::missing;
        item.detail = "an NVIDIA GPU is here, and no driver for it";
        item.fix = driver_fix(system);
    } else {
        item.health = Health::optional_missing;
        item.detail = "not here";
    }
    return item;
}

Item judge_gpu(const Gpu& gpu, std::size_t number, const GpuSide& side) {
    Item item{.name = fmt::format("GPU {}", number), .purpose = "runs kernels", .needed_for = NeededFor::gpu};
    const Version capability = version_of(gpu.compute_capability);
    const int mebibytes = version_of(gpu.memory).major;
    item.detail = fmt::format("{}, compute capability {}", gpu.name, gpu.compute_capability);
    if (mebibytes > 0) item.detail += fmt::format(", {:.0f} GiB", mebibytes / 1024.0);
    if (side.nvcc_version.major == 0 || capability.major == 0) return item;
    const Version oldest_gpu = side.nvcc_version.major >= 13 ? Version{7, 5} : Version{5, 0};
    const Version oldest_nvcc = capability.major >= 10 ? Version{12, 8} : Version{11, 8};
    if (capability < oldest_gpu) {
        item.health = Health::problem;
        item.detail += fmt::format(": too old for nvcc {}", side.nvcc_version.major);
        item.fix = "install the CUDA Toolkit 12: https://developer.nvidia.com/cuda-toolkit-archive";
    } else if (side.nvcc_version < oldest_nvcc) {
        item.health = Health::problem;
        item.detail += fmt::format(": too new for nvcc {}.{}", side.nvcc_version.major, side.nvcc_version.minor);
        item.fix = fmt::format("install the newest CUDA Toolkit: {}", toolkit_page);
    }
    return item;
}

std::vector<Item> examine_gpu_side(const System& system) {
    GpuSide side;
    auto nvcc = std::async(std::launch::async, [&] {
        GpuSide asked;
        ask_nvcc(system, asked);
        return asked;
    });
    ask_driver(system, side);
    const GpuSide asked = nvcc.get();
    side.nvcc = asked.nvcc;
    side.nvcc_failure = asked.nvcc_failure;
    side.nvcc_version = asked.nvcc_version;

    std::vector<Item> items = {judge_nvcc(system, side), judge_driver(system, side)};
    for (std::size_t i = 0; i < side.gpus.size(); ++i) items.push_back(judge_gpu(side.gpus[i], i, side));
    if (side.gpus.empty()) {
        Item none{.name = "GPU", .purpose = "runs kernels", .needed_for = NeededFor::gpu};
        if (side.has_device_file) {
            none.detail = "here; nvidia-smi, which would name it, is not";
        } else {
            none.health = Health::optional_missing;
            none.detail = "no NVIDIA GPU that can be used; the CPU device needs none";
        }
        if (side.has_device_file && !side.smi_failure.empty()) {
            none.health = Health::problem;
            none.detail = "not known, because nvidia-smi failed";
        }
        items.push_back(none);
    }
    return items;
}

Item examine_counters(const System& system) {
    Item item{.name = "GPU counters", .purpose = "ncu reads them", .needed_for = NeededFor::extras};
    const std::string parameters = text_of(system.files / "proc/driver/nvidia/params");
    const std::string admin_only = first_match(parameters, R"(RmProfilingAdminOnly:\s*(\d+))");
    if (admin_only.empty()) {
        item.health = Health::optional_missing;
        item.detail = parameters.empty() ? "no driver that would say" : "the driver does not say";
    } else if (admin_only == "0") {
        item.detail = "everybody may read them";
    } else if (system.is_root) {
        item.detail = "only root may read them, which you are (a container has to allow it, too: --cap-add SYS_ADMIN)";
    } else {
        item.health = Health::problem;
        item.detail = "only root may read them";
        const char* renew = system.has_program("apt-get") ? "sudo update-initramfs -u"
                            : system.has_program("dnf")   ? "sudo dracut -f"
                                                          : "sudo mkinitcpio -P";
        item.fix = fmt::format(
            "sudo ncu ...; or for good: echo 'options nvidia "
            "NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
            "/etc/modprobe.d/nvidia-counters.conf && {}, then reboot",
            renew);
    }
    return item;
}

Item examine_tool(const System& system, const char* name, const char* purpose) {
    Item item{.name = name, .purpose = purpose, .needed_for = NeededFor::extras};
    const std::string program = toolkit_program(system, name);
    if (program.empty()) {
        item.health = Health::optional_missing;
        item.detail = "not here";
        item.fix = fmt::format("part of the CUDA Toolkit: {}", toolkit_page);
        return item;
    }
    const CommandResult asked = system.run({program, "--version"});
    if (asked.status != 0) {
        item.health = Health::problem;
        item.detail = fmt::format("{}: {}", program, why_it_failed(asked));
        item.fix = fmt::format("install the CUDA Toolkit anew: {}", toolkit_page);
        return item;
    }
    const std::string version = first_match(asked.output, R"(Version (\d+(\.\d+)*))");
    item.detail = version.empty() ? program : fmt::format("{} {}", program, version);
    return item;
}

// ---- the rest ------------------------------------------------------------------------------------------------------

Item examine_inotify(const System& system) {
    Item item{.name = "inotify", .purpose = "notices when you save", .needed_for = NeededFor::extras};
    const int error = system.open_inotify();
    const std::string instances = trimmed(text_of(system.files / "proc/sys/fs/inotify/max_user_instances"));
    const std::string watches = trimmed(text_of(system.files / "proc/sys/fs/inotify/max_user_watches"));
    if (error == 0) {
        item.detail = instances.empty() ? "works" : fmt::format("{} instances, {} watches", instances, watches);
        return item;
    }
    item.health = Health::problem;
    item.detail = fmt::format("{}; files are looked at four times a second instead", std::strerror(error));
    if (error == EMFILE) {
        item.detail = fmt::format("all {} instances are taken; files are polled instead", instances);
        item.fix = as_root(system, "sysctl fs.inotify.max_user_instances=1024");
    }
    return item;
}

std::string gigabytes_text(double bytes) { return fmt::format("{:.1f} GB free", bytes / gigabyte); }

Item examine_disk(const System& system, const Project& project) {
    Item item{.name = "disk", .purpose = "holds build/"};
    const std::optional<double> free = system.free_bytes(project.root / "build");
    item.detail = free ? gigabytes_text(*free) : "cannot tell";
    if (free && *free < least_free_disk) {
        item.health = Health::problem;
        item.detail += fmt::format("; a build takes up to {:.1f} GB", least_free_disk / gigabyte);
        item.fix = fmt::format("make room where {} is", (project.root / "build").string());
    }
    return item;
}

/// A number that ends in "kB", from /proc/meminfo.
std::optional<double> bytes_after(const std::string& text, const char* pattern, double unit) {
    const std::string number = first_match(text, pattern);
    if (number.empty() || number.size() > 18) return std::nullopt;
    return std::stod(number) * unit;
}

/// What is free, and what a container still gives.
std::optional<double> free_memory(const System& system) {
    std::optional<double> free =
        bytes_after(text_of(system.files / "proc/meminfo"), R"(MemAvailable:\s*(\d+) kB)", 1024);
    const std::pair<const char*, const char*> limits[] = {
        {"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"},
        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    for (const auto& [limit_file, used_file] : limits) {
        const std::optional<double> limit = bytes_after(text_of(system.files / limit_file), R"(^(\d+))", 1);
        const std::optional<double> used = bytes_after(text_of(system.files / used_file), R"(^(\d+))", 1);
        if (!limit || !used) continue;
        const double left = std::max(0.0, *limit - *used);
        free = free ? std::min(*free, left) : left;
    }
    return free;
}

Item examine_memory(const System& system, const Project& project) {
    Item item{.name = "memory", .purpose = "for the compiler", .needed_for = NeededFor::extras};
    const std::optional<double> free = free_memory(system);
    item.detail = free ? gigabytes_text(*free) : "cannot tell";
    if (free && *free < least_free_memory) {
        item.health = Health::problem;
        item.detail += "; several compilers at once may be ended for want of memory";
        item.fix = fmt::format("one at a time: CMAKE_BUILD_PARALLEL_LEVEL=1 {}", project.typed);
    }
    return item;
}

// ---- all of it -----------------------------------------------------------------------------------------------------

const char* name_of(Health health) {
    switch (health) {
        case Health::ok:
            return "ok";
        case Health::optional_missing:
            return "optional";
        case Health::missing:
            return "missing";
        case Health::problem:
            return "problem";
    }
    return "";
}

const char* name_of(NeededFor needed_for) {
    switch (needed_for) {
        case NeededFor::everything:
            return "everything";
        case NeededFor::gpu:
            return "gpu";
        case NeededFor::extras:
            return "extras";
    }
    return "";
}

Style style_of(Health health) {
    if (health == Health::ok) return Style::good;
    return health == Health::optional_missing ? Style::faint : Style::bad;
}

bool gpu_is_usable(const std::vector<Item>& items) {
    return is_usable(items) && std::all_of(items.begin(), items.end(), [](const Item& item) {
               return item.needed_for != NeededFor::gpu || item.health == Health::ok;
           });
}

}  // namespace

System real_system() {
    return {
        .run =
            [](const std::vector<std::string>& arguments) {
                // Versions are looked for in English.
                return run_command(arguments, {.variables = {{"LC_ALL", "C"}}, .limit_seconds = probe_limit_seconds});
            },
        .has_program = [](const std::string& name) { return has_program(name); },
        .variable =
            [](const std::string& name) {
                const char* value = std::getenv(name.c_str());
                return std::string(value == nullptr ? "" : value);
            },
        .open_inotify =
            [] {
                const int descriptor = inotify_init1(IN_CLOEXEC);
                if (descriptor < 0) return errno;
                close(descriptor);
                return 0;
            },
        .free_bytes = [](const std::filesystem::path& folder) -> std::optional<double> {
            std::filesystem::path there = folder;
            while (!is_there(there) && there.has_relative_path()) there = there.parent_path();
            struct statvfs disk {};
            if (statvfs(there.c_str(), &disk) != 0) return std::nullopt;
            return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
        },
        .files = "/",
        .is_root = geteuid() == 0};
}

std::vector<Item> examine(const Project& project, const System& system) {
    std::vector<std::future<std::vector<Item>>> probes;
    const auto probe = [&](auto examine_one) {
        probes.push_back(std::async(std::launch::async, [=] { return std::vector<Item>{examine_one()}; }));
    };
    const auto program = [&](const Program& what) { probe([&system, what] { return examine_program(system, what); }); };
    probe([&] { return examine_compiler(system); });
    program({"addr2line", "--version", "names source lines", {"binutils", "binutils", "binutils"}});
    program({"cmake", "--version", "sets the builds up", {"cmake", "cmake", "cmake"}, {3, 22}});
    program({"ninja", "--version", "runs the builds", {"ninja-build", "ninja-build", "ninja"}});
    for (const Library& library : libraries()) {
        probe([&system, &library] { return examine_library(system, library, install(system, library.package)); });
    }
    probe([&] { return examine_catch2(system, project); });
    probe([&] { return examine_disk(system, project); });
    probes.push_back(std::async(std::launch::async, [&] { return examine_gpu_side(system); }));
    probe([&] { return examine_counters(system); });
    probe([&] { return examine_tool(system, "ncu", "counters of a GPU"); });
    probe([&] { return examine_tool(system, "compute-sanitizer", "finds errors on a GPU"); });
    probe([&] { return examine_inotify(system); });
    probe([&] { return examine_memory(system, project); });
    const NeededFor extras = NeededFor::extras;
    program({"diff", "--version", "compares answer and solution", {"diffutils", "diffutils", "diffutils"}, {}, extras});
    program({"tmux", "-V", "tests of the terminal", {"tmux", "tmux", "tmux"}, {}, extras});
    program({"node", "--version", "builds the book", {"nodejs", "nodejs", "nodejs"}, {18, 0}, extras});
    program({"npm", "--version", "fetches what builds the book", {"npm", "npm", "npm"}, {}, extras});

    std::vector<Item> items;
    for (std::future<std::vector<Item>>& one : probes) {
        for (Item& item : one.get()) items.push_back(std::move(item));
    }
    return items;
}

bool is_usable(const std::vector<Item>& items) {
    return std::all_of(items.begin(), items.end(), [](const Item& item) {
        return item.needed_for != NeededFor::everything || item.health == Health::ok;
    });
}

std::string doctor_text(const std::vector<Item>& items, const Terminal& terminal, const std::string& typed) {
    std::size_t longest = 0;
    for (const Item& item : items) longest = std::max(longest, item.name.size());
    const auto padded = [](const std::string& text, std::size_t width) {
        return std::string(width - std::min(width, text.size()), ' ');
    };
    constexpr std::size_t health_width = 10;
    std::string text;
    bool lacks_package = false;
    for (const Item& item : items) {
        const std::string health = name_of(item.health);
        text += fmt::format("{}{}{}{}  {} {}\n", terminal.paint(style_of(item.health), health),
                            padded(health, health_width), item.name, padded(item.name, longest), item.detail,
                            terminal.paint(Style::faint, "(" + item.purpose + ")"));
        if (!item.fix.empty()) text += std::string(health_width, ' ') + "-> " + item.fix + "\n";
        lacks_package = lacks_package || (item.health == Health::missing && item.needed_for == NeededFor::everything);
    }
    text += is_usable(items) ? "\nThe CPU device can be used here"
                             : "\nThe CPU device cannot be used here until what is missing is put right";
    text += gpu_is_usable(items) ? ", and so can the GPU.\n" : ".\n";
    if (lacks_package) text += fmt::format("All that is missing at once: {} setup\n", typed);
    return text;
}

std::string doctor_json(const std::vector<Item>& items) {
    using Json = nlohmann::ordered_json;
    Json checks = Json::array();
    for (const Item& item : items) {
        const bool is_optional = item.health == Health::optional_missing;
        checks.push_back({{"name", item.name},
                          {"state", is_optional ? "optional_missing" : name_of(item.health)},
                          {"detail", item.detail},
                          {"purpose", item.purpose},
                          {"needed_for", name_of(item.needed_for)},
                          {"fix", item.fix.empty() ? Json(nullptr) : Json(item.fix)}});
    }
    const Json document = {{"cpu_usable", is_usable(items)}, {"gpu_usable", gpu_is_usable(items)}, {"checks", checks}};
    return warpwise::json_text(document, 2) + "\n";
}

int doctor(const Project& project, const System& system, const Terminal& terminal, bool json) {
    const std::vector<Item> items = examine(project, system);
    fmt::print("{}", json ? doctor_json(items) : doctor_text(items, terminal, project.typed));
    return is_usable(items) ? 0 : 1;
}

}  // namespace guide
