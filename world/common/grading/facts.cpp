#include "common/grading/facts.h"

#include "common/helpers/json.h"

namespace grading {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Failure& failure) {
    Json picture = Json::array();
    for (const Line& line : failure.picture) picture.push_back(text_of(line));
    Json values = Json::array();
    for (const ValueRow& row : failure.values) {
        values.push_back({{"index", row.index}, {"got", row.got}, {"expected", row.expected}});
    }
    return {{"test", failure.test},           {"context", failure.context},  {"observation", failure.observation},
            {"details", failure.details},     {"values", std::move(values)}, {"after_values", failure.after_values},
            {"picture", std::move(picture)},  {"place", failure.place},      {"question", failure.question},
            {"assertion", failure.assertion}, {"call", failure.call},        {"full", failure.full}};
}

Json json_of(const CountedCall& call) {
    const warpwise::Counts& total = call.total;
    const warpwise::RequestCounts global = total.global();
    const warpwise::RequestCounts shared = total.shared();
    return {{"name", call.name},
            {"launches", call.launches},
            {"global_requests", global.requests},
            {"global_sectors", global.sectors},
            {"global_atomics", total.global_atomic.lanes},
            {"shared_wavefronts", shared.wavefronts},
            {"bank_conflicts", shared.conflicts()},
            {"constant_wavefronts", total.constant_load.wavefronts},
            {"barriers_per_warp", call.barriers_per_warp},
            {"active_lanes", total.active_lanes_per_step()}};
}

}  // namespace

std::string facts_json(const Facts& facts, const std::vector<CountedCall>& calls,
                       const std::vector<NotedFigure>& figures) {
    Json json = {{"passed", facts.passed},
                 {"tests", facts.tests},
                 {"failure", facts.failure ? json_of(*facts.failure) : Json()},
                 {"more_failing", facts.more_failing},
                 {"not_run", facts.not_run},
                 {"repeat", facts.repeat},
                 {"counts", Json::array()},
                 {"figures", Json::array()},
                 {"catch2", facts.catch2}};
    for (const CountedCall& call : calls) json["counts"].push_back(json_of(call));
    for (const NotedFigure& noted : figures) {
        json["figures"].push_back({{"test", noted.test}, {"name", noted.figure.name}, {"value", noted.figure.value}});
    }
    return warpwise::json_text(json, 1);
}

}  // namespace grading
