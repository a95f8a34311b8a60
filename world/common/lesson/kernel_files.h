// The files with a lesson's kernels, for a reader who wants to see them before a guess.
//
//     const std::vector<KernelFile> files = kernel_files("chapters/1_basics_and_pi/vector_add");
#pragma once

#include <string>
#include <vector>

namespace warpwise {

struct KernelFile {
    std::string name;                ///< within the lesson's folder: "kernels.cuh"
    std::vector<std::string> lines;  ///< from the first kernel's comment on, without "Faster because ..." and the like
};

/// The `.cuh` files of the folder, in the order of their names. Empty where the folder cannot be read.
std::vector<KernelFile> kernel_files(const std::string& folder);

/// The files of the folder that differ from git's last commit, from the root of the copy on:
/// "chapters/1_basics_and_pi/vector_add/kernels.cuh". Empty where git cannot tell, as in a copy without its history.
std::vector<std::string> edited_files(const std::string& folder);

}  // namespace warpwise
