// The CPU device counts what a GPU counts: every kernel of the ground truth, against h200.json.
//
// GROUND_TRUTH_FILE: path of the measurement, given by CMake.
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/tests/ground_truth/comparison.h"

namespace {

using ground_truth::Case;
using ground_truth::Figure;

const ground_truth::Measurement& measurement() {
    static const ground_truth::Measurement measured(GROUND_TRUTH_FILE);
    return measured;
}

void check_group(const std::vector<Case>& cases) {
    for (const Case& tested : cases) {
        DYNAMIC_SECTION(tested.name) {
            for (const Figure& figure : ground_truth::compare(tested, measurement())) {
                INFO(tested.name << ": " << figure.name << ": CPU device " << figure.cpu_device << ", GPU "
                                 << figure.gpu);
                if (figure.exception.empty()) {
                    CHECK(figure.agree());
                } else {
                    INFO("no longer an exception: " << figure.exception);
                    CHECK_FALSE(figure.agree());
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("counters of global memory are those of a GPU") { check_group(ground_truth::global_memory_cases()); }

TEST_CASE("counters of structures in global memory are those of a GPU") {
    check_group(ground_truth::structure_cases());
}

TEST_CASE("counters of shared memory are those of a GPU") { check_group(ground_truth::shared_memory_cases()); }

TEST_CASE("counters of transposes, sums and copies are those of a GPU") { check_group(ground_truth::tile_cases()); }

TEST_CASE("counters of atomic operations are those of a GPU") { check_group(ground_truth::atomic_cases()); }

TEST_CASE("counters of divergent warps are those of a GPU") { check_group(ground_truth::divergence_cases()); }

TEST_CASE("counters of constant memory are those of a GPU") { check_group(ground_truth::constant_memory_cases()); }

TEST_CASE("every kernel of the ground truth was measured, and no other") {
    std::set<std::string> cases;
    for (const ground_truth::Group& group : ground_truth::groups()) {
        for (const Case& one : group.cases()) CHECK(cases.insert(one.name).second);
    }
    const std::vector<std::string> kernels = measurement().kernels();
    CHECK(std::set<std::string>(kernels.begin(), kernels.end()) == cases);
}

TEST_CASE("counters do not depend on the number of host cores") {
    const Case random = ground_truth::find_case("gather_random_4_bytes");
    cpu_device::set_cores(1);
    const std::vector<Figure> on_one = ground_truth::figures_of(ground_truth::count(random));
    cpu_device::set_cores(7);
    const std::vector<Figure> on_seven = ground_truth::figures_of(ground_truth::count(random));
    for (std::size_t i = 0; i < on_one.size(); ++i) {
        INFO(on_one[i].name);
        CHECK(on_one[i].cpu_device == on_seven[i].cpu_device);
    }
}
