// The commands that make a program of CUDA files: for the CPU device with the tools that CMake wrote down, for a GPU
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
    std::vector<std::string> toolkit_libraries =
        {};  ///< what stands in for cuBLAS, cuFFT, and cuRAND; links the others
};

/// Throws Refusal when the file is missing or says something else.
TryTools read_try_tools(const std::filesystem::path& file);

/// The file to build, with the options that the reader gave.
struct TrySource {
    std::filesystem::path file;                          ///< absolute
    std::vector<std::filesystem::path> include_folders;  ///< absolute
    std::vector<std::string> definitions;
    bool colors = false;              ///< in the compiler's messages
    bool uses_openmp = false;         ///< the file includes <omp.h>
    std::filesystem::path cccl = {};  ///< folder with the headers of Thrust and libcu++; empty where there is none
    std::vector<std::string> libraries = {};             ///< of the reader's -l
    std::vector<std::filesystem::path> more_files = {};  ///< of the same program, absolute; for nvcc
};

/// Where the pieces of the program go.
struct TryParts {
    std::filesystem::path rewritten;
    std::filesystem::path headers;  ///< folder for rewritten copies of included files
    std::filesystem::path object;
    std::filesystem::path program;
    std::vector<std::filesystem::path> more_objects = {};  ///< of the program's other files
    bool toolkit_libraries = false;                        ///< the program calls cuBLAS, cuFFT, or cuRAND
};

std::vector<std::string> rewrite_command(const TryTools& tools, const TrySource& source, const TryParts& parts);
std::vector<std::string> compile_command(const TryTools& tools, const TrySource& source, const TryParts& parts);
std::vector<std::string> link_command(const TryTools& tools, const TrySource& source, const TryParts& parts);

/// `text`: the source, which tells by its includes what to link. `launches_in_kernels`: with what those need.
std::vector<std::string> nvcc_command(const std::string& nvcc, const TrySource& source, std::string_view text,
                                      bool launches_in_kernels, const std::filesystem::path& program);

/// Whether a program with this source has to be built with OpenMP.
bool includes_openmp(std::string_view text);

/// Whether the linker misses functions of a library that the CPU device stands in for.
bool wants_toolkit_libraries(std::string_view linker_output);

/// Whether nvcc refused a launch in device code because it was not asked for what that needs.
bool wants_separate_compilation(std::string_view nvcc_output);

/// The folder of the headers of Thrust and libcu++ (CCCL) in a toolkit that is installed; empty where there is none. A
/// package of the distribution needs no folder.
std::filesystem::path find_cccl();

/// The folder with helper_cuda.h in the checkout of NVIDIA's cuda-samples that `file` lies in; empty where it lies in
/// none.
std::filesystem::path find_samples_headers(const std::filesystem::path& file);

/// True for the headers of the CUDA Toolkit, whose place the CPU device's own take.
bool is_toolkit_folder(const std::filesystem::path& folder);

}  // namespace guide
