#include "exercises/4_examples/stable_ranking/stable_ranking.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/inputs.h"

#ifdef __CPU_DEVICE__
#include "cpu_device/execution.h"
#endif

const grading::Exercise grading::exercise{"4_examples", "stable_ranking"};

namespace {

using Keys = std::vector<unsigned>;

constexpr std::size_t tile = 256;        // keys, and threads of a block
constexpr std::size_t most_at_once = 4;  // places that a thread may write

Keys random_keys(std::size_t count, std::uint64_t stream = 0) {
    Keys keys(count);
    for (std::size_t i = 0; i < count; ++i)
        keys[i] = static_cast<unsigned>(
            warpwise::random_bits(1000 * grading::seed() + stream, i));
    return keys;
}

unsigned digit_of(unsigned key, int shift) { return key >> shift & 15; }

// What an answer should give, and what known mistakes would give instead. `before(a, b)`:
// whether key a comes before key b of the same tile.
template <class Before>
std::vector<double> places_by(const Keys& keys, Before before) {
    std::vector<double> places(keys.size());
    for (std::size_t begin = 0; begin < keys.size(); begin += tile) {
        std::vector<std::size_t> order(std::min(tile, keys.size() - begin));
        std::iota(order.begin(), order.end(), begin);
        std::sort(order.begin(), order.end(), before);
        for (std::size_t place = 0; place < order.size(); ++place)
            places[order[place]] = static_cast<double>(place);
    }
    return places;
}

struct Expected {
    std::vector<double> places, lanes_reversed, warps_reversed, of_lowest_digit, of_warps;

    Expected(const Keys& keys, int shift) {
        const auto by = [&](int shift_of_digit, auto warp_order, bool lanes_descend) {
            return places_by(keys, [=, &keys](std::size_t a, std::size_t b) {
                const unsigned of_a = digit_of(keys[a], shift_of_digit),
                               of_b = digit_of(keys[b], shift_of_digit);
                if (of_a != of_b) return of_a < of_b;
                const auto warp_of_a = warp_order(a / 32), warp_of_b = warp_order(b / 32);
                if (warp_of_a != warp_of_b) return warp_of_a < warp_of_b;
                return lanes_descend ? a > b : a < b;
            });
        };
        const auto forward = [](std::size_t warp) { return warp; };
        places = by(shift, forward, false);
        lanes_reversed = by(shift, forward, true);
        warps_reversed = by(
            shift, [](std::size_t warp) { return ~warp; }, false);
        of_lowest_digit = by(0, forward, false);
        of_warps = places_by(keys, [&](std::size_t a, std::size_t b) {
            if (a / 32 != b / 32) return a < b;
            const unsigned of_a = digit_of(keys[a], shift), of_b = digit_of(keys[b], shift);
            return of_a != of_b ? of_a < of_b : a < b;
        });
    }
};

struct Call {
    Keys keys;
    int shift;
    grading::Guarded<unsigned> d_keys, d_places;
    grading::Instrumented instrumented;

    Call(const Keys& all, int shift_of_digit)
        : keys(all),
          shift(shift_of_digit),
          d_keys(keys),
          d_places(keys.size()),
          instrumented(grading::instrument([&] {
              rank_tiles(d_keys.data(), static_cast<int>(keys.size()), shift,
                         d_places.data());
          })) {}

    void check() const {
        INFO(grading::counted(keys.size(), "key") << ", shift " << shift);
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        const Expected expected(keys, shift);
        CHECK_THAT(
            d_places,
            grading::EqualTo(expected.places)
                .when(grading::equals(expected.lanes_reversed),
                      "Within each warp, keys with the same digit come in the opposite "
                      "order. "
                      "Which lanes have the keys before a lane's own?")
                .when(grading::equals(expected.warps_reversed),
                      "The keys of later warps come first. Which warps have the keys "
                      "before a "
                      "warp's own?")
                .when(grading::equals(expected.of_lowest_digit),
                      "These are the places by the lowest digit. Which bits are asked for?")
                .when(grading::equals(expected.of_warps),
                      "Each warp is sorted by itself. Which keys of other warps come "
                      "before a "
                      "key?"));
        CHECK_THAT(d_places, grading::StaysInside());
        CHECK_THAT(d_keys, grading::Unchanged());
        CHECK_THAT(instrumented, grading::LaunchesAtMost(1));
        CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
        CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
        if (keys.empty()) return;
        CHECK_THAT(instrumented,
                   grading::EveryLaunchHas(
                       {static_cast<unsigned>((keys.size() + tile - 1) / tile), 1, 1},
                       {static_cast<unsigned>(tile), 1, 1},
                       "How many tiles of 256 keys are there?"));
        CHECK_THAT(d_places, grading::WrittenByThreads(keys.size() / most_at_once));
    }
};

void check_places(const Keys& keys, int shift) { Call(keys, shift).check(); }

/// Threads and blocks of launches run in the order of a seed, for as long as this lives.
class Order {
public:
#ifdef __CPU_DEVICE__
    explicit Order(std::uint64_t seed) { cpu_device::set_schedule_seed(seed); }
    ~Order() {
        const char* const of_grader = std::getenv("CPU_DEVICE_SEED");
        cpu_device::set_schedule_seed(
            of_grader == nullptr ? 0 : std::strtoull(of_grader, nullptr, 10));
    }
#else
    explicit Order(std::uint64_t) {}
#endif
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;
};

}  // namespace

TEST_CASE("keeps the order of equal digits within a warp") {
    check_places(Keys(32, 7), 0);
    check_places(random_keys(32), 0);
}

TEST_CASE("keeps the order of equal digits from warp to warp") {
    check_places(Keys(256, 7), 0);
    check_places(random_keys(256), 0);
}

TEST_CASE("keeps the order whichever warp is the first") {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        INFO("threads in the order of seed " << seed);
        const Order order(seed);
        check_places(Keys(256, 7), 0);
        check_places(random_keys(1000), 8);
    }
}

TEST_CASE("ranks by any digit") {
    for (int shift = 0; shift <= 28; ++shift)
        check_places(random_keys(512, static_cast<std::uint64_t>(shift)), shift);
}

TEST_CASE("ranks tiles in which a digit is missing, or is the only one") {
    for (unsigned digit = 0; digit < 16; ++digit) {
        check_places(Keys(300, digit << 4), 4);
        Keys keys = random_keys(300, digit);
        for (unsigned& key : keys) {
            if ((key & 15) == digit) key = digit ^ 1;
        }
        check_places(keys, 0);
    }
}

TEST_CASE("handles a last tile that is short") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 33, 63, 95, 255, 257, 1009, 4099}, 3, 10'000))
        check_places(random_keys(count, count), static_cast<int>(count % 29));
}

TEST_CASE("handles an empty array") { check_places({}, 0); }

TEST_CASE("sorts a tile in eight passes") {
    Keys keys = random_keys(tile, 5);
    Keys expected = keys;
    std::sort(expected.begin(), expected.end());
    for (int shift = 0; shift < 32; shift += 4) {
        const Call call(keys, shift);
        call.check();
        const Keys places = call.d_places.download();
        Keys moved(tile, 0);
        for (std::size_t i = 0; i < tile; ++i) moved[places[i] % tile] = keys[i];
        keys = moved;
    }
    CHECK(keys == expected);
}

TEST_CASE("reads each key once and waits for the block at most four times") {
    constexpr std::size_t count = 4096;
    const Call call(random_keys(count), 12);
    call.check();
    CHECK_THAT(call.instrumented, grading::BarriersAtMost(4));
    CHECK_THAT(call.instrumented, grading::GlobalEfficiencyAtLeast(0.8));
    CHECK_THAT(call.instrumented,
               grading::BytesMovedAtMost(1.1 * 2 * sizeof(unsigned) * count,
                                         "How many threads load the same key?"));
}
