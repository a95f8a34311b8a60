#include "common/lesson/trace_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <tuple>
#include <utility>

#include "common/helpers/json.h"
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

// ---- brief traces ---------------------------------------------------------------------------------------------------

constexpr std::size_t brief_warps = 2;
constexpr std::size_t brief_events = 128;  // of each warp

/// Tells launches that a brief trace holds from those that repeat what came before.
class FirstLaunches {
public:
    bool add(const TracedStep& step, const LaunchCounts& launch) {
        const bool is_new = kernels_.emplace(step.lesson, launch.kernel).second;
        return step.name.empty() ? is_new : in_steps_.emplace(step.lesson, step.name, launch.kernel).second;
    }

private:
    std::set<std::pair<std::string, std::string>> kernels_;
    std::set<std::tuple<std::string, std::string, std::string>> in_steps_;
};

void shorten(Json& list, std::size_t most) {
    if (list.size() > most) list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
}

void shorten_warps(Json& warps) {
    shorten(warps, brief_warps);
    for (Json& warp : warps) {
        if (warp["events"].size() > brief_events) warp["cut"] = true;
        shorten(warp["events"], brief_events);
    }
}

Json brief_in_words() {
    return {{"en", fmt::format("of each step the first launch of each kernel, the first {} warps of a block, and the "
                               "first {} events of each warp",
                               brief_warps, brief_events)},
            {"zh", fmt::format("每一步中每个核函数的第一次启动，线程块的前 {} 个线程束，每个线程束的前 {} 个事件",
                               brief_warps, brief_events)}};
}

}  // namespace

void write_trace(const std::string& file, const std::vector<TracedStep>& steps, const std::vector<std::string>& command,
                 TraceParts parts) {
    const auto or_null = [](const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); };
    const bool brief = parts == TraceParts::brief;
    FirstLaunches first_launches;
    Json launches = Json::array();
    for (const TracedStep& step : steps) {
        for (const LaunchCounts& launch : step.launches) {
            if (launch.trace.empty() || (brief && !first_launches.add(step, launch))) continue;
            Json trace = parse_json<Json>(launch.trace);
            if (brief) shorten_warps(trace["warps"]);
            Json files = Json::array();
            for (std::size_t i = 0; i < trace["files"].size(); ++i) {
                files.push_back(source_of(trace["files"][i].get<std::string>(), trace["warps"], i));
            }
            launches.push_back({{"lesson", or_null(step.lesson)},
                                {"step", or_null(step.name)},
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
    Json document = {{"warpwise_trace", 1},
                     {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                     {"command", command}};
    if (brief) document["trimmed"] = brief_in_words();
    document["launches"] = std::move(launches);
    std::ofstream stream(file);
    stream << json_text(document) << '\n';
    stream.close();
    if (!stream) throw Refusal("--trace " + file + ": cannot write this file");
}

}  // namespace warpwise
