// How long a load takes: kernels that follow a chain, in which each word says where the
// next one is. The places are in random order, and the last one leads back to the first. A
// thread cannot begin a load before it has the result of the one before. So n loads take n
// times the latency, which neither bandwidth nor other warps can hide.
#pragma once

#include <cstddef>

namespace memory_model {
namespace {

struct Loads {
    int warm;   // not timed: they fill caches and translation buffers
    int timed;  // a multiple of 16
};

struct Trip {
    long long cycles;
    unsigned long long end;  // where the chain had led
};

// Fixed loops: the measured time is that of the loads, and of a few instructions that count
// them and form addresses. When the clock is read again, the last load may still be in
// flight: one in thousands.
template <class Place, class Load>
__device__ Trip follow(Place place, Loads loads, const Load& load) {
    for (int i = 0; i < loads.warm; ++i) place = load(place);
    const long long begin = clock64();
#pragma unroll 16
    for (int i = 0; i < loads.timed; ++i) place = load(place);
    return {clock64() - begin, static_cast<unsigned long long>(place)};
}

// Not a load: a multiplication and an addition in registers, each of which needs the result
// of the one before.
__global__ void follow_registers(unsigned factor, unsigned summand, Loads loads,
                                 Trip* trip) {
    *trip = follow(0u, loads, [=](unsigned place) { return place * factor + summand; });
}

// Words of the chains in small memories: 1 KiB, which fits the first constant cache.
constexpr std::size_t kSmallChain = 256;
__constant__ unsigned constant_chain[kSmallChain];

// The word at a place that is counted in bytes, so that no multiplication stands between
// two loads.
__device__ unsigned word_at(const unsigned* words, unsigned place) {
    return *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(words) + place);
}

__global__ void follow_shared(const unsigned* chain, Loads loads, Trip* trip) {
    __shared__ unsigned words[kSmallChain];
    for (std::size_t k = 0; k < kSmallChain; ++k) words[k] = chain[k];
    *trip = follow(0u, loads, [&](unsigned place) { return word_at(words, place); });
}

__global__ void follow_local(const unsigned* chain, Loads loads, Trip* trip) {
    unsigned words[kSmallChain];
    for (std::size_t k = 0; k < kSmallChain; ++k) words[k] = chain[k];
    *trip = follow(0u, loads, [&](unsigned place) { return word_at(words, place); });
}

__global__ void follow_constant(Loads loads, Trip* trip) {
    *trip =
        follow(0u, loads, [](unsigned place) { return word_at(constant_chain, place); });
}

__global__ void follow_texture(cudaTextureObject_t chain, Loads loads, Trip* trip) {
    *trip = follow(0, loads, [=](int place) {
        return static_cast<int>(tex1Dfetch<unsigned>(chain, place));
    });
}

// Here places are addresses. This load may stop at the L1 cache ...
__global__ void follow_through_l1(const unsigned long long* chain, Loads loads,
                                  Trip* trip) {
    const auto load = [](unsigned long long place) {
        return __ldca(reinterpret_cast<const unsigned long long*>(place));
    };
    *trip = follow(reinterpret_cast<unsigned long long>(chain), loads, load);
}

// ... and this one always goes to the L2 cache, and beyond it if the word is not there.
__global__ void follow_through_l2(const unsigned long long* chain, Loads loads,
                                  Trip* trip) {
    const auto load = [](unsigned long long place) {
        return __ldcg(reinterpret_cast<const unsigned long long*>(place));
    };
    *trip = follow(reinterpret_cast<unsigned long long>(chain), loads, load);
}

// How fast the SMs' clock runs while there is work: the cycles of a kernel that does
// nothing but wait, divided by its time.
__global__ void wait_for_cycles(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

}  // namespace
}  // namespace memory_model
