#include "common/helpers/check.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace warpwise {
namespace {

/// The text of one line of a source file without its indentation; empty when the file cannot be read.
std::string source_text(const char* file, int line) {
    std::ifstream source(file);
    std::string text;
    for (int number = 0; number < line; ++number) {
        if (!std::getline(source, text)) return {};
    }
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    const std::size_t last = text.find_last_not_of(" \t\r");
    return text.substr(first, last - first + 1);
}

bool synchronize_every_launch() {
    static const bool wanted = [] {
        const char* value = std::getenv("WARPWISE_SYNC");
        return value != nullptr && std::string_view(value) == "1";
    }();
    return wanted;
}

}  // namespace

std::string place_text(SourceLocation where) {
    std::string place = std::string(where.file) + ":" + std::to_string(where.line) + ": in " + where.function + ": ";
    const std::string text = source_text(where.file, where.line);
    if (!text.empty()) place += text + ": ";
    return place;
}

CudaError::CudaError(cudaError_t code, SourceLocation where)
    : std::runtime_error(place_text(where) + cudaGetErrorName(code) + ": " + cudaGetErrorString(code)), code_(code) {}

void check(cudaError_t status, SourceLocation where) {
    if (status != cudaSuccess) throw CudaError(status, where);
}

void check_launch(SourceLocation where) {
    check(cudaGetLastError(), where);
    if (synchronize_every_launch()) check_finished(where);
}

void check_finished(SourceLocation where) { check(cudaDeviceSynchronize(), where); }

}  // namespace warpwise
