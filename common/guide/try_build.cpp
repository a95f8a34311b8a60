#include "common/guide/try_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "common/guide/project.h"
#include "common/helpers/json.h"
#include "common/lesson/refusal.h"

namespace guide {
namespace {

/// What a program links when its source includes a header whose name begins like this.
struct Library {
    std::string_view header;
    std::string_view option;
};
constexpr std::array libraries_of_headers = {
    Library{"cublas", "-lcublas"},   Library{"cublasLt", "-lcublasLt"}, Library{"cufft", "-lcufft"},
    Library{"curand.h", "-lcurand"}, Library{"cusparse", "-lcusparse"}, Library{"cusolver", "-lcusolver"},
    Library{"cudnn", "-lcudnn"},     Library{"nccl", "-lnccl"},         Library{"nvrtc", "-lnvrtc"},
    Library{"nvml", "-lnvidia-ml"},  Library{"cuda.h", "-lcuda"},
};

/// The names in `#include <name>` and `#include "name"`.
std::vector<std::string_view> included_names(std::string_view text) {
    std::vector<std::string_view> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string_view::npos || line[hash] != '#') continue;
        const std::size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string_view::npos || !line.substr(word).starts_with("include")) continue;
        const std::size_t open = line.find_first_of("<\"", word);
        const std::size_t close = open == std::string_view::npos ? open : line.find_first_of(">\"", open + 1);
        if (close != std::string_view::npos) names.push_back(line.substr(open + 1, close - open - 1));
    }
    return names;
}

void append(std::vector<std::string>& command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
}

std::vector<std::string> options_of(const TrySource& source) {
    std::vector<std::string> options;
    for (const std::filesystem::path& folder : source.include_folders) options.push_back("-I" + folder.string());
    for (const std::string& definition : source.definitions) options.push_back("-D" + definition);
    return options;
}

}  // namespace

TryTools read_try_tools(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) {
        throw Refusal(fmt::format("{} is not there. Delete the folder {} and try again", file.string(),
                                  file.parent_path().string()));
    }
    try {
        const nlohmann::json json = warpwise::parse_json<nlohmann::json>(stream);
        return {json.at("compiler"),  json.at("options"),  json.at("cpu_device_headers"), json.at("include_folders"),
                json.at("libraries"), json.at("rewriter"), json.at("toolkit_libraries")};
    } catch (const nlohmann::json::exception& error) {
        throw Refusal(fmt::format("{} cannot be read ({}). Delete the folder {} and try again", file.string(),
                                  error.what(), file.parent_path().string()));
    }
}

std::vector<std::string> rewrite_command(const TryTools& tools, const TrySource& source, const TryParts& parts) {
    std::vector<std::string> command = {tools.rewriter,           source.file.string(), "-o",
                                        parts.rewritten.string(), "--include-folder",   parts.headers.string()};
    for (const std::filesystem::path& folder : source.include_folders) append(command, {"-I", folder.string()});
    return command;
}

std::vector<std::string> compile_command(const TryTools& tools, const TrySource& source, const TryParts& parts) {
    std::vector<std::string> command = {tools.compiler};
    append(command, tools.options);
    // Warnings about a program that others wrote help nobody here; nvcc says as little.
    append(command, {"-w", source.colors ? "-fdiagnostics-color=always" : "-fdiagnostics-color=never"});
    for (const std::string& folder : tools.cpu_device_headers) command.push_back("-I" + folder);
    for (const std::string& folder : tools.include_folders) command.push_back("-I" + folder);
    append(command, options_of(source));
    if (!source.cccl.empty()) append(command, {"-isystem", source.cccl.string()});
    if (source.uses_openmp) command.emplace_back("-fopenmp");
    append(command, {"-iquote", source.file.parent_path().string()});
    append(command, {"-c", parts.rewritten.string(), "-o", parts.object.string()});
    return command;
}

std::vector<std::string> link_command(const TryTools& tools, const TrySource& source, const TryParts& parts) {
    // Nothing in the program asks for the part that counts: the linker has to be told.
    std::vector<std::string> command = {tools.compiler, parts.object.string()};
    for (const std::filesystem::path& object : parts.more_objects) command.push_back(object.string());
    append(command, {"-o", parts.program.string(), "-Wl,--undefined=warpwise_try_support"});
    for (const std::string& library : source.libraries) command.push_back("-l" + library);
    if (parts.toolkit_libraries) append(command, tools.toolkit_libraries);
    append(command, tools.libraries);
    if (source.uses_openmp) command.emplace_back("-fopenmp");
    return command;
}

std::vector<std::string> nvcc_command(const std::string& nvcc, const TrySource& source, std::string_view text,
                                      bool launches_in_kernels, const std::filesystem::path& program) {
    std::vector<std::string> command = {nvcc, "-O3", "-std=c++20", "-arch=native", "-lineinfo"};
    if (launches_in_kernels) append(command, {"-rdc=true", "-lcudadevrt"});
    append(command, options_of(source));
    if (source.uses_openmp) append(command, {"-Xcompiler", "-fopenmp"});
    append(command, {"-x", "cu", source.file.string()});
    for (const std::filesystem::path& file : source.more_files) command.push_back(file.string());
    append(command, {"-o", program.string()});
    for (const std::string& library : source.libraries) command.push_back("-l" + library);
    const std::vector<std::string_view> names = included_names(text);
    for (const Library& library : libraries_of_headers) {
        for (const std::string_view name : names) {
            if (!name.starts_with(library.header)) continue;
            command.emplace_back(library.option);
            break;
        }
    }
    return command;
}

bool includes_openmp(std::string_view text) {
    const std::vector<std::string_view> names = included_names(text);
    return std::find(names.begin(), names.end(), "omp.h") != names.end();
}

bool wants_toolkit_libraries(std::string_view linker_output) {
    static constexpr std::array<std::string_view, 7> functions = {
        "cublas", "cufft", "curand", "cusolver", "cusparse", "nccl", "cpu_device::curand::"};
    return std::any_of(functions.begin(), functions.end(), [&](std::string_view function) {
        return linker_output.find("undefined reference to `" + std::string(function)) != std::string_view::npos;
    });
}

bool wants_separate_compilation(std::string_view nvcc_output) {
    return nvcc_output.find("requires separate compilation mode") != std::string_view::npos;
}

std::filesystem::path find_cccl() {
    std::vector<std::filesystem::path> toolkits;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* folder = std::getenv(variable);
        if (folder != nullptr && *folder != '\0') toolkits.emplace_back(folder);
    }
    toolkits.insert(toolkits.end(), {"/usr/local/cuda", "/opt/cuda"});
    for (const std::filesystem::path& toolkit : toolkits) {
        for (const char* folder : {"include/cccl", "include"}) {
            std::error_code error;
            if (std::filesystem::exists(toolkit / folder / "thrust/version.h", error)) return toolkit / folder;
        }
    }
    return {};
}

std::filesystem::path find_samples_headers(const std::filesystem::path& file) {
    std::filesystem::path folder = file.parent_path();
    while (folder.has_relative_path()) {
        for (const char* name : {"Common", "common/inc"}) {
            std::error_code error;
            if (std::filesystem::exists(folder / name / "helper_cuda.h", error)) return folder / name;
        }
        folder = folder.parent_path();
    }
    return {};
}

bool is_toolkit_folder(const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::exists(folder / "cuda_runtime.h", error);
}

}  // namespace guide
