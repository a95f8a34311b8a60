// Problem: read floats that lie in memory in one way or another, and write them side by side.
//
// Memory moves in sectors of 32 bytes. One load of a warp is one request, and it costs as many sectors as its 32 lanes
// touch: whoever uses 4 bytes of a sector pays for 32. So the cost of a load follows from its addresses alone, and can
// be computed before anything runs. This lesson computes it four times, for strides, offsets, widths and structures,
// and then lets the counters (on the CPU device) and the clock (on a GPU) answer.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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

constexpr unsigned kThreads = 256;
constexpr std::size_t kLanes = 32;
constexpr std::size_t kSectorBytes = 32;

// ---- strides, offsets and widths --------------------------------------------------------------------------------

// Sectors that a full warp touches when lane k asks for `width` bytes at the address first + k * stride, all in bytes.
// Up to 32 bytes apart, the lanes leave out no sector between the first and the last; further apart, no two lanes
// share one. No access may cross the end of a sector, as none does that is aligned to its own width.
constexpr std::size_t sectors_of_a_request(std::size_t first, std::size_t stride, std::size_t width) {
    if (stride > kSectorBytes) return kLanes;
    const std::size_t last = first + (kLanes - 1) * stride + width - 1;
    return last / kSectorBytes - first / kSectorBytes + 1;
}
static_assert(sectors_of_a_request(0, 4, 4) == 4 && sectors_of_a_request(4, 4, 4) == 5);
static_assert(sectors_of_a_request(0, 32, 4) == 32 && sectors_of_a_request(0, 16, 16) == 16);

// The input of the sweeps: element i holds i, in 24 bits so that a float is exact.
constexpr std::size_t kValues = std::size_t{1} << 24;

__global__ void number_elements(float* values, std::size_t count) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        values[i] = static_cast<float>(i % kValues);
    }
}

// Thread i reads element i * stride + offset and writes element i. Stores are always side by side: what changes from
// row to row of a table is the load alone.
__global__ void copy_with_gaps(const float* in, float* out, std::size_t count, std::size_t stride, std::size_t offset) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i * stride + offset];
}

// Thread i reads and writes the i-th T. The same bytes as with stride 1, in fewer and larger accesses.
template <class T>
__global__ void copy_side_by_side(const float* in, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) reinterpret_cast<T*>(out)[i] = reinterpret_cast<const T*>(in)[i];
}

// One row of a sweep: floats are copied from in[i * stride + offset], `width` bytes at a time.
struct Access {
    std::size_t stride = 1;
    std::size_t offset = 0;
    std::size_t width = sizeof(float);
    bool shown = true;  // in the table; all are checked

    std::size_t predicted_sectors() const {
        return sectors_of_a_request(offset * sizeof(float), stride * width, width);
    }
};

// The arrays of the sweeps: large enough for the largest stride and offset, and of a size that every sweep shares.
struct SweepArrays {
    static constexpr std::size_t largest_stride = 32;
    static constexpr std::size_t largest_offset = 31;

    std::size_t count;
    DeviceBuffer<float> d_in, d_out;

    explicit SweepArrays(std::size_t count_)
        : count(count_), d_in(count * largest_stride + largest_offset), d_out(count) {
        const unsigned blocks = std::min(warpwise::blocks_for(d_in.size(), kThreads),
                                         warpwise::blocks_that_fill(number_elements, kThreads));
        number_elements<<<blocks, kThreads>>>(d_in.data(), d_in.size());
        warpwise::check_launch();
    }

    void copy(const Access& access) {
        const std::size_t threads = count * sizeof(float) / access.width;
        const unsigned blocks = warpwise::blocks_for(threads, kThreads);
        if (access.width == sizeof(float4)) {
            copy_side_by_side<float4><<<blocks, kThreads>>>(d_in.data(), d_out.data(), threads);
        } else if (access.width == sizeof(float2)) {
            copy_side_by_side<float2><<<blocks, kThreads>>>(d_in.data(), d_out.data(), threads);
        } else {
            copy_with_gaps<<<blocks, kThreads>>>(d_in.data(), d_out.data(), count, access.stride, access.offset);
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

// 1024 elements are enough to count, because every request is like every other. A clock needs more: 2 GiB of input, or
// what the device's memory has room for.
std::size_t elements_of_a_sweep(const warpwise::Lesson& lesson) {
    if (!lesson.measures()) return 1024;
    std::size_t free_bytes = 0, all_bytes = 0;
    warpwise::check(cudaMemGetInfo(&free_bytes, &all_bytes));
    std::size_t count = std::size_t{1} << 24;
    while (count > 1024 && count * SweepArrays::largest_stride * sizeof(float) > free_bytes / 2) count /= 2;
    return count;
}

// Runs a sweep and prints its table: sectors by the formula, as counted (CPU device), bandwidth as measured (GPU).
void sweep(warpwise::Lesson& lesson, SweepArrays& arrays, const std::string& title, const std::string& what,
           const std::vector<Access>& accesses, std::string (*name_of)(const Access&)) {
    const bool measures = lesson.measures();
    const bool widths_differ = accesses.front().width != accesses.back().width;
    std::vector<std::string> header = {what, "sectors, predicted"};
    header.push_back(measures ? "useful GB/s" : "sectors, counted");
    header.push_back("of a sector used");
    const warpwise::Record& recorded = lesson.recorded();
    if (widths_differ) header.push_back("requests for 1024 floats");
    if (recorded) header.push_back("GB/s on an H200");

    std::vector<std::vector<std::string>> rows;
    std::vector<warpwise::Candidate> candidates;
    for (const Access& access : accesses) {
        const std::string name = name_of(access);
        const double predicted = static_cast<double>(access.predicted_sectors());
        const double lanes_for_1024 = 1024.0 * sizeof(float) / static_cast<double>(access.width);
        const double requests = lanes_for_1024 / kLanes * static_cast<double>(arrays.count) / 1024;
        warpwise::check(cudaMemset(arrays.d_out.data(), 0xFF, arrays.d_out.bytes()));
        const auto counts = lesson.count([&] { arrays.copy(access); });
        lesson.expect(arrays.holds_copy(access), what + " " + name + ": the copy is right");
        if (counts) {
            lesson.expect(counts->global_load.sectors_per_request() == predicted,
                          what + " " + name + ": a load touches the predicted number of sectors");
            lesson.expect(counts->global_load.requests == requests, what + " " + name + ": as many loads as predicted");
        }
        if (!access.shown) continue;
        const std::string counted =
            counts ? warpwise::ratio_text(counts->global_load.sectors_per_request()) : std::string("-");
        const double used = static_cast<double>(kLanes * access.width) / (predicted * kSectorBytes);
        rows.push_back({name, warpwise::ratio_text(predicted), counted, text_of("%.3g %%", 100 * used)});
        if (widths_differ) rows.back().push_back(warpwise::count_text(lanes_for_1024 / kLanes));
        if (recorded) rows.back().push_back(recorded.cell(title, {name}, "useful GB/s"));
        candidates.push_back({[&arrays, access] { arrays.copy(access); }, false});
    }
    if (measures) {
        const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(candidates, {.seconds = 0.2});
        const double bytes = 2.0 * sizeof(float) * static_cast<double>(arrays.count);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            rows[row][2] = text_of("%.0f", bytes / timings[row].median * 1e-9);
        }
    }
    lesson.table(recorded ? title + "; GB/s " + recorded.where() : title, header, rows);
}

// ---- structures --------------------------------------------------------------------------------------------------

// Eight floats, and the kinetic energy needs four of them: m / 2 (vx^2 + vy^2 + vz^2).
struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};
static_assert(sizeof(Particle) == kSectorBytes, "one particle fills one sector");

constexpr std::size_t kTile = 32;  // particles of a tile in step 4
struct ParticleTile {
    float x[kTile], y[kTile], z[kTile], vx[kTile], vy[kTile], vz[kTile], mass[kTile], charge[kTile];
};

// The same particles in three layouts, and room for their energies.
struct Particles {
    std::size_t count;
    std::vector<Particle> particles;
    DeviceBuffer<Particle> d_structures;           // array of structures
    DeviceBuffer<float> d_vx, d_vy, d_vz, d_mass;  // structure of arrays: those that the energy needs
    DeviceBuffer<ParticleTile> d_tiles;            // array of structures of short arrays
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

    // The reference in double precision. All terms are positive: two additions and two multiplications in a row round
    // by half an epsilon each, and halving is exact.
    warpwise::Comparison compare() {
        const double half_epsilon = std::numeric_limits<float>::epsilon() / 2.0;
        const auto energy = [&](std::size_t i) {
            const Particle& p = particles[i];
            const double vx = p.vx, vy = p.vy, vz = p.vz;
            return 0.5 * p.mass * (vx * vx + vy * vy + vz * vz);
        };
        return warpwise::compare_each(d_energy.download(), count, energy, {.relative = 4 * half_epsilon * (1 + 1e-6)});
    }

    // Four floats in, one out. The operations: four multiplications, two additions, and the half.
    warpwise::Work work() const { return {.bytes = 5.0 * sizeof(float) * count, .operations = 7.0 * count}; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        const std::size_t tiles = warpwise::ceil_div(size[0], kTile);
        return size[0] * (sizeof(Particle) + 5 * sizeof(float)) + tiles * sizeof(ParticleTile);
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

__device__ float energy_of(float vx, float vy, float vz, float mass) {
    return 0.5f * mass * (vx * vx + vy * vy + vz * vz);
}

// Step 1, the particles as one would write them on a CPU: an array of structures, where all of one particle shares a
// cache line. But a warp asks for one member of 32 particles at a time, 32 bytes apart: each of the four loads touches
// 32 sectors and uses an eighth of them. The cache may keep them for the next three loads. What it cannot do is leave
// out x, y, z and charge, which come along from memory and go to waste.
__global__ void energy_from_structures(const Particle* particles, float* energy, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Particle& p = particles[i];
    energy[i] = energy_of(p.vx, p.vy, p.vz, p.mass);
}

void from_structures(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_structures<<<blocks, kThreads>>>(problem.d_structures.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

// Step 2, the same layout with 16 bytes an access: two loads a thread fetch the whole particle, instead of four that
// fetch half of it. Better: half of the requests, and so half of the sectors that they ask for. Slow: each request
// still touches 32 sectors, since lanes stand 32 bytes apart, and the memory still delivers all eight members.
__global__ void energy_from_structures_float4(const Particle* particles, float* energy, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const auto* halves = reinterpret_cast<const float4*>(particles);
    const float4 first = halves[2 * i];       // x, y, z, vx
    const float4 second = halves[2 * i + 1];  // vy, vz, mass, charge
    energy[i] = energy_of(first.w, second.x, second.y, second.z);
}

void from_structures_float4(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_structures_float4<<<blocks, kThreads>>>(problem.d_structures.data(), problem.d_energy.data(),
                                                        problem.count);
    warpwise::check_launch();
}

// Step 3, a structure of arrays: one array for each member. Neighboring lanes now read neighboring floats, 4 sectors a
// request with every byte used, and members that nobody asks for stay where they are.
// Slow: four loads of 4 bytes each a thread; and code that needs all of one particle has to visit eight places.
__global__ void energy_from_arrays(const float* vx, const float* vy, const float* vz, const float* mass, float* energy,
                                   std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    energy[i] = energy_of(vx[i], vy[i], vz[i], mass[i]);
}

void from_arrays(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_arrays<<<blocks, kThreads>>>(problem.d_vx.data(), problem.d_vy.data(), problem.d_vz.data(),
                                             problem.d_mass.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

// Step 4, between the two: an array of structures of 32 floats for each member. A warp finds each member side by side,
// as in step 3, and all of its 32 particles within one kilobyte, as in step 1. One pointer, one allocation.
// Slow: as step 3. And every index is two now, i / 32 and i % 32.
__global__ void energy_from_tiles(const ParticleTile* tiles, float* energy, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const ParticleTile& tile = tiles[i / kTile];
    const std::size_t k = i % kTile;
    energy[i] = energy_of(tile.vx[k], tile.vy[k], tile.vz[k], tile.mass[k]);
}

void from_tiles(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count, kThreads);
    energy_from_tiles<<<blocks, kThreads>>>(problem.d_tiles.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

// Step 5, the arrays of step 3 with 16 bytes an access: a thread takes four particles. A request touches 16 sectors and
// uses all of them, so that a quarter of the requests moves the same bytes, and 64 bytes a thread are under way.
// The particles after the last multiple of four get one thread each.
__global__ void energy_from_arrays_float4(const float* vx, const float* vy, const float* vz, const float* mass,
                                          float* energy, std::size_t count) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = count / 4;
    if (thread < fours) {
        const float4 x = reinterpret_cast<const float4*>(vx)[thread];
        const float4 y = reinterpret_cast<const float4*>(vy)[thread];
        const float4 z = reinterpret_cast<const float4*>(vz)[thread];
        const float4 m = reinterpret_cast<const float4*>(mass)[thread];
        reinterpret_cast<float4*>(energy)[thread] =
            make_float4(energy_of(x.x, y.x, z.x, m.x), energy_of(x.y, y.y, z.y, m.y), energy_of(x.z, y.z, z.z, m.z),
                        energy_of(x.w, y.w, z.w, m.w));
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i < count) energy[i] = energy_of(vx[i], vy[i], vz[i], mass[i]);
}

void from_arrays_float4(Particles& problem) {
    const unsigned blocks = warpwise::blocks_for(problem.count / 4 + problem.count % 4, kThreads);
    energy_from_arrays_float4<<<blocks, kThreads>>>(problem.d_vx.data(), problem.d_vy.data(), problem.d_vz.data(),
                                                    problem.d_mass.data(), problem.d_energy.data(), problem.count);
    warpwise::check_launch();
}

// What each step's loads cost, as the text predicts it: sectors a request, and requests for 32 particles.
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
                      std::string(predicted.step) + ": a load touches the predicted number of sectors");
        lesson.expect(loads.requests == predicted.requests_per_32 * count / kLanes,
                      std::string(predicted.step) + ": as many loads as predicted");
    }
}

}  // namespace

void coalescing(warpwise::Lesson& lesson) {
    lesson.text(
        R"(When a warp loads, its 32 lanes make one request. The memory answers in sectors, pieces of 32 bytes that
begin at multiples of 32. If the lanes want bytes of the same few sectors, the request is coalesced; if each wants
another sector, 32 of them move, whatever is used of them.

What you will see: the same copy with gaps between the lanes, with a shifted start, and with wider accesses; then
particles in an array of structures and in a structure of arrays.

The addresses tell the cost beforehand. Lane k reads element k * stride. Before you look: how many sectors are 32
floats with stride 1, 2, 4, 8? And from which stride on does it no longer matter how large it is?)");

    {
        SweepArrays arrays(elements_of_a_sweep(lesson));
        std::vector<Access> strides, offsets, widths;
        for (std::size_t stride = 1; stride <= SweepArrays::largest_stride; ++stride) {
            strides.push_back({.stride = stride, .shown = stride <= 9 || stride == 16 || stride == 32});
        }
        for (std::size_t offset = 0; offset <= SweepArrays::largest_offset; ++offset) {
            const bool at_the_edge = offset % 8 == 0 || offset % 8 == 1 || offset % 8 == 7;
            offsets.push_back({.offset = offset, .shown = at_the_edge});
        }
        for (const std::size_t width : {sizeof(float), sizeof(float2), sizeof(float4)}) {
            widths.push_back({.width = width});
        }

        sweep(lesson, arrays, "Lane k reads element k * stride", "stride", strides,
              [](const Access& access) { return std::to_string(access.stride); });
        lesson.text(
            R"(32 lanes with stride s span 128 s bytes: 4 s sectors, up to stride 8, where each lane has a sector of
its own. Beyond that it stays at 32: the gaps only grow over sectors that nobody asks for. (All strides from 1 to 32
were run; the table leaves out what repeats itself.)

The clock is less patient. On an H200 stride 2 loses little, 2128 GB/s after 2441: with one load of 4 bytes a thread,
stride 1 did not take all that the memory has to give. And from stride 8 to 16 the copy slows down from 928 to 500
GB/s, although the sectors stay 32. When the L2 cache lacks a sector, it may fetch more from memory than it was asked
for, and cudaLimitMaxL2FetchGranularity was 64 bytes on this H200. From stride 16 on each lane has 64 bytes of its own,
and little changes: 442 GB/s at stride 32. (An experiment confirmed this: with the limit set to 32, most of the fall
from stride 8 to 16 is gone. Its figures are in docs/results/causes_h200.md.)

Now the gaps are gone, and the start is shifted: lane k reads element k + offset. It is 128 bytes again, so 4 sectors
would hold them. How many does the request touch for offset 1? And which offsets cost nothing?)");
        sweep(lesson, arrays, "Lane k reads element k + offset", "offset", offsets,
              [](const Access& access) { return std::to_string(access.offset); });
        lesson.text(
            R"(A multiple of 8 floats is a multiple of 32 bytes, and starts a sector: 4. Every other start cuts into
one sector in front and one behind: 5. One more in each request is a quarter more to ask for, but not a quarter more
to fetch: the sector that was cut is the neighboring warp's as well, and who comes second often finds it in a cache.
So a shift costs far less than a stride: 3 % on an H200. And the same 3 % for 8, 16 and 24, which touch 4 sectors. So
it is not the fifth sector that costs. Each of these requests reaches into two cache lines of 128 bytes, and that of
offset 0 into one; but that is not the whole reason. In an experiment (docs/results/causes_h200.md) an offset of 32,
which is a whole cache line, cost more than half as much, and offsets of 64, 128 and 256 cost nothing. The arrays
that cudaMalloc returns start at multiples of 256 bytes; rows and parts of them need not (lesson pitched_memory).

Last, the width: 4, 8 or 16 bytes a lane, all side by side. Is a request of 16 sectors bad?)");
        sweep(lesson, arrays, "Lane k reads so many bytes, side by side", "bytes", widths,
              [](const Access& access) { return std::to_string(access.width); });
        lesson.text(
            R"(No: 16 sectors are 512 bytes, and all of them were asked for. Sectors a request tell nothing without
the bytes a lane asks for; 4, 8 and 16 are the least for 4, 8 and 16 bytes. Wide accesses move the same sectors with
a half and a quarter of the requests, and each thread has 8 or 16 bytes under way instead of 4. That is what a copy on
an H200 lacked: 2433 GB/s with 4 bytes a lane, 3446 with 8, 3782 with 16.)");
    }

    lesson.text(
        R"(Now to data that have a shape. A particle is a structure of eight floats, 32 bytes, and its kinetic energy
needs four of them: vx, vy, vz and mass. Predict, for 32 particles: how many loads, and how many sectors each, when
the structures lie one behind the other? And when every member has an array of its own?)");
    lesson.steps<Particles>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 16},
         .awkward = {{0}, {1}, {2}, {3}, {31}, {32}, {33}, {127}, {255}, {257}, {1009}, {4099}, {100003}}},
        {{"energy_from_structures", "array of structures, member by member", from_structures},
         {"energy_from_structures_float4", "the same, two float4s a particle", from_structures_float4},
         {"energy_from_arrays", "structure of arrays", from_arrays},
         {"energy_from_tiles", "structures of 32 floats a member", from_tiles},
         {"energy_from_arrays_float4", "structure of arrays, four particles a thread", from_arrays_float4}});
    expect_predicted_loads(lesson);

    lesson.text(
        R"(With structures, lanes stand 32 bytes apart, one sector each. Step 1 makes 4 loads of 32 sectors: 128
sectors, 4096 bytes, for the 512 that it needs. Step 2 makes 2 of 32. With an array a member there are 4 loads of 4
sectors, and no byte too many; tiles are the same to a warp. Step 5 makes a single load of each array for 128
particles, 16 sectors each.)");
    if (lesson.measures()) {
        lesson.text(
            R"(What the clock makes of it. From structures, the memory delivers 32 bytes a particle, because the
cache keeps a sector until the other three loads have come; with what is written that is 36 bytes instead of 20, so
steps 1 and 2 cannot come above 20 / 36 = 0.56 of what the memory delivers. That may be a little more than the roof,
which reads and writes alike: where four times as much is read as written, an H200 was 4 % above it (step 5), and so
steps 1 and 2 stood at 0.58. The arrays come to 0.97 and more. Half the requests gain step 2 hardly anything, 548
microseconds instead of 552: the bytes decide.)");
    } else {
        lesson.text(
            R"(On a GPU the caches soften this: step 1 fetches a sector once and finds it again for the other three
members. But x, y, z and charge come along all the same, 36 bytes a particle instead of 20, so that steps 1 and 2 stay
below 20 / 36 = 0.56 of the memory's speed whatever else they do. The counters see requests, not caches: they tell
what a kernel asks for.)");
    }
    lesson.text(
        R"(The rule to take along: let neighboring lanes touch neighboring addresses, and let all that lies in
between be wanted.

Mistakes to avoid: giving each thread a stretch of its own to walk along, as one would on a CPU (that is a stride as
long as the stretch); an array of structures for kernels that use a few members; float4 at addresses that are no
multiples of 16; taking 16 sectors a request for bad without asking how wide the access is.

Try next: --lines shows which line asks for how much. Then add x * vx to the energy: which steps ask for more, which
for the same?

    memory_model coalescing --lines
    memory_model coalescing --size 1000003)");
}

}  // namespace memory_model
