#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

#ifndef __CPU_DEVICE__
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "coalesce_structures"};

namespace {

constexpr double bytes_needed =
    5 * sizeof(float);  // per star: four members are read, one float is written
constexpr std::size_t wanted_members[] = {0, 1, 2, 9};
const char* const names[star_members] = {
    "x",        "y",         "z",           "vx",         "vy",  "vz",
    "mass",     "radius",    "temperature", "luminosity", "age", "metallicity",
    "rotation", "magnetism", "color",       "variability"};

// Every member of every star has bits of its own, so no two can be confused. Magnitudes are
// between 1/2 and 2, signs are mixed, and no value is a whole number. For up to 2^18 stars.
std::vector<Star> make_stars(std::size_t count, std::uint64_t stream = 0) {
    const auto start =
        static_cast<std::uint32_t>(grading::random_size(0, (1u << 22) - 1, stream));
    std::vector<Star> stars(count);
    std::uint32_t number = 0;
    for (Star& star : stars) {
        float* const members = &star.x;
        for (std::size_t m = 0; m < star_members; ++m, ++number) {
            // An odd factor permutes the numbers below 2^22. The last bit keeps 1 from
            // occurring.
            const std::uint32_t mantissa =
                ((number * 0x9E3779B1u + start) & ((1u << 22) - 1)) << 1 | 1;
            const std::uint32_t exponent = 126 + (mantissa >> 5 & 1);
            const std::uint32_t sign = m == 9 ? 0 : mantissa >> 9 & 1;
            members[m] = std::bit_cast<float>(sign << 31 | exponent << 23 | mantissa);
        }
    }
    return stars;
}

std::vector<double> brightness_of(const std::vector<Star>& stars,
                                  std::size_t numerator = 9) {
    std::vector<double> expected;
    for (const Star& star : stars) {
        const double x = star.x;
        const double y = star.y;
        const double z = star.z;
        expected.push_back((&star.x)[numerator] / (x * x + y * y + z * z));
    }
    return expected;
}

// What a kernel gets that reads star after star from what arrange() returned.
std::vector<double> read_star_by_star(const std::vector<float>& arranged,
                                      std::size_t count) {
    std::vector<Star> stars(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t m = 0; m < star_members; ++m) {
            if (i * star_members + m < arranged.size())
                (&stars[i].x)[m] = arranged[i * star_members + m];
        }
    }
    return brightness_of(stars);
}

constexpr std::size_t luminosity = 9;

/// The member that stands in place of the luminosity in all results; the luminosity if none
/// does.
std::size_t member_read(const std::vector<float>& brightness,
                        const std::vector<Star>& stars) {
    for (std::size_t m = 0; m < star_members; ++m) {
        const std::vector<double> expected = brightness_of(stars, m);
        bool agrees = m != luminosity && !stars.empty();
        for (std::size_t i = 0; i < stars.size() && agrees; ++i)
            agrees = std::abs(brightness[i] - expected[i]) <= 1e-6 * std::abs(expected[i]);
        if (agrees) return m;
    }
    return luminosity;
}

/// Which member was read in place of the luminosity, in the words of a hint.
std::string hint_about(std::size_t member) {
    return std::string("There the ") + names[member] + ", member " +
           std::to_string(member) +
           ", stands in place of the luminosity, member 9. Where does\narrange() put "
           "member "
           "m of star i?";
}

void check_values(const grading::Guarded<float>& d_brightness,
                  const std::vector<Star>& stars, const std::vector<float>& arranged) {
    // Three roundings of the squares and sums one after the other, one of the quotient;
    // divisions of a GPU may add one.
    // In a catalog of one star, both orders are the same.
    const bool has_orders = stars.size() > 1;
    const grading::Cause by_star =
        grading::equals(read_star_by_star(arranged, stars.size()));
    const std::size_t member = member_read(d_brightness.download(), stars);
    CHECK_THAT(
        d_brightness,
        grading::CloseTo(brightness_of(stars), {.relative = 6.0 / (1 << 24)})
            .when([&](const auto& mismatch) { return has_orders && by_star(mismatch); },
                  "These are the results of reading d_stars star by star. Does the kernel "
                  "look for each member\nwhere arrange() has put it?")
            .when([&](const auto&) { return member != luminosity; }, hint_about(member))
            .when([](const auto&) { return true; },
                  "Where does arrange() put member m of star i, and from which index does "
                  "the kernel read it?"));
}

// Every word of the arranged stars that holds x, y, z or the luminosity of a star was read
// by a kernel.
void check_members_were_read(const grading::Guarded<float>& d_stars,
                             const std::vector<Star>& stars) {
    if (stars.empty()) return;
    const std::vector<grading::ElementActivity> activity = grading::activity_of(d_stars);
    if (activity.empty()) {
        grading::note_left_out();
        return;
    }
    std::unordered_map<std::uint32_t, bool> was_read;  // by the bits of the value
    for (std::size_t k = 0; k < activity.size(); ++k) {
        bool& read = was_read[std::bit_cast<std::uint32_t>(d_stars.uploaded()[k])];
        read = read || activity[k].all_read;
    }
    for (std::size_t i = 0; i < stars.size(); ++i) {
        for (const std::size_t m : wanted_members) {
            if (was_read[std::bit_cast<std::uint32_t>((&stars[i].x)[m])]) continue;
            FAIL_CHECK("no kernel read " << names[m] << " of star " << i
                                         << " from d_stars.\nFrom which index does the "
                                            "kernel read it?");
            return;
        }
    }
}

struct Graded {
    std::size_t busy_threads = 0;  // threads and blocks that have to take part
    std::size_t busy_blocks = 0;
};

// Checks the results, and returns what the kernels did.
grading::Instrumented check_brightness(std::size_t count, Graded graded = {}) {
    INFO("number of stars: " << count);
    const std::vector<Star> stars = make_stars(count, count);
    const std::vector<float> arranged = arrange(stars);
    const grading::Guarded<float> d_stars(arranged);
    grading::Guarded<float> d_brightness(count);
    grading::Instrumented instrumented = grading::instrument([&] {
        apparent_brightness(d_stars.data(), d_brightness.data(), static_cast<int>(count));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_brightness, stars, arranged);
    CHECK_THAT(d_brightness, grading::StaysInside());
    CHECK_THAT(d_stars, grading::Unchanged());
    CHECK_THAT(d_brightness, grading::WrittenByKernels());
    check_members_were_read(d_stars, stars);
    if (graded.busy_threads > 0)
        CHECK_THAT(d_brightness, grading::WrittenByThreads(graded.busy_threads));
    if (graded.busy_blocks > 0)
        CHECK_THAT(d_brightness, grading::WrittenByBlocks(graded.busy_blocks));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    return instrumented;
}

void check_bytes(std::size_t count, double factor) {
    const grading::Instrumented instrumented = check_brightness(count);
    const double needed = bytes_needed * static_cast<double>(count);
    INFO(count << " stars need " << needed << " bytes, at " << bytes_needed
               << " bytes per star");
    CHECK_THAT(instrumented, grading::BytesMovedAtMost(factor * needed));
}

}  // namespace

TEST_CASE("computes the brightness of every star") {
    for (const std::size_t count :
         grading::sizes({1, 2, 31, 32, 33, 256, 1009, 4096}, 4, 10'000)) {
        check_brightness(count);
    }
}

TEST_CASE("handles an empty catalog") { check_brightness(0); }

TEST_CASE("keeps every member of every star") {
    for (const std::size_t count : grading::sizes({0, 1, 33, 1000}, 2, 5'000, 1)) {
        INFO("number of stars: " << count);
        const std::vector<Star> stars = make_stars(count, count);
        const std::vector<float> arranged = arrange(stars);
        const std::size_t most = (count + 31) / 32 * 32 * star_members;
        if (arranged.size() < count * star_members || arranged.size() > most) {
            FAIL_CHECK("arrange() returned "
                       << grading::counted(arranged.size(), "float") << "; between "
                       << count * star_members << " (one per member) and " << most
                       << " (with padding) are allowed.\nHow many floats does your order "
                          "need?");
        }

        std::unordered_map<std::uint32_t, int> times;  // by the bits of the value
        for (const float value : arranged) ++times[std::bit_cast<std::uint32_t>(value)];
        for (std::size_t k = 0; k < count * star_members; ++k) {
            const std::size_t star = k / star_members;
            const std::size_t member = k % star_members;
            if (times.count(std::bit_cast<std::uint32_t>((&stars[star].x)[member])) > 0)
                continue;
            FAIL(names[member] << " of star " << star
                               << " is not in what arrange() returned.\nWhich index of "
                                  "the array does your order give it?");
        }
    }
}

// A program may arrange two catalogs before it computes with either of them, and in any
// order.
TEST_CASE("works with several catalogs at a time") {
    const std::vector<Star> first = make_stars(1000, 1), second = make_stars(33, 2);
    const std::vector<float> first_arranged = arrange(first),
                             second_arranged = arrange(second);
    const grading::Guarded<float> d_first(first_arranged), d_second(second_arranged);
    grading::Guarded<float> d_brightness(first.size());
    grading::Guarded<float> d_second_brightness(second.size());
    apparent_brightness(d_first.data(), d_brightness.data(), 1000);
    apparent_brightness(d_second.data(), d_second_brightness.data(), 33);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_brightness, first, first_arranged);
    check_values(d_second_brightness, second, second_arranged);
}

// The luminosities are exchanged on the device, as another kernel might do it. Nothing that
// arrange() has worked out beforehand fits any more.
TEST_CASE("computes from the members in d_stars") {
    for (const std::size_t count : {33u, 1000u}) {
        INFO("number of stars: " << count);
        std::vector<Star> stars = make_stars(count, count);
        std::vector<float> arranged = arrange(stars);
        std::unordered_map<std::uint32_t, float>
            exchanged;  // by the bits of the luminosity before
        for (std::size_t i = 0; i < count; ++i) {
            exchanged[std::bit_cast<std::uint32_t>(stars[i].luminosity)] =
                stars[count - 1 - i].luminosity;
        }
        for (float& value : arranged) {
            const auto found = exchanged.find(std::bit_cast<std::uint32_t>(value));
            if (found != exchanged.end()) value = found->second;
        }
        for (std::size_t i = 0; i < count / 2; ++i)
            std::swap(stars[i].luminosity, stars[count - 1 - i].luminosity);
        const grading::Guarded<float> d_stars(arranged);
        grading::Guarded<float> d_brightness(count);
        apparent_brightness(d_stars.data(), d_brightness.data(), static_cast<int>(count));
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        check_values(d_brightness, stars, arranged);
    }
}

TEST_CASE("shares the stars among many threads") {
    check_brightness(16'384, {.busy_threads = 1024, .busy_blocks = 4});
}

TEST_CASE("moves little more than the bytes that it needs") {
    for (const std::size_t count : {1024, 8192}) check_bytes(count, 1.1);
    check_bytes(32 * grading::random_size(40, 300), 1.1);
}

// Arrays of an odd length begin in the middle of a sector: five sectors per request instead
// of four.
TEST_CASE("moves few bytes for any number of stars") {
    for (const std::size_t count : {1000, 1009, 4099}) check_bytes(count, 1.35);
    check_bytes(grading::random_size(1000, 9'000), 1.35);
}

TEST_CASE("computes the brightness of 250,000 stars") {
    // Not instrumented: what it costs was judged above, and here it would take seconds.
    const std::vector<Star> stars = make_stars(250'007);
    const std::vector<float> arranged = arrange(stars);
    const grading::Guarded<float> d_stars(arranged);
    grading::Guarded<float> d_brightness(stars.size());
    apparent_brightness(d_stars.data(), d_brightness.data(),
                        static_cast<int>(stars.size()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(d_brightness, stars, arranged);
}

#ifndef __CPU_DEVICE__
// A copy reads and writes 64 bytes per star: 128 in all. The least is 20, a sixth of it;
// with the layout of the stub it is 68, more than half, even if the cache never has to
// fetch a sector twice.
TEST_CASE("takes less than half of the time in which all stars could be copied") {
    constexpr int count = 1 << 22;
    Star star{};
    star.x = 1;
    star.luminosity = 1;
    const std::vector<float> arranged = arrange(std::vector<Star>(count, star));
    const warpwise::DeviceBuffer<float> d_stars(arranged);
    warpwise::DeviceBuffer<float> d_brightness(count);
    warpwise::DeviceBuffer<Star> d_from(count);
    warpwise::DeviceBuffer<Star> d_to(count);
    d_from.fill_bytes(1);
    const auto [answer, copy] = grading::measure_beside_copy(
        [&] { apparent_brightness(d_stars.data(), d_brightness.data(), count); },
        d_to.data(), d_from.data(), d_from.bytes());
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(grading::time_beside(answer, copy, "a copy of all stars"),
               grading::AtMost(0.4,
                               "Which bytes of the 64 of a star does the kernel need, and "
                               "which ones does it load with them?"));
}
#endif
