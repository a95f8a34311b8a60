#include "common/guide/report_traces.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "common/guide/report_results.h"

namespace guide {
namespace {

using Json = nlohmann::ordered_json;

constexpr int known_layout = 1;

/// Replaces each launch's events by their shapes, each once ("shapes": without its place in the array), and of each
/// warp a flat list: shape, place, shape, place ... Warps and steps do the same at other places, so that this takes a
/// third of the room.
void pack(Json& launch) {
    Json shapes = Json::array();
    std::map<std::string, std::size_t> known;
    for (Json& warp : launch.at("warps")) {
        Json packed = Json::array();
        for (Json& event : warp.at("events")) {
            std::int64_t place = 0;
            if (event.contains("at")) {
                place = event["at"].at(0).get<std::int64_t>();
                for (Json& offset : event["at"]) offset = offset.get<std::int64_t>() - place;
            } else if (event.contains("first")) {
                place = std::exchange(event["first"], 0).get<std::int64_t>();
            }
            const auto [shape, is_new] = known.try_emplace(event.dump(), shapes.size());
            if (is_new) shapes.push_back(event);
            packed.push_back(shape->second);
            packed.push_back(place);
        }
        warp["events"] = std::move(packed);
    }
    launch["shapes"] = std::move(shapes);
}

bool has_barrier(const Json& launch) {
    const Json& shapes = launch.at("shapes");
    return std::any_of(shapes.begin(), shapes.end(),
                       [](const Json& event) { return event.at("kind").get<std::string>() == "barrier"; });
}

}  // namespace

std::vector<LessonTrace> parse_traces(std::string_view json, const std::filesystem::path& root) {
    try {
        Json document = Json::parse(json);
        if (!document.is_object() || !document.contains("warpwise_trace")) throw std::runtime_error("it is no trace");
        if (document["warpwise_trace"].get<int>() != known_layout) {
            throw std::runtime_error("it was written by another version of Warpwise");
        }
        document["command"] = shown_words(document.at("command").get<std::vector<std::string>>(), root);
        const Json launches = std::exchange(document.at("launches"), Json::array());
        std::vector<LessonTrace> traces;
        for (auto first = launches.begin(); first != launches.end();) {
            const Json& lesson = first->at("lesson");
            Json of_lesson = document;
            bool has_barriers = false;
            for (; first != launches.end() && first->at("lesson") == lesson; ++first) {
                Json launch = *first;
                pack(launch);
                has_barriers = has_barriers || has_barrier(launch);
                of_lesson["launches"].push_back(std::move(launch));
            }
            traces.push_back({lesson.get<std::string>(), of_lesson.dump(-1, ' ', false, Json::error_handler_t::replace),
                              has_barriers});
        }
        return traces;
    } catch (const Json::exception& error) {
        throw std::runtime_error(error.what());
    }
}

}  // namespace guide
