// cuRAND's host interface. The orders in which the generators of many threads share an array are those of the legacy
// ordering: its documentation describes them, and the host generators of NVIDIA's library show them.
#include "curand.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "common/cpu_device/src/device_work.h"
#include "common/cpu_device/src/operands.h"
#include "xorwow.h"

using cpu_device::ApiCall;
using cpu_device::curand::Xorwow;

namespace {

constexpr std::uint64_t xorwow_threads = 4096;
constexpr std::uint64_t philox_threads = 65536;

float uniform(std::uint32_t x) {
    constexpr float scale = 2.3283064e-10f;
    return static_cast<float>(x) * scale + scale / 2.0f;
}
double uniform(std::uint32_t x, std::uint32_t y) {
    constexpr double scale = 1.1102230246251565e-16;
    return static_cast<double>(x ^ static_cast<std::uint64_t>(y) << 21) * scale + scale / 2.0;
}

template <class T>
using Pair = std::array<T, 2>;

/// Box and Muller: two normal values of two uniform ones.
Pair<float> normal_pair(std::uint32_t x, std::uint32_t y) {
    constexpr float turn = 2.3283064e-10f * 6.2831855f;
    const float length = std::sqrt(-2.0f * std::log(uniform(x)));
    const float angle = static_cast<float>(y) * turn + turn / 2;
    return {std::sin(angle) * length, std::cos(angle) * length};
}
Pair<double> normal_pair(std::uint32_t x0, std::uint32_t x1, std::uint32_t y0, std::uint32_t y1) {
    constexpr double scale = 1.1102230246251565e-16;
    const double length = std::sqrt(-2.0 * std::log(uniform(x0, x1)));
    const double half_turns = static_cast<double>(y0 ^ static_cast<std::uint64_t>(y1) << 21) * (2.0 * scale) + scale;
    return {std::sin(half_turns * std::numbers::pi) * length, std::cos(half_turns * std::numbers::pi) * length};
}

using Block = std::array<std::uint32_t, 4>;

Block philox_block(std::uint64_t number, std::uint64_t sequence, std::uint64_t seed) {
    Block counter = {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                     static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(sequence >> 32)};
    std::uint32_t key0 = static_cast<std::uint32_t>(seed);
    std::uint32_t key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(first)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

}  // namespace

struct curandGenerator_st {
    bool is_philox = false;
    bool for_host = false;
    std::uint64_t seed = 0;
    std::uint64_t offset = 0;
    std::uint64_t next = 0;         ///< XORWOW: the number of the thread that comes, Philox: of the value
    std::vector<Xorwow> threads{};  /// of XORWOW; empty until they are seeded
    cudaStream_t stream = nullptr;

    void start_over() {
        threads.clear();
        next = offset;
    }

    void seed_threads() {
        if (is_philox || !threads.empty()) return;
        threads.reserve(xorwow_threads);
        for (std::uint64_t thread = 0; thread < xorwow_threads; ++thread) {
            const std::uint64_t turns = offset / xorwow_threads + (thread < offset % xorwow_threads ? 1 : 0);
            threads.emplace_back(seed, thread, turns);
        }
    }

    Xorwow& next_thread() { return threads[next++ % xorwow_threads]; }

    /// Where the value with this number comes from: a thread, its turn, and one of four.
    Block philox(std::uint64_t value, std::uint64_t blocks_per_turn, std::uint64_t block) const {
        const std::uint64_t turn = value / 4 / philox_threads;
        return philox_block(turn * blocks_per_turn + block, value / 4 % philox_threads, seed);
    }

    std::uint32_t next_number() {
        if (!is_philox) return next_thread().next();
        const std::uint64_t value = next++;
        return philox(value, 1, 0)[value % 4];
    }
    double next_uniform_double() {
        if (is_philox) {
            const std::uint64_t value = next++, half = value % 4 / 2, first = 2 * (value % 2);
            const Block block = philox(value, 2, half);
            return uniform(block[first], block[first + 1]);
        }
        Xorwow& thread = next_thread();
        const std::uint32_t x = thread.next();
        return uniform(x, thread.next());
    }

    // Normal values of XORWOW come in pairs, and those of Philox one by one.
    void normal(float* values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            if (is_philox) {
                const std::uint64_t value = next++, first = value % 4 / 2 * 2;
                const Block block = philox(value, 1, 0);
                values[i] = normal_pair(block[first], block[first + 1])[value % 2];
            } else {
                Xorwow& thread = next_thread();
                const std::uint32_t x = thread.next();
                const Pair<float> pair = normal_pair(x, thread.next());
                values[i] = pair[0];
                values[++i] = pair[1];
            }
        }
    }
    void normal(double* values, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            if (is_philox) {
                const std::uint64_t value = next++;
                const Block block = philox(value, 2, value % 4 / 2);
                values[i] = normal_pair(block[0], block[1], block[2], block[3])[value % 2];
            } else {
                Xorwow& thread = next_thread();
                const std::uint32_t x0 = thread.next(), x1 = thread.next(), y0 = thread.next();
                const Pair<double> pair = normal_pair(x0, x1, y0, thread.next());
                values[i] = pair[0];
                values[++i] = pair[1];
            }
        }
    }
};

namespace {

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool for_host, const ApiCall& call) {
    if (generator == nullptr) return CURAND_STATUS_INTERNAL_ERROR;
    const bool is_xorwow = type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW;
    if (!is_xorwow && type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        const char* name = type == CURAND_RNG_PSEUDO_MRG32K3A  ? "cuRAND's generator MRG32K3A"
                           : type == CURAND_RNG_PSEUDO_MTGP32  ? "cuRAND's generator MTGP32"
                           : type == CURAND_RNG_PSEUDO_MT19937 ? "cuRAND's generator MT19937"
                                                               : "cuRAND's quasirandom generators";
        cpu_device::unsupported(name, place_of(call),
                                "CURAND_RNG_PSEUDO_XORWOW and CURAND_RNG_PSEUDO_PHILOX4_32_10 are there");
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{.is_philox = !is_xorwow, .for_host = for_host};
    return CURAND_STATUS_SUCCESS;
}

/// `fill(generator)` writes `count` values, if the memory is what the generator needs.
template <class T, class Fill>
curandStatus_t generate(curandGenerator_t generator, T* values, std::size_t count, const ApiCall& call,
                        const Fill& fill) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (count == 0) return CURAND_STATUS_SUCCESS;
    (void)cpu_device::finish_device();
    if (cpu_device::is_captured(generator->stream)) {
        cpu_device::unsupported("the capture of cuRAND in a graph", cpu_device::place_of(call));
        return CURAND_STATUS_INTERNAL_ERROR;
    }
    if (generator->for_host ? values == nullptr : !is_for_device(call, "output", values, count * sizeof(T))) {
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    generator->seed_threads();
    fill(*generator);
    cpu_device::note_result(values, count * sizeof(T));
    return CURAND_STATUS_SUCCESS;
}

template <class T>
curandStatus_t generate_normal(curandGenerator_t generator, T* values, std::size_t count, T mean, T stddev,
                               bool take_exponential, const ApiCall& call) {
    if (generator != nullptr && !generator->is_philox && count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(generator, values, count, call, [&](curandGenerator_st& all) {
        all.normal(values, count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = mean + stddev * values[i];
            if (take_exponential) values[i] = std::exp(values[i]);
        }
    });
}

}  // namespace

// Each function knows the code that called it.
#define HERE(name) \
    ApiCall { name, {}, __builtin_return_address(0) }

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
    return create(generator, type, false, HERE("curandCreateGenerator"));
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
    return create(generator, type, true, HERE("curandCreateGeneratorHost"));
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
    if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
    if (value == nullptr || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed;
    generator->start_over();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    generator->start_over();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (order < CURAND_ORDERING_PSEUDO_BEST || order > CURAND_ORDERING_PSEUDO_DYNAMIC)
        return CURAND_STATUS_OUT_OF_RANGE;
    generator->start_over();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed_threads();
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* values, size_t count) {
    return generate(generator, values, count, HERE("curandGenerate"), [&](curandGenerator_st& all) {
        for (size_t i = 0; i < count; ++i) values[i] = all.next_number();
    });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* values, size_t count) {
    return generate(generator, values, count, HERE("curandGenerateUniform"), [&](curandGenerator_st& all) {
        for (size_t i = 0; i < count; ++i) values[i] = uniform(all.next_number());
    });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* values, size_t count) {
    return generate(generator, values, count, HERE("curandGenerateUniformDouble"), [&](curandGenerator_st& all) {
        for (size_t i = 0; i < count; ++i) values[i] = all.next_uniform_double();
    });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                    float stddev) {
    return generate_normal(generator, values, count, mean, stddev, false, HERE("curandGenerateNormal"));
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                          double stddev) {
    return generate_normal(generator, values, count, mean, stddev, false, HERE("curandGenerateNormalDouble"));
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* values, size_t count, float mean,
                                       float stddev) {
    return generate_normal(generator, values, count, mean, stddev, true, HERE("curandGenerateLogNormal"));
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* values, size_t count, double mean,
                                             double stddev) {
    return generate_normal(generator, values, count, mean, stddev, true, HERE("curandGenerateLogNormalDouble"));
}
