#include "common/code/recorded.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "common/code/json.h"

#ifndef WARPWISE_ROOT
#error "CMake defines where this project is"
#endif

namespace warpwise::code {
namespace {

namespace fs = std::filesystem;

class Recorded {
public:
    Recorded() {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(root() / "common/code/recorded", error)) {
            if (entry.path().extension() == ".json") read(entry.path());
        }
        const char* const others = std::getenv("WARPWISE_MACHINE_CODE");
        std::istringstream files(others == nullptr ? "" : others);
        for (std::string file; std::getline(files, file, ':');) read(file);
    }

    const KernelCode* find(const std::string& name) const {
        const auto found = kernels_.find(name);
        return found == kernels_.end() ? nullptr : &found->second;
    }

private:
    static fs::path root() { return WARPWISE_ROOT; }

    /// A file that is not there or broken is as none at all: the model then estimates, and says so.
    void read(const fs::path& file) {
        std::ifstream stream(file);
        if (!stream) return;
        try {
            const auto json = parse_json<nlohmann::ordered_json>(stream);
            std::map<std::string, bool> unchanged;
            for (const auto& [source, recorded] : json.at("files").items()) {
                unchanged[source] = fingerprint(root() / source) == recorded.get<std::string>();
            }
            for (const auto& each : json.at("kernels")) {
                KernelCode kernel = kernel_of(each);
                const bool is_current =
                    std::all_of(kernel.lines.begin(), kernel.lines.end(), [&](const SourceLine& line) {
                        const auto found = unchanged.find(line.file);
                        return found == unchanged.end() || found->second;
                    });
                if (is_current) kernels_.insert_or_assign(kernel.name, std::move(kernel));
            }
        } catch (const nlohmann::json::exception&) {
        }
    }

    std::map<std::string, KernelCode> kernels_;
};

}  // namespace

const KernelCode* recorded_kernel(const std::vector<std::string>& names) {
    static const auto* const recorded = new Recorded;  // results are written at exit as well
    for (const std::string& name : names) {
        if (const KernelCode* kernel = recorded->find(name)) return kernel;
    }
    return nullptr;
}

}  // namespace warpwise::code
