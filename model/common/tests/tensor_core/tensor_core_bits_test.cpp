// What the device's tensor cores compute, against what an H200 did: every bit.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cases.h"

namespace {

/// By operation: the lines of its tiles.
std::map<std::string, std::vector<std::string>> read_record() {
    std::ifstream file(TENSOR_CORE_RECORD);
    std::map<std::string, std::vector<std::string>> record;
    std::vector<std::string>* lines = nullptr;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (line.find(' ') != std::string::npos) {
            lines = &record[line];
        } else if (lines != nullptr) {
            lines->push_back(line);
        }
    }
    return record;
}

bool is_recorded_device() {
#ifdef __CPU_DEVICE__
    return true;
#else
    cudaDeviceProp properties{};
    return cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
           std::string(properties.name).find("H200") != std::string::npos;
#endif
}

}  // namespace

TEST_CASE("tensor cores compute every bit that an H200 computes") {
    if (!is_recorded_device()) return;
    const auto record = read_record();
    for (const tensor_core::Operation& operation : tensor_core::operations()) {
        INFO(operation.name);
        const auto found = record.find(operation.name);
        REQUIRE(found != record.end());
        const std::vector<std::string> computed = tensor_core::lines_of(operation);
        REQUIRE(computed.size() == found->second.size());
        for (std::size_t tile = 0; tile < computed.size(); ++tile) {
            const std::string& recorded = found->second[tile];
            if (computed[tile] == recorded) continue;
            REQUIRE(computed[tile].size() == recorded.size());
            // Of tiles that are there bit for bit: where.
            const auto digits = static_cast<std::size_t>(2 * tensor_core::format_of(operation.sum).bytes);
            std::size_t first = 0;
            while (computed[tile][first] == recorded[first]) ++first;
            const int sum = static_cast<int>(first / digits);
            INFO("tile " << tile << " of kind " << tile % tensor_core::kinds << ", perhaps row " << sum / operation.n
                         << ", column " << sum % operation.n << ": "
                         << computed[tile].substr(first / digits * digits, digits) << ", recorded "
                         << recorded.substr(first / digits * digits, digits));
            CHECK(computed[tile] == recorded);
            break;
        }
    }
}
