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
    std::string names, counts;
    for (const std::string& name : machines) names += (names.empty() ? "" : ", ") + name;
    for (const int count : devices)
        counts += (counts.empty() ? "" : ", ") + std::to_string(count);
    INFO("machines of the ranks: " << names);
    INFO("devices that they see: " << counts);
    std::vector<int> devices_taken;
    std::vector<double> expected, numbers, with_itself, shared, remainders, ranks;
    std::map<std::string, int> taken;
    for (std::size_t rank = 0; rank < machines.size(); ++rank) {
        devices_taken.push_back(device_of_rank(static_cast<int>(rank), machines, devices));
        const int number = taken[machines[rank]]++;
        expected.push_back(number < devices[rank] ? number : -1);
        numbers.push_back(number);
        with_itself.push_back(number + 1 < devices[rank] ? number + 1 : -1);
        shared.push_back(devices[rank] > 0 ? number % devices[rank] : 0);
        remainders.push_back(devices[rank] > 0 ? static_cast<int>(rank) % devices[rank]
                                               : -1);
        ranks.push_back(static_cast<double>(rank));
    }
    CHECK_THAT(
        devices_taken,
        grading::EqualTo(expected)
            .when(grading::equals(numbers),
                  "Does the machine of this rank have a device of that number?")
            .when(grading::equals(shared), "How many ranks may take the same device?")
            .when(grading::equals(ranks),
                  "Which number does the first device of each machine have?")
            .when(grading::equals(remainders),
                  "Which other ranks are on the machine of this rank?")
            .when(grading::both(grading::all_wrong(), grading::equals(with_itself)),
                  "Which of the ranks that you count come before this one?"));
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
        std::vector<int> devices;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const std::size_t machine =
                grading::random_size(1, 5, 1000 + turn * 100 + rank);
            machines.push_back("n" + std::to_string(machine));
            devices.push_back(static_cast<int>((turn + 4 * machine) % 9));
        }
        check_ranks(machines, devices);
    }
}
