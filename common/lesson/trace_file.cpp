#include "common/lesson/trace_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/lesson/refusal.h"
#include "common/lesson/source_listing.h"

namespace warpwise {
namespace {

using Json = nlohmann::ordered_json;

/// The lines of the file that events name, and their functions around them.
Json source_of(const std::string& path, const Json& warps, std::size_t file) {
    std::vector<std::size_t> named;
    for (const Json& warp : warps) {
        for (const Json& event : warp["events"]) {
            if (event["file"] == file) named.push_back(event["line"].get<std::size_t>());
        }
    }
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    std::vector<std::string> source;
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line);) source.push_back(line);
    const std::vector<SourceRegion> regions = regions_around(source, named);
    Json lines = Json::array();
    const std::size_t first = regions.empty() ? 1 : regions.front().first;
    if (!regions.empty()) {
        for (std::size_t i = first; i <= regions.back().last; ++i) lines.push_back(source[i - 1]);
    }
    return {{"path", seen_from_here(path)}, {"first", first}, {"lines", lines}};
}

}  // namespace

void write_trace(const std::string& file, const std::vector<TracedStep>& steps,
                 const std::vector<std::string>& command) {
    Json launches = Json::array();
    for (const TracedStep& step : steps) {
        for (const LaunchCounts& launch : step.launches) {
            if (launch.trace.empty()) continue;
            const Json trace = Json::parse(launch.trace);
            Json files = Json::array();
            for (std::size_t i = 0; i < trace["files"].size(); ++i) {
                files.push_back(source_of(trace["files"][i].get<std::string>(), trace["warps"], i));
            }
            launches.push_back({{"step", step.name.empty() ? Json(nullptr) : Json(step.name)},
                                {"kernel", launch.kernel},
                                {"file", seen_from_here(launch.file)},
                                {"line", launch.line},
                                {"grid", launch.grid},
                                {"block", launch.block},
                                {"shared_bytes", launch.shared_bytes},
                                {"blocks", launch.blocks},
                                {"arrays", trace["arrays"]},
                                {"files", files},
                                {"warps", trace["warps"]}});
        }
    }
    const Json document = {{"warpwise_trace", 1},
                           {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                           {"command", command},
                           {"launches", launches}};
    std::ofstream stream(file);
    stream << document.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    stream.close();
    if (!stream) throw Refusal("--trace " + file + ": cannot write this file");
}

}  // namespace warpwise
