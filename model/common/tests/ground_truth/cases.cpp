#include "common/tests/ground_truth/cases.h"

#include <stdexcept>

namespace ground_truth {

const std::vector<Group>& groups() {
    static const std::vector<Group> all = {
        {"global memory", global_memory_cases},     {"structures", structure_cases},
        {"shared memory", shared_memory_cases},     {"tiles and sums", tile_cases},
        {"atomic operations", atomic_cases},        {"divergence", divergence_cases},
        {"constant memory", constant_memory_cases},
    };
    return all;
}

const Case& find_case(const std::string& name) {
    for (const Group& group : groups()) {
        for (const Case& found : group.cases()) {
            if (found.name == name) return found;
        }
    }
    throw std::runtime_error("no case is called \"" + name + "\"; --list shows all");
}

}  // namespace ground_truth
