#include "common/code/json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

namespace warpwise::code {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json json_of(const KernelCode& kernel) {
    Json lines = Json::array();
    for (const SourceLine& line : kernel.lines) lines.push_back({line.file, line.line});
    Json blocks = Json::array();
    for (const Block& block : kernel.blocks) {
        Json counts = Json::array();
        for (const Count& count : block.counts) {
            // Most are not memory accesses.
            Json numbers = {count.line, count.code, count.times};
            if (count.bytes != 0 || count.indexed) numbers.push_back(count.bytes);
            if (count.indexed) numbers.push_back(1);
            counts.push_back(std::move(numbers));
        }
        Json waits = Json::array();
        constexpr double digits = 1000;
        for (const double wait : block.waits) waits.push_back(std::round(wait * digits) / digits);
        Json json = {{"next", block.next}, {"waits", std::move(waits)}, {"counts", std::move(counts)}};
        if (block.may_end) json["may_end"] = true;
        if (block.is_rare) json["is_rare"] = true;
        blocks.push_back(std::move(json));
    }
    return {{"name", kernel.name},
            {"registers", kernel.registers},
            {"stack_bytes", kernel.stack_bytes},
            {"shared_bytes", kernel.shared_bytes},
            {"lines", std::move(lines)},
            {"blocks", std::move(blocks)}};
}

KernelCode kernel_of(const Json& json) {
    KernelCode kernel;
    kernel.name = json.at("name");
    kernel.registers = json.at("registers");
    kernel.stack_bytes = json.at("stack_bytes");
    kernel.shared_bytes = json.at("shared_bytes");
    for (const Json& line : json.at("lines")) kernel.lines.push_back({line.at(0), line.at(1)});
    for (const Json& each : json.at("blocks")) {
        Block& block = kernel.blocks.emplace_back();
        block.next = each.at("next").get<std::vector<unsigned>>();
        for (std::size_t kind = 0; kind < kWaits; ++kind) block.waits[kind] = each.at("waits").at(kind);
        block.may_end = each.value("may_end", false);
        block.is_rare = each.value("is_rare", false);
        for (const Json& count : each.at("counts")) {
            block.counts.push_back({count.at(0), count.at(1), count.size() > 3 ? count.at(3).get<unsigned>() : 0,
                                    count.size() > 4, count.at(2)});
        }
    }
    for (const Block& block : kernel.blocks) {
        for (const unsigned next : block.next) {
            if (next >= kernel.blocks.size()) throw Json::out_of_range::create(401, "a block that is not there", &json);
        }
    }
    return kernel;
}

Json record_of(std::vector<KernelCode> kernels, const std::filesystem::path& root, const std::string& compiler) {
    std::map<std::string, std::string> files;
    Json all = Json::array();
    for (KernelCode& kernel : kernels) {
        for (SourceLine& line : kernel.lines) {
            const std::filesystem::path relative = std::filesystem::path(line.file).lexically_relative(root);
            const bool is_of_project = !relative.empty() && *relative.begin() != "..";
            if (!is_of_project) continue;  // the toolkit's, which other machines need not have
            line.file = relative.string();
            if (!files.contains(line.file)) files[line.file] = fingerprint(root / line.file);
        }
        all.push_back(json_of(kernel));
    }
    return {{"compiler", compiler}, {"files", files}, {"kernels", std::move(all)}};
}

std::string fingerprint(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return {};
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](char letter) { hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3; };
    for (std::string line; std::getline(stream, line);) {
        line.resize(std::min(line.find("//"), line.size()));
        line.resize(line.find_last_not_of(" \r") + 1);
        std::for_each(line.begin(), line.end(), add);
        add('\n');
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

}  // namespace warpwise::code
