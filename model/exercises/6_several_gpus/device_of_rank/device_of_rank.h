// The function that the grader calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// The device that `rank` takes: ranks of the same machine take the devices 0, 1, 2 ... in
/// the order of their numbers. machines[r] is the name of the machine of rank r, and
/// devices[r] the number of devices that rank r sees there, which may be 0. Returns -1 if
/// no device is left for this rank.
int device_of_rank(int rank, const std::vector<std::string>& machines,
                   const std::vector<int>& devices);
