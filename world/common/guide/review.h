// Predictions that are asked again after days: when each is due, and whether an answer is right.
//
//     for (const Review& review : reviews(progress)) {
//         if (review.due <= today()) fmt::print("{}\n", review.prediction->question);
//     }
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/guide/progress.h"

namespace guide {

/// The schedule: the days from an answer until the prediction is asked again. After a wrong answer 1 day, after the
/// second wrong one in a row 3, from the third on 7; after a right answer 7 days, then 21, then 60. `in_a_row` counts
/// the answers of this kind, the last one included, from 1.
int days_until_review(bool right, int in_a_row);

/// "2026-11-21" and 14 days: "2026-12-05". Of what is no date: the text itself.
std::string add_days(const std::string& date, int days);
/// From one date to another; nothing when one of them is no date.
std::optional<int> days_between(const std::string& from, const std::string& to);

/// A prediction that was made, and its last review. Lives as long as the progress it was made from.
struct Review {
    std::string key;  ///< "coalescing/1"
    const PredictionProgress* prediction = nullptr;
    const ReviewProgress* last = nullptr;  ///< null: it was not asked again so far
    std::string due;                       ///< date from which on it is to be asked again

    bool was_right() const { return last != nullptr ? last->right : prediction->right; }  ///< the last answer
};

/// All predictions that were made, those first that have been due for longest.
std::vector<Review> reviews(const Progress& progress);

std::size_t count_due(const Progress& progress, const std::string& today);

/// An answer as it was typed, read as lessons read it (common/lesson/guess.h).
struct Judgement {
    std::string guess;  ///< as it was understood: "8", or one of the choices
    bool right = false;
    std::string why_not = {};  ///< one line for the reader where it was not understood; else empty
};

Judgement judge(const PredictionProgress& prediction, const std::string& typed);

/// The mark after one more answer.
ReviewProgress after_review(const Review& review, const Judgement& judgement, const std::string& today);

}  // namespace guide
