// Correct answer: stops as soon as no device is left
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    const std::string& own = machines[static_cast<std::size_t>(rank)];
    if (devices[static_cast<std::size_t>(rank)] <= 0) return -1;
    int number = 0;
    for (int other = 0; other < rank; ++other)
        if (machines[static_cast<std::size_t>(other)] == own &&
            ++number >= devices[static_cast<std::size_t>(rank)])
            return -1;
    return number;
}
