// Problem: the Laplace operator on a ring of n floats, y[i] = x[i-1] - 2 x[i] + x[i+1], where the neighbor of the last
// element is the first one.
//
// Three reads and one write an element; if each x comes from memory once, eight bytes. In 2008 this problem was a
// parade of the texture unit, which had the only cache for reads. The lesson runs the same kernels today, and then
// shows what textures are good for still: filtering and border modes.
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

#include "chapters/2_memory_model/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;
constexpr std::size_t kOldSize = std::size_t{1} << 20;  // elements, of the measurement of 2008

// A texture object, destroyed with its owner. The object only says where elements lie and how they are to be read; the
// memory belongs to somebody else. (Programs before CUDA 12 could declare a texture reference instead, a global
// variable bound to memory with cudaBindTexture. Those are gone.)
class Texture {
public:
    Texture() = default;
    Texture(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
        warpwise::check(cudaCreateTextureObject(&object_, &resource, &description, nullptr));
    }
    Texture(Texture&& other) noexcept : object_(std::exchange(other.object_, 0)) {}
    ~Texture() {
        if (object_ != 0) (void)cudaDestroyTextureObject(object_);
    }

    cudaTextureObject_t object() const { return object_; }

private:
    cudaTextureObject_t object_ = 0;
};

// A texture over linear memory: an array of floats, read by its index with tex1Dfetch. There is none over no elements.
// Throws Refusal above the limit of the device (2^28 elements or more).
Texture linear_texture(DeviceBuffer<float>& values) {
    if (values.size() == 0) return {};
    const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    int device = 0;
    std::size_t most = 0;
    warpwise::check(cudaGetDevice(&device));
    warpwise::check(cudaDeviceGetTexture1DLinearMaxWidth(&most, &floats, device));
    if (values.size() > most) {
        throw warpwise::Refusal("texture_laplace: a texture over linear memory has at most " + std::to_string(most) +
                                " elements here; try --size " + std::to_string(most));
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

    // Values are at most 1, so the first sum is at most 3 and the second at most 4; each is rounded once, by at most
    // half an epsilon of itself.
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

    warpwise::Work work() const { return {.bytes = 2.0 * sizeof(float) * count, .operations = 3.0 * count}; }

    static std::size_t device_bytes(const warpwise::Size& size) { return 2 * sizeof(float) * size[0]; }

    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }
};

// The neighbors on a ring of `count` elements. Remainders would do as well, (i + count - 1) % count, but a division of
// 64 bits takes far longer than the rest of the kernel.
__host__ __device__ std::size_t left_of(std::size_t i, std::size_t count) { return (i == 0 ? count : i) - 1; }
__host__ __device__ std::size_t right_of(std::size_t i, std::size_t count) { return i + 1 == count ? 0 : i + 1; }

// Step 1, one loop on one core of the host.
void serial(Laplace& problem) {
    const std::vector<float>& x = problem.x;
    for (std::size_t i = 0; i < problem.count; ++i) {
        problem.y[i] = x[left_of(i, problem.count)] - 2 * x[i] + x[right_of(i, problem.count)];
    }
    problem.y_is_on_host = true;
}

// Step 2, one thread an element, and three loads from global memory. Two of them begin one float beside a sector: 4, 5
// and 5 sectors for a warp, 14 where 4 would hold it all. In 2008 each of these went to memory. Today the first load
// brings the sectors into the L1 cache of the SM, and the other two find them there. Slow today: of its three loads
// only one misses, so that a thread has 4 bytes under way. Steps 3 to 6 do not change that.
__global__ void laplace_naive(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[left_of(i, count)] - 2 * x[i] + x[right_of(i, count)];
}

void naive(Laplace& problem) {
    laplace_naive<<<problem.blocks(), kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 3, a tile in shared memory with one element more at both ends. The first thread of the block loads the left
// edge, and the last thread *that has an element* the right one: in the last block that is not the thread of the
// largest number. Better in 2008: memory is read once. Slow: two threads load twice while all others wait at the
// barrier for them.
__global__ void laplace_tile(const float* x, float* y, std::size_t count) {
    __shared__ float tile[kThreads + 2];
    const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < count) {
        tile[threadIdx.x + 1] = x[i];
        if (threadIdx.x == 0) tile[0] = x[left_of(i, count)];
        if (threadIdx.x == kThreads - 1 || i == count - 1) tile[threadIdx.x + 2] = x[right_of(i, count)];
    }
    __syncthreads();
    if (i < count) y[i] = tile[threadIdx.x] - 2 * tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

void tile(Laplace& problem) {
    laplace_tile<<<problem.blocks(), kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 4, the three reads through a texture object. The kernel gets the object instead of a pointer, and fetches by
// index. A fetch outside of the texture returns 0 and does not wrap around: the ring's ends are our business here, too.
// Better in 2008: the texture unit had a cache, the only one, and did not mind where a warp begins to read. Today it
// stands before the same L1 cache as all other loads.
__global__ void laplace_texture(cudaTextureObject_t x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float left = tex1Dfetch<float>(x, static_cast<int>(left_of(i, count)));
    const float center = tex1Dfetch<float>(x, static_cast<int>(i));
    const float right = tex1Dfetch<float>(x, static_cast<int>(right_of(i, count)));
    y[i] = left - 2 * center + right;
}

void texture(Laplace& problem) {
    laplace_texture<<<problem.blocks(), kThreads>>>(problem.texture.object(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 5, the read-only path: __ldg promises that nobody writes this memory while the kernel runs. `const float*
// __restrict__`, for all pointers of a kernel, lets the compiler find that out by itself. From 2012 to 2014 (compute
// capability 3.5) this was the way into the texture cache without a texture. Since then, the cache is the same for all
// loads, and the promise gives the compiler the freedom to move loads before stores.
__global__ void laplace_read_only(const float* x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = __ldg(&x[left_of(i, count)]) - 2 * __ldg(&x[i]) + __ldg(&x[right_of(i, count)]);
}

void read_only(Laplace& problem) {
    laplace_read_only<<<problem.blocks(), kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// Step 6, step 4 with a barrier between the fetches and the sum. Nobody needs it. It shows what step 3 pays besides its
// loads: the whole block waits until its slowest fetch is back, and only then begins to write.
__global__ void laplace_texture_barrier(cudaTextureObject_t x, float* y, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    float left = 0, center = 0, right = 0;
    if (i < count) {
        left = tex1Dfetch<float>(x, static_cast<int>(left_of(i, count)));
        center = tex1Dfetch<float>(x, static_cast<int>(i));
        right = tex1Dfetch<float>(x, static_cast<int>(right_of(i, count)));
    }
    __syncthreads();
    if (i < count) y[i] = left - 2 * center + right;
}

void texture_barrier(Laplace& problem) {
    laplace_texture_barrier<<<problem.blocks(), kThreads>>>(problem.texture.object(), problem.d_y.data(),
                                                            problem.count);
    warpwise::check_launch();
}

// Step 7, what helps today: more bytes under way, in fewer requests. A thread loads four elements at once, 16 bytes;
// the neighbors of the four are in the registers of the neighboring lanes, and shuffles fetch them there. Only the ends
// of a warp load one float more. All lanes have to take part in a shuffle, so threads without elements stay until then.
// What is left of the ring behind the last whole four is done one by one.
__global__ void laplace_float4(const float* x, float* y, std::size_t count) {
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = count / 4;
    const unsigned lane = threadIdx.x % 32;
    float4 center = make_float4(0, 0, 0, 0);
    if (thread < fours) center = reinterpret_cast<const float4*>(x)[thread];
    float left = __shfl_up_sync(all_lanes, center.w, 1);
    float right = __shfl_down_sync(all_lanes, center.x, 1);
    if (thread < fours) {
        if (lane == 0) left = x[left_of(4 * thread, count)];
        if (lane == 31 || thread + 1 == fours) right = x[right_of(4 * thread + 3, count)];
        reinterpret_cast<float4*>(y)[thread] =
            make_float4(left - 2 * center.x + center.y, center.x - 2 * center.y + center.z,
                        center.y - 2 * center.z + center.w, center.z - 2 * center.w + right);
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i < count) y[i] = x[left_of(i, count)] - 2 * x[i] + x[right_of(i, count)];
}

void float4_laplace(Laplace& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads);
    laplace_float4<<<blocks, kThreads>>>(problem.d_x.data(), problem.d_y.data(), problem.count);
    warpwise::check_launch();
}

// ---- predictions, and 2008 against today --------------------------------------------------------------------------

using Run = void (*)(Laplace&);

// What a step's loads cost for 256 elements, as the text predicts it. Fetches of a texture go another way and are not
// among the loads. `old_ms`: kOldSize elements on a GTX 260, `serial` on one core of a Core 2 E8400 (2008).
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
     {"laplace_naive", "a thread an element, three loads", naive, 3 * 8, 14 * 8, 0.246},
     {"laplace_tile", "a tile in shared memory, edges by two threads", tile, 8 + 2, 4 * 8 + 2, 0.166},
     {"laplace_texture", "three fetches from a texture", texture, 0, 0, 0.117},
     {"laplace_read_only", "three loads with __ldg", read_only, 3 * 8, 14 * 8, std::nullopt},
     {"laplace_texture_barrier", "a barrier between fetches and sum", texture_barrier, 0, 0, 0.156},
     {"laplace_float4", "four elements a thread, shuffles", float4_laplace, 3 * 2, 18 * 2, std::nullopt}}};

void expect_predicted_loads(warpwise::Lesson& lesson) {
    constexpr std::size_t count = std::size_t{1} << 15;
    Laplace problem({count});
    for (const StepFacts& step : steps_of_the_lesson) {
        if (step.run == serial) continue;
        const auto counts = lesson.count([&] { step.run(problem); });
        if (!counts) continue;
        const std::string name = step.name;
        const double blocks = count / 256.0;
        lesson.expect(counts->global_load.requests == step.requests_per_256 * blocks, name + ": loads as predicted");
        lesson.expect(counts->global_load.sectors == step.sectors_per_256 * blocks, name + ": sectors as predicted");
        lesson.expect(counts->shared().conflicts() == 0, name + ": no bank conflicts");
    }
}

const std::string kTableOf2008 = "1 Mi floats: GTX 260 and Core 2 E8400 (2008)";

// Microseconds of each step at kOldSize: measured on a GPU; else, what was recorded. Empty where nothing is.
std::vector<std::optional<double>> microseconds_today(const warpwise::Lesson& lesson) {
    std::vector<std::optional<double>> results;
    if (lesson.measures()) {
        Laplace problem({kOldSize});
        std::vector<warpwise::Candidate> candidates;
        for (const StepFacts& step : steps_of_the_lesson) {
            candidates.push_back({[&problem, &step] { step.run(problem); }, step.run == serial});
        }
        for (const warpwise::Timing& timing : warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.1})) {
            results.push_back(timing.median * 1e6);
        }
    } else if (const warpwise::Record& recorded = lesson.recorded()) {
        for (const StepFacts& step : steps_of_the_lesson) {
            results.push_back(recorded.number(kTableOf2008, {step.name}, "today: us"));
        }
    }
    return results;
}

void show_2008_and_today(warpwise::Lesson& lesson) {
    constexpr std::size_t naive_step = 1;
    const std::vector<std::optional<double>> today = microseconds_today(lesson);
    std::vector<std::string> header = {"step", "2008: ms", "GB/s", "over naive"};
    if (!today.empty()) {
        const char* const where = lesson.measures() ? "today: us" : "an H200: us";
        header.insert(header.end(), {where, "GB/s", "over naive"});
    }
    std::vector<std::vector<std::string>> rows;
    // Three cells for a time in seconds; dashes where there is none.
    const auto add_cells = [](std::vector<std::string>& row, std::optional<double> time, std::optional<double> naive,
                              double unit) {
        constexpr double bytes = 2.0 * sizeof(float) * kOldSize;
        row.push_back(time ? text_of("%.3g", *time / unit) : "-");
        row.push_back(time ? text_of("%.3g", bytes / *time * 1e-9) : "-");
        row.push_back(time && naive ? text_of("%.2fx", *naive / *time) : "-");
    };
    const auto scaled = [](std::optional<double> value, double unit) {
        return value ? std::optional<double>(*value * unit) : std::nullopt;
    };
    for (std::size_t i = 0; i < steps_of_the_lesson.size(); ++i) {
        std::vector<std::string> row = {steps_of_the_lesson[i].name};
        add_cells(row, scaled(steps_of_the_lesson[i].old_ms, 1e-3),
                  scaled(steps_of_the_lesson[naive_step].old_ms, 1e-3), 1e-3);
        if (!today.empty()) add_cells(row, scaled(today[i], 1e-6), scaled(today[naive_step], 1e-6), 1e-6);
        rows.push_back(row);
    }
    std::string now;
    if (!today.empty()) now = lesson.measures() ? ", and today" : ", and as " + lesson.recorded().where();
    lesson.table(kTableOf2008 + now, header, rows);
}

// ---- 2-D textures -------------------------------------------------------------------------------------------------

// An image in a CUDA array, the layout that textures filter best: elements that are close in two dimensions lie close
// in memory. Programs fill it with copies and cannot point into it.
class Image {
public:
    Image(const std::vector<float>& texels, std::size_t width, std::size_t height) {
        const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
        warpwise::check(cudaMallocArray(&array_, &floats, width, height));
        const std::size_t row_bytes = width * sizeof(float);
        const cudaError_t status =
            cudaMemcpy2DToArray(array_, 0, 0, texels.data(), row_bytes, row_bytes, height, cudaMemcpyHostToDevice);
        if (status != cudaSuccess) (void)cudaFreeArray(array_);
        warpwise::check(status);
    }
    ~Image() { (void)cudaFreeArray(array_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    Texture texture(cudaTextureFilterMode filter, cudaTextureAddressMode outside, bool normalized) const {
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

__global__ void sample_image(cudaTextureObject_t image, const float2* places, float* samples, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) samples[i] = tex2D<float>(image, places[i].x, places[i].y);
}

std::vector<float> sample(const Texture& texture, const std::vector<float2>& places) {
    const DeviceBuffer<float2> d_places(places);
    DeviceBuffer<float> d_samples(places.size());
    sample_image<<<warpwise::blocks_for(places.size(), kThreads), kThreads>>>(
        texture.object(), d_places.data(), d_samples.data(), static_cast<int>(places.size()));
    warpwise::check_launch();
    return d_samples.download();
}

double rounded_to_8_bits(double fraction) { return std::floor(fraction * 256 + 0.5) / 256; }

// A texel's value lies at its center, half a texel from its edges: between the centers of texels 0 and 1 of a row,
// x = 0.5 + fraction.
void show_fractions(warpwise::Lesson& lesson) {
    constexpr std::array<float, 6> fractions = {0.25f, 0.1f, 1 / 3.0f, 0.501f, 0.7f, 0.999f};
    const Image ramp({0, 1, 0, 1}, 2, 2);
    std::vector<float2> places;
    for (const float fraction : fractions) places.push_back(make_float2(0.5f + fraction, 0.5f));
    const std::vector<float> samples = sample(ramp.texture(cudaFilterModeLinear, cudaAddressModeClamp, false), places);
    std::vector<std::vector<std::string>> rows;
    bool eight_bits = true;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double exact = static_cast<double>(places[i].x) - 0.5;
        const double got = samples[i];
        eight_bits &= std::fabs(got - rounded_to_8_bits(exact)) <= 1e-5;
        rows.push_back({text_of("%.6f", exact), text_of("%.6f", got), text_of("%.2f / 256", got * 256),
                        text_of("%+.1e", got - exact)});
    }
    lesson.expect(eight_bits, "between texels of 0 and 1, the texture returns the fraction rounded to 8 bits");
    lesson.table("Linear filtering between a texel of 0 and a texel of 1",
                 {"fraction asked for", "returned", "that is", "error"}, rows);
}

// The same at many places of a random image: along its rows, where y lies on texel centers and only x has a fraction,
// and anywhere, where both have.
void show_filter_errors(warpwise::Lesson& lesson) {
    constexpr std::size_t width = 61, height = 37;
    const std::vector<float> texels = warpwise::uniform<float>(width * height, 9);
    const Image image(texels, width, height);
    const Texture texture = image.texture(cudaFilterModeLinear, cudaAddressModeClamp, false);
    const auto interpolated = [&](float2 place, double (*weight_of)(double)) {
        const double x = place.x - 0.5, y = place.y - 0.5;
        const auto col = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
        const double right = weight_of(x - static_cast<double>(col)), below = weight_of(y - static_cast<double>(row));
        const float* const corner = &texels[row * width + col];
        return (1 - below) * ((1 - right) * corner[0] + right * corner[1]) +
               below * ((1 - right) * corner[width] + right * corner[width + 1]);
    };

    // Fractions of an odd number of 1024ths: none lies half way between two 256ths, where rounding might go either way.
    constexpr int count = 4096;
    const std::vector<int> xs = warpwise::uniform_integers(count, 10, 0, 512 * static_cast<int>(width - 1) - 1);
    const std::vector<int> ys = warpwise::uniform_integers(count, 11, 0, 512 * static_cast<int>(height - 1) - 1);
    std::vector<std::vector<std::string>> rows;
    for (const bool along_rows : {true, false}) {
        std::vector<float2> places;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const int y = along_rows ? ys[i] / 512 * 1024 : 2 * ys[i] + 1;
            places.push_back(
                make_float2(0.5f + static_cast<float>(2 * xs[i] + 1) / 1024, 0.5f + static_cast<float>(y) / 1024));
        }
        const std::vector<float> samples = sample(texture, places);
        double from_exact = 0, from_8_bits = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const double exact = interpolated(places[i], [](double fraction) { return fraction; });
            from_exact = std::max(from_exact, std::fabs(samples[i] - exact));
            from_8_bits = std::max(from_8_bits, std::fabs(samples[i] - interpolated(places[i], rounded_to_8_bits)));
        }
        // Texels differ by at most 2, and a fraction of 8 bits is off by at most half of 1/256.
        constexpr double of_one_fraction = 2 * 0.5 / 256;
        if (along_rows) {
            lesson.expect(from_exact <= of_one_fraction, "along a row, a sample is off by at most half a 256th");
            lesson.expect(from_8_bits <= 1e-5, "along a row, a texture interpolates with weights of 8 bits");
        } else {
            // How exactly the unit multiplies its two weights is not documented: as much room again.
            lesson.expect(from_exact <= 4 * of_one_fraction, "a sample is off by no more than weights of 8 bits allow");
        }
        lesson.expect(from_exact > of_one_fraction / 10, "a filtered texture is not an exact interpolation");
        rows.push_back(
            {along_rows ? "along its rows" : "anywhere", text_of("%.1e", from_exact), text_of("%.1e", from_8_bits)});
    }
    lesson.table("A random image with values from -1 to 1, sampled at 4096 places: largest distance",
                 {"places", "from exact interpolation", "from weights rounded to 8 bits"}, rows);
}

// Four texels 10 20 30 40, and what is read left and right of them.
void show_border_modes(warpwise::Lesson& lesson) {
    struct Mode {
        const char* name;
        cudaTextureAddressMode mode;
        std::array<float, 8> expected;
    };
    constexpr std::array<float, 8> texel = {-2, -1, 0, 1, 2, 3, 4, 5};
    constexpr std::array<Mode, 4> modes = {{{"clamp", cudaAddressModeClamp, {10, 10, 10, 20, 30, 40, 40, 40}},
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
        const std::vector<float> samples = sample(image.texture(cudaFilterModePoint, mode.mode, true), places);
        lesson.expect(std::equal(samples.begin(), samples.end(), mode.expected.begin(), mode.expected.end()),
                      std::string("mode ") + mode.name + " returns what it should outside of the image");
        std::vector<std::string> row = {mode.name};
        for (const float value : samples) row.push_back(text_of("%.0f", value));
        rows.push_back(row);
    }
    lesson.table("Four texels 10, 20, 30, 40, read at texel x", header, rows);
}

}  // namespace

void texture_laplace(warpwise::Lesson& lesson) {
    lesson.text(
        R"(The Laplace operator on a ring: each element with its two neighbors. Three reads, one write; eight bytes an
element if each x comes from memory once, sixteen if it comes three times.

What you will see: the three reads as plain loads, from a tile in shared memory, through a texture, through the
read-only path, and from a texture with a barrier that nobody needs. Last, four elements a thread.

In 2008 the texture won, twice as fast as the naive kernel. Predict: how many sectors does a warp of the naive kernel
ask for, and how many of them are new? Which kernel wins today, and by how much?)");

    std::vector<warpwise::Step<Laplace>> steps;
    for (const StepFacts& step : steps_of_the_lesson) {
        const bool on_host = step.run == serial;
        steps.push_back(
            {step.name, step.change, step.run, on_host ? warpwise::StepKind::host : warpwise::StepKind::device});
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

    lesson.text(
        R"(The count: 4 sectors for x[i] and 5 for each neighbor, 14 a warp, of which 4 are new (and one at either end
is the neighboring warp's). The tile asks for 34 a block of 8 warps, its two edges included, instead of 112. The float4
kernel makes three loads for 128 elements: 16 sectors, and one more at each end of the warp. The columns know nothing of
the texture's fetches: those go through the texture unit, and the counters see loads and stores.)");
    show_2008_and_today(lesson);
    lesson.text(
        R"(The story of 2008. The GTX 260 had no cache for global loads. If each of the three loads of the naive kernel
went to memory, it moved 16 bytes an element, and the 0.246 ms are 68 GB/s. The texture unit had a cache: 8 bytes an
element, 0.117 ms, 72 GB/s. The memory was equally fast, but half of the bytes had disappeared. The tile saved the same
bytes and then let its block wait at the barrier: 0.166 ms. Was it the barrier? The texture kernel with a barrier put
into it took 0.156 ms, a third more than without, so that was it. The CPU needed 5.62 ms, 48 times as long as the
texture.

Why it changed. Fermi (2010) put a cache before global memory; Kepler opened the texture cache to plain loads (__ldg);
since Maxwell (2014) L1 cache and texture cache are one. The neighbors' loads are hits for all kernels alike, and all
move 8 bytes an element. An SM of an H200 holds 2048 threads, so that others read while one block waits at its barrier.
What used to be the trick has become the hardware's business.)");
    lesson.text(
        R"(The ranking of 2008 is gone. With 2^28 floats an H200 ran the naive kernel at 0.59 of a copy, and all five
kernels with one element a thread between 0.54 and 0.59: the read-only path the same, the texture a little slower, the
tile last. But 0.59 is not near a copy. No path to memory makes up for what all five lack: each thread has one load that
misses the caches, 4 bytes, and that is too little under way to keep the memory busy. The float4 kernel loads 16 bytes a
thread and reaches 0.99.

At 1 Mi floats, the size of 2008, all the data are 8 MiB, and a kernel is over after a few microseconds: too short for a
ranking, since launching and the first wait for memory make up most of it.)");
    lesson.text(
        R"(What textures can do still. They interpolate: tex2D at a place between texels returns a mean of the four
around it, for no more than a fetch. The price is precision. How many digits do you expect of it?)");
    show_fractions(lesson);
    show_filter_errors(lesson);
    lesson.text(
        R"(The texture unit keeps the fraction between two texels in 8 bits: there are 256 places between them and no
others. For pictures that is plenty, for a table of a function it is three digits. In two dimensions it may be less: an
H200 is off by up to 7.7e-03 there, and by 6.2e-03 from what rounded fractions give, so it must round more than the two
fractions; how, is not documented. Who needs more fetches the four texels and interpolates with floats.

And they know what lies outside. Before you look: what should x = -1 and x = 4 be, in each mode?)");
    show_border_modes(lesson);
    lesson.text(
        R"(Clamp repeats the edge, border returns a color that you may choose (0 here), wrap makes a ring, mirror turns
round. Wrap and mirror work with normalized coordinates only; with others they act like clamp. And tex1Dfetch knows none
of them: it returns 0 outside.

When to use a texture today: for filtering, for border modes, for reads that are close in two or three dimensions and
in no order. Not as a faster load.

Mistakes to avoid: (i - 1) % count, which is negative for i = 0 with signed integers, and a huge number with unsigned
ones; writing memory in a kernel that reads it through __ldg or a texture (the caches do not notice); forgetting that
texel centers lie at one half; a texture object that outlives its memory.

Try next: take the edges out of laplace_tile and see which elements are wrong. Then the sizes that fit into the L2
cache: which kernels gain?

    memory_model texture_laplace --size 1009 --check
    memory_model texture_laplace --size 4Mi)");
}

}  // namespace memory_model
