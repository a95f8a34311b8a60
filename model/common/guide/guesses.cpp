#include "common/guide/guesses.h"

#include <fstream>
#include <system_error>
#include <utility>

#include "common/helpers/child_process.h"
#include "common/helpers/json.h"

namespace guide {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// As json_output.h has it. Throws Json::exception where it is something else.
PredictionProgress prediction_in(const Json& json) {
    PredictionProgress prediction;
    prediction.question = json.at("question");
    prediction.choices = json.value("choices", prediction.choices);
    prediction.unit = json.value("unit", "");
    prediction.answer = json.at("answer");
    prediction.factor = json.value("factor", prediction.factor);
    prediction.because = json.value("because", "");
    prediction.guess = json.at("guess");
    prediction.right = json.at("right");
    return prediction;
}

}  // namespace

void Guesses::keep(Progress& progress) const {
    for (const auto& [key, prediction] : predictions) progress.keep_prediction(key, prediction);
}

Guesses guesses_in(const fs::path& results, const std::string& date) {
    Guesses guesses;
    std::ifstream stream(results);
    const Json document = warpwise::json_or_discarded<Json>(stream);
    if (!document.is_object()) return guesses;
    try {
        guesses.left = document.value("left", false);
        for (const Json& lesson : document.at("lessons")) {
            const std::string name = lesson.at("name");
            if (!lesson.value("left", false)) guesses.lessons.push_back(name);
            int number = 0;
            for (const Json& json : lesson.value("predictions", Json::array())) {
                ++number;
                if (!json.contains("guess") || !json.contains("right")) continue;
                PredictionProgress prediction = prediction_in(json);
                prediction.lesson = name;
                prediction.idea = json.value("idea", lesson.value("idea", ""));
                prediction.date = date;
                guesses.predictions[name + "/" + std::to_string(number)] = std::move(prediction);
            }
        }
    } catch (const Json::exception&) {
        return {};  // results of another version; they are not this program's to judge
    }
    return guesses;
}

RunResults::RunResults(Request request) : request_(std::move(request)) {
    if (request_.may_guess && request_.theirs.empty()) temporary_ = std::make_unique<warpwise::TemporaryFile>();
}

RunResults::~RunResults() = default;

fs::path RunResults::file() const {
    if (!request_.theirs.empty()) return request_.theirs;
    return temporary_ ? fs::path(temporary_->path()) : request_.kept;
}

std::vector<std::string> RunResults::options() const {
    if (!request_.theirs.empty() || file().empty()) return {};  // theirs are among the reader's own options
    return {"--json", file().string()};
}

Guesses RunResults::take() const {
    std::error_code error;
    if (!temporary_ && !request_.kept.empty()) {
        const bool is_empty = fs::file_size(request_.kept, error) == 0 && !error;
        if (is_empty) fs::remove(request_.kept, error);  // of a program that was stopped
    }
    if (!request_.may_guess) return {};
    const Guesses guesses = guesses_in(file(), today());
    const bool is_whole = !guesses.left && !guesses.lessons.empty();
    if (temporary_ && !request_.kept.empty() && is_whole) {
        fs::copy_file(temporary_->path(), request_.kept, fs::copy_options::overwrite_existing, error);
    }
    return guesses;
}

}  // namespace guide
