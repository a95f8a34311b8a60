// Problem: the Laplace operator on a ring of n floats, y[i] = x[i-1] - 2 x[i] + x[i+1],
// where the neighbor of the last element is the first one.
//
// Each element takes three reads and one write; if each x comes from memory once, eight
// bytes. In 2008 this problem was a showcase of the texture unit, which had the only cache
// for reads. The lesson runs the same kernels today, and then shows what textures are still
// good for: filtering and border modes.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chapters/2_memory_model/texture_laplace/kernels.cuh"
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

using warpwise::DeviceBuffer;
using warpwise::text_of;

// Elements in the measurement of 2008.
constexpr std::size_t kOldSize = std::size_t{1} << 20;

// A texture object, destroyed with its owner. The object only says where elements lie and
// how they are to be read; it does not own the memory. (Programs before CUDA 12 could
// declare a texture reference instead, a global variable bound to memory with
// cudaBindTexture. CUDA 12 removed them.)
class Texture {
public:
    Texture() = default;
    Texture(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
        warpwise::check(
            cudaCreateTextureObject(&object_, &resource, &description, nullptr));
    }
    Texture(Texture&& other) noexcept : object_(std::exchange(other.object_, 0)) {}
    ~Texture() {
        if (object_ != 0) (void)cudaDestroyTextureObject(object_);
    }

    cudaTextureObject_t object() const { return object_; }

private:
    cudaTextureObject_t object_ = 0;
};

// A texture over linear memory: an array of floats, read by its index with tex1Dfetch. An
// empty array has no texture. Throws Refusal above the limit of the device (2^28 elements
// or more).
Texture linear_texture(DeviceBuffer<float>& values) {
    if (values.size() == 0) return {};
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    int device = 0;
    std::size_t most = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(cudaDeviceGetTexture1DLinearMaxWidth(&most, &floats, device));
    if (values.size() > most) {
        throw warpwise::Refusal(
            "texture_laplace: a texture over linear memory has at most " +
            std::to_string(most) + " elements here; try --size " + std::to_string(most));
    }
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = values.data();
    resource.res.linear.desc = floats;
    resource.res.linear.sizeInBytes = values.bytes();
    return Texture(resource, cudaTextureDesc{});
}

// The ring on both sides, a texture over it, and room for the result.
struct Laplace {
    std::size_t count;
    std::vector<float> x, y;
    DeviceBuffer<float> d_x, d_y;
    Texture texture;
    bool y_is_on_host = false;

    explicit Laplace(const warpwise::Size& size)
        : count(size[0]),
          x(warpwise::uniform<float>(count, 8)),
          y(count),
          d_x(x),
          d_y(count),
          texture(linear_texture(d_x)) {}

    void poison() {
        std::fill(y.begin(), y.end(), std::numeric_limits<float>::quiet_NaN());
        d_y.fill_bytes(0xFF);
        y_is_on_host = false;
    }

    // Values are at most 1, so the first sum is at most 3 and the second at most 4; each is
    // rounded once, by at most half an epsilon of itself.
    warpwise::Comparison compare() {
        if (!y_is_on_host) y = d_y.download();
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        const auto laplace = [&](std::size_t i) {
            const double left = x[(i == 0 ? count : i) - 1];
            const double right = x[i + 1 == count ? 0 : i + 1];
            return left - 2.0 * x[i] + right;
        };
        return warpwise::compare_each(y, count, laplace, {.absolute = 7 * half_epsilon});
    }

    warpwise::Work work() const {
        return {.bytes = 2.0 * sizeof(float) * count, .operations = 3.0 * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return 2 * sizeof(float) * size[0];
    }

    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }
};

// Step 1, one loop on one core of the host.
void serial(Laplace& problem) {
    const std::vector<float>& x = problem.x;
    for (std::size_t i = 0; i < problem.count; ++i) {
        problem.y[i] =
            x[left_of(i, problem.count)] - 2 * x[i] + x[right_of(i, problem.count)];
    }
    problem.y_is_on_host = true;
}

void naive(Laplace& problem) {
    laplace_naive<<<problem.blocks(), kThreads>>>(problem.d_x.data(), problem.d_y.data(),
                                                  problem.count);
    warpwise::check_launch();
}

void tile(Laplace& problem) {
    laplace_tile<<<problem.blocks(), kThreads>>>(problem.d_x.data(), problem.d_y.data(),
                                                 problem.count);
    warpwise::check_launch();
}

void texture(Laplace& problem) {
    laplace_texture<<<problem.blocks(), kThreads>>>(problem.texture.object(),
                                                    problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void read_only(Laplace& problem) {
    laplace_read_only<<<problem.blocks(), kThreads>>>(problem.d_x.data(),
                                                      problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void texture_barrier(Laplace& problem) {
    laplace_texture_barrier<<<problem.blocks(), kThreads>>>(
        problem.texture.object(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

void float4_laplace(Laplace& problem) {
    const unsigned blocks =
        warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads);
    laplace_float4<<<blocks, kThreads>>>(problem.d_x.data(), problem.d_y.data(),
                                         problem.count);
    warpwise::check_launch();
}

// ---- predictions, and 2008 compared with today ------------------------------------------

using Run = void (*)(Laplace&);

// What a step's loads cost for 256 elements, as the text predicts it. Fetches from a
// texture use the texture unit and are not among the loads. `old_ms`: kOldSize elements on
// a GTX 260, `serial` on one core of a Core 2 E8400 (2008).
struct StepFacts {
    const char* name;
    const char* change;
    Run run;
    double requests_per_256;
    double sectors_per_256;
    std::optional<double> old_ms;
};
constexpr std::array<StepFacts, 7> steps_of_the_lesson = {
    {{"serial", "a loop on one core of the host", serial, 0, 0, 5.62},
     {"laplace_naive", "one thread per element, three loads", naive, 3 * 8, 14 * 8, 0.246},
     {"laplace_tile", "a tile in shared memory, edges by two threads", tile, 8 + 2,
      4 * 8 + 2, 0.166},
     {"laplace_texture", "three fetches from a texture", texture, 0, 0, 0.117},
     {"laplace_read_only", "three loads with __ldg", read_only, 3 * 8, 14 * 8,
      std::nullopt},
     {"laplace_texture_barrier", "a barrier between fetches and sum", texture_barrier, 0, 0,
      0.156},
     {"laplace_float4", "four elements per thread, shuffles", float4_laplace, 3 * 2, 18 * 2,
      std::nullopt}}};

void expect_predicted_loads(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 15;
    Laplace problem({count});
    for (const StepFacts& step : steps_of_the_lesson) {
        if (step.run == serial) continue;
        const auto counts = lesson.count([&] { step.run(problem); });
        if (!counts) continue;
        const std::string name = step.name;
        const double blocks = count / 256.0;
        lesson.expect(counts->global_load.requests == step.requests_per_256 * blocks,
                      name + ": loads as predicted");
        lesson.expect(counts->global_load.sectors == step.sectors_per_256 * blocks,
                      name + ": sectors as predicted");
        lesson.expect(counts->shared().conflicts() == 0, name + ": no bank conflicts");
    }
}

constexpr const char* kTableOf2008 = "in_2008";

// Microseconds of each step at kOldSize: measured on a GPU; else, what was recorded. Empty
// where nothing is.
std::vector<std::optional<double>> microseconds_today(const warpwise::Lesson& lesson) {
    std::vector<std::optional<double>> results;
    if (lesson.measures()) {
        Laplace problem({kOldSize});
        std::vector<warpwise::Candidate> candidates;
        for (const StepFacts& step : steps_of_the_lesson) {
            candidates.push_back(
                {[&problem, &step] { step.run(problem); }, step.run == serial});
        }
        for (const warpwise::Timing& timing :
             warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.1})) {
            results.push_back(timing.median * 1e6);
        }
    } else if (const warpwise::Record& recorded = lesson.recorded()) {
        for (const StepFacts& step : steps_of_the_lesson) {
            results.push_back(recorded.number(kTableOf2008, {step.name}, "today: us"));
        }
    }
    return results;
}

// The last cell of a step's row, as it was recorded.
std::string recorded_ratio(const warpwise::Lesson& lesson, std::size_t step) {
    const warpwise::RecordedTable* table = lesson.recorded().table(kTableOf2008);
    if (table == nullptr) return "-";
    for (const std::vector<std::string>& row : table->rows) {
        if (row.front() == steps_of_the_lesson[step].name) return row.back();
    }
    return "-";
}

void show_2008_and_today(warpwise::Lesson& lesson) {
    constexpr std::size_t naive_step = 1;
    const std::vector<std::optional<double>> today = microseconds_today(lesson);
    std::vector<std::string> header = {"step", "2008: ms", "GB/s", "over naive"};
    if (!today.empty()) {
        const std::string where =
            lesson.measures() ? "today: us" : lesson.recorded().label() + ": us";
        header.insert(header.end(), {where, "GB/s", "over naive"});
    }
    std::vector<std::vector<std::string>> rows;
    // Three cells for a time in seconds; dashes where there is none.
    const auto add_cells = [](std::vector<std::string>& row, std::optional<double> time,
                              std::optional<double> naive, double unit) {
        constexpr double bytes = 2.0 * sizeof(float) * kOldSize;
        row.push_back(time ? text_of("%.3g", *time / unit) : "-");
        const double rate = time ? bytes / *time * 1e-9 : 0;
        row.push_back(time ? text_of(rate < 1000 ? "%.3g" : "%.0f", rate) : "-");
        row.push_back(time && naive ? text_of("%.2fx", *naive / *time) : "-");
    };
    const auto scaled = [](std::optional<double> value, double unit) {
        return value ? std::optional<double>(*value * unit) : std::nullopt;
    };
    for (std::size_t i = 0; i < steps_of_the_lesson.size(); ++i) {
        std::vector<std::string> row = {steps_of_the_lesson[i].name};
        add_cells(row, scaled(steps_of_the_lesson[i].old_ms, 1e-3),
                  scaled(steps_of_the_lesson[naive_step].old_ms, 1e-3), 1e-3);
        if (!today.empty())
            add_cells(row, scaled(today[i], 1e-6), scaled(today[naive_step], 1e-6), 1e-6);
        // A recorded ratio was computed from times that were not rounded yet.
        if (!today.empty() && !lesson.measures()) row.back() = recorded_ratio(lesson, i);
        rows.push_back(row);
    }
    std::string now;
    if (!today.empty())
        now = lesson.measures() ? "today on this machine"
                                : "today " + lesson.recorded().where();
    lesson.table({kTableOf2008, "1 Mi floats: GTX 260 and Core 2 E8400 (2008)", now},
                 header, rows);
}

// ---- 2-D textures -----------------------------------------------------------------------

// An image in a CUDA array. Its layout is made for textures: elements that are close in two
// dimensions lie close in memory. Programs fill it with copies and cannot point into it.
class Image {
public:
    Image(const std::vector<float>& texels, std::size_t width, std::size_t height) {
        const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
        warpwise::check(cudaMallocArray(&array_, &floats, width, height));
        const std::size_t row_bytes = width * sizeof(float);
        const cudaError_t status =
            cudaMemcpy2DToArray(array_, 0, 0, texels.data(), row_bytes, row_bytes, height,
                                cudaMemcpyHostToDevice);
        if (status != cudaSuccess) (void)cudaFreeArray(array_);
        warpwise::check(status);
    }
    ~Image() { (void)cudaFreeArray(array_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    Texture texture(cudaTextureFilterMode filter, cudaTextureAddressMode outside,
                    bool normalized) const {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        cudaTextureDesc description = {};
        description.addressMode[0] = description.addressMode[1] = outside;
        description.filterMode = filter;
        description.readMode = cudaReadModeElementType;
        description.normalizedCoords = normalized;
        return Texture(resource, description);
    }

private:
    cudaArray_t array_ = nullptr;
};

std::vector<float> sample(const Texture& texture, const std::vector<float2>& places) {
    const DeviceBuffer<float2> d_places(places);
    DeviceBuffer<float> d_samples(places.size());
    sample_image<<<warpwise::blocks_for(places.size(), kThreads), kThreads>>>(
        texture.object(), d_places.data(), d_samples.data(),
        static_cast<int>(places.size()));
    warpwise::check_launch();
    return d_samples.download();
}

double rounded_to_8_bits(double fraction) { return std::floor(fraction * 256 + 0.5) / 256; }

// A texel's value lies at its center, half a texel from its edges: between the centers of
// texels 0 and 1 of a row, x = 0.5 + fraction.
void show_fractions(warpwise::Lesson& lesson) {
    constexpr std::array<float, 6> fractions = {0.25f,  0.1f, 1 / 3.0f,
                                                0.501f, 0.7f, 0.999f};
    const Image ramp({0, 1, 0, 1}, 2, 2);
    std::vector<float2> places;
    for (const float fraction : fractions)
        places.push_back(make_float2(0.5f + fraction, 0.5f));
    const std::vector<float> samples =
        sample(ramp.texture(cudaFilterModeLinear, cudaAddressModeClamp, false), places);
    std::vector<std::vector<std::string>> rows;
    bool eight_bits = true;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double exact = static_cast<double>(places[i].x) - 0.5;
        const double got = samples[i];
        eight_bits &= std::fabs(got - rounded_to_8_bits(exact)) <= 1e-5;
        rows.push_back({text_of("%.6f", exact), text_of("%.6f", got),
                        text_of("%.2f / 256", got * 256), text_of("%+.1e", got - exact)});
    }
    lesson.expect(
        eight_bits,
        "between texels of 0 and 1, the texture returns the fraction rounded to 8 bits");
    lesson.table({"filtering", "Linear filtering between a texel of 0 and a texel of 1"},
                 {"fraction asked for", "returned", "that is", "error"}, rows);
}

// The same at many places of a random image: along its rows, where y lies on texel centers
// and only x has a fraction, and anywhere, where both have.
void show_filter_errors(warpwise::Lesson& lesson) {
    constexpr std::size_t width = 61, height = 37;
    const std::vector<float> texels = warpwise::uniform<float>(width * height, 9);
    const Image image(texels, width, height);
    const Texture texture =
        image.texture(cudaFilterModeLinear, cudaAddressModeClamp, false);
    const auto interpolated = [&](float2 place, double (*weight_of)(double)) {
        const double x = place.x - 0.5, y = place.y - 0.5;
        const auto col = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
        const double right = weight_of(x - static_cast<double>(col)),
                     below = weight_of(y - static_cast<double>(row));
        const float* const corner = &texels[row * width + col];
        return (1 - below) * ((1 - right) * corner[0] + right * corner[1]) +
               below * ((1 - right) * corner[width] + right * corner[width + 1]);
    };

    // Fractions of an odd number of 1024ths: none lies half way between two 256ths, where
    // rounding might go either way.
    constexpr int count = 4096;
    const std::vector<int> xs =
        warpwise::uniform_integers(count, 10, 0, 512 * static_cast<int>(width - 1) - 1);
    const std::vector<int> ys =
        warpwise::uniform_integers(count, 11, 0, 512 * static_cast<int>(height - 1) - 1);
    std::vector<std::vector<std::string>> rows;
    for (const bool along_rows : {true, false}) {
        std::vector<float2> places;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const int y = along_rows ? ys[i] / 512 * 1024 : 2 * ys[i] + 1;
            places.push_back(make_float2(0.5f + static_cast<float>(2 * xs[i] + 1) / 1024,
                                         0.5f + static_cast<float>(y) / 1024));
        }
        const std::vector<float> samples = sample(texture, places);
        double from_exact = 0, from_8_bits = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const double exact =
                interpolated(places[i], [](double fraction) { return fraction; });
            from_exact = std::max(from_exact, std::fabs(samples[i] - exact));
            from_8_bits = std::max(
                from_8_bits,
                std::fabs(samples[i] - interpolated(places[i], rounded_to_8_bits)));
        }
        // Texels differ by at most 2, and a fraction of 8 bits is off by at most half of
        // 1/256.
        constexpr double of_one_fraction = 2 * 0.5 / 256;
        if (along_rows) {
            lesson.expect(from_exact <= of_one_fraction,
                          "along a row, a sample is off by at most half a 256th");
            lesson.expect(from_8_bits <= 1e-5,
                          "along a row, a texture interpolates with weights of 8 bits");
        } else {
            // How exactly the unit multiplies its two weights is not documented: as much
            // room again.
            lesson.expect(from_exact <= 4 * of_one_fraction,
                          "a sample is off by no more than weights of 8 bits allow");
        }
        lesson.expect(from_exact > of_one_fraction / 10,
                      "a filtered texture is not an exact interpolation");
        rows.push_back({along_rows ? "along its rows" : "anywhere",
                        text_of("%.1e", from_exact), text_of("%.1e", from_8_bits)});
    }
    lesson.table({"filter_errors",
                  "A random image with values from -1 to 1, sampled at 4096 places: "
                  "largest distance"},
                 {"places", "from exact interpolation", "from weights rounded to 8 bits"},
                 rows);
}

// Four texels 10 20 30 40, and what is read left and right of them.
void show_border_modes(warpwise::Lesson& lesson) {
    struct Mode {
        const char* name;
        cudaTextureAddressMode mode;
        std::array<float, 8> expected;
    };
    constexpr std::array<float, 8> texel = {-2, -1, 0, 1, 2, 3, 4, 5};
    constexpr std::array<Mode, 4> modes = {
        {{"clamp", cudaAddressModeClamp, {10, 10, 10, 20, 30, 40, 40, 40}},
         {"border", cudaAddressModeBorder, {0, 0, 10, 20, 30, 40, 0, 0}},
         {"wrap", cudaAddressModeWrap, {30, 40, 10, 20, 30, 40, 10, 20}},
         {"mirror", cudaAddressModeMirror, {20, 10, 10, 20, 30, 40, 40, 30}}}};
    const Image image({10, 20, 30, 40, 10, 20, 30, 40}, 4, 2);
    std::vector<std::string> header = {"mode"};
    std::vector<float2> places;  // normalized coordinates: 0 to 1 over the image
    for (const float place : texel) {
        header.push_back("x = " + text_of("%.0f", place));
        places.push_back(make_float2((place + 0.5f) / 4, 0.25f));
    }
    std::vector<std::vector<std::string>> rows;
    for (const Mode& mode : modes) {
        const std::vector<float> samples =
            sample(image.texture(cudaFilterModePoint, mode.mode, true), places);
        lesson.expect(std::equal(samples.begin(), samples.end(), mode.expected.begin(),
                                 mode.expected.end()),
                      std::string("mode ") + mode.name +
                          " returns what it should outside of the image");
        std::vector<std::string> row = {mode.name};
        for (const float value : samples) row.push_back(text_of("%.0f", value));
        rows.push_back(row);
    }
    lesson.table({"addressing", "Four texels 10, 20, 30, 40, read at texel x"}, header,
                 rows);
}

}  // namespace

void texture_laplace(warpwise::Lesson& lesson) {
    lesson.question(
        R"(The Laplace operator on a ring adds the two neighbors of each element and
subtracts the element twice: three reads and one write per element. That is 8 bytes if
each x comes from memory once, and 16 if it comes three times. A texture is an array that
kernels read through a unit made for pictures; __ldg loads what nobody writes, through
a read-only cache. Which path is the fastest, and why was it another one in 2008?)");
    lesson.predict(
        {.question = R"(In 2008 the texture was twice as fast as the naive kernel.
Which of these is the fastest on a GPU of today?)",
         .answer = warpwise::Fastest{{"laplace_naive", "laplace_tile", "laplace_texture",
                                      "laplace_float4"}},
         .because = R"(Today all loads go through one cache, so tiles and textures
save nothing. Wide accesses have more bytes in flight.)"});

    std::vector<warpwise::Step<Laplace>> steps;
    for (const StepFacts& step : steps_of_the_lesson) {
        const bool on_host = step.run == serial;
        steps.push_back({step.name, step.change, step.run,
                         on_host ? warpwise::StepKind::host : warpwise::StepKind::device});
    }
    lesson.steps<Laplace>({.gpu = {std::size_t{1} << 28},
                           .cpu = {std::size_t{1} << 16},
                           .awkward = {{0},
                                       {1},
                                       {2},
                                       {3},
                                       {4},
                                       {5},
                                       {31},
                                       {32},
                                       {33},
                                       {127},
                                       {129},
                                       {255},
                                       {256},
                                       {257},
                                       {1009},
                                       {4099},
                                       {100003}}},
                          steps);
    expect_predicted_loads(lesson);

    lesson.conclusion(
        R"(A warp of the naive kernel touches 4 + 5 + 5 sectors, of which 4 are new (and
one at either end belongs to a neighboring warp). The float4 kernel makes three loads
per 128 elements instead of twelve. On an H200 the five paths are nearly equally fast,
and float4 is far ahead, because it keeps more bytes in flight. Texture fetches are not
counted.)");
    lesson.predict(
        {.question = R"(In 2008 the texture unit had the only cache for reads. The
tile in shared memory saved as many bytes. Which of the two was faster then?)",
         .answer =
             warpwise::Choice{{"the tile", "the texture", "they took the same time"}, 1},
         .because = R"(Both halved the bytes from memory, and only the tile lost
time at a barrier.)"});
    show_2008_and_today(lesson);
    lesson.conclusion(
        R"(In 2008 the texture won, because it halved the bytes from memory. The tile
did so, too, but lost time at its barrier: the texture with a barrier was nearly as
slow. Today all loads go through one cache, so every kernel moves 8 bytes per element.
At this size a kernel of today ends after a few microseconds, so the table is no
ranking.)");

    lesson.question(
        R"(What are textures still good for? They interpolate: at a place between
texels (the elements of a texture), tex2D returns a weighted mean of the four texels
around it, in a single fetch. The weights have few bits, enough for pictures. And a mode
defines what lies outside of the image: clamp repeats the edge, border returns 0, wrap
goes on with the other end, and mirror reverses the order.)");
    lesson.predict(
        {.question = R"(A fetch between a texel of 0 and a texel of 1 returns the
fraction itself. Into how many steps does the texture unit divide the way from one texel
to the next?)",
         .answer = warpwise::Number{.value = 256, .unit = "steps"},
         .because = R"(It keeps the fraction in 8 bits, so two to three digits are
right.)"});
    show_fractions(lesson);
    show_filter_errors(lesson);
    lesson.conclusion(
        R"(The texture unit keeps the fraction between two texels in 8 bits. That is
plenty for images, but only two to three digits for a table of a function. In two
dimensions it may be less. If you need more, fetch the four texels and interpolate with
floats.)");
    lesson.predict(
        {.question = R"(Four texels are 10, 20, 30, and 40. What does x = 4 return
in the mode wrap?)",
         .answer =
             warpwise::Number{
                 .value = 10,
                 .shown_by = warpwise::TableCell{"addressing", {"wrap"}, "x = 4"}},
         .because = R"(Wrap goes on with the other end, so texel 4 is texel 0
again. Clamp returns 40, and border 0.)"});
    show_border_modes(lesson);
    lesson.conclusion(
        R"(Clamp repeats the edge, border returns a color that you may choose (0 here),
wrap continues with the other end, and mirror reverses the order. Wrap and mirror need
normalized coordinates. Use a texture for filtering, for border modes, and for reads
that are close in two or three dimensions, but not as a faster load.)");
}

}  // namespace memory_model
