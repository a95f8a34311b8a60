// Solution: the device that a rank takes is its number on its own machine.
//
// Ranks with a smaller number on the same machine take the devices before it.
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    const std::string& own = machines[static_cast<std::size_t>(rank)];
    int number = 0;
    for (int other = 0; other < rank; ++other)
        if (machines[static_cast<std::size_t>(other)] == own) ++number;
    return number < devices[static_cast<std::size_t>(rank)] ? number : -1;
}
