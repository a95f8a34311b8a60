// Problem: a table of 32 floats is looked up n times, out[i] = table[key[i]]. Where should the table be?
//
// A program can keep it in eight kinds of memory. They differ in who sees it (scope), how long it is there (lifetime),
// who may write it, and how long a load takes. This lesson looks the table up in each of them, counts what that asks
// for, shows what is still there in the next launch, and on a GPU measures how long a load takes, by following chains
// in which each load says where the next one is.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "chapters/2_memory_model/lessons.h"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"

namespace memory_model {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 32;

// Page-locked memory of the host, mapped into the addresses of the device: the host uses data(), kernels use device().
// (Page-locked and mapped are two kinds of use. Today's drivers map all page-locked memory anyway.)
template <class T>
class HostArray {
public:
    explicit HostArray(std::size_t count) : count_(count) {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T), cudaHostAllocMapped));
        data_ = static_cast<T*>(memory);
    }
    ~HostArray() { (void)cudaFreeHost(data_); }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;

    T* data() { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    std::size_t bytes() const { return count_ * sizeof(T); }

    T* device() {
        void* pointer = nullptr;
        check(cudaHostGetDevicePointer(&pointer, data_, 0));
        return static_cast<T*>(pointer);
    }

private:
    std::size_t count_;
    T* data_ = nullptr;
};

// A texture over an array in global memory: another way to read it, through the texture unit.
class Texture {
public:
    template <class T>
    explicit Texture(DeviceBuffer<T>& values) {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = values.data();
        resource.res.linear.desc = cudaCreateChannelDesc<T>();
        resource.res.linear.sizeInBytes = values.bytes();
        const cudaTextureDesc description = {};
        check(cudaCreateTextureObject(&object_, &resource, &description, nullptr));
    }
    ~Texture() { (void)cudaDestroyTextureObject(object_); }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    cudaTextureObject_t object() const { return object_; }

private:
    cudaTextureObject_t object_ = 0;
};

// ---- one table in eight places -----------------------------------------------------------------------------------

constexpr std::size_t kEntries = 32;

__constant__ float constant_table[kEntries];

// The keys, room for the result, and the table in all its places.
struct LookUp {
    std::size_t count;
    std::vector<float> table;
    std::vector<int> keys;
    DeviceBuffer<float> d_table, d_copy, d_out;
    DeviceBuffer<int> d_keys;
    Texture texture;
    HostArray<float> host_table;

    explicit LookUp(const warpwise::Size& size)
        : count(size[0]),
          table(warpwise::uniform<float>(kEntries, 21)),
          keys(warpwise::uniform_integers(count, 22, 0, kEntries - 1)),
          d_table(table),
          d_copy(kEntries),
          d_out(count),
          d_keys(keys),
          texture(d_table),
          host_table(kEntries) {
        check(cudaMemcpyToSymbol(constant_table, table.data(), kEntries * sizeof(float)));
        std::copy(table.begin(), table.end(), host_table.data());
    }

    void poison() {
        d_out.fill_bytes(0xFF);
        d_copy.fill_bytes(0xFF);
    }

    // Nothing is computed, so nothing is rounded.
    warpwise::Comparison compare() {
        const auto entry = [&](std::size_t i) { return double{table[static_cast<std::size_t>(keys[i])]}; };
        return warpwise::compare_each(d_out.download(), count, entry);
    }

    warpwise::Work work() const { return {.bytes = (sizeof(int) + sizeof(float)) * static_cast<double>(count)}; }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (sizeof(int) + sizeof(float)) * size[0] + 2 * kEntries * sizeof(float);
    }

    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }
};

// Step 1, registers. A register belongs to one lane and has no address, so a table in registers cannot be indexed. But
// the lanes of a warp can hand each other registers: every lane keeps one entry and asks the lane that has its own.
// All lanes must take part, those behind the end too.
__global__ void look_up_registers(const float* table, const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const float entry = table[threadIdx.x % kLanes];
    const int key = i < count ? keys[i] : 0;
    const float value = __shfl_sync(0xFFFFFFFF, entry, key);
    if (i < count) out[i] = value;
}

void in_registers(LookUp& problem) {
    look_up_registers<<<problem.blocks(), kThreads>>>(problem.d_table.data(), problem.d_keys.data(),
                                                      problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Step 2, local memory. An array of a thread's own, indexed by what only the run will tell, cannot be in registers: the
// compiler puts it into local memory, which is global memory that only this thread addresses, behind the L1 cache.
// Slow: each thread fills a copy of all 32 entries to use one of them. (So obvious a waste that nvcc, if it unrolls the
// loop, keeps the copy out of memory; the pragma forbids that.)
__global__ void look_up_local(const float* table, const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float copy[kEntries];
#pragma unroll 1
    for (std::size_t k = 0; k < kEntries; ++k) copy[k] = table[k];
    out[i] = copy[keys[i]];
}

void in_local_memory(LookUp& problem) {
    look_up_local<<<problem.blocks(), kThreads>>>(problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(),
                                                  problem.count);
    warpwise::check_launch();
}

// Step 3, shared memory: one copy a block, which all its threads see. One warp fills it, and nobody reads before all
// have passed the barrier. It is gone when the block ends, so every block fills its own.
__global__ void look_up_shared(const float* table, const int* keys, float* out, std::size_t count) {
    __shared__ float copy[kEntries];
    if (threadIdx.x < kEntries) copy[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = copy[keys[i]];
}

void in_shared_memory(LookUp& problem) {
    look_up_shared<<<problem.blocks(), kThreads>>>(problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(),
                                                   problem.count);
    warpwise::check_launch();
}

// Step 4, global memory: one copy for all threads of all launches, until somebody frees it. Nothing has to be filled,
// and after the first time the L1 cache has the table's four sectors.
__global__ void look_up_global(const float* table, const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = table[keys[i]];
}

void in_global_memory(LookUp& problem) {
    look_up_global<<<problem.blocks(), kThreads>>>(problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(),
                                                   problem.count);
    warpwise::check_launch();
}

// Step 5, constant memory: kernels only read it, and a cache of its own delivers one address at a time to a whole warp.
// Slow here, where lanes have different keys: every different key of a warp is a pass.
__global__ void look_up_constant(const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = constant_table[keys[i]];
}

void in_constant_memory(LookUp& problem) {
    look_up_constant<<<problem.blocks(), kThreads>>>(problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Step 6, texture: the global table, read through the texture unit. Nothing is gained by it here; texture_laplace tells
// what the unit can do beyond a load.
__global__ void look_up_texture(cudaTextureObject_t table, const int* keys, float* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tex1Dfetch<float>(table, keys[i]);
}

void in_texture(LookUp& problem) {
    look_up_texture<<<problem.blocks(), kThreads>>>(problem.texture.object(), problem.d_keys.data(),
                                                    problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Step 7, page-locked memory of the host. The device's copy engine reaches it without help of the processor, so that
// the copy is queued like a kernel, and the host goes on. The kernel is that of step 4 and reads the copy.
void in_page_locked_memory(LookUp& problem) {
    check(cudaMemcpyAsync(problem.d_copy.data(), problem.host_table.data(), problem.host_table.bytes(),
                          cudaMemcpyHostToDevice));
    look_up_global<<<problem.blocks(), kThreads>>>(problem.d_copy.data(), problem.d_keys.data(), problem.d_out.data(),
                                                   problem.count);
    warpwise::check_launch();
}

// Step 8, mapped memory of the host: the same kernel once more, and its loads go over the bus. No copy, and host and
// device see each other's writes. Slow: whatever no cache of the device keeps crosses the bus again. (This table is
// small and is kept.)
void in_mapped_memory(LookUp& problem) {
    look_up_global<<<problem.blocks(), kThreads>>>(problem.host_table.device(), problem.d_keys.data(),
                                                   problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Holds the predictions against the counters, at a size without leftovers.
void expect_predicted_requests(warpwise::Lesson& lesson) {
    LookUp problem({4096});
    const double warps = 4096.0 / kLanes, blocks = 4096.0 / kThreads;
    double different_keys = 0, sectors_of_keys = 0;
    for (std::size_t first = 0; first < problem.count; first += kLanes) {
        std::set<int> keys, sectors;
        for (std::size_t i = first; i < first + kLanes; ++i) {
            keys.insert(problem.keys[i]);
            sectors.insert(problem.keys[i] / 8);
        }
        different_keys += static_cast<double>(keys.size());
        sectors_of_keys += static_cast<double>(sectors.size());
    }
    struct Predicted {
        const char* step;
        void (*run)(LookUp&);
        double loads;    // of global memory, the keys' included
        double sectors;  // of these
        double shared_passes;
        double constant_passes;
    };
    const std::array<Predicted, 8> predictions = {
        {{"look_up_registers", in_registers, 2 * warps, 8 * warps, 0, 0},
         {"look_up_local", in_local_memory, 33 * warps, (4 + 32) * warps, 0, 0},
         {"look_up_shared", in_shared_memory, warps + blocks, 4 * (warps + blocks), warps, 0},
         {"look_up_global", in_global_memory, 2 * warps, 4 * warps + sectors_of_keys, 0, 0},
         {"look_up_constant", in_constant_memory, warps, 4 * warps, 0, different_keys},
         {"look_up_texture", in_texture, warps, 4 * warps, 0, 0},
         {"page_locked_and_copied", in_page_locked_memory, 2 * warps, 4 * warps + sectors_of_keys, 0, 0},
         {"mapped", in_mapped_memory, 2 * warps, 4 * warps + sectors_of_keys, 0, 0}}};
    for (const Predicted& predicted : predictions) {
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->global_load.requests == predicted.loads, step + ": as many loads as predicted");
        lesson.expect(counts->global_load.sectors == predicted.sectors, step + ": as many sectors as predicted");
        lesson.expect(counts->shared_load.wavefronts == predicted.shared_passes,
                      step + ": as many passes over shared memory as predicted");
        lesson.expect(counts->constant_load.wavefronts == predicted.constant_passes,
                      step + ": as many passes over constant memory as predicted");
        lesson.expect(counts->global_store.requests == warps && counts->global_store.sectors == 4 * warps,
                      step + ": one store of 4 sectors a warp");
    }
}

// ---- what is still there in the next launch -----------------------------------------------------------------------

__device__ int launches_in_global;
__constant__ int launches_in_constant;

// What one launch finds, after it has added one to all that it may write.
struct Found {
    int in_register, local, shared, global, constant, texture, page_locked, mapped;
};

// One thread. `zero` is 0, which the compiler does not know: it has to keep an array, and in local memory (a short one,
// or one in an unrolled loop, it would turn into registers).
__global__ void count_launches(cudaTextureObject_t texture, const int* page_locked_copy, int* mapped, int zero,
                               Found* found) {
    int in_register = 0;
    int local[kEntries];
#pragma unroll 1
    for (std::size_t k = 0; k < kEntries; ++k) local[k] = 0;
    __shared__ int shared;
    shared = 0;  // nobody else does: without this line it would hold whatever a block before left there
    ++in_register;
    ++local[zero];
    ++shared;
    ++launches_in_global;
    ++*mapped;
    *found = {
        in_register,       local[zero], shared, launches_in_global, launches_in_constant, tex1Dfetch<int>(texture, 0),
        *page_locked_copy, *mapped};
}

void show_lifetimes(warpwise::Lesson& lesson) {
    constexpr int launches = 3;
    DeviceBuffer<int> d_texels(1), d_copy(1);
    DeviceBuffer<Found> d_found(1);
    const Texture texture(d_texels);
    HostArray<int> page_locked(1), mapped(1);
    page_locked[0] = mapped[0] = 0;
    const int none = 0;
    check(cudaMemcpyToSymbol(launches_in_global, &none, sizeof none));
    std::vector<Found> found;
    std::array<int, launches> seen_by_host = {};
    for (int launch = 1; launch <= launches; ++launch) {
        // What kernels cannot write, the host counts.
        check(cudaMemcpyToSymbol(launches_in_constant, &launch, sizeof launch));
        check(cudaMemcpy(d_texels.data(), &launch, sizeof launch, cudaMemcpyHostToDevice));
        ++page_locked[0];
        check(cudaMemcpyAsync(d_copy.data(), page_locked.data(), sizeof(int), cudaMemcpyHostToDevice));
        count_launches<<<1, 1>>>(texture.object(), d_copy.data(), mapped.device(), 0, d_found.data());
        warpwise::check_launch();
        warpwise::check_finished();  // from here on the host may look at mapped memory, and write page-locked memory
        seen_by_host[static_cast<std::size_t>(launch - 1)] = mapped[0];
        found.push_back(d_found.download()[0]);
    }
    using Counter = int Found::*;
    struct Row {
        const char* name;
        Counter counter;
        bool lasts;
        const char* counted_by;
    };
    constexpr std::array<Row, 8> kinds = {{{"register", &Found::in_register, false, "the kernel, from 0"},
                                           {"local", &Found::local, false, "the kernel, from 0"},
                                           {"shared", &Found::shared, false, "the kernel, from 0"},
                                           {"global (__device__)", &Found::global, true, "the kernel"},
                                           {"constant", &Found::constant, true, "the host: cudaMemcpyToSymbol"},
                                           {"texture", &Found::texture, true, "the host: a copy to what is behind it"},
                                           {"page-locked host", &Found::page_locked, true, "the host, then a copy"},
                                           {"mapped host", &Found::mapped, true, "the kernel, and no copy"}}};
    std::vector<std::vector<std::string>> rows;
    for (const Row& kind : kinds) {
        rows.push_back({kind.name});
        for (int launch = 1; launch <= launches; ++launch) {
            const int value = found[static_cast<std::size_t>(launch - 1)].*kind.counter;
            lesson.expect(value == (kind.lasts ? launch : 1),
                          std::string(kind.name) + ": launch " + std::to_string(launch) + " finds what it should");
            rows.back().push_back(std::to_string(value));
        }
        rows.back().push_back(kind.counted_by);
    }
    lesson.expect(seen_by_host == std::array<int, launches>{1, 2, 3}, "the host sees mapped memory without a copy");
    lesson.table("A counter of launches in each kind of memory",
                 {"memory", "launch 1", "launch 2", "launch 3", "counted by"}, rows);
}

// ---- how long a load takes ---------------------------------------------------------------------------------------

// A chain: each place holds the place of the next one, in random order, through all of them and back to the first. A
// thread that follows it cannot begin a load before it has the result of the one before. So n loads take n times the
// latency, which bandwidth and other warps cannot hide.
struct Loads {
    int warm;   // not timed: they fill caches and translation buffers
    int timed;  // a multiple of 16
};

struct Trip {
    long long cycles;
    unsigned long long end;  // where the chain had led
};

// Fixed loops: what is timed are the loads, and a little to count them and to form addresses. When the clock is read
// again, the last load may be under way still: one in thousands.
template <class Place, class Load>
__device__ Trip follow(Place place, Loads loads, const Load& load) {
    for (int i = 0; i < loads.warm; ++i) place = load(place);
    const long long begin = clock64();
#pragma unroll 16
    for (int i = 0; i < loads.timed; ++i) place = load(place);
    return {clock64() - begin, static_cast<unsigned long long>(place)};
}

// Not a load: a multiplication and an addition in registers, each of which needs the result before.
__global__ void follow_registers(unsigned factor, unsigned summand, Loads loads, Trip* trip) {
    *trip = follow(0u, loads, [=](unsigned place) { return place * factor + summand; });
}

constexpr std::size_t kSmallChain = 256;  // words: 1 KiB, which fits the first constant cache
__constant__ unsigned constant_chain[kSmallChain];

// Word at a place that is counted in bytes, so that no multiplication stands between two loads.
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
    *trip = follow(0u, loads, [](unsigned place) { return word_at(constant_chain, place); });
}

__global__ void follow_texture(cudaTextureObject_t chain, Loads loads, Trip* trip) {
    *trip = follow(0, loads, [=](int place) { return static_cast<int>(tex1Dfetch<unsigned>(chain, place)); });
}

// Places are addresses. This load may stop at the L1 cache ...
__global__ void follow_through_l1(const unsigned long long* chain, Loads loads, Trip* trip) {
    const auto load = [](unsigned long long place) {
        return __ldca(reinterpret_cast<const unsigned long long*>(place));
    };
    *trip = follow(reinterpret_cast<unsigned long long>(chain), loads, load);
}

// ... and this one always goes to the L2 cache, and beyond it if the word is not there.
__global__ void follow_through_l2(const unsigned long long* chain, Loads loads, Trip* trip) {
    const auto load = [](unsigned long long place) {
        return __ldcg(reinterpret_cast<const unsigned long long*>(place));
    };
    *trip = follow(reinterpret_cast<unsigned long long>(chain), loads, load);
}

// next[k] of a random order that visits all places before it returns (S. Sattolo, An algorithm to generate a random
// cyclic permutation, Information Processing Letters 22, 1986).
std::vector<unsigned> random_cycle(std::size_t count) {
    std::vector<unsigned> next(count);
    for (std::size_t k = 0; k < count; ++k) next[k] = static_cast<unsigned>(k);
    for (std::size_t k = count - 1; k > 0; --k) std::swap(next[k], next[warpwise::random_bits(23, k) % k]);
    return next;
}

std::size_t place_after(const std::vector<unsigned>& next, Loads loads) {
    std::size_t place = 0;
    for (int i = 0; i < loads.warm + loads.timed; ++i) place = next[place];
    return place;
}

constexpr std::size_t kLineBytes = 128;  // of a cache; each place of a long chain has a line of its own
constexpr std::size_t kLineWords = kLineBytes / sizeof(unsigned long long);

// Writes a chain of addresses into `words`, a line for each place, for a reader who finds words[0] at `address`.
void write_chain(const std::vector<unsigned>& next, unsigned long long address, unsigned long long* words) {
    for (std::size_t k = 0; k < next.size(); ++k) words[k * kLineWords] = address + next[k] * kLineBytes;
}

std::size_t device_attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<std::size_t>(std::max(0, value));
}

// How fast the SMs' clock runs while there is work: cycles of a kernel that does nothing but wait, over its time.
__global__ void wait_for_cycles(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

double cycles_per_second() {
    constexpr long long cycles = 50'000'000;
    warpwise::DeviceTimer timer;
    for (int round = 0; round < 2; ++round) {  // the first one lets the clock rise
        timer.start();
        wait_for_cycles<<<1, 1>>>(cycles);
        timer.stop();
        warpwise::check_launch();
    }
    return cycles / timer.seconds();
}

class LatencyTable {
public:
    explicit LatencyTable(warpwise::Lesson& lesson)
        : lesson_(lesson),
          d_trip_(1),
          l2_bytes_(warpwise::Lesson::on_gpu() ? device_attribute(cudaDevAttrL2CacheSize) : 0),
          d_flush_(2 * l2_bytes_) {
        if (lesson.measures()) hertz_ = cycles_per_second();
    }

    std::size_t l2_bytes() const { return l2_bytes_; }

    // Follows a chain several times, each time with an L2 cache full of other things; `end` is where it has to lead.
    void add(const std::string& place, std::string reach, Loads loads, unsigned long long end,
             const std::function<void(Trip*)>& run) {
        std::vector<double> cycles;
        for (int sample = 0; sample < (lesson_.measures() ? 5 : 1); ++sample) {
            d_flush_.fill_bytes(static_cast<unsigned char>(sample));
            d_trip_.fill_bytes(0xFF);
            run(d_trip_.data());
            warpwise::check_launch();
            const Trip trip = d_trip_.download()[0];
            lesson_.expect(trip.end == end, place + ": the chain leads where it should");
            cycles.push_back(static_cast<double>(trip.cycles) / loads.timed);
        }
        if (!lesson_.measures()) return;
        const double median = warpwise::timing_of(cycles).median;
        rows_.push_back({place, reach, digits(median), digits(median / hertz_ * 1e9)});
    }

    void print() const {
        const std::string title = "One load after the other, one thread";
        if (!lesson_.measures()) {
            lesson_.show_recorded(title);
            return;
        }
        lesson_.table(title + text_of(", at %.0f MHz", hertz_ * 1e-6), {"place", "chain", "cycles", "ns"}, rows_);
    }

private:
    static std::string digits(double value) { return text_of(value < 100 ? "%.1f" : "%.0f", value); }

    warpwise::Lesson& lesson_;
    DeviceBuffer<Trip> d_trip_;
    std::size_t l2_bytes_;
    DeviceBuffer<unsigned char> d_flush_;
    double hertz_ = 1;
    std::vector<std::vector<std::string>> rows_;
};

std::string bytes_text(std::size_t bytes) {
    return bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes >> 20) + " MiB";
}

void add_small_chains(LatencyTable& table, Loads loads) {
    constexpr unsigned factor = 1664525, summand = 1013904223;
    unsigned value = 0;
    for (int i = 0; i < loads.warm + loads.timed; ++i) value = value * factor + summand;
    table.add("register (multiply and add)", "-", loads, value,
              [=](Trip* trip) { follow_registers<<<1, 1>>>(factor, summand, loads, trip); });

    const std::vector<unsigned> next = random_cycle(kSmallChain);
    const std::size_t end = place_after(next, loads);
    std::vector<unsigned> places_in_bytes;
    for (const unsigned place : next) places_in_bytes.push_back(place * static_cast<unsigned>(sizeof(unsigned)));
    DeviceBuffer<unsigned> d_bytes(places_in_bytes), d_indices(next);
    const Texture texture(d_indices);
    check(cudaMemcpyToSymbol(constant_chain, places_in_bytes.data(), sizeof(unsigned) * kSmallChain));
    const std::string reach = bytes_text(sizeof(unsigned) * kSmallChain);
    table.add("shared", reach, loads, end * sizeof(unsigned),
              [&](Trip* trip) { follow_shared<<<1, 1>>>(d_bytes.data(), loads, trip); });
    table.add("constant", reach, loads, end * sizeof(unsigned),
              [&](Trip* trip) { follow_constant<<<1, 1>>>(loads, trip); });
    table.add("local", reach, loads, end * sizeof(unsigned),
              [&](Trip* trip) { follow_local<<<1, 1>>>(d_bytes.data(), loads, trip); });
    table.add("texture", reach, loads, end,
              [&](Trip* trip) { follow_texture<<<1, 1>>>(texture.object(), loads, trip); });
}

using FollowAddresses = void (*)(const unsigned long long*, Loads, Trip*);

void add_global_chain(LatencyTable& table, const std::string& place, std::size_t bytes, Loads loads,
                      FollowAddresses kernel) {
    const std::vector<unsigned> next = random_cycle(bytes / kLineBytes);
    DeviceBuffer<unsigned long long> d_words(next.size() * kLineWords);
    const auto address = reinterpret_cast<unsigned long long>(d_words.data());
    std::vector<unsigned long long> words(d_words.size());
    write_chain(next, address, words.data());
    d_words.upload(words);
    table.add(place, bytes_text(bytes), loads, address + place_after(next, loads) * kLineBytes,
              [&](Trip* trip) { kernel<<<1, 1>>>(d_words.data(), loads, trip); });
}

void add_mapped_chain(LatencyTable& table, std::size_t bytes, Loads loads) {
    const std::vector<unsigned> next = random_cycle(bytes / kLineBytes);
    HostArray<unsigned long long> words(next.size() * kLineWords);
    const auto address = reinterpret_cast<unsigned long long>(words.device());
    write_chain(next, address, words.data());
    table.add("mapped host", bytes_text(bytes), loads, address + place_after(next, loads) * kLineBytes,
              [&](Trip* trip) { follow_through_l2<<<1, 1>>>(words.device(), loads, trip); });
}

// Chains that are to be found in a cache are followed once before the clock starts. Those that are not go through
// places where nobody has been.
void show_latencies(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    LatencyTable table(lesson);
    const int timed = measures ? 4096 : 64;
    constexpr int few = 64;
    add_small_chains(table, {static_cast<int>(kSmallChain), timed});

    // The L1 cache is what shared memory leaves of the SM's storage, so a quarter of the largest part for shared memory
    // is safely within it. The L2 cache is asked for directly.
    const std::size_t l1 =
        std::min<std::size_t>(16 << 10, device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 4);
    const std::size_t l2 = measures ? std::max<std::size_t>(table.l2_bytes() / 8, 64 << 10) : 16 << 10;
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t beyond =
        measures ? std::min(std::max<std::size_t>(4 * table.l2_bytes(), 4 << 20), free_bytes / 4) : 64 << 10;
    add_global_chain(table, "global, in the L1 cache", l1, {static_cast<int>(l1 / kLineBytes), timed},
                     follow_through_l1);
    add_global_chain(table, "global, in the L2 cache", l2, {static_cast<int>(l2 / kLineBytes), timed},
                     follow_through_l2);
    add_global_chain(table, "global, in no cache", beyond, {few, timed}, follow_through_l2);
    add_mapped_chain(table, measures ? 1 << 20 : 64 << 10, {few, measures ? 1024 : timed});
    table.print();
}

}  // namespace

void memory_spaces(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A kernel can keep its data in eight kinds of memory. Which one it is decides who sees the data, how long
they are there, who may write them, and how long a thread waits for them.)");
    lesson.table("Eight kinds of memory", {"memory", "comes from", "seen by", "until", "kernels", "host"},
                 {{"register", "local variable", "a thread", "it ends", "write", "-"},
                  {"local", "array of a thread", "a thread", "it ends", "write", "-"},
                  {"shared", "__shared__", "a block", "it ends", "write", "-"},
                  {"global", "cudaMalloc, __device__", "all threads", "cudaFree", "write", "copies"},
                  {"constant", "__constant__, 64 KiB", "all threads", "the end", "read", "copies"},
                  {"texture", "object over global", "all threads", "destroyed", "read", "copies"},
                  {"page-locked", "cudaMallocHost", "the host", "cudaFreeHost", "by copies", "writes"},
                  {"mapped", "cudaHostAlloc", "both", "cudaFreeHost", "write", "writes"}});
    lesson.text(
        R"(Who may write may also read. Local memory is local in scope only: it lies where global memory lies, and holds
what does not fit into registers: arrays that are indexed at run time, and spilled variables. Global is everything that
is global to the threads: arrays from cudaMalloc, __device__ variables (until the program ends), and what is behind a
texture. The last two are the host's own memory.

What you will see: a table of 32 floats, looked up in all eight; then what is left of each in the next launch; then how
long a load takes.

Thread i returns table[key[i]], and keys are random. Predict for a warp, beside the load of its keys: how many loads of
global memory for the table in registers, in local, in shared and in global memory? And which of the eight serves lanes
with different keys one after the other?)");
    lesson.steps<LookUp>({.gpu = {std::size_t{1} << 26},
                          .cpu = {std::size_t{1} << 14},
                          .awkward = {{0}, {1}, {2}, {31}, {32}, {33}, {255}, {256}, {257}, {1009}, {4099}, {50021}}},
                         {{"look_up_registers", "an entry a lane, shuffled", in_registers},
                          {"look_up_local", "a copy a thread", in_local_memory},
                          {"look_up_shared", "a copy a block", in_shared_memory},
                          {"look_up_global", "one for all", in_global_memory},
                          {"look_up_constant", "one for all, one address at a time", in_constant_memory},
                          {"look_up_texture", "one for all, by the texture unit", in_texture},
                          {"page_locked_and_copied", "on the host, copied each time", in_page_locked_memory},
                          {"mapped", "on the host, read over the bus", in_mapped_memory}});
    expect_predicted_requests(lesson);
    lesson.text(
        R"(In registers: one load, an entry for each lane. In local memory: 32 loads to fill a thread's copy (which all
lanes do at the same address, one sector each; the counters leave out the copy itself). In shared memory: one load for a
whole block. In global memory: one load of at most 4 sectors, since 32 floats are 128 bytes. Constant memory is the one
that serves different addresses one after the other: some 20 passes, because 32 random keys of 32 are about 20 different
ones. In shared memory the same keys are a single pass: 32 words in 32 banks. Texture fetches are not counted. To a warp
the last two steps are the same as global memory: a pointer does not tell where it leads.

The clock sees three classes. On an H200 six of the eight places take 206 to 222 microseconds for 2^26 keys, 0.59 to
0.63 of a copy: the table costs next to nothing there, what takes the time are keys and results. That holds for mapped
memory, too: a cache keeps the table after the first look. Constant memory takes twice as long, for its passes, and
local memory ten times, for its copies.

Now three launches of a kernel that counts them, everywhere. Which counters say 3 in the end?)");
    show_lifetimes(lesson);
    lesson.text(
        R"(What belongs to a thread or a block begins anew in each launch, and has to be filled anew. All else lasts.
Nothing sets shared memory to zero: without shared = 0 the kernel would count on from whatever a block before has left
on that SM.

Last, the time of a load. A chain makes it visible: each word says where the next one is, so that a thread has to wait
for every single load. Put them in order before you look: shared, constant, texture, local, global in the L1 cache, in
the L2 cache, in neither, and mapped memory of the host. How many multiplications would fit into the slowest?)");
    show_latencies(lesson);
    if (warpwise::Lesson::on_gpu()) {
        lesson.text(
            R"(Local memory, textures and global memory share one L1 cache (the texture unit adds a way of its own).
Whoever misses it waits for L2, whoever misses that for the device's memory, and whoever needs the host's for the bus.
A load from constant memory is no faster, 51 cycles on an H200 against the L1 cache's 32: its talent is one value for
all lanes. (Where the compiler knows the index there is no load: an instruction takes the constant as its operand.)
These are waits, and not costs: an SM with other warps to run hides them (lesson latency_hiding in
chapter 3).)");
    } else {
        lesson.text(
            R"(This needs a GPU: the CPU device has neither clock cycles nor caches of its own. It has followed all
chains, and they lead where they should. On a GPU distance decides: what the SM has itself (shared memory and its
caches) answers first, then the L2 cache, then the device's memory, and the host's memory behind the bus last. A load
from constant memory is no faster than one from the L1 cache: its talent is one value for all lanes. (Where the compiler
knows the index there is no load: an instruction takes the constant as its operand.))");
    }
    lesson.text(
        R"(Mistakes to avoid: reading shared memory that nobody wrote in this block; handing a thread's local address
to another thread; expecting __shared__ data in the next launch; reading mapped memory on the host before the kernel
has ended; taking local memory for fast because of its name; reading constant memory with a different address in every
lane.

Try next: let all keys be the same (replace uniform_integers by a vector of zeros). Which step gains most? Then make the
table larger than 32: which kernels break, and which one cannot be repaired?

    memory_model memory_spaces --lines
    memory_model memory_spaces --size 1000003 --check)");
}

}  // namespace memory_model
