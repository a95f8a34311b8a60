// Problem: read floats that lie in memory in one way or another, and write them side by
// side.
//
// Memory moves in sectors of 32 bytes. One load of a warp is one request, and it costs as
// many sectors as its 32 lanes touch: all 32 bytes of a sector move even if only 4 of them
// are used. So the cost of a load follows from its addresses alone and can be computed
// before anything runs. This lesson computes it four times, for strides, offsets, widths,
// and structures, and then lets the counters (on the CPU device) and the clock (on a GPU)
// answer.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chapters/2_memory_model/coalescing/copies.cuh"
#include "chapters/2_memory_model/coalescing/particles.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"
#include "common/lesson/memory.h"

namespace memory_model {
namespace {

using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;
constexpr std::size_t kLanes = 32;
constexpr std::size_t kSectorBytes = 32;

// ---- strides, offsets and widths --------------------------------------------------------

// Sectors that a full warp touches when lane k asks for `width` bytes at the address first
// + k * stride, all in bytes. Up to 32 bytes apart, the lanes leave out no sector between
// the first and the last; further apart, no two lanes share one. No access may cross the
// end of a sector, as none does that is aligned to its own width.
constexpr std::size_t sectors_of_a_request(std::size_t first, std::size_t stride,
                                           std::size_t width) {
    if (stride > kSectorBytes) return kLanes;
    const std::size_t last = first + (kLanes - 1) * stride + width - 1;
    return last / kSectorBytes - first / kSectorBytes + 1;
}
static_assert(sectors_of_a_request(0, 4, 4) == 4 && sectors_of_a_request(4, 4, 4) == 5);
static_assert(sectors_of_a_request(0, 32, 4) == 32 &&
              sectors_of_a_request(0, 16, 16) == 16);

// One row of a sweep: floats are copied from in[i * stride + offset], `width` bytes at a
// time.
struct Access {
    std::size_t stride = 1;
    std::size_t offset = 0;
    std::size_t width = sizeof(float);
    bool shown = true;  // in the table; all are checked

    std::size_t predicted_sectors() const {
        return sectors_of_a_request(offset * sizeof(float), stride * width, width);
    }
};

// The arrays of the sweeps: large enough for the largest stride and offset, and of a size
// that every sweep shares.
struct SweepArrays {
    static constexpr std::size_t largest_stride = 32;
    static constexpr std::size_t largest_offset = 31;

    std::size_t count;
    DeviceBuffer<float> d_in, d_out;

    explicit SweepArrays(std::size_t count_)
        : count(count_), d_in(count * largest_stride + largest_offset), d_out(count) {
        const unsigned blocks =
            std::min(warpwise::blocks_for(d_in.size(), kThreads),
                     warpwise::blocks_that_fill(number_elements, kThreads));
        number_elements<<<blocks, kThreads>>>(d_in.data(), d_in.size());
        warpwise::check_launch();
    }

    void copy(const Access& access) {
        const std::size_t threads = count * sizeof(float) / access.width;
        const unsigned blocks = warpwise::blocks_for(threads, kThreads);
        if (access.width == sizeof(float4)) {
            copy_side_by_side<float4>
                <<<blocks, kThreads>>>(d_in.data(), d_out.data(), threads);
        } else if (access.width == sizeof(float2)) {
            copy_side_by_side<float2>
                <<<blocks, kThreads>>>(d_in.data(), d_out.data(), threads);
        } else {
            copy_with_gaps<<<blocks, kThreads>>>(d_in.data(), d_out.data(), count,
                                                 access.stride, access.offset);
        }
        warpwise::check_launch();
    }

    bool holds_copy(const Access& access) const {
        const auto expected = [&](std::size_t i) {
            return static_cast<double>((i * access.stride + access.offset) % kValues);
        };
        return warpwise::compare_each(d_out.download(), count, expected).passed;
    }
};

// 1024 elements are enough to count, because every request is like every other. Measuring
// times takes more: 2 GiB of input, or what the memory of the device has room for.
std::size_t elements_of_a_sweep(const warpwise::Lesson& lesson) {
    if (!lesson.measures()) return 1024;
    return warpwise::halve_to_fit(std::size_t{1} << 24, 1024, [](std::size_t count) {
        return count * SweepArrays::largest_stride * sizeof(float);
    });
}

// Runs a sweep and prints its table: sectors by the formula, as counted (CPU device),
// bandwidth as measured (GPU).
void sweep(warpwise::Lesson& lesson, SweepArrays& arrays, warpwise::TableTitle title,
           const std::string& what, const std::vector<Access>& accesses,
           std::string (*name_of)(const Access&)) {
    const bool measures = lesson.measures();
    const bool widths_differ = accesses.front().width != accesses.back().width;
    std::vector<std::string> header = {what, "sectors, predicted"};
    header.push_back(measures ? "useful GB/s" : "sectors, counted");
    header.push_back("of a sector used");
    const warpwise::Record& recorded = lesson.recorded();
    if (widths_differ) header.push_back("requests for 1024 floats");
    if (recorded) header.push_back(recorded.label() + " GB/s");

    std::vector<std::vector<std::string>> rows;
    std::vector<warpwise::Candidate> candidates;
    for (const Access& access : accesses) {
        const std::string name = name_of(access);
        const double predicted = static_cast<double>(access.predicted_sectors());
        const double lanes_for_1024 =
            1024.0 * sizeof(float) / static_cast<double>(access.width);
        const double requests =
            lanes_for_1024 / kLanes * static_cast<double>(arrays.count) / 1024;
        warpwise::check(cudaMemset(arrays.d_out.data(), 0xFF, arrays.d_out.bytes()));
        const auto counts = lesson.count([&] { arrays.copy(access); });
        lesson.expect(arrays.holds_copy(access), what + " " + name + ": the copy is right");
        if (counts) {
            lesson.expect(
                counts->global_load.sectors_per_request() == predicted,
                what + " " + name + ": a load touches the predicted number of sectors");
            lesson.expect(counts->global_load.requests == requests,
                          what + " " + name + ": as many loads as predicted");
        }
        if (!access.shown) continue;
        const std::string counted =
            counts ? warpwise::ratio_text(counts->global_load.sectors_per_request())
                   : std::string("-");
        const double used =
            static_cast<double>(kLanes * access.width) / (predicted * kSectorBytes);
        rows.push_back({name, warpwise::ratio_text(predicted), counted,
                        text_of("%.3g %%", 100 * used)});
        if (widths_differ)
            rows.back().push_back(warpwise::count_text(lanes_for_1024 / kLanes));
        if (recorded)
            rows.back().push_back(recorded.cell(title.name, {name}, "useful GB/s"));
        candidates.push_back({[&arrays, access] { arrays.copy(access); }, false});
    }
    if (measures) {
        const std::vector<warpwise::Timing> timings =
            warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(arrays.count);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            rows[row][2] = text_of("%.0f", bytes / timings[row].median * 1e-9);
        }
    }
    if (recorded) title.note = "GB/s " + recorded.where();
    lesson.table(title, header, rows);
}

// ---- structures -------------------------------------------------------------------------

// The same particles in three layouts, and room for their energies.
struct Particles {
    std::size_t count;
    std::vector<Particle> particles;
    DeviceBuffer<Particle> d_structures;  // array of structures
    DeviceBuffer<float> d_vx, d_vy, d_vz,
        d_mass;                          // structure of arrays: those that the energy needs
    DeviceBuffer<ParticleTile> d_tiles;  // array of structures of short arrays
    DeviceBuffer<float> d_energy;

    explicit Particles(const warpwise::Size& size)
        : count(size[0]),
          particles(random_particles(count)),
          d_structures(particles),
          d_vx(member(&Particle::vx)),
          d_vy(member(&Particle::vy)),
          d_vz(member(&Particle::vz)),
          d_mass(member(&Particle::mass)),
          d_tiles(tiles()),
          d_energy(count) {}

    void poison() { d_energy.fill_bytes(0xFF); }

    // The reference in double precision. All terms are positive: two additions and two
    // multiplications in a row round by half an epsilon each, and halving is exact.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        const auto energy = [&](std::size_t i) {
            const Particle& p = particles[i];
            const double vx = p.vx, vy = p.vy, vz = p.vz;
            return 0.5 * p.mass * (vx * vx + vy * vy + vz * vz);
        };
        return warpwise::compare_each(d_energy.download(), count, energy,
                                      {.relative = 4 * half_epsilon * (1 + 1e-6)});
    }

    // Four floats in, one out. The operations: four multiplications, two additions, and the
    // half.
    warpwise::Work work() const {
        return {.bytes = 5.0 * sizeof(float) * count, .operations = 7.0 * count};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        const std::size_t tiles = warpwise::ceil_div(size[0], kTile);
        return size[0] * (sizeof(Particle) + 5 * sizeof(float)) +
               tiles * sizeof(ParticleTile);
    }

private:
    static std::vector<Particle> random_particles(std::size_t count) {
        const std::vector<float> values = warpwise::uniform<float>(7 * count, 5);
        const std::vector<float> masses = warpwise::uniform<float>(count, 6, 0.5f, 2.0f);
        std::vector<Particle> result(count);
        for (std::size_t i = 0; i < count; ++i) {
            const float* v = &values[7 * i];
            result[i] = {v[0], v[1], v[2], v[3], v[4], v[5], masses[i], v[6]};
        }
        return result;
    }

    std::vector<float> member(float Particle::*which) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = particles[i].*which;
        return values;
    }

    // The last tile is filled up with zeros.
    std::vector<ParticleTile> tiles() const {
        std::vector<ParticleTile> result(warpwise::ceil_div(count, kTile), ParticleTile{});
        for (std::size_t i = 0; i < count; ++i) {
            const Particle& p = particles[i];
            ParticleTile& tile = result[i / kTile];
            const std::size_t k = i % kTile;
            tile.x[k] = p.x, tile.y[k] = p.y, tile.z[k] = p.z;
            tile.vx[k] = p.vx, tile.vy[k] = p.vy, tile.vz[k] = p.vz;
            tile.mass[k] = p.mass, tile.charge[k] = p.charge;
        }
        return result;
    }
};

// The launches of the steps.
void from_structures(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_structures<<<blocks, kThreads>>>(problem.d_structures.data(),
                                                 problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

void from_structures_float4(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_structures_float4<<<blocks, kThreads>>>(
        problem.d_structures.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

void from_arrays(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_arrays<<<blocks, kThreads>>>(problem.d_vx.data(), problem.d_vy.data(),
                                             problem.d_vz.data(), problem.d_mass.data(),
                                             problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

void from_tiles(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_tiles<<<blocks, kThreads>>>(problem.d_tiles.data(), problem.d_energy.data(),
                                            problem.count);
    warpwise::check_launch();
}

void from_arrays_float4(Particles& problem) {
    const unsigned blocks =
        warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads);
    energy_from_arrays_float4<<<blocks, kThreads>>>(
        problem.d_vx.data(), problem.d_vy.data(), problem.d_vz.data(),
        problem.d_mass.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

// What the loads of each step cost, as the lesson predicts it: sectors per request, and
// requests for 32 particles.
struct PredictedLoads {
    const char* step;
    void (*run)(Particles&);
    double sectors_per_request;
    double requests_per_32;
};
constexpr std::array<PredictedLoads, 5> predicted_loads = {
    {{"energy_from_structures", from_structures, 32, 4},
     {"energy_from_structures_float4", from_structures_float4, 32, 2},
     {"energy_from_arrays", from_arrays, 4, 4},
     {"energy_from_tiles", from_tiles, 4, 4},
     {"energy_from_arrays_float4", from_arrays_float4, 16, 1}}};

// Holds the predictions against the counters, at a size without leftovers.
void expect_predicted_loads(warpwise::Lesson& lesson) {
    constexpr std::size_t count = 4096;
    Particles problem({count});
    for (const PredictedLoads& predicted : predicted_loads) {
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        const warpwise::RequestCounts& loads = counts->global_load;
        lesson.expect(loads.sectors_per_request() == predicted.sectors_per_request,
                      std::string(predicted.step) +
                          ": a load touches the predicted number of sectors");
        lesson.expect(loads.requests == predicted.requests_per_32 * count / kLanes,
                      std::string(predicted.step) + ": as many loads as predicted");
    }
}

}  // namespace

void coalescing(warpwise::Lesson& lesson) {
    lesson.question(
        R"(When a warp loads, its 32 lanes make one request, and the memory answers in
sectors: 32 bytes that begin at a multiple of 32. What does a load cost, and can that be
known before anything runs? The first three tables copy floats with gaps between the lanes,
with a shifted start, and with wider accesses.)");
    {
        SweepArrays arrays(elements_of_a_sweep(lesson));
        std::vector<Access> strides, offsets, widths;
        for (std::size_t stride = 1; stride <= SweepArrays::largest_stride; ++stride) {
            strides.push_back(
                {.stride = stride, .shown = stride <= 9 || stride == 16 || stride == 32});
        }
        for (std::size_t offset = 0; offset <= SweepArrays::largest_offset; ++offset) {
            const bool at_the_edge = offset % 8 == 0 || offset % 8 == 1 || offset % 8 == 7;
            offsets.push_back({.offset = offset, .shown = at_the_edge});
        }
        for (const std::size_t width : {sizeof(float), sizeof(float2), sizeof(float4)}) {
            widths.push_back({.width = width});
        }

        lesson.predict(
            {.question = R"(Lane k reads element k * stride. How many sectors do the 32
floats of a warp touch with stride 2?)",
             .answer =
                 warpwise::Number{
                     .value = 8,
                     .unit = "sectors",
                     .shown_by = warpwise::TableCell{"stride", {"2"}, "sectors, counted"}},
             .because = R"(They span 32 * 2 * 4 = 256 bytes, which are 8 sectors, and
every second float of them is not used.)"});
        lesson.predict(
            {.question = R"(Lane k reads element k * stride. How many sectors do the 32
floats of a warp touch with stride 32?)",
             .answer =
                 warpwise::Number{
                     .value = 32,
                     .unit = "sectors",
                     .shown_by = warpwise::TableCell{"stride", {"32"}, "sectors, counted"}},
             .because = R"(From stride 8 on, each lane has a sector of its own. 32
lanes cannot touch more than 32 sectors.)"});
        sweep(lesson, arrays, {"stride", "Lane k reads element k * stride"}, "stride",
              strides, [](const Access& access) { return std::to_string(access.stride); });
        lesson.conclusion(
            R"(32 lanes with stride s span 128 s bytes: 4 s sectors, up to stride 8, where
each lane has a sector of its own. Larger strides touch 32, too. (All strides from 1 to 32
were checked; the table shows some.) But from stride 8 to stride 16, the GB/s of an H200
fall by nearly a half: its L2 cache fetches up to two sectors at a time, and below stride
16 two lanes can share them.)");

        lesson.predict(
            {.question = R"(Now there are no gaps, but lane k reads element k + offset.
The 128 bytes would fit into 4 sectors. How many does the request touch with offset 1?)",
             .answer =
                 warpwise::Number{
                     .value = 5,
                     .unit = "sectors",
                     .shown_by = warpwise::TableCell{"offset", {"1"}, "sectors, counted"}},
             .because = R"(The request leaves out the first float of one sector, and
takes one float of a fifth.)"});
        sweep(lesson, arrays, {"offset", "Lane k reads element k + offset"}, "offset",
              offsets, [](const Access& access) { return std::to_string(access.offset); });
        lesson.conclusion(
            R"(An offset that is a multiple of 8 floats begins a sector: 4. Every other
offset cuts into one sector at each end: 5. That is a quarter more to ask for, but hardly
more to fetch, because the neighboring warp wants the same sector and often finds it in a
cache. So a shift costs far less than a stride, and on a GPU offsets of 8, 16, and 24 cost
as much as the others.)");

        lesson.predict(
            {.question = R"(Last, each lane reads 16 bytes, all side by side, and a
request touches 16 sectors. Is that bad?)",
             .answer = warpwise::Choice{{"yes, it takes four times as long per byte",
                                         "no, all these bytes were asked for",
                                         "no, because a cache holds the sectors"},
                                        1},
             .because = R"(16 sectors are 512 bytes, exactly what 32 lanes asked for.
Sectors per request mean nothing without the bytes per lane.)"});
        sweep(lesson, arrays, {"width", "Lane k reads so many bytes, side by side"},
              "bytes", widths,
              [](const Access& access) { return std::to_string(access.width); });
        lesson.conclusion(
            R"(No: 16 sectors are 512 bytes, and all of them were asked for. Sectors per
request mean nothing without the bytes that each lane asks for. Wide accesses move the
same sectors with a half and a quarter of the requests, and each thread has more bytes in
flight.)");
    }

    lesson.question(
        R"(A particle is a structure of eight floats, 32 bytes, and its kinetic energy needs
four of them: vx, vy, vz, and mass. How should many particles be laid out in memory?)");
    lesson.predict(
        {.question = R"(The structures of 32 particles lie one after the other, each
of exactly 32 bytes. How many sectors does a load of one member touch?)",
         .answer = warpwise::Number{.value = 32,
                                    .unit = "sectors",
                                    .shown_by = warpwise::sectors_per_load(
                                        "energy_from_structures")},
         .because = R"(Each member is in a sector of its own structure. When every
member has an array of its own, a load touches 4 sectors.)"});
    lesson.steps<Particles>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 16},
         .awkward = {{0},
                     {1},
                     {2},
                     {3},
                     {31},
                     {32},
                     {33},
                     {127},
                     {255},
                     {257},
                     {1009},
                     {4099},
                     {100003}}},
        {{"energy_from_structures", "array of structures, member by member",
          from_structures},
         {"energy_from_structures_float4", "the same, two float4s per particle",
          from_structures_float4},
         {"energy_from_arrays", "structure of arrays", from_arrays},
         {"energy_from_tiles", "structures of 32 floats per member", from_tiles},
         {"energy_from_arrays_float4", "structure of arrays, four particles per thread",
          from_arrays_float4}});
    expect_predicted_loads(lesson);
    lesson.conclusion(
        R"(Structures are 32 bytes apart, so each of the 4 loads of step 1 touches 32
sectors: 4096 bytes for the 512 that are needed. With one array per member, each load
touches 4. Caches soften this, but the memory still delivers 36 bytes per particle instead
of 20. Let neighboring lanes touch neighboring addresses, and let everything in between be
wanted.)");
}

}  // namespace memory_model
