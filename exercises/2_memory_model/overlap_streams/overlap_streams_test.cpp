#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"

#ifndef __CPU_DEVICE__
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/helpers/benchmark.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "overlap_streams"};

namespace {

constexpr float untouched = -7;  // what the grader writes into the learner's host memory; no result has this value

float input(std::size_t i) { return static_cast<float>(i + 1); }
float result(std::size_t i) { return 2 * input(i) + 1; }

/// An array in the learner's host memory, between two red zones.
class HostArray {
public:
    HostArray(std::size_t count, bool with_input) : count_(count), memory_(allocate_on_host(count + 2 * zone)) {
        if (memory_ == nullptr) FAIL("allocate_on_host(" << count + 2 * zone << ") returned no memory");
        std::fill(memory_, memory_ + count + 2 * zone, untouched);
        for (std::size_t i = 0; with_input && i < count; ++i) data()[i] = input(i);
    }
    ~HostArray() { free_on_host(memory_); }
    HostArray(const HostArray&) = delete;
    HostArray& operator=(const HostArray&) = delete;

    float* data() { return memory_ + zone; }

    bool stays_inside() const {
        const auto is_untouched = [](float value) { return value == untouched; };
        const float* const end = memory_ + zone + count_;
        return std::all_of(memory_, memory_ + zone, is_untouched) && std::all_of(end, end + zone, is_untouched);
    }

private:
    static constexpr std::size_t zone = 256;
    std::size_t count_;
    float* memory_;
};

class Streams {
public:
    explicit Streams(std::size_t count, unsigned flags = cudaStreamDefault) : handles_(count) {
        for (cudaStream_t& handle : handles_) {
            REQUIRE_THAT(cudaStreamCreateWithFlags(&handle, flags), grading::Succeeds());
        }
    }
    ~Streams() {
        for (const cudaStream_t handle : handles_) (void)cudaStreamDestroy(handle);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    const std::vector<cudaStream_t>& handles() const { return handles_; }

private:
    std::vector<cudaStream_t> handles_;
};

bool is_page_locked(const float* memory) {
    cudaPointerAttributes attributes{};
    const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
    if (status != cudaSuccess) (void)cudaGetLastError();  // that was the answer, and no error to be found later
    return status == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

void check_results(std::size_t count, std::size_t chunks, std::size_t streams) {
    INFO(count << " floats, " << chunks << " chunks, " << streams << " streams");
    HostArray in(count, true), out(count, false);
    grading::Guarded<float> d_in(count), d_out(count);
    const Streams given(streams);
    queue_work({in.data(), out.data(), d_in.data(), d_out.data(), count, chunks, given.handles()});
    {
        INFO("A chunk may be empty, and a launch has to have at least one block.");
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
    }

    std::vector<std::size_t> wrong, changed;
    for (std::size_t i = 0; i < count; ++i) {
        if (out.data()[i] != result(i)) wrong.push_back(i);
        if (in.data()[i] != input(i)) changed.push_back(i);
    }
    if (!wrong.empty()) {
        const std::size_t i = wrong[0];
        FAIL("wrong on the host: " << grading::name_elements(wrong) << "\nout[" << i << "] is " << out.data()[i]
                                   << ", should be " << result(i) << " (" << untouched << " was there before)\n"
                                   << "Do the chunks together cover all elements, the last ones too?");
    }
    if (!changed.empty()) FAIL("the input was changed: " << grading::name_elements(changed));
    if (!out.stays_inside())
        FAIL("written in front of or behind the array on the host: where does the last chunk end?");
    CHECK_THAT(d_in, grading::StaysInside("Where does the last chunk end?"));
    CHECK_THAT(d_out, grading::StaysInside("Where does the last chunk end?"));
}

// ---- which stream does what, and does the answer wait? -------------------------------------------------------------
//
// An element is delivered by stream s when copying in, computing and copying out all happen in s. What a device lets
// the grader see of that is different for the CPU device and a GPU.

constexpr int nobody = -1;            // needs more than one stream, or was never done
using Deliverers = std::vector<int>;  // for each element the number of its stream, or `nobody`
using Elements = std::vector<std::size_t>;

/// All the memory that an observed call works on.
struct Observed {
    explicit Observed(std::size_t count_)
        : count(count_), in(count, true), out(count, false), d_in(count), d_out(count) {}

    void clear() {
        std::fill(out.data(), out.data() + count, untouched);
        d_in.poison();
        d_out.poison();
    }

    void put_on_device(grading::Guarded<float>& d_values, float (*value)(std::size_t)) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
        REQUIRE_THAT(cudaMemcpy(d_values.data(), values.data(), count * sizeof(float), cudaMemcpyHostToDevice),
                     grading::Succeeds());
    }

    /// Marks the elements that have arrived and had not before.
    void mark_new(Deliverers& deliverers, std::size_t stream) {
        for (std::size_t i = 0; i < count; ++i) {
            if (deliverers[i] == nobody && out.data()[i] == result(i)) deliverers[i] = static_cast<int>(stream);
        }
    }

    Work work(std::size_t chunks, const std::vector<cudaStream_t>& streams) {
        return {in.data(), out.data(), d_in.data(), d_out.data(), count, chunks, streams};
    }

    std::size_t count;
    HostArray in, out;
    grading::Guarded<float> d_in, d_out;
};

#ifdef __CPU_DEVICE__

// The CPU device works inside of each call, and refuses streams that were destroyed. So a stream is held back by
// destroying it.

/// Calls the answer with streams of which only one is alive, or none.
void queue_with_one_alive(Observed& observed, std::size_t chunks, std::size_t streams, std::size_t alive) {
    std::vector<cudaStream_t> handles(streams);
    for (cudaStream_t& handle : handles) REQUIRE_THAT(cudaStreamCreate(&handle), grading::Succeeds());
    for (std::size_t s = 0; s < streams; ++s) {
        if (s != alive) REQUIRE_THAT(cudaStreamDestroy(handles[s]), grading::Succeeds());
    }
    queue_work(observed.work(chunks, handles));
    if (alive < streams) REQUIRE_THAT(cudaStreamDestroy(handles[alive]), grading::Succeeds());
    (void)cudaGetLastError();    // of the streams that are gone
    grading::forget_findings();  // of launches into them
}

/// Calls the answer while all streams are held back, and then returns `look()`.
template <class Look>
std::optional<Elements> look_without_streams(Observed& observed, std::size_t chunks, std::size_t streams,
                                             const Look& look) {
    queue_with_one_alive(observed, chunks, streams, streams);
    return look();
}

std::optional<Deliverers> deliverers_of(std::size_t count, std::size_t chunks, std::size_t streams) {
    Deliverers deliverers(count, nobody);
    Observed observed(count);
    for (std::size_t s = 0; s < streams; ++s) {
        observed.clear();
        queue_with_one_alive(observed, chunks, streams, s);
        observed.mark_new(deliverers, s);
    }
    return deliverers;
}

void die() { __trap(); }

// A kernel's failure comes to light at the first call that waits for the device. So a kernel fails first.
bool waits(std::size_t count, std::size_t chunks, std::size_t streams) {
    std::vector<cudaStream_t> handles(streams);
    for (cudaStream_t& handle : handles) REQUIRE_THAT(cudaStreamCreate(&handle), grading::Succeeds());
    float* const in = allocate_on_host(count);
    float* const out = allocate_on_host(count);
    std::fill(in, in + count, 0.0f);
    void* d_in = nullptr;
    void* d_out = nullptr;
    REQUIRE_THAT(cudaMalloc(&d_in, count * sizeof(float)), grading::Succeeds());
    REQUIRE_THAT(cudaMalloc(&d_out, count * sizeof(float)), grading::Succeeds());
    REQUIRE_THAT(cudaLaunchKernel(die, dim3(1), dim3(1), nullptr), grading::Succeeds());

    queue_work({in, out, static_cast<float*>(d_in), static_cast<float*>(d_out), count, chunks, handles});
    unsigned flags = 0;
    const bool waited = cudaStreamGetFlags(nullptr, &flags) != cudaSuccess;  // this one does not wait itself
    REQUIRE_THAT(cudaDeviceReset(), grading::Succeeds());                    // frees everything, and revives the device
    (void)cudaGetLastError();
    grading::forget_findings();
    return waited;
}

#else

// A GPU has fewer queues than a program may have streams. Streams that share a queue wait for each other, and then one
// that is held back holds back others too. So this asks for as many queues as there can be, before CUDA starts.
[[maybe_unused]] const int queues_requested = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);

// Holds streams back until the grader lets them go, one after the other. All of them go on by themselves after two
// seconds, in case that somebody waits for a stream that is held back. What is seen after that says nothing.
//
// One thread calls all host functions, so only one of them may wait at a time: they are all in one stream, and the
// streams that are held back wait for events in it.
class Gates {
public:
    explicit Gates(const std::vector<cudaStream_t>& streams) : gates_(streams.size()) {
        // Not blocking: work in the default stream is not to wait for this stream.
        REQUIRE_THAT(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), grading::Succeeds());
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        for (std::size_t s = 0; s < streams.size(); ++s) {
            gates_[s].deadline = deadline;
            REQUIRE_THAT(cudaEventCreateWithFlags(&gates_[s].opened, cudaEventDisableTiming), grading::Succeeds());
            REQUIRE_THAT(cudaLaunchHostFunc(stream_, wait_at, &gates_[s]), grading::Succeeds());
            REQUIRE_THAT(cudaEventRecord(gates_[s].opened, stream_), grading::Succeeds());
            REQUIRE_THAT(cudaStreamWaitEvent(streams[s], gates_[s].opened), grading::Succeeds());
        }
    }
    ~Gates() {
        for (std::size_t s = 0; s < gates_.size(); ++s) open(s);
        (void)cudaStreamSynchronize(stream_);
        for (const Gate& gate : gates_) (void)cudaEventDestroy(gate.opened);
        (void)cudaStreamDestroy(stream_);
    }
    Gates(const Gates&) = delete;
    Gates& operator=(const Gates&) = delete;

    /// In the order of the streams only.
    void open(std::size_t stream) { gates_[stream].open = true; }

    /// Whether the closed gates are still closed.
    bool hold() const { return std::chrono::steady_clock::now() < gates_.front().deadline; }

private:
    struct Gate {
        std::atomic<bool> open = false;
        std::chrono::steady_clock::time_point deadline;
        cudaEvent_t opened = nullptr;
    };

    static void wait_at(void* gate_pointer) {
        const Gate& gate = *static_cast<const Gate*>(gate_pointer);
        while (!gate.open && std::chrono::steady_clock::now() < gate.deadline) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    cudaStream_t stream_ = nullptr;
    std::vector<Gate> gates_;
};

/// Calls the answer once, unobserved, and copies its work back. What a program does for the first time may wait for all
/// streams: the first launch of a kernel loads its code, the first copy from the device gets memory to copy through.
void warm_up() {
    Observed observed(1);
    const Streams given(1);
    queue_work(observed.work(1, given.handles()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    (void)observed.d_in.download();
}

/// Calls the answer into streams that are held back, and then returns `look(gates, streams)`. Nothing if the gates did
/// not hold until then: somebody waited for them.
template <class Look>
auto queue_behind_gates(Observed& observed, std::size_t chunks, std::size_t streams, unsigned flags, const Look& look) {
    warm_up();
    const Streams given(streams, flags);
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    auto seen = [&] {
        Gates gates(given.handles());
        queue_work(observed.work(chunks, given.handles()));
        auto seen_now = std::make_optional(look(gates, given.handles()));
        if (!gates.hold()) seen_now.reset();
        return seen_now;
    }();
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    return seen;
}

/// Calls the answer while all streams are held back, and then returns `look()`. The streams are of the kind for which
/// the default stream does not wait.
template <class Look>
std::optional<Elements> look_without_streams(Observed& observed, std::size_t chunks, std::size_t streams,
                                             const Look& look) {
    return queue_behind_gates(observed, chunks, streams, cudaStreamNonBlocking, [&](const Gates&, const auto&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return look();
    });
}

// One stream after the other may go on; what arrives then was done by it.
std::optional<Deliverers> deliverers_of(std::size_t count, std::size_t chunks, std::size_t streams) {
    Observed observed(count);
    observed.clear();
    const auto let_go_one_by_one = [&](Gates& gates, const std::vector<cudaStream_t>& given) {
        Deliverers deliverers(count, nobody);
        for (std::size_t s = 0; s < streams; ++s) {
            gates.open(s);
            REQUIRE_THAT(cudaStreamSynchronize(given[s]), grading::Succeeds());
            observed.mark_new(deliverers, s);
        }
        return deliverers;
    };
    return queue_behind_gates(observed, chunks, streams, cudaStreamNonBlocking, let_go_one_by_one);
}

bool waits(std::size_t count, std::size_t chunks, std::size_t streams) {
    Observed observed(count);
    observed.clear();
    const auto look = [](const Gates&, const auto&) { return true; };
    return !queue_behind_gates(observed, chunks, streams, cudaStreamDefault, look);
}

#endif

/// Indices at which the array has the values that are expected of it.
template <class Values>
Elements equal_elements(const Values& values, std::size_t count, float (*expected)(std::size_t)) {
    Elements equal;
    for (std::size_t i = 0; i < count; ++i) {
        if (values[i] == expected(i)) equal.push_back(i);
    }
    return equal;
}

/// Fails when something is done although all streams are held back: copying in, computing, copying out, one at a time.
/// False if nothing was to be seen because somebody waited for the streams.
bool check_nothing_goes_around_streams(std::size_t count, std::size_t chunks, std::size_t streams) {
    Observed observed(count);
    const auto is_clean = [&](const char* what, const auto& look) {
        const std::optional<Elements> elements = look_without_streams(observed, chunks, streams, look);
        if (!elements) return false;
        if (elements->empty()) return true;
        FAIL(what << " without any of the streams: " << grading::name_elements(*elements)
                  << "\nA copy or a launch that names no stream goes into the default stream, where it waits for all "
                     "streams, and they wait for it.");
        return false;
    };
    observed.clear();
    if (!is_clean("copied in", [&] { return equal_elements(observed.d_in.download(), count, input); })) return false;
    observed.clear();
    observed.put_on_device(observed.d_in, input);
    if (!is_clean("computed", [&] { return equal_elements(observed.d_out.download(), count, result); })) return false;
    observed.clear();
    observed.put_on_device(observed.d_out, result);
    return is_clean("copied out", [&] { return equal_elements(observed.out.data(), count, result); });
}

Elements delivered_by(const Deliverers& deliverers, int stream) {
    Elements elements;
    for (std::size_t i = 0; i < deliverers.size(); ++i) {
        if (deliverers[i] == stream) elements.push_back(i);
    }
    return elements;
}

/// How often the stream changes from an element to the next, and one more.
std::size_t pieces_of(const Deliverers& deliverers) {
    std::size_t pieces = 1;
    for (std::size_t i = 1; i < deliverers.size(); ++i) pieces += deliverers[i] != deliverers[i - 1];
    return pieces;
}

void check_turns(const Deliverers& deliverers, std::size_t chunks, std::size_t streams) {
    for (std::size_t s = 0; s < streams; ++s) {
        if (delivered_by(deliverers, static_cast<int>(s)).empty()) {
            FAIL("no chunk is done in streams["
                 << s << "] from its copy in to its copy out\n"
                 << "Do both copies and the launch of chunk k name the same stream, streams[k % " << streams << "]?");
        }
    }
    const std::vector<std::size_t> torn = delivered_by(deliverers, nobody);
    if (!torn.empty()) {
        FAIL("not done in one stream from copy in to copy out: "
             << grading::name_elements(torn)
             << "\nOnly work of the same stream keeps its order: all three belong into the chunk's stream.");
    }
    INFO("The elements lie in " << pieces_of(deliverers) << " pieces of one stream each");
    CHECK(pieces_of(deliverers) == chunks);
    for (std::size_t s = 0; s < streams; ++s) {
        const std::size_t elements = delivered_by(deliverers, static_cast<int>(s)).size();
        INFO("streams[" << s << "] has " << elements << " elements. Are the chunks of about the same size?");
        CHECK(elements >= deliverers.size() / streams / 2);
    }
}

}  // namespace

TEST_CASE("gives page-locked memory") {
    for (const std::size_t count : {1, 33, 100000}) {
        INFO("allocate_on_host(" << count << ")");
        float* const memory = allocate_on_host(count);
        REQUIRE(memory != nullptr);
        std::fill(memory, memory + count, untouched);  // all of it is there
        const bool page_locked = is_page_locked(memory) && is_page_locked(memory + count - 1);
        free_on_host(memory);
        INFO("A copy engine works with physical addresses. The system may move any other memory while it copies.");
        INFO("Which function of CUDA allocates host memory that stays where it is?");
        REQUIRE(page_locked);
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("frees the memory again") {
    float* const memory = allocate_on_host(1000);
    REQUIRE(memory != nullptr);
    free_on_host(memory);
    REQUIRE_THAT(cudaGetLastError(), grading::Succeeds());
    INFO("free_on_host has to free what allocate_on_host gave: each kind of memory has a function of its own for that");
    REQUIRE(!is_page_locked(memory));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("computes every element") {
    for (const std::size_t streams : {1, 2, 4}) {
        for (const std::size_t chunks : {1, 2, 8}) {
            for (const std::size_t count : {8, 31, 32, 33, 1000, 1009, 4096, 10007}) {
                check_results(count, chunks, streams);
            }
        }
    }
}

TEST_CASE("handles fewer elements than chunks") {
    for (const std::size_t count : {0, 1, 2, 5, 9, 17}) {
        check_results(count, 8, 3);
        check_results(count, 16, 4);
    }
}

TEST_CASE("gives each chunk to one of the streams in turn") {
    constexpr std::size_t count = 8192;
    for (const std::size_t streams : {2, 3, 4}) {
        for (const std::size_t chunks : {8, 16}) {
            INFO(count << " floats, " << chunks << " chunks, " << streams << " streams");
            std::optional<Deliverers> deliverers;
            if (check_nothing_goes_around_streams(count, chunks, streams)) {
                deliverers = deliverers_of(count, chunks, streams);
            }
            if (!deliverers) {
                WARN("Not graded: queue_work, or this device, waits for a stream that is held back.");
                return;
            }
            check_turns(*deliverers, chunks, streams);
        }
    }
}

TEST_CASE("returns without waiting for the device") {
    for (const std::size_t streams : {1, 4}) {
        const bool waited = waits(4096, 8, streams);
        INFO("While the host waits it queues nothing, and the copy engines have nothing to do.");
        INFO("Does it synchronize between the chunks, or use cudaMemcpy, which waits?");
        CHECK_FALSE(waited);
    }
}

#ifndef __CPU_DEVICE__
// With one stream the answer copies in, computes and copies out one after the other. With four it can copy both ways at
// the same time, where the device has a copy engine for each way.
TEST_CASE("takes less time with four streams than with one") {
    int device = 0, engines = 0;
    REQUIRE_THAT(cudaGetDevice(&device), grading::Succeeds());
    REQUIRE_THAT(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device), grading::Succeeds());
    if (engines < 2) {
        WARN("Not graded: this device copies one way at a time.");
        return;
    }
    constexpr std::size_t count = std::size_t{1} << 25;
    Observed observed(count);
    observed.clear();
    const Streams one(1), four(4);
    const std::vector<warpwise::Timing> timings =
        warpwise::measure_in_turn({{[&] { queue_work(observed.work(16, one.handles())); }, false},
                                   {[&] { queue_work(observed.work(16, four.handles())); }, false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const double ratio = timings[1].median / timings[0].median;
    INFO("one stream: " << timings[0].median * 1e3 << " ms; four streams: " << timings[1].median * 1e3 << " ms");
    INFO("While one chunk is copied out, another can be copied in.");
    CHECK(ratio <= 0.85);
}
#endif
