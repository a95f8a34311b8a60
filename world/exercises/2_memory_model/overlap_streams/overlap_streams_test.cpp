#include "exercises/2_memory_model/overlap_streams/overlap_streams.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

#ifndef __CPU_DEVICE__
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/helpers/benchmark.h"
#endif

const grading::Exercise grading::exercise{"2_memory_model", "overlap_streams"};

namespace {

constexpr float untouched =
    -7;  // what the grader writes into the learner's host memory; no result has this value

float input(std::size_t i) {
    static const std::vector<float> values = grading::random_floats(65521);
    return values[i % values.size()];
}
float result(std::size_t i) {
    return 2 * input(i) + 1;
}  // exact but for one rounding, in float and in double

/// An array in the learner's host memory, between two red zones.
class HostArray {
public:
    HostArray(std::size_t count, bool with_input)
        : count_(count), memory_(allocate_on_host(count + 2 * zone)) {
        if (memory_ == nullptr)
            FAIL("allocate_on_host(" << count + 2 * zone
                                     << ") returned no memory.\nWhich call allocates, and "
                                        "what does it return?");
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
        return std::all_of(memory_, memory_ + zone, is_untouched) &&
               std::all_of(end, end + zone, is_untouched);
    }

private:
    static constexpr std::size_t zone = 256;
    std::size_t count_;
    float* memory_;
};

class Streams {
public:
    explicit Streams(std::size_t count, unsigned flags = cudaStreamDefault)
        : handles_(count) {
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
    if (status != cudaSuccess)
        (void)cudaGetLastError();  // that was the answer, and no error to be found later
    return status == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

constexpr std::size_t most_per_thread = 8;  // elements

constexpr int nobody = -1;  // not one stream alone, or was never done
using Deliverers =
    std::vector<int>;  // for each element the number of its stream, or `nobody`
using Elements = std::vector<std::size_t>;

/// All the memory that a call works on.
struct Observed {
    explicit Observed(std::size_t count_)
        : count(count_), in(count, true), out(count, false), d_in(count), d_out(count) {}

    void clear() {
        std::fill(out.data(), out.data() + count, untouched);
        d_in.poison();
        d_out.poison();
    }

    void put_on_device(grading::Guarded<float>& d_values,
                       float (*value)(std::size_t)) const {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
        REQUIRE_THAT(cudaMemcpy(d_values.data(), values.data(), count * sizeof(float),
                                cudaMemcpyHostToDevice),
                     grading::Succeeds());
    }

    /// Marks the elements that have arrived and had not before.
    void mark_new(Deliverers& deliverers, std::size_t stream) {
        for (std::size_t i = 0; i < count; ++i) {
            if (deliverers[i] == nobody && out.data()[i] == result(i))
                deliverers[i] = static_cast<int>(stream);
        }
    }

    Work work(std::size_t chunks, const std::vector<cudaStream_t>& streams) {
        return {in.data(), out.data(), d_in.data(), d_out.data(), count, chunks, streams};
    }

    std::size_t count;
    HostArray in, out;
    grading::Guarded<float> d_in, d_out;
};

void check_values(Observed& observed) {
    Elements wrong, changed;
    for (std::size_t i = 0; i < observed.count; ++i) {
        if (observed.out.data()[i] != result(i)) wrong.push_back(i);
        if (observed.in.data()[i] != input(i)) changed.push_back(i);
    }
    if (!wrong.empty()) {
        const std::size_t i = wrong[0];
        FAIL("wrong on the host: " << grading::name_elements(wrong) << "\nout[" << i
                                   << "] is " << observed.out.data()[i] << ", should be "
                                   << result(i) << " (" << untouched
                                   << " was there before).\nWhich chunk does this element "
                                      "belong to, and which three calls handle that "
                                      "chunk?");
    }
    if (!changed.empty())
        FAIL("the input was changed: " << grading::name_elements(changed)
                                       << "\nWhich copy has `in` as its destination?");
    if (!observed.out.stays_inside())
        FAIL(
            "written before the start of the array on the host, or past its end.\nHow many "
            "elements, and how many bytes, does the last chunk have?");
    CHECK_THAT(observed.d_in, grading::StaysInside());
    CHECK_THAT(observed.d_out, grading::StaysInside());
}

// ---- which stream does what? ----------------------------------------------------------
//
// An element is delivered by stream s when copying in, computing and copying out all happen
// in s. What a device lets the grader see of that is different for the CPU device, which
// keeps a log, and a GPU.

/// Judges how elements that were all delivered are cut into chunks.
void check_cut(const Deliverers& deliverers, std::size_t chunks, std::size_t streams) {
    struct Piece {
        std::size_t first, count;
    };
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < deliverers.size(); ++i) {
        if (i == 0 || deliverers[i] != deliverers[i - 1]) pieces.push_back({i, 0});
        ++pieces.back().count;
    }
    if (pieces.size() != chunks) {
        const std::string seen =
            pieces.size() == 1
                ? "All elements are done in streams[" + std::to_string(deliverers[0]) + "]"
                : "The elements are done in " + std::to_string(pieces.size()) +
                      " groups of neighbors, each of them in one stream";
        FAIL(seen << ".\nThere should be " << grading::counted(chunks, "chunk")
                  << ", each of them in another stream than the chunk before it.\n"
                     "At which element does your chunk 1 begin, and in which stream is "
                     "it done?");
    }
    for (std::size_t k = 0; k < chunks; ++k) {
        const bool right_stream =
            deliverers[pieces[k].first] == static_cast<int>(k % streams);
        if (!right_stream) {
            FAIL("Chunk " << k << " has " << grading::counted(pieces[k].count, "element")
                          << " from " << pieces[k].first << " on, and is done in streams["
                          << deliverers[pieces[k].first]
                          << "].\nIn which stream should chunk " << k << " be done?");
        }
        if (pieces[k].count * chunks > 2 * deliverers.size()) {
            FAIL("Chunk "
                 << k << " has " << grading::counted(pieces[k].count, "element")
                 << ". On average a chunk "
                 << "has " << deliverers.size() / chunks
                 << ", and none may have more than twice as many.\nWhich chunk takes "
                    "the elements that are left?");
        }
    }
}

#ifdef __CPU_DEVICE__

/// Judges what the log of a call says of all copies, fills, and launches.
void check_calls(const grading::Instrumented& instrumented,
                 const std::vector<cudaStream_t>& streams) {
    for (const warpwise::ApiCall& call : instrumented.calls) {
        const bool is_work = call.launch != 0 || !call.direction.empty() ||
                             call.function.starts_with("cudaMemset");
        if (!is_work ||
            std::find(streams.begin(), streams.end(), call.stream) != streams.end())
            continue;
        const std::string name =
            call.launch != 0 ? "A kernel is launched" : call.function + " works";
        if (call.stream != nullptr) {
            FAIL(name << " in a stream that is none of `streams`.\nIn which stream should "
                         "this chunk be done?");
        }
        FAIL(name << " in the default stream, which waits for all streams, and they wait "
                     "for it.\nWhich argument names the stream of this call?");
    }
}

/// For each element the one of `streams` in which all was done, as the log says.
Deliverers deliverers_of(Observed& observed, const grading::Instrumented& instrumented,
                         const std::vector<cudaStream_t>& streams) {
    const std::size_t bytes = observed.count * sizeof(float);
    const auto d_in = warpwise::activity_of(observed.d_in.data(), bytes);
    const auto d_out = warpwise::activity_of(observed.d_out.data(), bytes);
    const auto out = warpwise::activity_of(observed.out.data(), bytes);
    std::vector<const void*> stream_of_launch(1);
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.launch != 0) stream_of_launch.push_back(call.stream);
    }
    Deliverers deliverers(observed.count, nobody);
    Elements not_in, not_read, not_computed, not_out, torn;
    for (std::size_t i = 0; i < observed.count; ++i) {
        const std::size_t launch = d_out[i].written_by.launch;
        if (d_in[i].copied_by == 0) {
            not_in.push_back(i);
        } else if (launch == 0) {
            not_computed.push_back(i);
        } else if (d_in[i].read_by.launch != launch) {
            not_read.push_back(i);
        } else if (out[i].copied_by == 0 || out[i].written_by.launch != launch) {
            not_out.push_back(i);
        } else {
            const void* const stream = stream_of_launch.at(launch);
            if (instrumented.calls[d_in[i].copied_by - 1].stream != stream ||
                instrumented.calls[out[i].copied_by - 1].stream != stream) {
                torn.push_back(i);
            } else {
                const auto found = std::find(streams.begin(), streams.end(), stream);
                deliverers[i] = static_cast<int>(found - streams.begin());
            }
        }
    }
    const auto require_none = [](const char* what, const Elements& elements,
                                 const char* question) {
        if (elements.empty()) return;
        FAIL(what << ": " << grading::name_elements(elements) << "\n" << question);
    };
    require_none("Never copied from `in` to `d_in`", not_in,
                 "Which chunk do these elements belong to, and which call copies it in?");
    require_none("Not written to `d_out` by a kernel", not_computed,
                 "Which launch should write them, and how many threads does it have?");
    require_none("Not computed from the elements of `d_in`", not_read,
                 "Which array does the kernel read, from which index on?");
    require_none("Not copied from `d_out` to `out`", not_out,
                 "Which chunk do these elements belong to, and which call copies it out?");
    require_none("Not done in one stream from copy in to copy out", torn,
                 "Which stream does each of the three calls of this chunk name?");
    return deliverers;
}

#endif

/// Calls the answer and judges the results, and who computed them.
void check_results(std::size_t count, std::size_t chunks, std::size_t streams) {
    INFO(grading::counted(count, "float") << ", " << grading::counted(chunks, "chunk")
                                          << ", " << grading::counted(streams, "stream"));
    Observed observed(count);
    const Streams given(streams);
    const grading::Instrumented instrumented =
        grading::instrument([&] { queue_work(observed.work(chunks, given.handles())); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_values(observed);
    CHECK_THAT(observed.d_out, grading::WrittenByThreads(count / most_per_thread));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
}

#ifdef __CPU_DEVICE__

/// Whether every chunk may have an element, and none has to be much longer than the others.
bool has_long_chunks(std::size_t count, std::size_t chunks) {
    return count >= chunks * chunks;
}

/// Calls the answer and judges which stream does what.
void check_streams(std::size_t count, std::size_t chunks, std::size_t streams) {
    INFO(grading::counted(count, "float") << ", " << grading::counted(chunks, "chunk")
                                          << ", " << grading::counted(streams, "stream"));
    Observed observed(count);
    const Streams given(streams);
    const grading::Instrumented instrumented =
        grading::instrument([&] { queue_work(observed.work(chunks, given.handles())); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    check_calls(instrumented, given.handles());
    const Deliverers deliverers = deliverers_of(observed, instrumented, given.handles());
    if (streams > 1 && has_long_chunks(count, chunks))
        check_cut(deliverers, chunks, streams);
}

#endif

#ifndef __CPU_DEVICE__

// A GPU has fewer queues than a program may have streams. Streams that share a queue wait
// for each other, and then one that is held back holds back others too. So this asks for as
// many queues as there can be, before CUDA starts.
[[maybe_unused]] const int queues_requested =
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);

// Holds streams back until the grader lets them go, one after the other. All of them go on
// by themselves after two seconds, in case that somebody waits for a stream that is held
// back. What is seen after that says nothing.
//
// One thread calls all host functions, so only one of them may wait at a time: they are all
// in one stream, and the streams that are held back wait for events in it.
class Gates {
public:
    explicit Gates(const std::vector<cudaStream_t>& streams) : gates_(streams.size()) {
        // Not blocking: work in the default stream is not to wait for this stream.
        REQUIRE_THAT(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                     grading::Succeeds());
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        for (std::size_t s = 0; s < streams.size(); ++s) {
            gates_[s].deadline = deadline;
            REQUIRE_THAT(
                cudaEventCreateWithFlags(&gates_[s].opened, cudaEventDisableTiming),
                grading::Succeeds());
            REQUIRE_THAT(cudaLaunchHostFunc(stream_, wait_at, &gates_[s]),
                         grading::Succeeds());
            REQUIRE_THAT(cudaEventRecord(gates_[s].opened, stream_), grading::Succeeds());
            REQUIRE_THAT(cudaStreamWaitEvent(streams[s], gates_[s].opened),
                         grading::Succeeds());
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

/// Calls the answer once, unobserved, and copies its work back. What a program does for the
/// first time may wait for all streams: the first launch of a kernel loads its code, the
/// first copy from the device gets memory to copy through.
void warm_up() {
    Observed observed(1);
    const Streams given(1);
    queue_work(observed.work(1, given.handles()));
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    (void)observed.d_in.download();
}

/// Calls the answer into streams that are held back, and then returns `look(gates,
/// streams)`. Nothing if the gates did not hold until then: somebody waited for them.
template <class Look>
auto queue_behind_gates(Observed& observed, std::size_t chunks, std::size_t streams,
                        unsigned flags, const Look& look) {
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

/// Calls the answer while all streams are held back, and then returns `look()`. The streams
/// are of the kind for which the default stream does not wait.
template <class Look>
std::optional<Elements> look_without_streams(Observed& observed, std::size_t chunks,
                                             std::size_t streams, const Look& look) {
    return queue_behind_gates(
        observed, chunks, streams, cudaStreamNonBlocking, [&](const Gates&, const auto&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return look();
        });
}

// One stream after the other may go on; what arrives then was done by it.
std::optional<Deliverers> deliverers_of(std::size_t count, std::size_t chunks,
                                        std::size_t streams) {
    Observed observed(count);
    observed.clear();
    const auto let_go_one_by_one = [&](Gates& gates,
                                       const std::vector<cudaStream_t>& given) {
        Deliverers deliverers(count, nobody);
        for (std::size_t s = 0; s < streams; ++s) {
            gates.open(s);
            REQUIRE_THAT(cudaStreamSynchronize(given[s]), grading::Succeeds());
            observed.mark_new(deliverers, s);
        }
        return deliverers;
    };
    return queue_behind_gates(observed, chunks, streams, cudaStreamNonBlocking,
                              let_go_one_by_one);
}

bool waits(std::size_t count, std::size_t chunks, std::size_t streams) {
    Observed observed(count);
    observed.clear();
    const auto look = [](const Gates&, const auto&) { return true; };
    return !queue_behind_gates(observed, chunks, streams, cudaStreamDefault, look);
}

/// Indices at which the array has the values that are expected of it.
template <class Values>
Elements equal_elements(const Values& values, std::size_t count,
                        float (*expected)(std::size_t)) {
    Elements equal;
    for (std::size_t i = 0; i < count; ++i) {
        if (values[i] == expected(i)) equal.push_back(i);
    }
    return equal;
}

/// Fails when something is done although all streams are held back: copying in, computing,
/// copying out, one at a time. False if nothing was to be seen because somebody waited for
/// the streams.
bool check_nothing_goes_around_streams(std::size_t count, std::size_t chunks,
                                       std::size_t streams) {
    Observed observed(count);
    const auto is_clean = [&](const char* what, const auto& look) {
        const std::optional<Elements> elements =
            look_without_streams(observed, chunks, streams, look);
        if (!elements) return false;
        if (elements->empty()) return true;
        FAIL(what << " without any of the streams: " << grading::name_elements(*elements)
                  << "\nA copy or a launch that names no stream goes into the default "
                     "stream, where it waits for all "
                     "streams, and they wait for it.\nWhich of your calls names no "
                     "stream?");
        return false;
    };
    observed.clear();
    if (!is_clean("copied in",
                  [&] { return equal_elements(observed.d_in.download(), count, input); }))
        return false;
    observed.clear();
    observed.put_on_device(observed.d_in, input);
    if (!is_clean("computed",
                  [&] { return equal_elements(observed.d_out.download(), count, result); }))
        return false;
    observed.clear();
    observed.put_on_device(observed.d_out, result);
    return is_clean("copied out",
                    [&] { return equal_elements(observed.out.data(), count, result); });
}

Elements delivered_by(const Deliverers& deliverers, int stream) {
    Elements elements;
    for (std::size_t i = 0; i < deliverers.size(); ++i) {
        if (deliverers[i] == stream) elements.push_back(i);
    }
    return elements;
}

void check_turns(const Deliverers& deliverers, std::size_t chunks, std::size_t streams) {
    for (std::size_t s = 0; s < streams; ++s) {
        if (delivered_by(deliverers, static_cast<int>(s)).empty()) {
            FAIL("no chunk is done in streams[" << s
                                                << "] from its copy in to its copy out\n"
                                                << "Do both copies and the launch of chunk "
                                                   "k name the same stream, streams[k % "
                                                << streams << "]?");
        }
    }
    const std::vector<std::size_t> torn = delivered_by(deliverers, nobody);
    if (!torn.empty()) {
        FAIL("Not done in one stream from copy in to copy out: "
             << grading::name_elements(torn)
             << "\nWhich stream does each of the three calls of this chunk name?");
    }
    check_cut(deliverers, chunks, streams);
}

#endif

}  // namespace

TEST_CASE("gives pinned memory") {
    for (const std::size_t count : {1, 33, 100000}) {
        INFO("allocate_on_host(" << count << ")");
        float* const memory = allocate_on_host(count);
        if (memory == nullptr) {
            FAIL(
                "allocate_on_host returned a null pointer.\nWhich call allocates, and what "
                "does it return?");
        }
        if (!is_page_locked(memory)) {
            FAIL(
                "The memory of allocate_on_host is not pinned (page-locked).\n"
                "A copy engine works with physical addresses, and the system may move "
                "other memory.\n"
                "Which function of CUDA allocates host memory that stays where it is?");
        }
        if (!is_page_locked(memory + count - 1)) {
            FAIL("Only the first of " << grading::counted(count, "float")
                                      << " are pinned (page-locked).\nHow many bytes does "
                                         "allocate_on_host ask for?");
        }
        std::fill(memory, memory + count, untouched);  // all of it is there
        INFO("Which function frees the memory that your allocate_on_host gives?");
        free_on_host(memory);
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("returns null where there is no memory") {
    constexpr std::size_t far_too_many = std::size_t{1} << 50;
    float* const memory = allocate_on_host(far_too_many);
    (void)cudaGetLastError();
    grading::forget_diagnostics();  // of a call that failed
    if (memory != nullptr) {
        FAIL_CHECK(
            "allocate_on_host returned a pointer, although there is not so much "
            "memory.\nWhat does the pointer hold when the allocation has failed?");
    }
}

TEST_CASE("frees the memory again") {
    float* const memory = allocate_on_host(1000);
    if (memory == nullptr) {
        FAIL(
            "allocate_on_host returned a null pointer.\nWhich call allocates, and what "
            "does it return?");
    }
    INFO("Which function frees the memory that your allocate_on_host gives?");
    free_on_host(memory);
    REQUIRE_THAT(cudaGetLastError(), grading::Succeeds());
    if (is_page_locked(memory)) {
        FAIL(
            "free_on_host has to free what allocate_on_host gave, but the memory is still "
            "pinned (page-locked).\nWhich function frees memory of this kind?");
    }
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
}

TEST_CASE("computes every element") {
    for (const std::size_t streams : {1, 2, 4}) {
        for (const std::size_t chunks : {1, 2, 8}) {
            for (const std::size_t count : {8, 31, 33, 1009, 4096})
                check_results(count, chunks, streams);
        }
    }
    check_results(300'007, 6, 5);
    for (const std::size_t count : grading::sizes({}, 4, 20'000)) {
        check_results(count, grading::random_size(1, 40, count),
                      grading::random_size(1, 9, count + 1));
    }
}

TEST_CASE("handles fewer elements than chunks") {
    for (const std::size_t count : {0, 1, 2, 5, 9, 17}) {
        check_results(count, 8, 3);
        check_results(count, 16, 4);
    }
    check_results(3, 1000, 2);
}

TEST_CASE("gives each chunk to one of the streams in turn") {
    constexpr std::size_t count = 8192;
    for (const std::size_t streams : {2, 3, 4}) {
        for (const std::size_t chunks : {8, 16}) {
#ifdef __CPU_DEVICE__
            check_streams(count, chunks, streams);
#else
            INFO(grading::counted(count, "float")
                 << ", " << grading::counted(chunks, "chunk") << ", "
                 << grading::counted(streams, "stream"));
            std::optional<Deliverers> deliverers;
            if (check_nothing_goes_around_streams(count, chunks, streams)) {
                deliverers = deliverers_of(count, chunks, streams);
            }
            if (!deliverers) {
                WARN(
                    "Not graded: queue_work, or this device, waits for a stream that is "
                    "held back.");
                return;
            }
            check_turns(*deliverers, chunks, streams);
#endif
        }
    }
#ifdef __CPU_DEVICE__
    check_streams(5, 8, 3);
    check_streams(1000, 4, 1);
    for (const std::size_t some : grading::sizes({}, 4, 20'000, 1)) {
        check_streams(some, grading::random_size(1, 40, some),
                      grading::random_size(2, 9, some + 1));
    }
#endif
}

TEST_CASE("returns without waiting for the device") {
    INFO(
        "While the host waits it queues nothing, and the copy engines have nothing to do.");
    for (const std::size_t streams : {1, 4}) {
#ifdef __CPU_DEVICE__
        Observed observed(4096);
        const Streams given(streams);
        const grading::Instrumented instrumented =
            grading::instrument([&] { queue_work(observed.work(8, given.handles())); });
        REQUIRE_THAT(grading::finish(), grading::Succeeds());
        CHECK_THAT(instrumented, grading::WaitsForNothing());
        CHECK_THAT(instrumented, grading::CallsNot({"cudaStreamWaitEvent"},
                                                   "Then one stream waits for another."));
#else
        if (waits(4096, 8, streams)) {
            FAIL_CHECK(
                "queue_work returned only when the device had done its work.\nWhich of "
                "your "
                "calls waits for the device?");
        }
#endif
    }
}

#ifndef __CPU_DEVICE__
// With one stream the answer copies in, computes and copies out one after the other. With
// four it can copy both ways at the same time, where the device has a copy engine for each
// way.
TEST_CASE("takes less time with four streams than with one") {
    int device = 0, engines = 0;
    REQUIRE_THAT(cudaGetDevice(&device), grading::Succeeds());
    REQUIRE_THAT(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device),
                 grading::Succeeds());
    if (engines < 2) {
        WARN("Not graded: this device copies one way at a time.");
        return;
    }
    constexpr std::size_t count = std::size_t{1} << 25;
    Observed observed(count);
    observed.clear();
    const Streams one(1), four(4);
    const std::vector<warpwise::Timing> timings = warpwise::measure_in_turn(
        {{[&] { queue_work(observed.work(16, one.handles())); }, false},
         {[&] { queue_work(observed.work(16, four.handles())); }, false}});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(
        grading::figure("time with four streams, as a multiple of that with one",
                        timings[1].median / timings[0].median,
                        {.lines = "one stream: " + std::to_string(timings[0].median * 1e3) +
                                  " ms; four streams: " +
                                  std::to_string(timings[1].median * 1e3) + " ms"}),
        grading::AtMost(0.85,
                        "While one chunk is copied out, another can be copied in. "
                        "What keeps your chunks from that?"));
}
#endif
