// Problem: turn a picture of rows x cols floats upside down:
//
//     flipped[rows - 1 - row][col] = in[row][col]
//
// Nothing is computed, and warps go along the rows, so every access is coalesced. What can
// still go wrong is where a row begins. With 1001 floats per row, the next row begins 4004
// bytes further on, in the middle of a sector, and a warp that reads 128 bytes from there
// touches 5 sectors instead of 4. cudaMallocPitch leaves a gap after each row, so that
// every row begins where a sector does. The distance from row to row is called the pitch,
// and is in bytes.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/pitched_memory/kernels.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::counted;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr std::size_t kLanes = 32;
constexpr std::size_t kSectorBytes = 32;

// ---- pitched memory ---------------------------------------------------------------------

// Rows of floats in memory of cudaMallocPitch. The call takes the width of a row in bytes
// and the number of rows, and returns the address of the first row and the pitch. The
// padding at the end of each row is not part of the picture: nothing is copied into it, and
// its content is undefined.
class PitchedRows {
public:
    PitchedRows(std::size_t rows, std::size_t cols)
        : rows_(rows), width_bytes_(cols * sizeof(float)) {
        if (rows == 0 || cols == 0) return;
        void* memory = nullptr;
        warpwise::check(cudaMallocPitch(&memory, &pitch_, width_bytes_, rows_));
        first_ = static_cast<float*>(memory);
    }
    ~PitchedRows() { (void)cudaFree(first_); }  // cudaFree accepts a null pointer
    PitchedRows(const PitchedRows&) = delete;
    PitchedRows& operator=(const PitchedRows&) = delete;

    float* first() const { return first_; }
    std::size_t pitch() const { return pitch_; }  // bytes from one row to the next

    // cudaMemcpy2D(to, its pitch, from, its pitch, width in bytes, rows, direction): copies
    // `width` bytes of each row, and steps over the padding on either side. The rows on the
    // host are tight: their pitch is their width.
    void upload(const std::vector<float>& values) {
        if (first_ == nullptr) return;
        warpwise::check(cudaMemcpy2D(first_, pitch_, values.data(), width_bytes_,
                                     width_bytes_, rows_, cudaMemcpyHostToDevice));
    }

    std::vector<float> download() const {
        std::vector<float> values(rows_ * width_bytes_ / sizeof(float));
        if (first_ == nullptr) return values;
        warpwise::check(cudaMemcpy2D(values.data(), width_bytes_, first_, pitch_,
                                     width_bytes_, rows_, cudaMemcpyDeviceToHost));
        return values;
    }

    // Sets every byte of the rows, and none of the padding.
    void fill_bytes(int byte) {
        if (first_ != nullptr)
            warpwise::check(cudaMemset2D(first_, pitch_, byte, width_bytes_, rows_));
    }

private:
    std::size_t rows_, width_bytes_;
    std::size_t pitch_ = 0;
    float* first_ = nullptr;
};

// ---- the picture, tight and pitched -----------------------------------------------------

struct Picture {
    std::size_t rows, cols;
    std::vector<float> values;
    DeviceBuffer<float> d_tight, d_tight_flipped;
    PitchedRows d_pitched, d_pitched_flipped;
    bool flipped_is_pitched = false;  // set by the steps

    explicit Picture(const warpwise::Size& size)
        : rows(size[0]),
          cols(size[1]),
          values(warpwise::uniform<float>(rows * cols, 7)),
          d_tight(values),
          d_tight_flipped(rows * cols),
          d_pitched(rows, cols),
          d_pitched_flipped(rows, cols) {
        d_pitched.upload(values);
    }

    void poison() {
        d_tight_flipped.fill_bytes(0xFF);
        d_pitched_flipped.fill_bytes(0xFF);
    }

    // Nothing is rounded: every element has to be exact.
    warpwise::Comparison compare() {
        const auto expected = [&](std::size_t i) {
            return static_cast<double>(values[(rows - 1 - i / cols) * cols + i % cols]);
        };
        return warpwise::compare_each(
            flipped_is_pitched ? d_pitched_flipped.download() : d_tight_flipped.download(),
            rows * cols, expected);
    }

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * rows * cols}; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        constexpr std::size_t usual_alignment =
            512;  // of the pitch; more is not asked of a guess
        const std::size_t width = size[1] * sizeof(float);
        const std::size_t pitch =
            warpwise::ceil_div(width, usual_alignment) * usual_alignment;
        return 2 * size[0] * (width + pitch);
    }
};

// ---- the steps --------------------------------------------------------------------------

// Blocks of 32 x 8 threads; a warp goes along a row. In y there are as many blocks as keep
// a large chip busy; from there the kernels go on by the height of the grid.
constexpr dim3 kBlock(kLanes, 8);

dim3 grid_for(std::size_t rows, std::size_t threads_per_row) {
    const std::size_t blocks_y =
        std::max<std::size_t>(1, warpwise::ceil_div(rows, kBlock.y));
    return dim3(warpwise::blocks_for(threads_per_row, kBlock.x),
                static_cast<unsigned>(std::min<std::size_t>(blocks_y, 2048)));
}

void run_flip_tight(Picture& picture) {
    picture.flipped_is_pitched = false;
    flip_tight<<<grid_for(picture.rows, picture.cols), kBlock>>>(
        picture.d_tight.data(), picture.d_tight_flipped.data(), picture.rows, picture.cols);
    warpwise::check_launch();
}

void run_flip_pitched(Picture& picture) {
    picture.flipped_is_pitched = true;
    flip_pitched<<<grid_for(picture.rows, picture.cols), kBlock>>>(
        picture.d_pitched.first(), picture.d_pitched.pitch(),
        picture.d_pitched_flipped.first(), picture.d_pitched_flipped.pitch(), picture.rows,
        picture.cols);
    warpwise::check_launch();
}

void run_flip_pitched_float4(Picture& picture) {
    picture.flipped_is_pitched = true;
    flip_pitched_float4<<<grid_for(picture.rows, warpwise::ceil_div(picture.cols, 4)),
                          kBlock>>>(picture.d_pitched.first(), picture.d_pitched.pitch(),
                                    picture.d_pitched_flipped.first(),
                                    picture.d_pitched_flipped.pitch(), picture.rows,
                                    picture.cols);
    warpwise::check_launch();
}

// ---- what the rows' beginnings cost -----------------------------------------------------

// Sectors per request of steps 1 and 2, on average over the picture, for rows that are
// `row_bytes` apart. Each warp takes 32 columns of a row, or the remaining ones, and
// touches all sectors from its first byte to its last.
double predicted_sectors(std::size_t rows, std::size_t cols, std::size_t row_bytes) {
    std::size_t sectors = 0, requests = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; col += kLanes) {
            const std::size_t first = row * row_bytes + col * sizeof(float);
            const std::size_t last =
                first + std::min(kLanes, cols - col) * sizeof(float) - 1;
            sectors += last / kSectorBytes - first / kSectorBytes + 1;
            ++requests;
        }
    }
    return requests == 0 ? 0 : static_cast<double>(sectors) / static_cast<double>(requests);
}

// The pitches that this device chooses, and the share of the memory that is padding.
void show_pitches(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t cols : {1, 25, 128, 129, 1000, 1001, 1024}) {
        const PitchedRows memory(4, cols);
        const std::size_t width = cols * sizeof(float);
        const double padding =
            1 - static_cast<double>(width) / static_cast<double>(memory.pitch());
        lesson.expect(
            memory.pitch() >= width && memory.pitch() % (kLanes * sizeof(float)) == 0,
            "rows of " + counted(cols, "float") + " begin at multiples of 128 bytes");
        rows.push_back({std::to_string(cols), std::to_string(width),
                        std::to_string(memory.pitch()), text_of("%.0f %%", 100 * padding)});
    }
    lesson.table({"pitch", "What cudaMallocPitch makes of it"},
                 {"floats per row", "width in bytes", "pitch in bytes", "padding"}, rows);
}

// The same picture with rows a little shorter or longer. Counted on the CPU device, timed
// on a GPU.
void show_row_lengths(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    const warpwise::Record& recorded = lesson.recorded();
    constexpr std::size_t kColsOfGpu =
        8192;  // the first width; a CPU needs no rows as wide to count
    const std::size_t first_cols = measures ? kColsOfGpu : 1024;
    const std::size_t picture_rows =
        measures ? 8192 : 32;  // so few that every block is counted
    std::vector<std::string> header = {"floats per row", "a row begins at",
                                       "tight, predicted", "pitched, predicted"};
    header.push_back(measures ? "tight GB/s" : "tight, counted");
    header.push_back(measures ? "pitched GB/s" : "pitched, counted");
    if (recorded) {
        header.push_back(recorded.label() + " GB/s, tight");
        header.push_back(recorded.label() + " GB/s, pitched");
    }

    std::vector<std::vector<std::string>> cells;
    for (const std::size_t more : {0, 1, 2, 4, 8}) {
        const std::size_t cols = first_cols + more;
        Picture picture({picture_rows, cols});
        const std::string name = std::to_string(cols) + " floats per row, ";
        const double tight = predicted_sectors(picture_rows, cols, cols * sizeof(float));
        const double pitched =
            predicted_sectors(picture_rows, cols, picture.d_pitched.pitch());
        const std::size_t begins_at = more == 0 ? kSectorBytes : more * sizeof(float);
        cells.push_back(
            {std::to_string(cols),
             "multiples of " + std::to_string(std::min(begins_at, kSectorBytes)),
             warpwise::ratio_text(tight), warpwise::ratio_text(pitched)});

        // Runs a step, checks its result, and compares its loads and stores with the
        // prediction.
        const auto run = [&](void (*step)(Picture&), double predicted,
                             const std::string& what) {
            picture.poison();
            const auto counts = lesson.count([&] { step(picture); });
            lesson.expect(picture.compare().passed,
                          name + what + ": the picture is flipped");
            if (!counts) return std::string("-");
            lesson.expect(
                counts->global_load.sectors_per_request() == predicted &&
                    counts->global_store.sectors_per_request() == predicted,
                name + what + ": loads and stores touch the predicted number of sectors");
            return warpwise::ratio_text(counts->global_load.sectors_per_request());
        };
        cells.back().push_back(run(run_flip_tight, tight, "tight"));
        cells.back().push_back(run(run_flip_pitched, pitched, "pitched"));
        if (measures) {
            const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
                {{[&] { run_flip_tight(picture); }}, {[&] { run_flip_pitched(picture); }}},
                {.seconds = 0.2});
            for (std::size_t i = 0; i < timings.size(); ++i) {
                cells.back()[4 + i] =
                    text_of("%.0f", picture.work().bytes / timings[i].median * 1e-9);
            }
        }
        if (recorded) {
            const std::string cols_of_gpu = std::to_string(kColsOfGpu + more);
            cells.back().push_back(
                recorded.cell("row_lengths", {cols_of_gpu}, "tight GB/s"));
            cells.back().push_back(
                recorded.cell("row_lengths", {cols_of_gpu}, "pitched GB/s"));
        }
    }
    lesson.table(
        {"row_lengths", "Sectors per request, for rows of different lengths",
         recorded ? "GB/s for rows of 8192 floats and up to 8 more " + recorded.where()
                  : ""},
        header, cells);
}

// Step 3 with a multiple of the columns that a warp takes at a time: all accesses are
// float4s.
void expect_float4(warpwise::Lesson& lesson) {
    constexpr std::size_t rows = 64, cols = 1024;
    Picture picture({rows, cols});
    if (const auto counts = lesson.count([&] { run_flip_pitched_float4(picture); })) {
        lesson.expect(counts->global_load.sectors_per_request() == 16,
                      "float4 in pitched rows: 16 sectors per request");
        lesson.expect(counts->global_load.requests == rows * cols / 4 / kLanes,
                      "float4 in pitched rows: a quarter of the requests");
    }
}

}  // namespace

void pitched_memory(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A picture of rows x cols floats is turned upside down. Warps go along the
rows, so every access is coalesced. But the number of columns decides where each row
begins, and a request that begins in the middle of a sector touches one sector more.
What does that cost, and what do pitched rows cost?)");
    lesson.predict(
        {.question = R"(Say that cudaMallocPitch begins every row at a multiple of
512 bytes. What percentage of the memory is padding when a row has one float?)",
         .answer = warpwise::Number{.value = 99.2, .unit = "%", .factor = 1.02},
         .because = R"(508 of 512 bytes are not used. For rows of a thousand floats
the padding is negligible.)"});
    show_pitches(lesson);
    lesson.conclusion(
        R"(Short rows pay for their pitch with memory: with one float per row nearly
everything is padding. For rows of a thousand floats the padding is negligible.)");

    lesson.predict(
        {.question = R"(A full warp reads 128 bytes: 4 sectors if they begin at a
multiple of 32 bytes, otherwise 5. Rows are one float longer than a multiple of 8
floats. How many sectors is a request on average?)",
         .answer = warpwise::Number{.value = 4.875, .unit = "sectors"},
         .because = R"(One of eight rows begins at a multiple of 32 bytes, so 7 of
8 requests touch 5 sectors. The tables have slightly less, because the last warp of a row
has fewer lanes.)"});
    lesson.predict(
        {.question = R"(In step 1 rows follow each other without a gap. Step 2 only
changes where they begin, which saves nearly one of five sectors. How many times as fast
as step 1 is it on a GPU?)",
         .answer =
             warpwise::Measured{.by = warpwise::TimeRatio{"flip_tight", "flip_pitched"},
                                .unit = "times",
                                .factor = 1.1},
         .because = R"(The sector that two requests share is found in a cache the
second time. Step 3, with 16 bytes per access, gains far more.)"});

    // The last one but one is higher than the grid: its kernels have to go on by the height
    // of the grid.
    lesson.steps<Picture>(
        {.gpu = {16384, 16381},
         .cpu = {128, 1001},
         .awkward = {{0, 0},
                     {0, 5},
                     {5, 0},
                     {1, 1},
                     {1, 31},
                     {31, 1},
                     {2, 2},
                     {3, 3},
                     {32, 32},
                     {33, 65},
                     {1, 1009},
                     {1009, 1},
                     {64, 128},
                     {129, 67},
                     {3, 4099},
                     {16400, 3},
                     {8, 1027}}},
        {{"flip_tight", "rows without gaps", run_flip_tight},
         {"flip_pitched", "rows of cudaMallocPitch", run_flip_pitched},
         {"flip_pitched_float4", "16 bytes per access", run_flip_pitched_float4}});
    expect_float4(lesson);

    lesson.conclusion(
        lesson.measures()
            ? R"(Pitched rows avoid the fifth sector, but that gains little: a
neighboring warp needs the same sector, and a cache may still hold it. The greater gain
is the alignment, which allows 16 bytes per access and so keeps four times as many bytes
in flight per thread.)"
            : R"(Pitched rows need at most 4 sectors per request, and 16 bytes per
access need a quarter of the requests. On a GPU the fifth sector costs little, because a
neighboring warp needs it as well and a cache may still hold it. The greater gain is the
alignment, which allows the wide accesses.)");

    show_row_lengths(lesson);
    lesson.conclusion(
        R"(Rows of other lengths touch about 4 and 7/8, 4 and 3/4, 4 and 1/2, and then 4
sectors again, because 8 floats are 32 bytes. It is slightly less, since the last warp of
a row has fewer lanes. Pitched rows never need more than 4, whatever their length.)");
}

}  // namespace memory_model
