#include "exercises/5_modern_cuda/capture_once/capture_once.h"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "capture_once"};

namespace {

constexpr std::size_t most_kernels_per_graph = 8;
constexpr std::size_t most_waits = 3;

std::vector<unsigned> swept(const std::vector<unsigned>& values) {
    std::vector<unsigned> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const unsigned left = values[(i + values.size() - 1) % values.size()];
        const unsigned right = values[(i + 1) % values.size()];
        out[i] = (left + 2 * values[i] + right + 2) / 4;
    }
    return out;
}

/// What comes out when step number k is taken for number `step_of(k)`.
template <class StepOf>
std::vector<double> settled(std::vector<unsigned> values, unsigned steps,
                            const StepOf& step_of) {
    for (unsigned k = 0; k < steps; ++k) {
        const unsigned step = step_of(k);
        values[step * std::size_t{7919} % values.size()] += 1000 + step;
        values = swept(swept(values));
    }
    return {values.begin(), values.end()};
}

/// A stream that does not wait for the default stream.
class Stream {
public:
    Stream() {
        REQUIRE_THAT(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                     grading::Succeeds());
    }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// What the log of a call says.
struct HostWork {
    std::size_t launches = 0;        ///< kernels that the host launches itself
    std::size_t graphs = 0;          ///< launches of graphs
    std::size_t instantiations = 0;  ///< graphs that were made ready to be launched
    std::size_t waits = 0;
    std::size_t most_kernels = 0;  ///< that a launch of a graph runs
    bool in_other_stream = false;
};

HostWork host_work_of(const grading::Instrumented& instrumented, cudaStream_t stream) {
    HostWork work;
    std::size_t kernels = 0;
    for (const warpwise::ApiCall& call : instrumented.calls) {
        if (call.function == "cudaGraphLaunch") {
            ++work.graphs;
            kernels = 0;
        }
        work.instantiations += call.function.starts_with("cudaGraphInstantiate") ? 1 : 0;
        work.waits += call.waits ? 1 : 0;
        if (call.launch == 0) continue;
        if (call.stream != stream) work.in_other_stream = true;
        if (!call.in_graph) {
            ++work.launches;
        } else if (++kernels > work.most_kernels) {
            work.most_kernels = kernels;
        }
    }
    return work;
}

void check_host_work(const grading::Instrumented& instrumented, const Ring& ring) {
    const HostWork work = host_work_of(instrumented, ring.stream);
    if (work.in_other_stream)
        FAIL_CHECK(
            "A kernel runs in another stream than ring.stream.\nWhich stream do you "
            "capture, and in which do you launch the graph?");
    // A kernel that prepares something may be launched as it is.
    if (work.launches > 2)
        FAIL_CHECK("The host launches "
                   << grading::counted(work.launches, "kernel") << " itself, beside "
                   << grading::counted(work.graphs, "launch") << " of a graph, for "
                   << grading::counted(ring.steps, "step")
                   << ".\nBetween which two calls does a launch only become a node?");
    if (work.instantiations > 1)
        FAIL_CHECK("A graph is instantiated "
                   << work.instantiations << " times for "
                   << grading::counted(ring.steps, "step")
                   << ".\nWhat is different in the next step: the shape of the graph, or "
                      "only a parameter?");
    if (work.graphs != ring.steps)
        FAIL_CHECK("A graph is launched " << work.graphs << " times for "
                                          << grading::counted(ring.steps, "step")
                                          << ".\nHow many steps does your graph do?");
    if (work.most_kernels > most_kernels_per_graph)
        FAIL_CHECK("One launch of the graph runs "
                   << grading::counted(work.most_kernels, "kernel") << ", and at most "
                   << most_kernels_per_graph
                   << " are allowed.\nHow many steps does your graph do?");
    if (work.waits > most_waits)
        FAIL_CHECK("The host waits " << work.waits << " times for "
                                     << grading::counted(ring.steps, "step")
                                     << ".\nWhat does the host need from the device "
                                        "before the next launch?");
}

void check_ring(std::size_t count, unsigned first_step, unsigned steps) {
    INFO(grading::counted(count, "number") << ", " << grading::counted(steps, "step")
                                           << " from step " << first_step << " on");
    const std::vector<int> random = grading::random_ints(count, 0, 100'000'000, count);
    const std::vector<unsigned> values(random.begin(), random.end());
    grading::Guarded<unsigned> d_values(values), d_other(count);
    const Stream stream;
    const Ring ring{d_values.data(), d_other.data(), count,
                    first_step,      steps,          stream.get()};
    const grading::Instrumented instrumented = grading::instrument([&] { settle(ring); });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    const auto right = settled(values, steps, [&](unsigned k) { return first_step + k; });
    const auto frozen = settled(values, steps, [&](unsigned) { return first_step; });
    const auto from_zero = settled(values, steps, [](unsigned k) { return k; });
    const auto one_too_many =
        settled(values, steps + 1, [&](unsigned k) { return first_step + k; });
    const auto one_ahead =
        settled(values, steps, [&](unsigned k) { return first_step + k + 1; });
    const std::vector<double> as_before(values.begin(), values.end());
    CHECK_THAT(d_values,
               grading::EqualTo(right)
                   .when(grading::equals(as_before),
                         "Nothing has changed. What does a captured stream do with a "
                         "launch, and which call does the work?")
                   .when(grading::equals(frozen),
                         "These are the numbers when every step is step number " +
                             std::to_string(first_step) +
                             ". When does a captured launch copy its arguments?")
                   .when(grading::equals(one_too_many),
                         "These are the numbers after one step more.")
                   .when(grading::equals(one_ahead),
                         "These are the numbers when each step has the number of the next "
                         "one. Is the number changed before the launch, or after it?")
                   .when(grading::equals(from_zero),
                         "These are the numbers when the steps are counted from 0. Which "
                         "number does the first step have?"));
    CHECK_THAT(d_values, grading::StaysInside());
    CHECK_THAT(d_other, grading::StaysInside());
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (instrumented.countable) {
        check_host_work(instrumented, ring);
    } else {
        grading::note_left_out();
    }
}

}  // namespace

TEST_CASE("does a single step") { check_ring(1000, 5, 1); }

TEST_CASE("does many steps with one graph") { check_ring(1000, 3, 20); }

TEST_CASE("does no step at all") { check_ring(100, 1, 0); }

TEST_CASE("does rings of any size") {
    for (const std::size_t count :
         grading::sizes({1, 2, 3, 31, 33, 255, 256, 257}, 3, 5000))
        check_ring(count, static_cast<unsigned>(count % 11), 4);
}

TEST_CASE("can be called several times") {
    for (const unsigned steps : {3u, 7u, 2u}) check_ring(300, 10 * steps, steps);
}
