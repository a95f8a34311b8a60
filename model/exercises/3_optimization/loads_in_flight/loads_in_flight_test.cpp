#include "exercises/3_optimization/loads_in_flight/loads_in_flight.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/grading/activity.h"
#include "common/grading/exercise.h"
#include "common/grading/figure.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"
#include "common/grading/instrumented.h"
#include "common/grading/warp_trace.h"

const grading::Exercise grading::exercise{"3_optimization", "loads_in_flight"};

namespace {

using grading::WarpEvent;
using grading::WarpTrace;
using Kind = grading::WarpEvent::Kind;

constexpr std::size_t many = 131'072;  // elements, where waits are judged

/// A table with some more elements than are gathered, so that its size tells it apart from
/// the other arrays.
struct Gather {
    explicit Gather(std::size_t n, bool distinct = true)
        : table(grading::random_floats(n + n / 7 + 3)) {
        std::vector<int> all(table.size());
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), std::mt19937_64(grading::seed() + n));
        places.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
        if (!distinct) {
            for (std::size_t i = 0; i < n; ++i) places[i] = places[i % (n / 3 + 1)];
        }
    }

    std::vector<double> expected() const {
        std::vector<double> values;
        for (const int place : places)
            values.push_back(table[static_cast<std::size_t>(place)]);
        return values;
    }

    std::vector<float> table;
    std::vector<int> places;
};

/// Checks what was gathered, and returns what the kernels did.
grading::Instrumented check_gather(const Gather& gathered) {
    const std::size_t n = gathered.places.size();
    INFO("n = " << n);
    const grading::Guarded<float> d_table(gathered.table);
    const grading::Guarded<int> d_places(gathered.places);
    grading::Guarded<float> d_out(n);
    const std::vector<double> expected = gathered.expected();
    std::vector<double> without_places;
    for (std::size_t i = 0; i < n; ++i) without_places.push_back(gathered.table[i]);
    const grading::Instrumented instrumented = grading::instrument([&] {
        gather(d_table.data(), d_places.data(), d_out.data(), static_cast<int>(n));
    });
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    CHECK_THAT(d_out, grading::WrittenEverywhere());
    CHECK_THAT(d_out, grading::EqualTo(expected).when(
                          grading::equals(without_places),
                          "These are table[i], not table[places[i]]."));
    CHECK_THAT(d_out, grading::StaysInside());
    CHECK_THAT(d_table, grading::Unchanged());
    CHECK_THAT(d_places, grading::Unchanged());
    if (n > 0) CHECK_THAT(d_out, grading::WrittenOnce());
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyDeviceToHost"));
    CHECK_THAT(instrumented, grading::CopiesNothing("cudaMemcpyHostToDevice"));
    CHECK_THAT(instrumented,
               grading::CallsNot({"cudaMallocManaged", "cudaHostAlloc", "cudaHostRegister",
                                  "cudaCreateTextureObject"}));
    CHECK_THAT(instrumented, grading::ReleasesWhatItMakes());
    if (n == many && instrumented.countable) {
        std::set<warpwise::KernelThread> threads;
        for (const grading::ElementActivity& element : grading::activity_of(d_out))
            threads.insert(element.written_by);
        CHECK_THAT(grading::figure("elements per thread that stores any",
                                   static_cast<double>(n) / threads.size()),
                   grading::Between(4, 64,
                                    "How many loads can a thread issue for its elements "
                                    "before it waits?"));
    }
    return instrumented;
}

/// A warp and its waits: it executes in order, and waits where it uses a value whose load
/// was issued after the previous wait.
struct Waits {
    std::size_t count = 0;
    std::size_t loads = 0;
    std::size_t most_elements = 0;  // of a thread

    double per_four_elements() const {
        return static_cast<double>(count) / ((most_elements + 3) / 4);
    }
    std::vector<std::string> places;
};

Waits waits_of(const WarpTrace& warp, const Gather& gathered,
               const std::vector<int>& element_of_place) {
    const std::size_t n = gathered.places.size();
    Waits waits;
    // By element: the wait, counted from 1, with which a value arrives.
    std::map<std::size_t, std::size_t> place_arrives, element_arrives;
    std::map<unsigned, std::size_t> stored;
    const auto use = [&](const WarpEvent& event, std::size_t arrives) {
        if (arrives <= waits.count) return;
        waits.count = arrives;
        const std::string text = grading::place_text(event);
        if (waits.places.size() < 3) waits.places.push_back(text);
    };
    const auto arrival = [](const std::map<std::size_t, std::size_t>& arrives,
                            std::size_t element) {
        const auto known = arrives.find(element);
        return known == arrives.end() ? std::size_t{0} : known->second;
    };
    for (const WarpEvent& event : warp.events) {
        const bool from_table = event.array_bytes == gathered.table.size() * sizeof(float);
        // `places` and `out` have the same size: one is loaded, the other one is stored.
        const bool other = event.array_bytes == n * sizeof(float);
        const bool stores =
            event.kind == Kind::global_store || event.kind == Kind::global_atomic;
        std::vector<std::size_t> elements;
        for (const auto& [lane, offset] : event.lanes) {
            const std::size_t first = static_cast<std::size_t>(offset) / sizeof(float);
            const std::size_t words = std::max(event.bytes, sizeof(float)) / sizeof(float);
            for (std::size_t k = first; k < first + words; ++k) {
                if (!from_table) elements.push_back(k);
                if (from_table && element_of_place[k] >= 0)
                    elements.push_back(static_cast<std::size_t>(element_of_place[k]));
                if (other && stores)
                    waits.most_elements = std::max(waits.most_elements, ++stored[lane]);
            }
        }
        std::size_t needed = 0;
        if (event.kind == Kind::global_load && (from_table || other)) ++waits.loads;
        if (event.kind == Kind::global_load && from_table) {
            for (const std::size_t element : elements)
                needed = std::max(needed, arrival(place_arrives, element));
            use(event, needed);
            for (const std::size_t element : elements)
                element_arrives[element] = waits.count + 1;
        } else if (event.kind == Kind::global_load && other) {
            for (const std::size_t element : elements)
                place_arrives[element] = waits.count + 1;
        } else if (stores && other) {
            for (const std::size_t element : elements)
                needed = std::max(needed, arrival(element_arrives, element));
            use(event, needed);
        }
    }
    return waits;
}

}  // namespace

TEST_CASE("gathers any number of elements") {
    for (const std::size_t n : grading::sizes(
             {1, 2, 3, 31, 32, 33, 255, 1000, 1023, 1024, 1025, 10'007}, 4, 20'000))
        check_gather(Gather(n));
}

TEST_CASE("gathers nothing from no places") { check_gather(Gather(0)); }

TEST_CASE("gathers elements that several places name") {
    for (const std::size_t n : {33, 1000, 5003}) check_gather(Gather(n, false));
}

TEST_CASE("gathers 300,000 elements") { check_gather(Gather(300'007)); }

TEST_CASE("gives each thread 4 to 64 elements and stores whole sectors") {
    const grading::Instrumented instrumented = check_gather(Gather(many));
    CHECK_THAT(instrumented,
               grading::GlobalEfficiencyAtLeast(0.8, grading::Accesses::stores));
    if (instrumented.countable) {
        const warpwise::Counts counts = warpwise::sum_of(instrumented.launches);
        CHECK_THAT(grading::figure("accesses to shared memory", counts.shared().requests,
                                   {.call = instrumented.name}),
                   grading::AtMost(0,
                                   "Which thread uses these values, and where could it "
                                   "keep them by itself?"));
    }
}

TEST_CASE("waits at most three times for four elements") {
    const std::size_t n = many;
    INFO("n = " << n);
    const Gather gathered(n);
    std::vector<int> element_of_place(gathered.table.size(), -1);
    for (std::size_t i = 0; i < n; ++i)
        element_of_place[static_cast<std::size_t>(gathered.places[i])] =
            static_cast<int>(i);
    const grading::Guarded<float> d_table(gathered.table);
    const grading::Guarded<int> d_places(gathered.places);
    grading::Guarded<float> d_out(n);
    const std::vector<WarpTrace> warps = grading::trace_warps(
        [&] { gather(d_table.data(), d_places.data(), d_out.data(), static_cast<int>(n)); },
        {.blocks = n, .events = 2000});
    REQUIRE_THAT(grading::finish(), grading::Succeeds());
    Waits worst;
    for (const WarpTrace& warp : warps) {
        const Waits waits = waits_of(warp, gathered, element_of_place);
        if (waits.most_elements == 0) continue;
        if (worst.count == 0 || waits.per_four_elements() > worst.per_four_elements())
            worst = waits;
    }
    if (worst.count == 0) return;
    grading::figure("loads in flight per wait of a thread",
                    static_cast<double>(worst.loads) / worst.count);
    std::string lines =
        "a thread with " + grading::counted(worst.most_elements, "element") + " waits " +
        grading::counted(worst.count, "time") + "; the first waits are at\n";
    for (const std::string& place : worst.places) lines += "    " + place + "\n";
    // Two are enough. The third is for a load that the compiler moved into the branch that
    // alone uses its value.
    CHECK_THAT(grading::figure("waits for loads per four elements of a thread",
                               worst.per_four_elements(), {.lines = lines}),
               grading::AtMost(3,
                               "Which loads of a thread's other elements could be issued "
                               "before the first of these waits?"));
}
