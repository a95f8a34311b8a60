// The commands that make a program of one CUDA file: for the CPU device with the tools that CMake wrote down, for a GPU
// with nvcc.
//
//     const TryTools tools = read_try_tools(project.build_folder() / "try.json");
//     run_command(rewrite_command(tools, source, parts));
//     run_command(compile_command(tools, source, parts));
//     run_command(link_command(tools, parts));
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace guide {

/// What BUILD/try.json says: how files of chapters are compiled for instrumenting.
struct TryTools {
    std::string compiler;
    std::vector<std::string> options;
    std::vector<std::string> cpu_device_headers;  ///< folders
    std::vector<std::string> include_folders;     ///< other folders, for after them
    std::vector<std::string> libraries;           ///< in link order
    std::string rewriter;
};

/// Throws Refusal when the file is missing or says something else.
TryTools read_try_tools(const std::filesystem::path& file);

/// The file to build, with the options that the reader gave.
struct TrySource {
    std::filesystem::path file;                          ///< absolute
    std::vector<std::filesystem::path> include_folders;  ///< absolute
    std::vector<std::string> definitions;
    bool colors = false;       ///< in the compiler's messages
    bool uses_openmp = false;  ///< the file includes <omp.h>
};

/// Where the pieces of the program go.
struct TryParts {
    std::filesystem::path rewritten;
    std::filesystem::path headers;  ///< folder for rewritten copies of included files
    std::filesystem::path object;
    std::filesystem::path program;
};

std::vector<std::string> rewrite_command(const TryTools& tools, const TrySource& source, const TryParts& parts);
std::vector<std::string> compile_command(const TryTools& tools, const TrySource& source, const TryParts& parts);
std::vector<std::string> link_command(const TryTools& tools, const TrySource& source, const TryParts& parts);

/// `text`: the source, which tells by its includes what to link. `launches_in_kernels`: with what those need.
std::vector<std::string> nvcc_command(const std::string& nvcc, const TrySource& source, std::string_view text,
                                      bool launches_in_kernels, const std::filesystem::path& program);

/// Whether a program with this source has to be built with OpenMP.
bool includes_openmp(std::string_view text);

/// Whether nvcc refused a launch in device code because it was not asked for what that needs.
bool wants_separate_compilation(std::string_view nvcc_output);

/// True for the headers of the CUDA Toolkit, whose place the CPU device's own take.
bool is_toolkit_folder(const std::filesystem::path& folder);

}  // namespace guide
