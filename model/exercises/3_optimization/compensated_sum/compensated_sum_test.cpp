#include "exercises/3_optimization/compensated_sum/compensated_sum.h"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"

const grading::Exercise grading::exercise{"3_optimization", "compensated_sum"};

namespace {

constexpr int threads = 128;  // of a block
constexpr double unit_roundoff = 0x1p-24;

// A thread may read so many neighboring values at once (a float4), so fewer threads than
// values may be busy.
constexpr std::size_t most_at_once = 4;

/// The exact sum, rounded once to double: a list of doubles that do not overlap holds all
/// digits.
double exact_sum(const std::vector<float>& values) {
    std::vector<double> parts;  // in ascending order
    for (const float value : values) {
        double carry = value;
        std::vector<double> next;
        for (const double part : parts) {
            const double larger = std::fabs(carry) > std::fabs(part) ? carry : part;
            const double smaller = std::fabs(carry) > std::fabs(part) ? part : carry;
            carry = larger + smaller;
            const double lost = smaller - (carry - larger);
            if (lost != 0) next.push_back(lost);
        }
        next.push_back(carry);
        parts = std::move(next);
    }
    double sum = 0;
    for (const double part : parts) sum += part;
    return sum;
}

struct Terms {
    std::vector<float> values;
    double sum;
    double magnitudes = 0;

    explicit Terms(std::vector<float> values_of_it)
        : values(std::move(values_of_it)), sum(exact_sum(values)) {
        for (const float value : values) magnitudes += std::fabs(value);
    }

    /// What the header promises for any values, and the last rounding of the reference.
    double tolerance() const {
        const auto n = static_cast<double>(values.size());
        return 2 * unit_roundoff * std::fabs(sum) +
               4 * n * unit_roundoff * unit_roundoff * magnitudes;
    }
    /// What it promises where all that additions lose fits into one float: the sum is
    /// rounded once.
    double one_rounding() const { return unit_roundoff * std::fabs(sum); }
};

// What the given program computes with one of the mistakes that are easily made: hints need
// a cause.
enum class Add { right, turned, looks_at_the_value_only, compares_signed, plain };
enum class Tree { right, one_float, sums_plainly, drops_lost };
enum class Leave { both_parts, sum_only };

struct Mistake {
    Add add;
    Tree tree;
    Leave leave;
    const char* hint;
};

constexpr std::array<Mistake, 8> mistakes = {{
    {Add::turned, Tree::right, Leave::both_parts,
     "Which of the two numbers is the larger one in each branch of add?"},
    {Add::turned, Tree::one_float, Leave::both_parts,
     "Which of the two numbers is the larger one in each branch of add?"},
    {Add::looks_at_the_value_only, Tree::right, Leave::both_parts,
     "When the value is larger than the sum, the sum loses digits. Does `lost` get them?"},
    {Add::compares_signed, Tree::right, Leave::both_parts,
     "Which number loses digits when 1 is added to -2^60? Does the comparison say so?"},
    {Add::right, Tree::one_float, Leave::both_parts,
     "The result is as if each thread added sum and lost before the tree. How many floats "
     "go through the tree?"},
    {Add::right, Tree::sums_plainly, Leave::both_parts,
     "The additions of the tree lose digits as well. Which function keeps them?"},
    {Add::right, Tree::drops_lost, Leave::both_parts,
     "A thread takes the other one's sum. What happens to what the other one has lost?"},
    {Add::right, Tree::right, Leave::sum_only,
     "What do blocks leave behind for the second kernel?"},
}};

struct Total {
    float sum = 0, lost = 0;
};

void add(Total& total, float value, Add how) {
    const float next = total.sum + value;
    bool sum_is_larger = std::fabs(total.sum) >= std::fabs(value);
    if (how == Add::turned) sum_is_larger = std::fabs(total.sum) < std::fabs(value);
    if (how == Add::looks_at_the_value_only) sum_is_larger = true;
    if (how == Add::compares_signed) sum_is_larger = total.sum >= value;
    const float loss =
        sum_is_larger ? (total.sum - next) + value : (value - next) + total.sum;
    total.lost = how == Add::plain ? 0 : total.lost + loss;
    total.sum = next;
}

Total total_of_block(std::vector<Total> parts, const Mistake& mistake) {
    if (mistake.tree == Tree::one_float) {
        for (Total& part : parts) part = {part.sum + part.lost, 0};
    }
    for (std::size_t half = threads / 2; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) {
            const Total other = parts[i + half];
            if (mistake.tree == Tree::one_float || mistake.tree == Tree::sums_plainly) {
                parts[i].sum += other.sum;
            } else {
                add(parts[i], other.sum, mistake.add);
            }
            if (mistake.tree != Tree::drops_lost) parts[i].lost += other.lost;
        }
    }
    return parts[0];
}

float sum_with(const Mistake& mistake, const std::vector<float>& values, int blocks) {
    const auto stride = static_cast<std::size_t>(blocks) * threads;
    std::vector<Total> of_threads(threads);
    for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
        std::vector<Total> mine(threads);
        for (std::size_t i = block * threads; i < values.size(); i += stride) {
            for (std::size_t t = 0; t < threads && i + t < values.size(); ++t)
                add(mine[t], values[i + t], mistake.add);
        }
        const Total total = total_of_block(mine, mistake);
        add(of_threads[block % threads], total.sum, mistake.add);
        if (mistake.leave == Leave::both_parts)
            of_threads[block % threads].lost += total.lost;
    }
    const Total total = total_of_block(of_threads, mistake);
    return total.sum + total.lost;
}

grading::Cause is_plain_sum(const Terms& terms, int blocks) {
    return [&terms, blocks](const grading::MismatchedArray& mismatch) {
        const Mistake plain = {Add::plain, Tree::right, Leave::both_parts, ""};
        return mismatch.got[0] == sum_with(plain, terms.values, blocks);
    };
}

/// Holds when the sum is what this mistake gives, and no other one gives the same.
grading::Cause is_sum_with(const Mistake& mistake, const Terms& terms, int blocks) {
    return [&mistake, &terms, blocks](const grading::MismatchedArray& mismatch) {
        const double of_this = sum_with(mistake, terms.values, blocks);
        if (mismatch.got[0] != of_this) return false;
        return std::none_of(mistakes.begin(), mistakes.end(), [&](const Mistake& other) {
            return std::string(other.hint) != mistake.hint &&
                   sum_with(other, terms.values, blocks) == of_this;
        });
    };
}

auto is_sum_of(const Terms& terms, int blocks, double tolerance) {
    const auto with = [&](std::size_t i) {
        return is_sum_with(mistakes.at(i), terms, blocks);
    };
    return grading::CloseTo(std::vector<double>{terms.sum}, {.absolute = tolerance})
        .when(with(0), mistakes[0].hint)
        .when(with(1), mistakes[1].hint)
        .when(with(2), mistakes[2].hint)
        .when(with(3), mistakes[3].hint)
        .when(with(4), mistakes[4].hint)
        .when(with(5), mistakes[5].hint)
        .when(with(6), mistakes[6].hint)
        .when(with(7), mistakes[7].hint)
        .when(is_plain_sum(terms, blocks),
              "This is what plain additions give. Where should the digits arrive that "
              "additions lose?");
}

/// Each value is read once.
auto read_once() {
    return grading::BufferMatcher(
        [](const grading::GuardedMemory& buffer) {
            std::vector<std::size_t> several;
            const std::vector<grading::ElementActivity> elements =
                grading::activity_of(buffer);
            for (std::size_t i = 0; i < elements.size(); ++i) {
                if (elements[i].reads > 1) several.push_back(i);
            }
            if (several.empty())
                return grading::Judgement{true, "each value was read once"};
            return grading::Judgement{
                false, grading::name_elements(several) + ": read more than once", nullptr,
                "Which thread reads a value that another thread has read already?"};
        },
        "");
}

/// The launch that reads the values has the grid and the blocks that the task gives.
grading::InstrumentedMatcher first_launch_has(int blocks) {
    return grading::InstrumentedMatcher(
        [blocks](const grading::Instrumented& instrumented) {
            if (!instrumented.countable)
                return grading::Judgement{true, "nobody could see the launches"};
            if (instrumented.launches.empty())
                return grading::Judgement{false, "no kernel was launched", nullptr,
                                          "Which line launches your kernel?"};
            const auto& [x, y, z] = instrumented.launches[0].grid;
            const auto& [block_x, block_y, block_z] = instrumented.launches[0].block;
            if (x == static_cast<unsigned>(blocks) && y * z == 1 && block_x == threads &&
                block_y * block_z == 1) {
                return grading::Judgement{true, "the first launch has its shape"};
            }
            const auto shape = [](unsigned a, unsigned b, unsigned c) {
                if (b * c == 1) return std::to_string(a);
                return std::to_string(a) + " x " + std::to_string(b) + " x " +
                       std::to_string(c);
            };
            return grading::Judgement{
                false,
                "the first launch has " + grading::counted(shape(x, y, z), "block") +
                    " of " + grading::counted(shape(block_x, block_y, block_z), "thread") +
                    "; it should have " + grading::counted(blocks, "block") +
                    " of 128 threads",
                nullptr, "Which numbers stand between <<< and >>> in your first launch?"};
        },
        "");
}

/// Calls the answer. `about` tells what is special about these values.
void check_sum(const Terms& terms, int blocks, double tolerance, const std::string& about) {
    const std::size_t count = terms.values.size();
    INFO(grading::counted(count, "value")
         << ", " << grading::counted(blocks, "block") << about);
    const grading::Guarded<float> d_values(terms.values);
    // What they hold before does not matter, so they hold something.
    grading::Guarded<float> d_block_sums(
        grading::random_whole_floats(static_cast<std::size_t>(blocks), 10'000, 1));
    grading::Guarded<float> d_block_lost(
        grading::random_whole_floats(static_cast<std::size_t>(blocks), 10'000, 2));
    grading::Guarded<float> d_sum(1);
    const grading::Instrumented instrumented = grading::instrument([&] {
        add_up(d_values.data(), static_cast<int>(count), d_block_sums.data(),
               d_block_lost.data(), d_sum.data(), blocks);
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sum, grading::WrittenEverywhere());
    CHECK_THAT(d_sum, is_sum_of(terms, blocks, tolerance));
    CHECK_THAT(d_sum, grading::StaysInside());
    CHECK_THAT(d_block_sums, grading::StaysInside());
    CHECK_THAT(d_block_lost, grading::StaysInside());
    CHECK_THAT(d_values, grading::Unchanged());
    CHECK_THAT(instrumented, grading::LaunchesAtMost(2));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CallsNot({"cudaHostAlloc", "cudaHostRegister",
                                                "cudaMallocManaged"}));
    if (count == 0) return;  // such a sum needs no kernel
    const auto grid = static_cast<std::size_t>(blocks);
    CHECK_THAT(instrumented, first_launch_has(blocks));
    CHECK_THAT(d_sum, grading::WrittenByKernels());
    CHECK_THAT(d_values, read_once());
    CHECK_THAT(d_values,
               grading::ReadByThreads(std::min(grid * threads, count / most_at_once)));
    CHECK_THAT(d_values,
               grading::ReadByBlocks(std::min(grid, count / (most_at_once * threads))));
}

float sign(std::uint64_t stream) {
    return grading::random_size(0, 1, stream) == 0 ? 1.0f : -1.0f;
}

/// Its neighbors are so far away that adding a small value changes nothing.
float huge(std::uint64_t stream) {
    return std::ldexp(sign(stream),
                      static_cast<int>(grading::random_size(56, 80, stream + 1)));
}

/// Values and their negatives, of very different sizes, shuffled. About one in 16 has no
/// negative, and these are small.
Terms ill_conditioned(std::size_t count, std::uint64_t stream) {
    std::vector<float> values = grading::random_floats(count, stream);
    const std::size_t alone = std::max<std::size_t>(count / 16, 1);
    for (std::size_t i = alone; i + 1 < count; i += 2) {
        values[i] = std::ldexp(values[i],
                               static_cast<int>(grading::random_size(0, 27, stream + i)));
        values[i + 1] = -values[i];
    }
    for (std::size_t i = count; i-- > 1;)
        std::swap(values[i], values[grading::random_size(0, i, stream + count + i)]);
    return Terms(std::move(values));
}

}  // namespace

TEST_CASE("adds up whole numbers") {
    for (const std::size_t count :
         grading::sizes({0, 1, 2, 31, 127, 129, 1009, 5000}, 3, 20'000)) {
        const Terms terms(grading::random_whole_floats(count, 100, count));
        const int blocks =
            count % 2 == 0 ? 3 : static_cast<int>(grading::random_size(1, 20, count));
        check_sum(terms, blocks, 0,
                  ": whole numbers, and every partial sum fits into a float");
    }
}

TEST_CASE("keeps the last digits of small values") {
    // The values of one thread: first 2^25, where floats are 4 apart. The other threads
    // have zeros.
    for (const float up_or_down : {1.0f, -1.0f}) {
        for (const std::size_t turns : {2, 3, 101, 1025}) {
            const auto thread = grading::random_size(0, threads - 1, turns);
            const std::vector<float> small = grading::random_whole_floats(turns, 3, thread);
            std::vector<float> values(turns * threads, 0.0f);
            values[thread] = up_or_down * 0x1p25f;
            for (std::size_t turn = 1; turn < turns; ++turn) {
                values[turn * threads + thread] = up_or_down * small[turn];
            }
            const Terms terms(std::move(values));
            const std::string signs = up_or_down > 0 ? "" : ", all negative";
            check_sum(terms, 1, terms.one_rounding(),
                      ". One of every 128 values is not 0: first 2^25, where floats are 4 "
                      "apart, then numbers from 1 to "
                      "3" +
                          signs + ".");
        }
    }
}

TEST_CASE("keeps the last digits of the sum") {
    // The sum is small when the huge value comes, and it is all that is left when the huge
    // value goes.
    for (const std::size_t before : {1, 2, 100}) {
        const auto thread = grading::random_size(0, threads - 1, before);
        const std::vector<float> small =
            grading::random_whole_floats(before + 1, 50, before + 1);
        const float large = huge(before);
        std::vector<float> values((before + 3) * threads, 0.0f);
        for (std::size_t turn = 0; turn < before; ++turn)
            values[turn * threads + thread] = small[turn];
        values[before * threads + thread] = large;
        values[(before + 1) * threads + thread] = small[before];
        values[(before + 2) * threads + thread] = -large;
        const Terms terms(std::move(values));
        check_sum(
            terms, 1, terms.one_rounding(),
            ". One of every 128 values is not 0: first small ones (" +
                std::to_string(before) +
                "), then a huge one, then a small one, then the negative of the huge one.");
    }
}

TEST_CASE("keeps what is lost between threads") {
    // A value for each thread: nothing is lost before the threads' totals are put together.
    for (const std::size_t distance : {1, 2, 31, 64, 127}) {
        const auto first = grading::random_size(0, threads - 1 - distance, distance);
        std::vector<float> values = grading::random_whole_floats(threads, 100, distance);
        const float large = huge(distance);
        values[first] = large;
        values[first + distance] = -large;
        const Terms terms(std::move(values));
        check_sum(terms, 1, terms.one_rounding(),
                  ". Value " + std::to_string(first) + " is huge, value " +
                      std::to_string(first + distance) +
                      " is its negative, and all others are small. A thread with a single "
                      "value loses nothing.");
    }
}

TEST_CASE("keeps what several threads lose") {
    // Each thread has lost something before the tree begins. The huge values cancel in the
    // tree.
    for (const std::uint64_t stream : {1, 2, 3}) {
        const float large = huge(stream);
        std::vector<float> values = grading::random_whole_floats(2 * threads, 1000, stream);
        std::vector<float> signs(threads, 1.0f);
        std::fill(signs.begin() + threads / 2, signs.end(), -1.0f);
        for (std::size_t i = threads; i-- > 1;)
            std::swap(signs[i], signs[grading::random_size(0, i, stream * 1000 + i)]);
        for (std::size_t i = 0; i < threads; ++i) values[i] = signs[i] * large;
        const Terms terms(std::move(values));
        check_sum(terms, 1, terms.one_rounding(),
                  ". Each of the first 128 values is a huge number or its negative, and "
                  "the others are small. A thread "
                  "that adds one of each has the small one in its lost part.");
    }
}

TEST_CASE("keeps what several blocks lose") {
    for (const std::size_t half : grading::sizes({1, 4, 65, 150}, 2, 300)) {
        const std::size_t blocks = 2 * half;
        const float large = huge(half);
        std::vector<float> values =
            grading::random_whole_floats(2 * blocks * threads, 20, half);
        for (std::size_t block = 0; block < blocks; ++block) {
            values[block * threads] = block % 2 == 0 ? large : -large;
        }
        const Terms terms(std::move(values));
        check_sum(terms, static_cast<int>(blocks), terms.one_rounding(),
                  ". The first value of each block is a huge number or its negative, and "
                  "the others are small.");
    }
}

TEST_CASE("is right where nearly everything cancels") {
    for (const std::size_t count : grading::sizes({33, 257, 1009, 4097}, 3, 20'000)) {
        for (const int blocks :
             {1, 4, static_cast<int>(grading::random_size(2, 40, count))}) {
            const Terms terms =
                ill_conditioned(count, count + static_cast<std::size_t>(blocks));
            check_sum(terms, blocks, terms.tolerance(),
                      ". Most values come with their negatives.");
        }
    }
}

TEST_CASE("lets all blocks take part") {
    for (const int blocks : {1, 20, 131}) {
        const std::size_t count = static_cast<std::size_t>(blocks) * 1100 + 17;
        const Terms terms(grading::random_floats(count, count));
        check_sum(terms, blocks, terms.tolerance(), "");
    }
}

TEST_CASE("adds up a million values") {
    // Not instrumented: who does what was judged above.
    const Terms terms = ill_conditioned(1'000'003, 5);
    INFO("1000003 values, 37 blocks. Most values come with their negatives.");
    const grading::Guarded<float> d_values(terms.values);
    grading::Guarded<float> d_block_sums(37), d_block_lost(37), d_sum(1);
    add_up(d_values.data(), 1'000'003, d_block_sums.data(), d_block_lost.data(),
           d_sum.data(), 37);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_sum, is_sum_of(terms, 37, terms.tolerance()));
}
