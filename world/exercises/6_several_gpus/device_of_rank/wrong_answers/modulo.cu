// Wrong answer: the rank modulo the number of devices
// Rejected by: begins anew on each machine
// Message: Which other ranks are on the machine of this rank?
#include "exercises/6_several_gpus/device_of_rank/device_of_rank.h"

int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices) {
    (void)machines;
    const int here = devices[static_cast<std::size_t>(rank)];
    return here > 0 ? rank % here : -1;
}
