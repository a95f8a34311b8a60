#include "exercises/5_modern_cuda/free_in_order/free_in_order.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/helpers/activity.h"

const grading::Exercise grading::exercise{"5_modern_cuda", "free_in_order"};

namespace {

/// The caller's two streams, which wait for no other stream.
struct Streams {
    cudaStream_t first = nullptr, second = nullptr;

    Streams() {
        REQUIRE_THAT(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking),
                     grading::Succeeds());
        REQUIRE_THAT(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking),
                     grading::Succeeds());
    }
    ~Streams() {
        (void)cudaStreamDestroy(first);
        (void)cudaStreamDestroy(second);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
};

/// The streams in which kernels have written the results.
std::set<const void*> writers_of(const int* d_results, std::size_t count,
                                 const grading::Instrumented& instrumented) {
    std::set<const void*> streams;
    for (const warpwise::WordActivity& word :
         warpwise::activity_of(d_results, count * sizeof(int))) {
        for (const warpwise::ApiCall& call : instrumented.calls)
            if (call.launch != 0 &&
                static_cast<std::uint32_t>(call.launch) == word.written_by.launch)
                streams.insert(call.stream);
    }
    return streams;
}

void check_batches(unsigned batches, unsigned count) {
    INFO(grading::counted(batches, "batch") << " of " << grading::counted(count, "value"));
    const std::size_t all = std::size_t{batches} * count;
    const std::vector<int> values =
        grading::random_ints(all, -1000, 1000, batches * 10007 + count);
    std::vector<double> sums(batches), largest(batches);
    for (std::size_t i = 0; i < all; ++i) {
        const double square = static_cast<double>(values[i]) * values[i];
        sums[i / count] += square;
        largest[i / count] = std::max(largest[i / count], square);
    }
    const grading::Guarded<int> d_values(values);
    grading::Guarded<int> d_sums(batches), d_largest(batches);
    const Streams streams;
    const grading::Instrumented instrumented = grading::instrument([&] {
        squares_of_batches(d_values.data(), batches, count, d_sums.data(), d_largest.data(),
                           streams.first, streams.second);
    });
    const std::set<const void*> of_sums = writers_of(d_sums.data(), batches, instrumented);
    const std::set<const void*> of_largest =
        writers_of(d_largest.data(), batches, instrumented);
    REQUIRE_THAT(cudaStreamSynchronize(streams.first), grading::Succeeds());
    REQUIRE_THAT(cudaStreamSynchronize(streams.second), grading::Succeeds());
    REQUIRE_THAT(grading::finish(),
                 grading::Succeeds()
                     .when({"missing order", "frees"},
                           "Which event tells the stream that frees the memory that the "
                           "other stream is done with it?")
                     .when({"missing order", "in another stream than that of its"},
                           "Which event tells this stream that the memory is allocated?"));
    CHECK_THAT(d_sums, grading::EqualTo(sums));
    CHECK_THAT(d_largest, grading::EqualTo(largest));
    CHECK_THAT(d_values, grading::Unchanged());
    if (!instrumented.countable) return;
    CHECK_THAT(d_sums, grading::WrittenByKernels());
    CHECK_THAT(d_largest, grading::WrittenByKernels());
    CHECK_THAT(instrumented, grading::WaitsForNothing("Streams can wait for each other."));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (of_sums != std::set<const void*>{streams.first})
        FAIL_CHECK(
            "A sum was not computed in the stream `first`.\nIn which stream is the kernel "
            "launched that adds up?");
    if (of_largest != std::set<const void*>{streams.second})
        FAIL_CHECK(
            "A largest square was not computed in the stream `second`.\nIn which stream is "
            "the kernel launched that looks for the largest square?");
}

}  // namespace

TEST_CASE("handles a single batch") {
    check_batches(1, 1);
    check_batches(1, 33);
    check_batches(1, 1000);
}

TEST_CASE("handles many batches") {
    for (const unsigned count : {1u, 31u, 32u, 257u, 2000u}) check_batches(8, count);
    check_batches(33, 100);
}

TEST_CASE("handles batches of any size") {
    for (const std::size_t count : grading::sizes({}, 4, 2000))
        check_batches(3, static_cast<unsigned>(std::max<std::size_t>(1, count)));
}
