// The kernels of the lesson coalescing that compute energies of particles, in the order of
// the steps, and the layouts that they read.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace memory_model {
namespace {

// Eight floats, and the kinetic energy needs four of them: m / 2 (vx^2 + vy^2 + vz^2).
struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};
static_assert(sizeof(Particle) == 32, "one particle fills one sector");

constexpr std::size_t kTile = 32;  // particles of a tile in step 4
struct ParticleTile {
    float x[kTile], y[kTile], z[kTile], vx[kTile], vy[kTile], vz[kTile], mass[kTile],
        charge[kTile];
};

__device__ float energy_of(float vx, float vy, float vz, float mass) {
    return 0.5f * mass * (vx * vx + vy * vy + vz * vz);
}

// Step 1, the particles as one would write them on a CPU: an array of structures, in which
// all members of a particle share a cache line. But a warp asks for one member of 32
// particles at a time, and these are 32 bytes apart: each of the four loads touches 32
// sectors and uses an eighth of them.
// Slow because x, y, z, and charge come along from memory and are never used, although the
// cache may keep the sectors for the next three loads.
__global__ void energy_from_structures(const Particle* particles, float* energy,
                                       std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Particle& p = particles[i];
    energy[i] = energy_of(p.vx, p.vy, p.vz, p.mass);
}

// Step 2, the same layout with 16 bytes per access: two loads per thread fetch the whole
// particle, instead of four that fetch half of it.
// This could be faster because it has half of the requests, and so asks for half of the
// sectors. Still slow because each request touches 32 sectors (lanes are 32 bytes apart),
// and the memory still delivers all eight members.
__global__ void energy_from_structures_float4(const Particle* particles, float* energy,
                                              std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const auto* halves = reinterpret_cast<const float4*>(particles);
    const float4 first = halves[2 * i];       // x, y, z, vx
    const float4 second = halves[2 * i + 1];  // vy, vz, mass, charge
    energy[i] = energy_of(first.w, second.x, second.y, second.z);
}

// Step 3, a structure of arrays: one array per member.
// Faster because neighboring lanes read neighboring floats, 4 sectors per request with
// every byte used, and members that nobody asks for are not fetched. Still slow because
// each thread makes four loads of only 4 bytes. And code that needs all of one particle has
// to visit eight places.
__global__ void energy_from_arrays(const float* vx, const float* vy, const float* vz,
                                   const float* mass, float* energy, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    energy[i] = energy_of(vx[i], vy[i], vz[i], mass[i]);
}

// Step 4, between the two: an array of structures of 32 floats per member. A warp finds
// each member side by side, as in step 3, and all of its 32 particles within one kilobyte,
// as in step 1. One pointer, one allocation.
// Still slow, for the same reason as step 3. And every index consists of two now, i / 32
// and i % 32.
__global__ void energy_from_tiles(const ParticleTile* tiles, float* energy,
                                  std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const ParticleTile& tile = tiles[i / kTile];
    const std::size_t k = i % kTile;
    energy[i] = energy_of(tile.vx[k], tile.vy[k], tile.vz[k], tile.mass[k]);
}

// Step 5, the arrays of step 3 with 16 bytes per access: a thread takes four particles. The
// particles after the last multiple of four get one thread each.
// Faster because a request touches 16 sectors and uses all of them, so that a quarter of
// the requests moves the same bytes, and each thread has 64 bytes in flight.
__global__ void energy_from_arrays_float4(const float* vx, const float* vy, const float* vz,
                                          const float* mass, float* energy,
                                          std::size_t count) {
    const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t fours = count / 4;
    if (thread < fours) {
        const float4 x = reinterpret_cast<const float4*>(vx)[thread];
        const float4 y = reinterpret_cast<const float4*>(vy)[thread];
        const float4 z = reinterpret_cast<const float4*>(vz)[thread];
        const float4 m = reinterpret_cast<const float4*>(mass)[thread];
        reinterpret_cast<float4*>(energy)[thread] =
            make_float4(energy_of(x.x, y.x, z.x, m.x), energy_of(x.y, y.y, z.y, m.y),
                        energy_of(x.z, y.z, z.z, m.z), energy_of(x.w, y.w, z.w, m.w));
        return;
    }
    const std::size_t i = 4 * fours + (thread - fours);
    if (i < count) energy[i] = energy_of(vx[i], vy[i], vz[i], mass[i]);
}

}  // namespace
}  // namespace memory_model
