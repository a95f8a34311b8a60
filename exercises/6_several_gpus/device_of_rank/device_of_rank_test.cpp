#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "common/grading/exercise.h"
#include "common/grading/grading.h"
#include "common/grading/inputs.h"

const grading::Exercise grading::exercise{"6_several_gpus", "device_of_rank"};

namespace {

void check_ranks(const std::vector<std::string>& machines,
                 const std::vector<int>& devices) {
    std::string names;
    for (const std::string& name : machines) names += (names.empty() ? "" : ", ") + name;
    INFO("machines " << names << ", devices of rank 0: " << devices.at(0));
    std::vector<int> got;
    std::vector<double> expected;
    std::map<std::string, int> taken;
    for (std::size_t rank = 0; rank < machines.size(); ++rank) {
        got.push_back(device_of_rank(static_cast<int>(rank), machines, devices));
        const int number = taken[machines[rank]]++;
        expected.push_back(number < devices[rank] ? number : -1);
    }
    CHECK_THAT(got, grading::EqualTo(expected));
}

std::vector<int> all_have(std::size_t ranks, int devices) {
    return std::vector<int>(ranks, devices);
}

}  // namespace

TEST_CASE("numbers the ranks of one machine") {
    check_ranks({"a", "a", "a"}, all_have(3, 8));
}

TEST_CASE("begins anew on each machine") {
    check_ranks({"a", "a", "b", "b", "c"}, all_have(5, 2));
    check_ranks({"node10", "node1", "node10", "node1"}, all_have(4, 2));
}

TEST_CASE("handles ranks that are dealt out in turn") {
    check_ranks({"a", "b", "c", "a", "b", "c", "a"}, all_have(7, 4));
}

TEST_CASE("handles machines with different numbers of devices") {
    check_ranks({"small", "large", "large", "small", "large"}, {1, 4, 4, 1, 4});
}

TEST_CASE("tells when no device is left") {
    check_ranks({"a", "a", "a"}, all_have(3, 2));
    check_ranks({"a"}, all_have(1, 0));
    check_ranks({"a", "b", "a"}, all_have(3, 1));
}

TEST_CASE("handles any placement") {
    for (std::uint64_t turn = 0; turn < 20; ++turn) {
        const std::size_t ranks = grading::random_size(1, 40, turn);
        std::vector<std::string> machines;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            machines.push_back("node" + std::to_string(grading::random_size(
                                            1, 5, 1000 + turn * 100 + rank)));
        check_ranks(machines, all_have(ranks, static_cast<int>(turn % 9)));
    }
}
