// Correct answer: numbers all ranks by a map
#include <map>

#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    std::map<std::string, int> taken;
    for (int other = 0; other < rank; ++other)
        ++taken[machines[static_cast<std::size_t>(other)]];
    const int number = taken[machines[static_cast<std::size_t>(rank)]];
    return number >= devices[static_cast<std::size_t>(rank)] ? -1 : number;
}
