// The data files of GPUs.
#include <algorithm>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "common/helpers/json.h"
#include "common/model/model.h"

#ifndef WARPWISE_GPU_FOLDER
#error "CMake defines where the data files of GPUs are"
#endif

namespace warpwise::model {
namespace {

namespace fs = std::filesystem;

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return c == ' ' || c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    return text;
}

}  // namespace

Gpu read_gpu(const fs::path& file) {
    try {
        std::ifstream stream(file);
        const nlohmann::json json = parse_json<nlohmann::json>(stream);
        const auto number = [&](const char* name) { return json.at(name).get<double>(); };
        Gpu gpu;
        gpu.name = json.at("name");
        gpu.full_name = json.at("full_name");
        gpu.measured = json.at("measured");
        gpu.note = json.at("sources").dump();
        gpu.multiprocessors = number("multiprocessors");
        gpu.clock_hz = number("clock_mhz") * 1e6;
        gpu.max_threads_per_sm = number("max_threads_per_sm");
        gpu.max_blocks_per_sm = number("max_blocks_per_sm");
        gpu.registers_per_sm = number("registers_per_sm");
        gpu.shared_bytes_per_sm = number("shared_kib_per_sm") * 1024;
        gpu.dram_bytes_per_second = number("dram_gb_per_s") * 1e9;
        gpu.dram_peak_bytes_per_second = number("dram_peak_gb_per_s") * 1e9;
        gpu.l2_bytes_per_second = number("l2_gb_per_s") * 1e9;
        gpu.l2_bytes = number("l2_mib") * 1024 * 1024;
        gpu.pcie_bytes_per_second = number("pcie_gb_per_s") * 1e9;
        gpu.issue_per_cycle = number("issue_per_cycle");
        for (std::size_t i = 0; i < kPipes; ++i) gpu.per_cycle[i] = json.at("per_cycle").at(pipe_names[i]);
        gpu.l1_lines_per_cycle = number("l1_lines_per_cycle");
        gpu.l1_sectors_per_cycle = number("l1_sectors_per_cycle");
        gpu.wavefronts_per_cycle = number("wavefronts_per_cycle");
        gpu.l2_sectors_per_cycle_of_sm = number("l2_sectors_per_cycle_of_sm");
        for (std::size_t i = 0; i < kLatencies; ++i) gpu.latency[i] = json.at("latency_cycles").at(latency_names[i]);
        gpu.dram_latency = json.at("latency_cycles").at("dram");
        gpu.same_address_atomics_per_second = number("same_address_atomics_per_ns") * 1e9;
        gpu.shared_atomic_cycles = number("shared_atomic_cycles");
        gpu.launch_seconds = number("launch_us") * 1e-6;
        gpu.block_seconds = number("block_ns") * 1e-9;
        return gpu;
    } catch (const nlohmann::json::exception& error) {
        throw std::runtime_error(file.string() + ": no description of a GPU: " + error.what());
    }
}

std::vector<std::string> known_gpus() {
    std::vector<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(WARPWISE_GPU_FOLDER, error)) {
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return std::pair(a != default_gpu, a) < std::pair(b != default_gpu, b);
    });
    return names;
}

namespace {

std::optional<Gpu>& choice() {
    static auto* const chosen = new std::optional<Gpu>;  // results are written at exit as well
    return *chosen;
}

}  // namespace

const Gpu* chosen_gpu() { return choice() ? &*choice() : nullptr; }

void choose_gpu(const std::string& name) { choice() = load_gpu(name); }

Gpu load_gpu(const std::string& name) {
    std::string all;
    for (const std::string& known : known_gpus()) {
        if (upper(known) == upper(name)) return read_gpu(fs::path(WARPWISE_GPU_FOLDER) / (known + ".json"));
        all += (all.empty() ? "" : ", ") + known;
    }
    throw std::runtime_error("there is no data file for a GPU called '" + name + "'. Known are: " + all);
}

}  // namespace warpwise::model
