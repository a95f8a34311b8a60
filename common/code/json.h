// Machine code of kernels in files, for machines without nvcc. common/code/record.sh writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/code/kernel_code.h"
#include "common/helpers/json.h"

namespace warpwise::code {

nlohmann::ordered_json json_of(const KernelCode& kernel);
/// Throws nlohmann::json::exception where that is no kernel.
KernelCode kernel_of(const nlohmann::ordered_json& json);

/// Kernels, the compiler that made them, and a fingerprint of each source file below `root`, without which nobody could
/// tell whether they are still these files' kernels. Names of these files become relative to `root`.
nlohmann::ordered_json record_of(std::vector<KernelCode> kernels, const std::filesystem::path& root,
                                 const std::string& compiler);

/// Of a file's lines (FNV-1a), comments from // on apart; empty for a file that cannot be read.
std::string fingerprint(const std::filesystem::path& file);

}  // namespace warpwise::code
