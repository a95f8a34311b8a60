#include "common/guide/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "common/lesson/guess.h"

namespace guide {
namespace {

using std::chrono::sys_days;

/// Nothing unless the text is a day, "2026-11-21".
std::optional<sys_days> day_in(const std::string& date) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    const auto number = [&](std::size_t begin, std::size_t length, auto& value) {
        const char* const end = date.data() + begin + length;
        const auto read = std::from_chars(date.data() + begin, end, value);
        return read.ec == std::errc() && read.ptr == end;
    };
    const bool is_written_so = date.size() == 10 && date[4] == '-' && date[7] == '-' && number(0, 4, year) &&
                               number(5, 2, month) && number(8, 2, day);
    if (!is_written_so) return std::nullopt;
    const std::chrono::year_month_day calendar_day{std::chrono::year(year), std::chrono::month(month),
                                                   std::chrono::day(day)};
    if (!calendar_day.ok()) return std::nullopt;
    return sys_days(calendar_day);
}

}  // namespace

int days_until_review(bool right, int in_a_row) {
    constexpr std::array after_wrong{1, 3, 7};
    constexpr std::array after_right{7, 21, 60};
    const auto step = static_cast<std::size_t>(std::clamp(in_a_row, 1, 3) - 1);
    return right ? after_right[step] : after_wrong[step];
}

std::string add_days(const std::string& date, int days) {
    const std::optional<sys_days> day = day_in(date);
    if (!day) return date;
    const std::chrono::year_month_day later(*day + std::chrono::days(days));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(later.year()), static_cast<unsigned>(later.month()),
                       static_cast<unsigned>(later.day()));
}

std::optional<int> days_between(const std::string& from, const std::string& to) {
    const std::optional<sys_days> first = day_in(from);
    const std::optional<sys_days> last = day_in(to);
    if (!first || !last) return std::nullopt;
    return static_cast<int>((*last - *first).count());
}

std::vector<Review> reviews(const Progress& progress) {
    std::vector<Review> all;
    for (const auto& [key, prediction] : progress.predictions) {
        Review review{key, &prediction, nullptr, ""};
        const auto found = progress.reviews.find(key);
        // Earlier than the guess: it was about another question under this key.
        const bool is_reviewed = found != progress.reviews.end() && found->second.date >= prediction.date;
        if (is_reviewed) review.last = &found->second;
        review.due = is_reviewed
                         ? add_days(review.last->date, days_until_review(review.last->right, review.last->in_a_row))
                         : add_days(prediction.date, days_until_review(prediction.right, 1));
        all.push_back(std::move(review));
    }
    std::stable_sort(all.begin(), all.end(), [](const Review& a, const Review& b) { return a.due < b.due; });
    return all;
}

std::size_t count_due(const Progress& progress, const std::string& today) {
    const std::vector<Review> all = reviews(progress);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const Review& review) { return review.due <= today; }));
}

Judgement judge(const PredictionProgress& prediction, const std::string& typed) {
    if (!prediction.choices.empty()) {
        const warpwise::GuessedChoice chosen = warpwise::read_choice(typed, prediction.choices);
        if (!chosen.index) return {"", false, chosen.why_not};
        const std::string& choice = prediction.choices[*chosen.index];
        return {choice, choice == prediction.answer};
    }
    const warpwise::GuessedNumber guess = warpwise::read_number(typed, prediction.unit);
    if (!guess.value) return {"", false, guess.why_not};
    const warpwise::GuessedNumber answer = warpwise::read_number(prediction.answer, prediction.unit);
    return {warpwise::number_text(*guess.value),
            answer.value && warpwise::is_right(*guess.value, *answer.value, std::max(prediction.factor, 1.0))};
}

ReviewProgress after_review(const Review& review, const Judgement& judgement, const std::string& today) {
    const int before = review.last != nullptr ? std::max(review.last->in_a_row, 1) : 1;
    const bool goes_on = review.was_right() == judgement.right;
    return {today, judgement.right, goes_on ? before + 1 : 1, judgement.guess};
}

}  // namespace guide
