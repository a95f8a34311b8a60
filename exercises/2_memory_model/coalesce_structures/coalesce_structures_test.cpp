#include "exercises/2_memory_model/coalesce_structures/coalesce_structures.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/watched.h"

#ifndef __CPU_DEVICE__
#include <cuda_runtime.h>

#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "coalesce_structures"};

namespace {

constexpr double bytes_needed = 5 * sizeof(float);  // of a star: four members are read, one float is written

// Every member of every star has a value of its own, as long as there are less than 2^20 stars: no two can be mixed up.
std::vector<Star> make_stars(int count) {
    std::vector<Star> stars(static_cast<std::size_t>(count));
    float next = 1;
    for (Star& star : stars) {
        float* const members = &star.x;
        for (std::size_t m = 0; m < star_members; ++m) members[m] = next++;
    }
    return stars;
}

std::vector<double> expected_brightness(const std::vector<Star>& stars) {
    std::vector<double> expected;
    for (const Star& star : stars) {
        const double x = star.x;
        const double y = star.y;
        const double z = star.z;
        expected.push_back(star.luminosity / (x * x + y * y + z * z));
    }
    return expected;
}

// Checks the results, and returns what the kernels did.
grading::Watched check_brightness(int count) {
    INFO("number of stars: " << count);
    const std::vector<Star> stars = make_stars(count);
    const std::vector<float> arranged = arrange(stars);
    const grading::Guarded<float> d_stars(arranged);
    grading::Guarded<float> d_brightness(stars.size());
    grading::Watched watched = grading::watch([&] { apparent_brightness(d_stars.data(), d_brightness.data(), count); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_brightness, grading::WrittenEverywhere("Does every star have a thread?"));
    // Three roundings of the squares and sums one after the other, one of the quotient; divisions of a GPU may add one.
    CHECK_THAT(d_brightness, grading::CloseTo(expected_brightness(stars), {.relative = 6.0 / (1 << 24)},
                                              "Does the kernel look for each member where arrange() has put it?"));
    CHECK_THAT(d_brightness, grading::StaysInside("There is one float a star."));
    CHECK_THAT(d_stars, grading::Unchanged());
    return watched;
}

}  // namespace

TEST_CASE("computes the brightness of every star") {
    for (const int count : {1, 2, 31, 32, 33, 256, 1009, 4096}) check_brightness(count);
}

TEST_CASE("handles an empty catalog") { check_brightness(0); }

TEST_CASE("keeps every member of every star") {
    for (const int count : {0, 1, 33, 1000}) {
        INFO("number of stars: " << count);
        const std::vector<float> arranged = arrange(make_stars(count));
        const std::size_t stars = static_cast<std::size_t>(count);
        INFO("arrange() returned " << arranged.size() << " floats for " << stars * star_members << " members");
        CHECK(arranged.size() >= stars * star_members);
        CHECK(arranged.size() <= (stars + 31) / 32 * 32 * star_members);

        std::vector<int> times(stars * star_members + 1);  // times[v]: how often the value v, from 1 on, is there
        for (const float value : arranged) {
            if (value >= 1 && value < static_cast<float>(times.size())) ++times[static_cast<std::size_t>(value)];
        }
        for (std::size_t v = 1; v < times.size(); ++v) {
            if (times[v] > 0) continue;
            FAIL("member " << (v - 1) % star_members << " of star " << (v - 1) / star_members
                           << " is not in what arrange() returned");
        }
    }
}

TEST_CASE("moves little more than the bytes that it needs") {
    for (const int count : {1024, 8192}) {
        const grading::Watched watched = check_brightness(count);
        INFO("at " << bytes_needed << " bytes a star, read or written, it needs " << bytes_needed * count << " bytes");
        CHECK_THAT(watched, grading::BytesMovedAtMost(1.1 * bytes_needed * count,
                                                      "Sectors are moved whole. Which of their bytes are wanted?"));
    }
}

// Arrays of an odd length begin in the middle of a sector: five sectors a request instead of four.
TEST_CASE("moves few bytes for any number of stars") {
    for (const int count : {1000, 1009, 4099}) {
        const grading::Watched watched = check_brightness(count);
        INFO("at " << bytes_needed << " bytes a star, read or written, it needs " << bytes_needed * count << " bytes");
        CHECK_THAT(watched, grading::BytesMovedAtMost(1.35 * bytes_needed * count,
                                                      "Sectors are moved whole. Which of their bytes are wanted?"));
    }
}

#ifndef __CPU_DEVICE__
// A copy reads and writes 64 bytes a star: 128. The least is 20, a sixth of it; with the layout of the stub it is 68,
// more than half, even if the cache never has to fetch a sector twice.
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
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { apparent_brightness(d_stars.data(), d_brightness.data(), count); }, false},
         {[&] {
              warpwise::check(cudaMemcpyAsync(d_to.data(), d_from.data(), d_from.bytes(), cudaMemcpyDeviceToDevice));
          },
          false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double share = timings[0].median / timings[1].median;
    INFO("your kernel: " << timings[0].median * 1e6 << " us; copying all stars: " << timings[1].median * 1e6 << " us");
    INFO("With all members of a star side by side, most of what the memory delivers is thrown away.");
    CHECK(share <= 0.4);
}
#endif
