// Wrong answer: counts only neighbors in the list
// Rejected by: handles ranks that are dealt out in turn
// Message: elements
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    const std::string& own = machines[static_cast<std::size_t>(rank)];
    int number = 0;
    for (int other = rank - 1; other >= 0; --other) {
        if (machines[static_cast<std::size_t>(other)] != own) break;
        ++number;
    }
    return number < devices[static_cast<std::size_t>(rank)] ? number : -1;
}
