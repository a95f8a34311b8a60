#include "common/guide/review.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace guide;

namespace {

PredictionProgress number(const std::string& date, bool right, const std::string& answer = "32", double factor = 1) {
    PredictionProgress prediction;
    prediction.lesson = "coalescing";
    prediction.question = "How many sectors?";
    prediction.unit = "sectors";
    prediction.answer = answer;
    prediction.factor = factor;
    prediction.right = right;
    prediction.date = date;
    return prediction;
}

PredictionProgress choice(const std::string& answer, const std::vector<std::string>& choices) {
    PredictionProgress prediction = number("2026-11-01", false, answer);
    prediction.choices = choices;
    return prediction;
}

/// What becomes of the first prediction, asked on its days and answered so.
std::vector<std::string> dates_of(bool first, const std::vector<bool>& answers) {
    Progress progress;
    progress.predictions["coalescing/1"] = number("2026-11-01", first);
    std::vector<std::string> dates;
    for (const bool right : answers) {
        const Review review = reviews(progress).front();
        dates.push_back(review.due);
        progress.reviews[review.key] = after_review(review, {"8", right}, review.due);
    }
    dates.push_back(reviews(progress).front().due);
    return dates;
}

bool is_right(const PredictionProgress& prediction, const std::string& typed) {
    const Judgement judgement = judge(prediction, typed);
    CHECK(judgement.why_not.empty());
    return judgement.right;
}

}  // namespace

TEST_CASE("review: dates are counted over the ends of months and years") {
    CHECK(add_days("2026-11-21", 14) == "2026-12-05");
    CHECK(add_days("2026-12-31", 1) == "2027-01-01");
    CHECK(add_days("2028-02-28", 1) == "2028-02-29");
    CHECK(days_between("2026-11-21", "2026-12-05") == 14);
    CHECK(days_between("2026-12-05", "2026-11-21") == -14);
    for (const char* wrong : {"", "yesterday", "2026-13-01", "2026-02-30", "2026-1-1", "2026-11-2x"}) {
        CHECK(add_days(wrong, 3) == wrong);
        CHECK_FALSE(days_between(wrong, "2026-11-21"));
    }
}

TEST_CASE("review: wrong answers come again after 1, 3, and 7 days") {
    CHECK(dates_of(false, {false, false, false}) ==
          std::vector<std::string>{"2026-11-02", "2026-11-05", "2026-11-12", "2026-11-19"});
}

TEST_CASE("review: right answers come again after 7, 21, and 60 days") {
    CHECK(dates_of(true, {true, true, true}) ==
          std::vector<std::string>{"2026-11-08", "2026-11-29", "2027-01-28", "2027-03-29"});
}

TEST_CASE("review: an answer of the other kind begins its own row") {
    CHECK(dates_of(true, {true, false, true}) ==
          std::vector<std::string>{"2026-11-08", "2026-11-29", "2026-11-30", "2026-12-07"});
}

TEST_CASE("review: what is due longest comes first, and a review of an older question does not count") {
    Progress progress;
    progress.predictions["a/1"] = number("2026-11-10", true);
    progress.predictions["b/1"] = number("2026-11-10", false);
    progress.predictions["c/1"] = number("2026-11-10", false);
    progress.reviews["c/1"] = {"2026-11-09", true, 3, "32"};  // before the guess, which was at another question
    const std::vector<Review> all = reviews(progress);
    REQUIRE(all.size() == 3);
    CHECK(all[0].key == "b/1");
    CHECK(all[1].key == "c/1");
    CHECK(all[1].last == nullptr);
    CHECK(all[2].due == "2026-11-17");
    CHECK(count_due(progress, "2026-11-10") == 0);
    CHECK(count_due(progress, "2026-11-11") == 2);
    CHECK(count_due(progress, "2026-11-17") == 3);
}

TEST_CASE("review: a number is right up to its factor") {
    CHECK(is_right(number("2026-11-01", true), "32"));
    CHECK(is_right(number("2026-11-01", true), " 32 sectors "));
    CHECK_FALSE(is_right(number("2026-11-01", true), "33"));
    CHECK(is_right(number("2026-11-01", true, "946", 1.2), "800"));
    CHECK_FALSE(is_right(number("2026-11-01", true, "946", 1.2), "700"));
    CHECK_FALSE(is_right(number("2026-11-01", true, "946", 1.2), "0"));
    CHECK(is_right(number("2026-11-01", true, "4096"), "4,096"));
    CHECK(is_right(number("2026-11-01", true, "0"), "0"));
    CHECK(judge(number("2026-11-01", true), "1,024").guess == "1024");
    CHECK_FALSE(judge(number("2026-11-01", true), "many").why_not.empty());
}

TEST_CASE("review: a choice is taken by its place or its text") {
    const PredictionProgress one = choice("by rows", {"by rows", "by columns", "neither"});
    CHECK(is_right(one, "1"));
    CHECK(is_right(one, "By Rows"));
    CHECK(is_right(one, "a"));
    CHECK_FALSE(is_right(one, "2"));
    CHECK_FALSE(is_right(one, "neither"));
    for (const char* unclear : {"by", "4", "0", "diagonally"}) {  // "by": two begin so
        INFO(unclear);
        CHECK_FALSE(judge(one, unclear).why_not.empty());
    }
}
