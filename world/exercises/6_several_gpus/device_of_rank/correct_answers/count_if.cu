// Correct answer: std::count
#include <algorithm>

#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    const std::string& own = machines[static_cast<std::size_t>(rank)];
    const int number =
        static_cast<int>(std::count(machines.begin(), machines.begin() + rank, own));
    return number < devices[static_cast<std::size_t>(rank)] ? number : -1;
}
