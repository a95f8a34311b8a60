// Problem: a table of 32 floats is looked up n times, out[i] = table[key[i]]. Where should
// the table be?
//
// A program can keep it in eight kinds of memory. They differ in who sees it (scope), how
// long it is there (lifetime), who may write it, and how long a load takes. This lesson
// looks the table up in each of them and counts the requests, shows what is still there in
// the next launch, and on a GPU measures how long a load takes, by following chains in
// which each load says where the next one is. The kernels of these three parts are in
// kernels.cuh, lifetimes.cuh, and chains.cuh.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "chapters/2_memory_model/memory_spaces/chains.cuh"
#include "chapters/2_memory_model/memory_spaces/kernels.cuh"
#include "chapters/2_memory_model/memory_spaces/lifetimes.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/helpers/timer.h"
#include "common/lesson/lesson.h"

namespace memory_model {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;
using warpwise::text_of;

// Pinned (page-locked) memory of the host, mapped into the addresses of the device: the
// host uses data(), kernels use device(). (Page-locked and mapped are two ways of using the
// same memory. Today's drivers map all pinned memory anyway.)
template <class T>
class HostArray {
public:
    explicit HostArray(std::size_t count) : count_(count) {
        void* memory = nullptr;
        check(cudaHostAlloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T),
                            cudaHostAllocMapped));
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

// A texture over an array in global memory: another way to read it, through the texture
// unit.
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

// ---- one table in eight places ----------------------------------------------------------

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
        const auto entry = [&](std::size_t i) {
            return double{table[static_cast<std::size_t>(keys[i])]};
        };
        return warpwise::compare_each(d_out.download(), count, entry);
    }

    warpwise::Work work() const {
        return {.bytes = (sizeof(int) + sizeof(float)) * static_cast<double>(count)};
    }

    static std::size_t device_bytes(const warpwise::Size& size) {
        return (sizeof(int) + sizeof(float)) * size[0] + 2 * kEntries * sizeof(float);
    }

    unsigned blocks() const { return warpwise::blocks_for(count, kThreads); }
};

void in_registers(LookUp& problem) {
    look_up_registers<<<problem.blocks(), kThreads>>>(
        problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

void in_local_memory(LookUp& problem) {
    look_up_local<<<problem.blocks(), kThreads>>>(
        problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

void in_shared_memory(LookUp& problem) {
    look_up_shared<<<problem.blocks(), kThreads>>>(
        problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

void in_global_memory(LookUp& problem) {
    look_up_global<<<problem.blocks(), kThreads>>>(
        problem.d_table.data(), problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

void in_constant_memory(LookUp& problem) {
    look_up_constant<<<problem.blocks(), kThreads>>>(problem.d_keys.data(),
                                                     problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

void in_texture(LookUp& problem) {
    look_up_texture<<<problem.blocks(), kThreads>>>(problem.texture.object(),
                                                    problem.d_keys.data(),
                                                    problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Step 7, pinned memory of the host. The device's copy engine reads it without help from
// the processor, so the copy is queued like a kernel, and the host goes on. The kernel is
// that of step 4 and reads the copy.
void in_page_locked_memory(LookUp& problem) {
    check(cudaMemcpyAsync(problem.d_copy.data(), problem.host_table.data(),
                          problem.host_table.bytes(), cudaMemcpyHostToDevice));
    look_up_global<<<problem.blocks(), kThreads>>>(
        problem.d_copy.data(), problem.d_keys.data(), problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Step 8, mapped memory of the host: the same kernel once more, and its loads go over the
// bus. There is no copy, and host and device see each other's writes.
// Slow: data that no cache of the device keeps cross the bus again with each load. (This
// table is small, and a cache keeps it.)
void in_mapped_memory(LookUp& problem) {
    look_up_global<<<problem.blocks(), kThreads>>>(problem.host_table.device(),
                                                   problem.d_keys.data(),
                                                   problem.d_out.data(), problem.count);
    warpwise::check_launch();
}

// Compares the predictions with the counters, at a size that is a multiple of the block.
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
         {"look_up_shared", in_shared_memory, warps + blocks, 4 * (warps + blocks), warps,
          0},
         {"look_up_global", in_global_memory, 2 * warps, 4 * warps + sectors_of_keys, 0, 0},
         {"look_up_constant", in_constant_memory, warps, 4 * warps, 0, different_keys},
         {"look_up_texture", in_texture, warps, 4 * warps, 0, 0},
         {"page_locked_and_copied", in_page_locked_memory, 2 * warps,
          4 * warps + sectors_of_keys, 0, 0},
         {"mapped", in_mapped_memory, 2 * warps, 4 * warps + sectors_of_keys, 0, 0}}};
    for (const Predicted& predicted : predictions) {
        const auto counts = lesson.count([&] { predicted.run(problem); });
        if (!counts) continue;
        const std::string step = predicted.step;
        lesson.expect(counts->global_load.requests == predicted.loads,
                      step + ": as many loads as predicted");
        lesson.expect(counts->global_load.sectors == predicted.sectors,
                      step + ": as many sectors as predicted");
        lesson.expect(counts->shared_load.wavefronts == predicted.shared_passes,
                      step + ": as many wavefronts of shared memory as predicted");
        lesson.expect(counts->constant_load.wavefronts == predicted.constant_passes,
                      step + ": as many wavefronts of constant memory as predicted");
        lesson.expect(counts->global_store.requests == warps &&
                          counts->global_store.sectors == 4 * warps,
                      step + ": one store of 4 sectors per warp");
    }
}

// ---- what is still there in the next launch ---------------------------------------------

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
        check(cudaMemcpyAsync(d_copy.data(), page_locked.data(), sizeof(int),
                              cudaMemcpyHostToDevice));
        count_launches<<<1, 1>>>(texture.object(), d_copy.data(), mapped.device(), 0,
                                 d_found.data());
        warpwise::check_launch();
        // From here on the host may read mapped memory, and write pinned memory.
        warpwise::check_finished();
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
    constexpr std::array<Row, 8> kinds = {
        {{"register", &Found::in_register, false, "the kernel, from 0"},
         {"local", &Found::local, false, "the kernel, from 0"},
         {"shared", &Found::shared, false, "the kernel, from 0"},
         {"global (__device__)", &Found::global, true, "the kernel"},
         {"constant", &Found::constant, true, "the host: cudaMemcpyToSymbol"},
         {"texture", &Found::texture, true, "the host: a copy to what it points to"},
         {"pinned host", &Found::page_locked, true, "the host, then a copy"},
         {"mapped host", &Found::mapped, true, "the kernel, and no copy"}}};
    std::vector<std::vector<std::string>> rows;
    for (const Row& kind : kinds) {
        rows.push_back({kind.name});
        for (int launch = 1; launch <= launches; ++launch) {
            const int value = found[static_cast<std::size_t>(launch - 1)].*kind.counter;
            lesson.expect(value == (kind.lasts ? launch : 1),
                          std::string(kind.name) + ": launch " + std::to_string(launch) +
                              " finds what it should");
            rows.back().push_back(std::to_string(value));
        }
        rows.back().push_back(kind.counted_by);
    }
    lesson.expect(seen_by_host == std::array<int, launches>{1, 2, 3},
                  "the host sees mapped memory without a copy");
    lesson.table({"counters", "A counter of launches in each kind of memory"},
                 {"memory", "launch 1", "launch 2", "launch 3", "counted by"}, rows);
}

// ---- how long a load takes --------------------------------------------------------------

// next[k] of a random order that visits all places before it returns (S. Sattolo, An
// algorithm to generate a random cyclic permutation, Information Processing Letters 22,
// 1986).
std::vector<unsigned> random_cycle(std::size_t count) {
    std::vector<unsigned> next(count);
    for (std::size_t k = 0; k < count; ++k) next[k] = static_cast<unsigned>(k);
    for (std::size_t k = count - 1; k > 0; --k)
        std::swap(next[k], next[warpwise::random_bits(23, k) % k]);
    return next;
}

std::size_t place_after(const std::vector<unsigned>& next, Loads loads) {
    std::size_t place = 0;
    for (int i = 0; i < loads.warm + loads.timed; ++i) place = next[place];
    return place;
}

// Bytes of a cache line. Each place of a long chain has a line of its own.
constexpr std::size_t kLineBytes = 128;
constexpr std::size_t kLineWords = kLineBytes / sizeof(unsigned long long);

// Writes a chain of addresses into `words`, one line per place, for a reader who finds
// words[0] at `address`.
void write_chain(const std::vector<unsigned>& next, unsigned long long address,
                 unsigned long long* words) {
    for (std::size_t k = 0; k < next.size(); ++k)
        words[k * kLineWords] = address + next[k] * kLineBytes;
}

std::size_t device_attribute(cudaDeviceAttr which) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return static_cast<std::size_t>(std::max(0, value));
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
          l2_bytes_(warpwise::Lesson::on_gpu() ? device_attribute(cudaDevAttrL2CacheSize)
                                               : 0),
          d_flush_(2 * l2_bytes_) {
        if (lesson.measures()) hertz_ = cycles_per_second();
    }

    std::size_t l2_bytes() const { return l2_bytes_; }

    // Follows a chain several times, each time with an L2 cache full of other data. `end`
    // is where the chain has to lead.
    void add(const std::string& place, std::string reach, Loads loads,
             unsigned long long end, const std::function<void(Trip*)>& run) {
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
        if (!lesson_.measures()) {
            lesson_.show_recorded("latency");
            return;
        }
        lesson_.table(
            {"latency",
             text_of("One load after the other, one thread, at %.0f MHz", hertz_ * 1e-6)},
            {"place", "chain", "cycles", "ns"}, rows_);
    }

private:
    static std::string digits(double value) {
        return text_of(value < 100 ? "%.1f" : "%.0f", value);
    }

    warpwise::Lesson& lesson_;
    DeviceBuffer<Trip> d_trip_;
    std::size_t l2_bytes_;
    DeviceBuffer<unsigned char> d_flush_;
    double hertz_ = 1;
    std::vector<std::vector<std::string>> rows_;
};

std::string bytes_text(std::size_t bytes) {
    return bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB"
                           : std::to_string(bytes >> 20) + " MiB";
}

void add_small_chains(LatencyTable& table, Loads loads) {
    constexpr unsigned factor = 1664525, summand = 1013904223;
    unsigned value = 0;
    for (int i = 0; i < loads.warm + loads.timed; ++i) value = value * factor + summand;
    table.add("register (multiply and add)", "-", loads, value, [=](Trip* trip) {
        follow_registers<<<1, 1>>>(factor, summand, loads, trip);
    });

    const std::vector<unsigned> next = random_cycle(kSmallChain);
    const std::size_t end = place_after(next, loads);
    std::vector<unsigned> places_in_bytes;
    for (const unsigned place : next)
        places_in_bytes.push_back(place * static_cast<unsigned>(sizeof(unsigned)));
    DeviceBuffer<unsigned> d_bytes(places_in_bytes), d_indices(next);
    const Texture texture(d_indices);
    check(cudaMemcpyToSymbol(constant_chain, places_in_bytes.data(),
                             sizeof(unsigned) * kSmallChain));
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

void add_global_chain(LatencyTable& table, const std::string& place, std::size_t bytes,
                      Loads loads, FollowAddresses kernel) {
    const std::vector<unsigned> next = random_cycle(bytes / kLineBytes);
    DeviceBuffer<unsigned long long> d_words(next.size() * kLineWords);
    const auto address = reinterpret_cast<unsigned long long>(d_words.data());
    std::vector<unsigned long long> words(d_words.size());
    write_chain(next, address, words.data());
    d_words.upload(words);
    table.add(place, bytes_text(bytes), loads,
              address + place_after(next, loads) * kLineBytes,
              [&](Trip* trip) { kernel<<<1, 1>>>(d_words.data(), loads, trip); });
}

void add_mapped_chain(LatencyTable& table, std::size_t bytes, Loads loads) {
    const std::vector<unsigned> next = random_cycle(bytes / kLineBytes);
    HostArray<unsigned long long> words(next.size() * kLineWords);
    const auto address = reinterpret_cast<unsigned long long>(words.device());
    write_chain(next, address, words.data());
    table.add("mapped host", bytes_text(bytes), loads,
              address + place_after(next, loads) * kLineBytes, [&](Trip* trip) {
                  follow_through_l2<<<1, 1>>>(words.device(), loads, trip);
              });
}

// Chains that are to be found in a cache are followed once before the clock starts. Chains
// that are not lead through places that have not been loaded before.
void show_latencies(warpwise::Lesson& lesson) {
    const bool measures = lesson.measures();
    LatencyTable table(lesson);
    const int timed = measures ? 4096 : 64;
    constexpr int few = 64;
    add_small_chains(table, {static_cast<int>(kSmallChain), timed});

    // The L1 cache is what shared memory leaves of the SM's storage, so a quarter of the
    // largest part for shared memory is safely within it. The size of the L2 cache is an
    // attribute of the device.
    const std::size_t l1 = std::min<std::size_t>(
        16 << 10, device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 4);
    const std::size_t l2 =
        measures ? std::max<std::size_t>(table.l2_bytes() / 8, 64 << 10) : 16 << 10;
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes));
    const std::size_t beyond =
        measures
            ? std::min(std::max<std::size_t>(4 * table.l2_bytes(), 4 << 20), free_bytes / 4)
            : 64 << 10;
    add_global_chain(table, "global, in the L1 cache", l1,
                     {static_cast<int>(l1 / kLineBytes), timed}, follow_through_l1);
    add_global_chain(table, "global, in the L2 cache", l2,
                     {static_cast<int>(l2 / kLineBytes), timed}, follow_through_l2);
    add_global_chain(table, "global, in no cache", beyond, {few, timed}, follow_through_l2);
    add_mapped_chain(table, measures ? 1 << 20 : 64 << 10, {few, measures ? 1024 : timed});
    table.print();
}

}  // namespace

void memory_spaces(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A table of 32 floats is looked up many times, out[i] = table[key[i]]. Where
should it be? A kernel can keep its data in eight kinds of memory. The kind decides who
sees the data, how long they exist, who may write them, and how long a thread waits for
a load.)");
    lesson.table(
        {"kinds", "Eight kinds of memory"},
        {"memory", "comes from", "seen by", "until", "kernels", "host"},
        {{"register", "local variable", "a thread", "it ends", "write", "-"},
         {"local", "array of a thread", "a thread", "it ends", "write", "-"},
         {"shared", "__shared__", "a block", "it ends", "write", "-"},
         {"global", "cudaMalloc, __device__", "all threads", "cudaFree", "write", "copies"},
         {"constant", "__constant__, 64 KiB", "all threads", "the end", "read", "copies"},
         {"texture", "object over global", "all threads", "destroyed", "read", "copies"},
         {"pinned", "cudaMallocHost", "the host", "cudaFreeHost", "by copies", "writes"},
         {"mapped", "cudaHostAlloc", "both", "cudaFreeHost", "write", "writes"}});
    lesson.predict(
        {.question = R"(Keys are random. Besides the load of its keys, how many
loads from global memory does a warp make when every thread has the table of 32 floats
in a local array of its own?)",
         .answer = warpwise::Number{.value = 32, .unit = "loads"},
         .because = R"(Every thread fills its own copy, one load per entry. A table
in registers takes one load per warp, because each lane holds one entry.)"});
    lesson.predict(
        {.question = R"(Which kind of memory serves lanes with different keys one
after the other?)",
         .answer =
             warpwise::Choice{{"shared memory", "constant memory", "texture memory"}, 1},
         .because = R"(Constant memory serves one address at a time. About 20 of 32
random keys differ, and each of them takes a wavefront of its own.)"});
    lesson.steps<LookUp>(
        {.gpu = {std::size_t{1} << 26},
         .cpu = {std::size_t{1} << 14},
         .awkward = {{0},
                     {1},
                     {2},
                     {31},
                     {32},
                     {33},
                     {255},
                     {256},
                     {257},
                     {1009},
                     {4099},
                     {50021}}},
        {{"look_up_registers", "one entry per lane, shuffled", in_registers},
         {"look_up_local", "one copy per thread", in_local_memory},
         {"look_up_shared", "one copy per block", in_shared_memory},
         {"look_up_global", "one for all", in_global_memory},
         {"look_up_constant", "one for all, one address at a time", in_constant_memory},
         {"look_up_texture", "one for all, by the texture unit", in_texture},
         {"page_locked_and_copied", "on the host, copied each time", in_page_locked_memory},
         {"mapped", "on the host, read over the bus", in_mapped_memory}});
    expect_predicted_requests(lesson);
    lesson.conclusion(
        R"(Registers take one load per warp, local memory 32, to fill each thread's
copy, shared memory one per block, and global memory one of at most 4 sectors. Constant
memory serves different addresses one after the other: about 20 of 32 random keys
differ. On an H200 it takes twice as long as the others, and local memory ten times as
long.)");

    lesson.question(
        R"(What is left in the next launch? A kernel of one thread adds 1 to a counter
in each kind of memory that it may write. Where it may not write, the host counts. The
kernel sets its register, its local, and its shared counter to 0 first.)");
    lesson.predict({.question = R"(Of the eight counters (register, local, shared, global,
constant, texture, pinned, and mapped memory), how many are 3 after three launches?)",
                    .answer = warpwise::Number{.value = 5, .unit = "counters"},
                    .because = R"(What belongs to a thread or a block begins anew in each
launch: registers, local, and shared memory. Everything else lasts.)"});
    show_lifetimes(lesson);
    lesson.conclusion(
        R"(What belongs to a thread or a block begins anew in each launch. Everything
else lasts until it is freed or the program ends. Nothing clears shared memory: without
`shared = 0` the kernel would start from whatever an earlier block has left on that SM.)");

    lesson.question(
        R"(How long does a load take? A chain shows it: each word says where the next
one is, so that a single thread has to wait for every load.)");
    lesson.predict({.question = R"(How many multiplications with an addition, one after
the other, fit into the time of one load from mapped memory of the host on a GPU? A
guess within a factor of 3 is right.)",
                    .answer =
                        warpwise::Measured{
                            .by =
                                warpwise::CellRatio{
                                    warpwise::TableCell{"latency", {"mapped host"}, "ns"},
                                    warpwise::TableCell{
                                        "latency", {"register (multiply and add)"}, "ns"}},
                            .factor = 3},
                    .because = R"(The load has to cross the bus to the host and back,
which takes about a microsecond. An operation takes a few clock cycles.)"});
    show_latencies(lesson);
    lesson.conclusion(
        warpwise::Lesson::on_gpu()
            ? R"(The distance decides. What the SM has itself answers first, then the L2
cache, then the device's memory, and last the host's memory beyond the bus. Local
memory, textures, and global memory share one L1 cache. These are latencies, not costs:
an SM with other warps to run hides them.)"
            : R"(The distance decides. What the SM has itself answers first, then the L2
cache, then the device's memory, and last the host's memory beyond the bus. These are
latencies, not costs: an SM with other warps to run hides them. The CPU device has no
clock cycles to count; it only checks that each chain leads where it should.)");
}

}  // namespace memory_model
