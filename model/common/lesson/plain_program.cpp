#include "common/lesson/plain_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/helpers/child_process.h"
#include "common/helpers/json.h"
#include "common/lesson/device_choice.h"

namespace warpwise {
namespace {

Timing timing_from(const nlohmann::json& json) {
    return {.median = json.at("median"),
            .minimum = json.at("minimum"),
            .maximum = json.at("maximum"),
            .samples = json.at("samples"),
            .p10 = json.at("p10"),
            .p90 = json.at("p90")};
}

std::string typed_size(const Size& size) {
    std::string text;
    for (std::size_t i = 0; i < size.dimensions(); ++i) text += (i == 0 ? "" : "x") + std::to_string(size[i]);
    return text;
}

}  // namespace

std::string plain_program() {
    const std::filesystem::path own = own_program();
    const std::filesystem::path folder = own.parent_path();
    if (folder.filename() == plain_folder) return {};
    const std::string plain = (folder / plain_folder / own.filename()).string();
    return access(plain.c_str(), X_OK) == 0 ? plain : std::string();
}

void run_plain_program(const std::string& program, char** argv) {
    hold_device_choice();
    execv(program.c_str(), argv);
    throw Refusal(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
}

HostTimes time_in_plain_program(const HostSteps& wanted) {
    const TemporaryFile results;
    std::vector<std::string> arguments = {wanted.program, wanted.lesson,           "--device", "cpu",
                                          "--size",       typed_size(wanted.size), "--json",   results.path()};
    for (const std::string& step : wanted.steps) arguments.insert(arguments.end(), {"--step", step});
    if (wanted.repeat) arguments.insert(arguments.end(), {"--repeat", std::to_string(*wanted.repeat)});
    const int status = ChildProcess(arguments, {}).wait();

    HostTimes times;
    const nlohmann::json json = json_or_discarded<nlohmann::json>(results.read());
    try {
        for (const nlohmann::json& step : json.at("lessons").at(0).at("steps")) {
            const std::string name = step.at("name");
            const bool asked_for = std::find(wanted.steps.begin(), wanted.steps.end(), name) != wanted.steps.end();
            if (asked_for && !step.at("seconds").is_null()) times.by_step[name] = timing_from(step.at("seconds"));
        }
    } catch (const nlohmann::json::exception&) {
        times.failure = fmt::format("{} ended with status {}", wanted.program, status);
    }
    return times;
}

}  // namespace warpwise
