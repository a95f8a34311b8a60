// Kernels whose counters are known: they were measured with Nsight Compute on a GPU (h200.json), and the CPU device has
// to count the same. Each case launches one kernel of its own, once, and checks what it computed.
#pragma once

#include <string>
#include <vector>

namespace ground_truth {

struct Case {
    const char* name;  ///< of the kernel, without namespace and parameters
    void (*run)();     ///< prepares, launches the kernel, checks; throws std::runtime_error when a result is wrong
    const char* remark = "";  ///< where nvcc makes something else of the kernel than its source says
};

const std::vector<Case>& global_memory_cases();
const std::vector<Case>& structure_cases();
const std::vector<Case>& shared_memory_cases();
const std::vector<Case>& tile_cases();
const std::vector<Case>& atomic_cases();
const std::vector<Case>& divergence_cases();
const std::vector<Case>& constant_memory_cases();

struct Group {
    const char* title;
    const std::vector<Case>& (*cases)();
};

/// All groups, in the order in which the program runs them.
const std::vector<Group>& groups();

/// The case of that name; throws std::runtime_error when there is none.
const Case& find_case(const std::string& name);

}  // namespace ground_truth
