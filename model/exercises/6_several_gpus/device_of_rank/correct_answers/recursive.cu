// Correct answer: asks the rank before on the same machine
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    int last = rank - 1;
    while (last >= 0 && machines[static_cast<std::size_t>(last)] !=
                            machines[static_cast<std::size_t>(rank)])
        --last;
    int number = 0;
    for (int other = last; other >= 0; --other)
        number += machines[static_cast<std::size_t>(other)] ==
                  machines[static_cast<std::size_t>(rank)];
    return number < devices[static_cast<std::size_t>(rank)] ? number : -1;
}
