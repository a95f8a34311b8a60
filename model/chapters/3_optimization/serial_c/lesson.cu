// Problem: make thirteen small loops of plain C faster, on one core, before any GPU is
// used.
//
// The loops are in loops.h, in pairs: as most people would write them, and rewritten by
// hand. Read them first. This program has them twice, compiled with -O1 and with -O3. Each
// of the four versions is checked against a double-precision reference and timed: that
// shows what a rewriting brings, and whether the compiler does it by itself. What the rules
// of the language forbid here, they forbid in kernels, too.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "chapters/3_optimization/serial_c/loop_pairs.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/compare.h"
#include "common/helpers/inputs.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace optimization {
namespace {

using warpwise::text_of;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// Inputs and output of all loops: a matrix of rows x cols, and vectors of `length`
// elements.
struct Arrays {
    size_t rows, cols, length;
    std::vector<float> matrix = warpwise::uniform<float>(rows * cols, 1);
    std::vector<float> rate = warpwise::uniform<float>(rows, 2, 0.0f, 2.0f);
    std::vector<float> a = warpwise::uniform<float>(length, 3),
                       b = warpwise::uniform<float>(length, 4);
    std::vector<float> window = warpwise::uniform<float>(1000, 5);
    std::vector<int> integers = warpwise::uniform_integers(length, 6, -9, 9);
    std::vector<unsigned char> pixels = std::vector<unsigned char>(length);
    std::vector<float> out;

    Arrays(size_t rows_, size_t cols_, size_t length_)
        : rows(rows_), cols(cols_), length(length_) {
        const std::vector<int> bytes = warpwise::uniform_integers(length, 7, 0, 255);
        std::copy(bytes.begin(), bytes.end(), pixels.begin());
    }
};

// Which of a pair, of which set.
struct Version {
    const Loops& loops;
    bool by_hand;

    template <class Function>
    Function* of(const Pair<Function>& pair) const {
        return by_hand ? pair.by_hand : pair.as_written;
    }
};

// A pair of loops: how it is run, and what has to come out.
struct Case {
    std::string name;
    std::string by_hand;   // what was done
    std::string obstacle;  // what is in the compiler's way
    size_t elements;       // that are worked on, for the time of one of them
    size_t results;        // elements of `out`
    std::function<void(const Version&)> run;
    std::function<double(size_t)> expected;
    warpwise::Tolerance tolerance = {};
    bool in_place = false;  // `out` is also an input: a copy of b
};

// Sums of a row, of a column and of a vector, in double.
double sum_of(const float* first, size_t count, size_t stride = 1) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += first[i * stride];
    return sum;
}

// What rounding may do: so many times the epsilon of float, of the result or of 1; in a sum
// of `count` values, all in [-1, 1], by their number.
warpwise::Tolerance relative(double epsilons) { return {.relative = epsilons * kEpsilon}; }
warpwise::Tolerance absolute(double epsilons) { return {.absolute = epsilons * kEpsilon}; }
warpwise::Tolerance of_a_sum(size_t count) {
    return {.absolute =
                warpwise::sum_tolerance(count, kEpsilon, static_cast<double>(count))};
}

std::vector<Case> cases(Arrays& d) {
    const size_t all = d.rows * d.cols, n = d.length;
    const bool multiply = n % 2 == 0;  // so that the awkward sizes have both
    const auto row = [&d](size_t i) { return i / d.cols; };
    const auto in = [&d] { return d.matrix.data(); };
    const auto out = [&d] { return d.out.data(); };
    return {
        {"decay_rows", "exp once per row, not once per element",
         "out may overlap rate, so rate[row] may change; and exp may set errno", all, all,
         [=, &d](const Version& v) {
             v.of(v.loops.decay_rows)(in(), d.rate.data(), out(), d.rows, d.cols);
         },
         [=, &d](size_t i) { return d.matrix[i] * std::exp(-double{d.rate[row(i)]}); },
         relative(4)},
        {"sum_rows", "a local variable, not sums[row]",
         "sums may overlap the matrix: checked at run time?", all, d.rows,
         [=, &d](const Version& v) { v.of(v.loops.sum_rows)(in(), out(), d.rows, d.cols); },
         [=, &d](size_t i) { return sum_of(in() + i * d.cols, d.cols); }, of_a_sum(d.cols)},
        {"flip_rows", "pointers that move on, no multiplications",
         "nothing: whole numbers have exact results", all, all,
         [=, &d](const Version& v) {
             v.of(v.loops.flip_rows)(in(), out(), d.rows, d.cols);
         },
         [=, &d](size_t i) {
             return 2.0 * d.matrix[(d.rows - 1 - row(i)) * d.cols + i % d.cols];
         }},
        {"divide", "multiplications by 1 / divisor",
         "the reciprocal is rounded: other last bits", n, n,
         [=, &d](const Version& v) { v.of(v.loops.divide)(d.a.data(), 3, out(), n); },
         [&d](size_t i) { return d.a[i] / 3.0; }, relative(2)},
        {"repeat_window", "a counter that starts over, no modulo",
         "nothing: whole numbers again", n, n,
         [=, &d](const Version& v) {
             v.of(v.loops.repeat_window)(d.a.data(), d.window.data(), d.window.size(),
                                         out(), n);
         },
         [&d](size_t i) { return double{d.a[i]} * d.window[i % d.window.size()]; },
         relative(1)},
        {"sum_cols", "along the rows, whole cache lines",
         "sums may overlap the matrix; one local sum has to become many", all, d.cols,
         [=, &d](const Version& v) { v.of(v.loops.sum_cols)(in(), out(), d.rows, d.cols); },
         [=, &d](size_t i) { return sum_of(in() + i, d.rows, d.cols); }, of_a_sum(d.rows)},
        {"gamma", "a table of 256 values", "it is another algorithm", n, n,
         [=, &d](const Version& v) { v.of(v.loops.gamma)(d.pixels.data(), out(), n); },
         [&d](size_t i) { return std::pow(d.pixels[i] / 255.0, double{2.2f}); },
         relative(4)},
        {"combine", "a loop for each value of `multiply`", "nothing, but the code grows", n,
         n,
         [=, &d](const Version& v) {
             v.of(v.loops.combine)(d.a.data(), d.b.data(), multiply, out(), n);
         },
         [=, &d](size_t i) {
             return multiply ? double{d.a[i]} * d.b[i] : double{d.a[i]} + d.b[i];
         },
         relative(1)},
        {"laplace", "first and last element outside of the loop",
         "nothing, but there are two of them", n, n,
         [=, &d](const Version& v) { v.of(v.loops.laplace)(d.a.data(), out(), n); },
         [=, &d](size_t i) {
             return d.a[(i + n - 1) % n] - 2.0 * d.a[i] + d.a[(i + 1) % n];
         },
         absolute(4)},
        {"sum", "eight accumulators", "the order of float additions", n, 1,
         [=, &d](const Version& v) { v.of(v.loops.sum)(d.a.data(), out(), n); },
         [=, &d](size_t) { return sum_of(d.a.data(), n); }, of_a_sum(n)},
        {"sum_integers", "eight accumulators", "nothing: any order will do", n, 1,
         [=, &d](const Version& v) {
             int sum;
             v.of(v.loops.sum_integers)(d.integers.data(), &sum, n);
             out()[0] = static_cast<float>(sum);
         },
         [&d](size_t) {
             double sum = 0;
             for (const int value : d.integers) sum += value;
             return static_cast<double>(static_cast<float>(sum));
         }},
        {"sum_simd", "four vectors of four accumulators", "the order of float additions", n,
         1, [=, &d](const Version& v) { v.of(v.loops.sum_simd)(d.a.data(), out(), n); },
         [=, &d](size_t) { return sum_of(d.a.data(), n); }, of_a_sum(n)},
        {"saxpy_simd", "vectors of four floats",
         "x and y may overlap: checked at run time?", n, n,
         [=, &d](const Version& v) {
             v.of(v.loops.saxpy_simd)(0.5f, d.a.data(), out(), n);
         },
         [&d](size_t i) { return 0.5 * d.a[i] + d.b[i]; }, absolute(2), true},
    };
}

// The four versions of every loop, as the table has them.
const Version versions[] = {
    {loops_o1, false}, {loops_o1, true}, {loops_o3, false}, {loops_o3, true}};
constexpr const char* version_names[] = {"-O1", "-O1, by hand", "-O3", "-O3, by hand"};

void prepare_output(const Case& test, Arrays& arrays) {
    if (test.in_place) {
        arrays.out = arrays.b;
    } else {
        arrays.out.assign(test.results, std::numeric_limits<float>::quiet_NaN());
    }
}

// Runs all versions of all loops on small arrays; a loop that fails says for which version
// and size.
void check_loops(warpwise::Lesson& lesson) {
    const size_t shapes[][2] = {{0, 0},   {0, 5},    {5, 0},     {1, 1},     {1, 2},
                                {2, 1},   {1, 31},   {3, 5},     {32, 1},    {33, 3},
                                {7, 144}, {1009, 1}, {40, 1009}, {1, 100003}};
    std::vector<std::string> names, failures;
    for (const auto& [rows, cols] : shapes) {
        Arrays arrays(rows, cols, rows * cols);
        const std::vector<Case> tests = cases(arrays);
        failures.resize(tests.size());
        for (size_t i = 0; i < tests.size(); ++i) {
            for (int version = 0; version < 4; ++version) {
                prepare_output(tests[i], arrays);
                tests[i].run(versions[version]);
                const warpwise::Comparison comparison = warpwise::compare_each(
                    arrays.out, tests[i].results, tests[i].expected, tests[i].tolerance);
                if (comparison.passed || !failures[i].empty()) continue;
                failures[i] = std::string("; not with ") + version_names[version] + ", " +
                              std::to_string(rows) + " x " + std::to_string(cols) + ": " +
                              comparison.summary();
            }
        }
        names.clear();
        for (const Case& test : tests) names.push_back(test.name);
    }
    for (size_t i = 0; i < names.size(); ++i) {
        lesson.expect(
            failures[i].empty(),
            names[i] + ": all four versions are right at every size" + failures[i]);
    }
}

std::string nanoseconds(double seconds) { return text_of("%.3g", seconds * 1e9); }
std::string times(double factor) { return text_of("%.2fx", factor); }

// What times tell about the compiler. Less than this factor is not taken for a difference:
// most machines do something else at the same time, and where arrays happen to lie makes
// some loops a quarter slower or faster.
constexpr double kDifference = 1.5;

std::string did_it(double gain_o1, double gain_o3) {
    if (gain_o3 > kDifference) return "no";
    if (gain_o3 < 1 / kDifference) return "yes, better";
    return gain_o1 > kDifference ? "yes" : "yes, at -O1";
}

// The shortest time of each version: whatever disturbs a loop on a CPU makes it longer.
void measure_loops(warpwise::Lesson& lesson) {
    const warpwise::Size size = lesson.size({1024, 1024}, {1024, 1024});
    Arrays arrays(size[0], size[1], (size[0] * size[1] + 127) / 128);
    std::vector<std::vector<std::string>> rows, obstacles;
    int left_to_us = 0;
    for (const Case& test : cases(arrays)) {
        if (test.elements == 0) continue;
        prepare_output(test, arrays);
        // So many calls a sample that the clock has something to measure.
        const size_t calls = std::min<size_t>(1000, 1 + (1 << 15) / test.elements);
        std::vector<warpwise::Candidate> candidates;
        for (const Version& version : versions) {
            candidates.push_back({[&test, &version, calls] {
                                      for (size_t call = 0; call < calls; ++call)
                                          test.run(version);
                                  },
                                  true});
        }
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
            candidates,
            {.samples = 25, .seconds = 0, .samples_when_slow = 5, .longest = 0.15});
        double time[4];  // of an element
        for (int version = 0; version < 4; ++version) {
            time[version] =
                timings[version].minimum / static_cast<double>(calls * test.elements);
        }
        const double gain_o1 = time[0] / time[1], gain_o3 = time[2] / time[3];
        const std::string verdict = did_it(gain_o1, gain_o3);
        left_to_us += verdict == "no";
        rows.push_back({test.name, test.by_hand, nanoseconds(time[0]), nanoseconds(time[1]),
                        times(gain_o1), nanoseconds(time[2]), nanoseconds(time[3]),
                        times(gain_o3), verdict});
        obstacles.push_back({test.name, test.obstacle});
    }
    if (rows.empty()) return;
    lesson.table({"loops", std::string("Nanoseconds per element, by ") + loops_o3.compiler +
                               ", matrix " + size.text() + ", vectors of " +
                               std::to_string(arrays.length)},
                 {"loop", "by hand", "-O1", "by hand", "gain", "-O3", "by hand", "gain",
                  "did -O3 do it?"},
                 rows);
    lesson.table({"obstacles", "What is in the compiler's way"},
                 {"loop", "what it has to get around"}, obstacles);
    const std::string faster = text_of("%g times as fast", kDifference);
    const std::string pays =
        std::to_string(left_to_us) + " of " + std::to_string(rows.size());
    lesson.conclusion(
        "`no`: at -O3 the loop by hand is more than " + faster +
        ", so rewriting pays; here for " + pays + " loops. " +
        R"(`yes`: there is nothing to gain, whatever the reason; `yes, at -O1`: not even at
-O1; `yes, better`: the loop as written is the faster one. A compiler may change anything
but the result, and the result includes the last bit of a sum, arrays that overlap, and
calls that set errno.)");
}

}  // namespace

void serial_c(warpwise::Lesson& lesson) {
    lesson.question(
        R"(Before a loop goes to a GPU, it should be a good loop. Compilers know the usual
ways to improve one. So what does a rewriting by hand bring, and would the compiler have
done it? Thirteen loops, as most people would write them and rewritten by hand, are compiled
with -O1 and with -O3, and timed on one core of the host.)");
    lesson.predict(
        {.question = R"(Read chapters/3_optimization/serial_c/loops.h first; it is
short. `sum` adds the floats of an array. Does -O3 divide it among eight accumulators by
itself?)",
         .answer =
             warpwise::Choice{
                 {"yes", "no, it is not faster", "no, the compiler may not do that"}, 2},
         .because = R"(Another order of additions gives other roundings, so the
compiler keeps the order unless it is told otherwise, as by -ffast-math.)"});
    lesson.predict(
        {.question =
             R"(A loop computes `out[i] = scale[0] * in[i]` for pointers to float. May
the compiler load `scale[0]` once, before the loop?)",
         .answer =
             warpwise::Choice{{"yes, because nothing writes to `scale`",
                               "not by these lines alone", "no, loads are never moved"},
                              1},
         .because =
             R"(A store to `out[i]` changes `scale[0]` if the two overlap. The compiler
has to be promised that they do not (`__restrict__`), or has to test it.)"});
    check_loops(lesson);
    measure_loops(lesson);
}

}  // namespace optimization
