// What a compile_commands.json says of one file: CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, and other
// build systems have the like.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace guide {

struct CompileOptions {
    std::vector<std::filesystem::path> include_folders;  ///< absolute
    std::vector<std::string> definitions;                ///< "NAME" or "NAME=VALUE"
};

/// The folders and the definitions with which `json` compiles `source`, an absolute path. Other options are left out.
/// Throws Refusal where the file cannot be read, or does not name the source.
CompileOptions read_compile_commands(const std::filesystem::path& json, const std::filesystem::path& source);

}  // namespace guide
