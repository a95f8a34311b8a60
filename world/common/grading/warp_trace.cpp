#include "common/grading/warp_trace.h"

#include <filesystem>

#include "common/grading/instrumented.h"
#include "common/helpers/instrument.h"
#include "common/helpers/json.h"

namespace grading {
namespace {

using Json = nlohmann::json;

bool kind_of(const std::string& name, WarpEvent::Kind& kind) {
    using Kind = WarpEvent::Kind;
    static const std::pair<const char*, Kind> names[] = {
        {"global_load", Kind::global_load},     {"global_store", Kind::global_store},
        {"global_atomic", Kind::global_atomic}, {"shared_load", Kind::shared_load},
        {"shared_store", Kind::shared_store},   {"shared_atomic", Kind::shared_atomic},
        {"constant_load", Kind::constant_load}, {"barrier", Kind::barrier}};
    for (const auto& [text, value] : names) {
        if (name != text) continue;
        kind = value;
        return true;
    }
    return false;  // a step
}

WarpEvent event_of(const Json& json, WarpEvent::Kind kind, const Json& trace) {
    WarpEvent event{.kind = kind, .file = {}, .line = json.at("line").get<int>(), .array = {}};
    event.file = trace.at("files").at(json.at("file").get<std::size_t>()).get<std::string>();
    if (kind == WarpEvent::Kind::barrier) return event;
    const Json& array = trace.at("arrays").at(json.at("array").get<std::size_t>());
    event.array = array.at("name").get<std::string>();
    event.array_bytes = array.at("bytes").get<std::size_t>();
    event.bytes = json.at("bytes").get<std::size_t>();
    const auto lanes = static_cast<std::uint32_t>(std::stoul(json.at("lanes").get<std::string>(), nullptr, 16));
    std::int64_t number = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        const std::int64_t offset =
            json.contains("at") ? json["at"].at(static_cast<std::size_t>(number)).get<std::int64_t>()
                                : json.at("first").get<std::int64_t>() + number * json.at("stride").get<std::int64_t>();
        event.lanes.emplace_back(lane, offset);
        ++number;
    }
    return event;
}

}  // namespace

std::vector<WarpTrace> warps_of(const std::string& json, std::size_t launch) {
    std::vector<WarpTrace> warps;
    if (json.empty()) return warps;
    const Json trace = warpwise::parse_json<Json>(json);
    for (const Json& warp : trace.at("warps")) {
        WarpTrace& traced = warps.emplace_back();
        traced.launch = launch;
        for (std::size_t i = 0; i < 3; ++i) traced.block[i] = warp.at("block").at(i).get<unsigned>();
        traced.warp = warp.at("warp").get<unsigned>();
        traced.threads = warp.at("threads").get<unsigned>();
        traced.cut = warp.at("cut").get<bool>();
        for (const Json& event : warp.at("events")) {
            WarpEvent::Kind kind{};
            if (kind_of(event.at("kind").get<std::string>(), kind))
                traced.events.push_back(event_of(event, kind, trace));
        }
    }
    return warps;
}

std::vector<WarpTrace> trace_warps(const std::function<void()>& body, TraceSize size) {
    if (!warpwise::can_instrument()) {
        body();
        note_left_out();
        return {};
    }
    warpwise::CountOptions options;
    options.traced_blocks = size.blocks;
    options.traced_events = size.events;
    const std::vector<warpwise::LaunchCounts> launches = warpwise::count_launches(body, options);
    std::vector<WarpTrace> all;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        for (WarpTrace& warp : warps_of(launches[i].trace, i)) all.push_back(std::move(warp));
    }
    return all;
}

std::string place_text(const WarpEvent& event) {
    const std::string source = source_text(event.file, event.line);
    return std::filesystem::path(event.file).filename().string() + ":" + std::to_string(event.line) +
           (source.empty() ? "" : ": " + source);
}

}  // namespace grading
