// Problem: an image filter. Each pixel becomes a weighted sum of the 9 x 9 pixels around
// it; outside of the image, the nearest pixel at its border counts.
//
// A pixel is read once and written once at best: 8 bytes. But a filter asks for each pixel
// 81 times. The steps first look where these 81 requests go, to a cache, to shared memory,
// or to registers, and then how few of them are enough: a filter that is the product of a
// column and a row needs 18. The last steps move 8 bytes per pixel and little more, so they
// are compared with a copy.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "chapters/4_examples/convolution/picture.h"
#include "chapters/4_examples/convolution/step_01_naive.cuh"
#include "chapters/4_examples/convolution/step_02_constant_weights.cuh"
#include "chapters/4_examples/convolution/step_03_shared_halo.cuh"
#include "chapters/4_examples/convolution/step_04_separable_launches.cuh"
#include "chapters/4_examples/convolution/step_05_separable_tile.cuh"
#include "chapters/4_examples/convolution/step_06_register_window.cuh"
#include "chapters/4_examples/convolution/step_07_window_float4.cuh"
#include "chapters/4_examples/convolution/step_08_window_ahead.cuh"
#include "chapters/4_examples/convolution/step_09_window_async.cuh"
#include "chapters/4_examples/convolution/step_10_block_ring.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/parallel_for.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace examples {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr double kRounding = std::numeric_limits<float>::epsilon();

// Rows per band from step 6 on, rows ahead in step 8, and rows of a ring from step 9 on:
// for tuning. `bands` shows what they cost and gain.
constexpr int kBand = 128, kAhead = 3, kRing = 8;

std::array<float, kTaps> line_of_blur() {
    std::array<float, kTaps> line;
    const std::array<double, kTaps> weights = gaussian(2);
    std::copy(weights.begin(), weights.end(), line.begin());
    return line;
}

// An image, its blurred twin, and room for what lies between two launches.
struct Image {
    int rows, cols;
    std::size_t pitch;  // in floats
    std::vector<float> in;
    std::vector<double> reference;
    DeviceBuffer<float> d_in, d_between, d_out, d_weights;

    explicit Image(const warpwise::Size& size)
        : Image(static_cast<int>(size[0]), static_cast<int>(size[1]),
                warpwise::uniform<float>(size[0] * size[1], 61)) {
        blur_reference();
    }

    // Without a reference.
    Image(int all_rows, int all_cols, std::vector<float> pixels)
        : rows(all_rows),
          cols(all_cols),
          pitch(pitch_of(static_cast<std::size_t>(all_cols))),
          in(std::move(pixels)),
          d_in(static_cast<std::size_t>(rows) * pitch),
          d_between(d_in.size()),
          d_out(d_in.size()),
          d_weights(kTaps * kTaps) {
        set_filter(blur());
        const std::array<float, kTaps> line = line_of_blur();
        warpwise::check(cudaMemcpyToSymbol(line_weights, line.data(), sizeof line));
        if (in.empty()) return;
        warpwise::check(cudaMemcpy2D(
            d_in.data(), pitch * sizeof(float), in.data(), row_bytes(), row_bytes(),
            static_cast<std::size_t>(rows), cudaMemcpyHostToDevice));
    }

    // For the steps that take 81 weights.
    void set_filter(const Filter& filter) {
        const std::vector<float> weights(filter.begin(), filter.end());
        d_weights.upload(weights);
        warpwise::check(cudaMemcpyToSymbol(filter_weights, weights.data(),
                                           weights.size() * sizeof(float)));
    }

    static std::size_t pitch_of(std::size_t cols) {
        return warpwise::ceil_div(cols, 32) * 32;
    }
    std::size_t row_bytes() const { return static_cast<std::size_t>(cols) * sizeof(float); }
    Extents extents() const { return {rows, cols, pitch}; }
    bool is_empty() const { return rows == 0 || cols == 0; }
    std::size_t pixels() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    }

    unsigned tiles(int tile_rows, int tile_cols) const {
        const auto across = warpwise::ceil_div(static_cast<std::size_t>(cols),
                                               static_cast<std::size_t>(tile_cols));
        const auto down = warpwise::ceil_div(static_cast<std::size_t>(rows),
                                             static_cast<std::size_t>(tile_rows));
        return warpwise::blocks_for(across * down, 1);
    }

    void poison() {
        d_between.fill_bytes(0xFF);
        d_out.fill_bytes(0xFF);
    }

    std::vector<float> download() const {
        std::vector<float> out(pixels());
        if (out.empty()) return out;
        warpwise::check(cudaMemcpy2D(
            out.data(), row_bytes(), d_out.data(), pitch * sizeof(float), row_bytes(),
            static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost));
        return out;
    }

    // The weights are positive, their sum is 1, and pixels are between -1 and 1.
    warpwise::Comparison compare() const {
        return warpwise::compare(
            download(), reference,
            {.absolute = warpwise::sum_tolerance(kTaps * kTaps, kRounding, 1)});
    }

    // Additions and multiplications of a separable filter.
    warpwise::Work work() const {
        const auto n = static_cast<double>(pixels());
        return {.bytes = 8 * n, .operations = 4.0 * kTaps * n};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 3 * size[0] * pitch_of(size[1]) * sizeof(float);
    }

private:
    // In double: along the columns, and then along the row.
    void blur_reference() {
        reference.resize(pixels());
        const std::array<float, kTaps> line = line_of_blur();
        const auto width = static_cast<std::size_t>(cols);
        const auto height = static_cast<std::size_t>(rows);
        const auto inside = [](std::size_t index, std::size_t tap, std::size_t count) {
            const std::size_t shifted = std::max<std::size_t>(index + tap, kRadius);
            return std::min(shifted - kRadius, count - 1);
        };
        warpwise::parallel_for_parts(
            height, warpwise::parallel_parts(height),
            [&](std::size_t, std::size_t begin, std::size_t end) {
                std::vector<double> sums(width);
                for (std::size_t row = begin; row < end; ++row) {
                    std::fill(sums.begin(), sums.end(), 0.0);
                    for (std::size_t i = 0; i < kTaps; ++i) {
                        const float* const from =
                            in.data() + inside(row, i, height) * width;
                        for (std::size_t col = 0; col < width; ++col)
                            sums[col] += double{line[i]} * double{from[col]};
                    }
                    for (std::size_t col = 0; col < width; ++col) {
                        double sum = 0;
                        for (std::size_t j = 0; j < kTaps; ++j)
                            sum += double{line[j]} * sums[inside(col, j, width)];
                        reference[row * width + col] = sum;
                    }
                }
            });
    }
};

// ---- steps ------------------------------------------------------------------------------

const dim3 kBlock(kBlockCols, kBlockRows);

void run_naive(Image& m) {
    if (m.is_empty()) return;
    naive<<<m.tiles(kBlockRows, kBlockCols), kBlock>>>(m.d_in.data(), m.d_weights.data(),
                                                       m.extents(), m.d_out.data());
    warpwise::check_launch();
}

void run_constant_weights(Image& m) {
    if (m.is_empty()) return;
    constant_weights<<<m.tiles(kBlockRows, kBlockCols), kBlock>>>(
        m.d_in.data(), m.extents(), m.d_out.data());
    warpwise::check_launch();
}

void run_shared_halo(Image& m) {
    if (m.is_empty()) return;
    shared_halo<<<m.tiles(kTile, kTile), kBlock>>>(m.d_in.data(), m.extents(),
                                                   m.d_out.data());
    warpwise::check_launch();
}

void run_separable_launches(Image& m) {
    if (m.is_empty()) return;
    const unsigned blocks = m.tiles(kBlockRows, kBlockCols);
    filter_along_rows<<<blocks, kBlock>>>(m.d_in.data(), m.extents(), m.d_between.data());
    warpwise::check_launch();
    filter_along_cols<<<blocks, kBlock>>>(m.d_between.data(), m.extents(), m.d_out.data());
    warpwise::check_launch();
}

void run_separable_tile(Image& m) {
    if (m.is_empty()) return;
    separable_tile<<<m.tiles(kTile, kTile), kBlock>>>(m.d_in.data(), m.extents(),
                                                      m.d_out.data());
    warpwise::check_launch();
}

template <auto Kernel, int Pixels>
void run_window(Image& m, int band) {
    if (m.is_empty()) return;
    Kernel<<<m.tiles(band, kThreads * Pixels), kThreads>>>(m.d_in.data(), m.extents(), band,
                                                           m.d_out.data());
    warpwise::check_launch();
}

template <auto Kernel, int Pixels>
void run_window(Image& m) {
    run_window<Kernel, Pixels>(m, kBand);
}

// What is counted for an image of 64 x 1024 pixels: loads of a warp for each 32 pixels,
// from global memory and from shared memory; barriers that a warp passes; and what the
// source says: multiplications per pixel.
struct Method {
    const char* name;
    const char* change;
    void (*run)(Image&);
    double global_loads, shared_loads, multiplications;
    unsigned barriers;
};
constexpr int kCountedRows = 64, kCountedCols = 1024;
constexpr double kBandHalo = double(kCountedRows + 2 * kRadius) / kCountedRows;
constexpr double kTileHalo = double(kHalo) / kTile;
// In a row of 1024 pixels, 8 warps load four pixels per lane, and the four beside the warp.
// At the two borders of the image, these are loaded one by one, by one lane: steps 7 and 8
// load what is beside a warp on both sides together, and step 9 loads each by itself. In
// step 10, that is what is beside the two blocks of a row.
constexpr double kLoadsOfRow = (8 + 8 + 2 * 4) / 32.0,
                 kCopiesOfRow = (8 + 14 + 2 * 4) / 32.0,
                 kBlockCopiesOfRow = (8 + 2 + 2 * 4) / 32.0;
const std::vector<Method> methods = {
    {"naive", "one thread per pixel, all from global memory", run_naive, 162, 0, 81, 0},
    {"constant_weights", "weights in constant memory", run_constant_weights, 81, 0, 81, 0},
    {"shared_halo", "a tile and its halo in shared memory", run_shared_halo, 2.5, 81, 81,
     1},
    {"separable_launches", "along the rows, then along the columns", run_separable_launches,
     18, 0, 18, 0},
    {"separable_tile", "both in one launch, through shared memory", run_separable_tile, 2.5,
     9 * kTileHalo + 9, 9 * kTileHalo + 9, 2},
    {"register_window", "a thread goes down a column, nine rows in registers",
     run_window<register_window, 1>, 9 * kBandHalo, 0, 9 * kBandHalo + 9, 0},
    {"window_float4", "four columns per thread, shuffles",
     run_window<window_float4, kPixels>, kLoadsOfRow* kBandHalo, 0, 9 * kBandHalo + 9, 0},
    {"window_ahead", "three rows ahead in registers",
     run_window<window_ahead<kAhead>, kPixels>, kLoadsOfRow* kBandHalo, 0,
     9 * kBandHalo + 9, 0},
    {"window_async", "seven rows ahead in shared memory",
     run_window<window_async<kRing>, kPixels>, kCopiesOfRow* kBandHalo,
     3 * kBandHalo / kPixels, 9 * kBandHalo + 9, 0},
    {"window_block_ring", "the warps of a block share these rows",
     run_window<window_block_ring<kRing>, kPixels>, kBlockCopiesOfRow* kBandHalo,
     3 * kBandHalo / kPixels, 9 * kBandHalo + 9, kCountedRows + 2 * kRadius},
};

// ---- what each step asks for ------------------------------------------------------------

void show_loads(warpwise::Lesson& lesson) {
    Image problem(warpwise::Size{kCountedRows, kCountedCols});
    const double warps = static_cast<double>(problem.pixels()) / 32;
    std::vector<std::vector<std::string>> rows;
    for (const Method& method : methods) {
        rows.push_back({method.name, warpwise::ratio_text(method.global_loads),
                        warpwise::ratio_text(method.shared_loads),
                        warpwise::ratio_text(method.multiplications), "-",
                        std::to_string(method.barriers)});
        problem.poison();
        const auto counts = lesson.count([&] { method.run(problem); });
        if (!counts) continue;
        const std::string name = std::string(method.name) + ": ";
        lesson.expect(problem.compare().passed, name + "the image is right");
        lesson.expect(counts->global_load.requests == method.global_loads * warps,
                      name + "loads from global memory, " +
                          warpwise::ratio_text(counts->global_load.requests / warps));
        lesson.expect(counts->shared_load.requests == method.shared_loads * warps,
                      name + "loads from shared memory, " +
                          warpwise::ratio_text(counts->shared_load.requests / warps));
        lesson.expect(counts->shared().conflicts() == 0, name + "no bank conflicts");
        rows.back()[4] = warpwise::ratio_text(counts->global().bytes_moved() /
                                              static_cast<double>(problem.pixels()));
    }
    lesson.table({"loads", "64 x 1024 pixels: what each step asks for"},
                 {"step", "global loads per pixel", "shared loads per pixel",
                  "multiplications per pixel", "bytes per pixel", "barriers"},
                 rows);
}

// ---- pictures ---------------------------------------------------------------------------

// Ten letters, from black to white.
char letter_of(double value) {
    constexpr char letters[] = " .:-=+*#%@";
    return letters[static_cast<int>(std::clamp(value * 10, 0.0, 9.0))];
}

// One letter for 3 x 2 pixels, of which it shows the first one.
std::vector<std::string> lines_of(const std::vector<float>& pixels, double scale,
                                  double offset) {
    std::vector<std::string> lines;
    for (int row = 0; row < kPictureRows; row += 3) {
        std::string& line = lines.emplace_back();
        for (int col = 0; col < kPictureCols; col += 2)
            line += letter_of(
                scale * pixels[static_cast<std::size_t>(row * kPictureCols + col)] +
                offset);
    }
    return lines;
}

std::vector<double> filtered(const std::vector<float>& pixels, const Filter& filter) {
    std::vector<double> out;
    for (int row = 0; row < kPictureRows; ++row) {
        for (int col = 0; col < kPictureCols; ++col) {
            double sum = 0;
            for (int k = 0; k < kTaps * kTaps; ++k) {
                const int from_row =
                    std::clamp(row + k / kTaps - kRadius, 0, kPictureRows - 1);
                const int from_col =
                    std::clamp(col + k % kTaps - kRadius, 0, kPictureCols - 1);
                sum += double{static_cast<float>(filter[static_cast<std::size_t>(k)])} *
                       double{pixels[static_cast<std::size_t>(from_row * kPictureCols +
                                                              from_col)]};
            }
            out.push_back(sum);
        }
    }
    return out;
}

// The picture, as it is and filtered, on the device.
void show_pictures(warpwise::Lesson& lesson) {
    Image image(kPictureRows, kPictureCols, picture());
    const auto run = [&](const Filter& filter, const char* name) {
        image.set_filter(filter);
        image.poison();
        run_shared_halo(image);
        double magnitudes = 0;
        for (const double weight : filter) magnitudes += std::abs(weight);
        std::vector<float> out = image.download();
        const auto compared = warpwise::compare(
            out, filtered(image.in, filter),
            {.absolute = warpwise::sum_tolerance(kTaps * kTaps, kRounding, magnitudes)});
        lesson.expect(compared.passed, std::string("the picture, ") + name);
        return out;
    };
    const std::vector<float> blurred = run(blur(), "blurred");
    const std::vector<float> sharpened = run(sharpen(), "sharpened");
    const std::vector<float> edged = run(edges(), "edges");
    image.set_filter(blur());
    std::string text;
    const auto beside = [&](const char* left, const std::vector<std::string>& left_lines,
                            const char* right,
                            const std::vector<std::string>& right_lines) {
        const std::size_t width = kPictureCols / 2 + 1;
        text += std::string("    ") + left;
        text += std::string(width - std::string(left).size(), ' ') + right + "\n";
        for (std::size_t line = 0; line < left_lines.size(); ++line)
            text += "    " + left_lines[line] + " " + right_lines[line] + "\n";
    };
    beside("picture", lines_of(image.in, 1, 0), "blurred", lines_of(blurred, 1, 0));
    beside("sharpened", lines_of(sharpened, 1, 0), "edges", lines_of(edged, 2, 0.5));
    lesson.drawing("pictures", text);
}

// ---- how many rows a band has -----------------------------------------------------------

// GB/s of 8 bytes per pixel, measured in turn.
void show_bands(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("bands");
        return;
    }
    struct Contender {
        const char* name;
        void (*run)(Image&, int);
    };
    const std::vector<Contender> contenders = {
        {"window_float4", run_window<window_float4, kPixels>},
        {"1 ahead", run_window<window_ahead<1>, kPixels>},
        {"3 ahead", run_window<window_ahead<3>, kPixels>},
        {"9 ahead", run_window<window_ahead<9>, kPixels>},
        {"ring of 4", run_window<window_async<4>, kPixels>},
        {"ring of 8", run_window<window_async<8>, kPixels>},
        {"ring of 16", run_window<window_async<16>, kPixels>},
        {"block's, of 4", run_window<window_block_ring<4>, kPixels>},
        {"block's, of 8", run_window<window_block_ring<8>, kPixels>},
    };
    const std::size_t side = warpwise::halve_to_fit(16384, 1024, [](std::size_t rows) {
        return Image::device_bytes({rows, rows});
    });
    Image problem(warpwise::Size{side, side});
    std::vector<std::string> header = {"rows of a band"};
    for (const Contender& contender : contenders) header.push_back(contender.name);
    std::vector<std::vector<std::string>> rows;
    for (const int band : {32, 64, 128, 256, 512, 1024}) {
        rows.push_back({std::to_string(band)});
        std::vector<warpwise::Candidate> candidates;
        for (const Contender& contender : contenders) {
            candidates.push_back(
                {[&problem, &contender, band] { contender.run(problem, band); }});
            problem.poison();
            contender.run(problem, band);
            lesson.expect(problem.compare().passed,
                          std::to_string(band) + " rows, " + contender.name + ": right");
        }
        for (const auto& timing :
             warpwise::measure_in_turn(candidates, {.samples = 10, .seconds = 0.1}))
            rows.back().push_back(
                text_of("%.0f", problem.work().bytes / timing.median * 1e-9));
    }
    lesson.table({"bands", "GB/s by the rows of a band"}, header, rows);
}

}  // namespace

void convolution(warpwise::Lesson& lesson) {
    lesson.question(
        R"(An image filter turns each pixel into a weighted sum of the 9 x 9 pixels around
it. Here is a picture, made by rule, and what three filters make of it. One sum needs 81
pixels, and the next pixel's sum needs 72 of them again. What is that good for?)");
    show_pictures(lesson);
    lesson.conclusion(
        R"(Outside of the picture, the nearest pixel at its border counts, so no edge
appears there. A blur takes away what is small. The difference between a narrow and a wide
blur keeps edges only. The steps below differ in where the 81 pixels come from.)");
    lesson.question(R"(How many loads does each step make for a pixel, and from where?)");
    lesson.predict(
        {.question = R"(One thread computes one pixel: it loads 9 x 9 pixels and 9 x 9
weights from global memory. How many loads does it make?)",
         .answer = warpwise::Number{.value = 162,
                                    .unit = "loads",
                                    .shown_by = warpwise::TableCell{"loads",
                                                                    {"naive"},
                                                                    "global loads per "
                                                                    "pixel"}},
         .because = R"(81 for the pixels, and 81 for the weights, although all threads need
the same weights.)"});
    lesson.predict(
        {.question = R"(The filter is the product of a column of 9 weights and a row of 9
weights. One launch filters along the rows, and a second one filters its result along the
columns. How many loads of pixels does that take per pixel, in both launches?)",
         .answer = warpwise::Number{.value = 18,
                                    .unit = "loads",
                                    .shown_by = warpwise::TableCell{"loads",
                                                                    {"separable_launches"},
                                                                    "global loads per "
                                                                    "pixel"}},
         .because = R"(9 along the row, and 9 along the column. The same holds for
multiplications: 18 in place of 81.)"});
    lesson.predict(
        {.question =
             R"(A block loads a tile of 32 x 32 pixels with a halo of 4 on each side.
How many loads of a warp is that for each 32 pixels of the tile? A row of the tile and its
halo takes two.)",
         .answer = warpwise::Number{.value = 2.5,
                                    .unit = "loads",
                                    .shown_by = warpwise::TableCell{"loads",
                                                                    {"shared_halo"},
                                                                    "global loads per "
                                                                    "pixel"}},
         .because = R"(40 rows with two loads each are 80. The tile has 32 times 32
pixels.)"});
    show_loads(lesson);
    lesson.conclusion(
        R"(Constant memory takes away half of the loads, a tile in shared memory nearly all
of the others, but only from global memory: its 81 loads come from shared memory. Two
directions take 18. With a window in registers and four pixels per load, less than one load
is left.)");
    lesson.question(
        R"(How fast are the steps for a large image? A copy moves 8 bytes per pixel. Which
steps can be as fast?)");
    lesson.predict(
        {.question = R"(The two launches of separable_launches leave an image between them,
too large for a cache. How many bytes per pixel move through device memory at least?)",
         .answer = warpwise::Number{.value = 16, .unit = "bytes"},
         .because = R"(Two images of 4 bytes per pixel are read, and two are written. One
launch for both directions needs 8.)"});
    lesson.predict(
        {.question = R"(How many times as long as window_ahead does separable_launches take
on a GPU?)",
         .answer = warpwise::Measured{.by = warpwise::TimeRatio{"separable_launches",
                                                                "window_ahead"},
                                      .unit = "times",
                                      .factor = 1.3},
         .because = R"(At least 2 if both are memory-bound: 16 bytes per pixel in place of
8.)"});
    std::vector<warpwise::Step<Image>> steps;
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
    warpwise::Sizes sizes = {
        .gpu = {16384, 16384},
        .cpu = {60, 1000},
        .awkward = {{0, 0},    {0, 5},   {5, 0},    {1, 1},    {1, 31},    {31, 1},
                    {2, 2},    {3, 4},   {4, 3},    {1, 1009}, {9, 9},     {8, 32},
                    {33, 65},  {5, 513}, {130, 30}, {257, 5},  {1, 70001}, {65600, 1},
                    {12, 512}, {7, 127}, {36, 132}, {128, 33}}};
    // These take the CPU device minutes.
    if (warpwise::Lesson::on_gpu())
        sizes.awkward.insert(sizes.awkward.end(),
                             {{70001, 33}, {33, 70001}, {524321, 3}, {1021, 2039}});
    lesson.steps<Image>(sizes, steps);
    lesson.conclusion(
        R"(Where pixels come from a cache or from shared memory 81 or 9 times, the loads
take the time, not device memory. The window in registers asks for each pixel about once,
16 bytes at a time, so its steps can come near a copy.)");
    lesson.question(
        R"(A band of rows has a halo of four rows above and below. How high should it be,
and how many rows ahead should a warp load?)");
    lesson.predict(
        {.question = R"(A band has 128 rows, and the filter reaches 4 rows to each side. By
how much do the loads of the band exceed its own pixels?)",
         .answer = warpwise::Number{.value = 6.25, .unit = "%", .factor = 1.1},
         .because = R"(8 / 128. A higher band has a smaller share of halo, but fewer bands
keep fewer warps busy.)"});
    show_bands(lesson);
    lesson.conclusion(
        R"(A band of 32 rows loads a quarter more than its own pixels, a band of 1024 rows
less than 1 %. But the image has only so many bands, and the last ones to run leave a part
of the GPU idle.)");
}

}  // namespace examples
