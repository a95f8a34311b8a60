#include "common/guide/report_traces.h"

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "common/guide/report_results.h"
#include "common/helpers/json.h"

namespace guide {
namespace {

using Json = nlohmann::ordered_json;

constexpr int known_layout = 1;

/// What the launches of a lesson have in common, each once. Warps and steps of a lesson do the same at other places,
/// and their kernels stand in the same files, so that this takes less than half of the room.
/// common/views/packed_trace.mjs describes the layout and undoes it.
class Packer {
public:
    /// Replaces the texts of source lines by their count, and the events of each warp by a list: its sequence of
    /// shapes, then the place in its array of each access.
    void pack(Json& launch) {
        for (Json& file : launch.at("files")) {
            const auto first = file.at("first").get<std::size_t>();
            Json& lines = file.at("lines");
            std::map<std::size_t, Json>& known = sources_[file.at("path").get<std::string>()];
            for (std::size_t i = 0; i < lines.size(); ++i) known.try_emplace(first + i, lines[i]);
            lines = lines.size();
        }
        for (Json& warp : launch.at("warps")) {
            Json shapes = Json::array();
            Json packed = {0};
            for (Json& event : warp.at("events")) {
                has_barriers_ = has_barriers_ || event.at("kind").get<std::string>() == "barrier";
                if (const std::optional<std::int64_t> place = take_place(event)) packed.push_back(*place);
                shapes.push_back(shapes_.index_of(shape_of(event)));
            }
            packed[0] = sequences_.index_of(shapes);
            warp["events"] = std::move(packed);
        }
    }

    bool has_barriers() const { return has_barriers_; }

    void add_tables(Json& trace) {
        trace["keys"] = keys_.take();
        trace["shapes"] = shapes_.take();
        trace["sequences"] = sequences_.take();
        Json& sources = trace["sources"] = Json::object();
        for (const auto& [path, lines] : sources_) {
            Json& regions = sources[path] = Json::array();  // [number of the first line, line ...] each
            std::size_t next = 0;
            for (const auto& [number, line] : lines) {
                if (regions.empty() || number != next) regions.push_back({number});
                regions.back().push_back(line);
                next = number + 1;
            }
        }
    }

private:
    /// Values in the order in which they came, each once.
    class Table {
    public:
        std::size_t index_of(const Json& value) {
            const auto [known, is_new] = known_.try_emplace(warpwise::json_text(value), values_.size());
            if (is_new) values_.push_back(value);
            return known->second;
        }
        Json take() { return std::move(values_); }

    private:
        std::map<std::string, std::size_t> known_;
        Json values_ = Json::array();
    };

    /// Where the access begins, which the event then does not say any more: of uneven offsets their distances are left.
    static std::optional<std::int64_t> take_place(Json& event) {
        if (event.contains("at")) {
            const auto at = event["at"].get<std::vector<std::int64_t>>();
            Json distances = Json::array();
            for (std::size_t i = 1; i < at.size(); ++i) distances.push_back(at[i] - at[i - 1]);
            event["at"] = std::move(distances);
            return at.at(0);
        }
        if (!event.contains("first")) return std::nullopt;
        return std::exchange(event["first"], nullptr).get<std::int64_t>();
    }

    Json shape_of(const Json& event) {
        Json names = Json::array();
        Json shape = {0};
        for (const auto& [name, value] : event.items()) {
            names.push_back(name);
            shape.push_back(value);
        }
        shape[0] = keys_.index_of(names);
        return shape;
    }

    Table keys_, shapes_, sequences_;
    std::map<std::string, std::map<std::size_t, Json>> sources_;
    bool has_barriers_ = false;
};

}  // namespace

std::vector<LessonTrace> parse_traces(std::string_view json, const std::filesystem::path& root) {
    try {
        Json document = warpwise::parse_json<Json>(json);
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
            Packer packer;
            for (; first != launches.end() && first->at("lesson") == lesson; ++first) {
                Json launch = *first;
                packer.pack(launch);
                of_lesson["launches"].push_back(std::move(launch));
            }
            packer.add_tables(of_lesson);
            traces.push_back({lesson.get<std::string>(), warpwise::json_text(of_lesson), packer.has_barriers()});
        }
        return traces;
    } catch (const Json::exception& error) {
        throw std::runtime_error(error.what());
    }
}

}  // namespace guide
