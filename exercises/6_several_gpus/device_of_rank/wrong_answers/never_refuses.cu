// Wrong answer: never says that no device is left
// Rejected by: tells when no device is left
// Message: elements
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    const std::string& own = machines[static_cast<std::size_t>(rank)];
    int number = 0;
    for (int other = 0; other < rank; ++other)
        if (machines[static_cast<std::size_t>(other)] == own) ++number;
    (void)devices;
    return number;
}
