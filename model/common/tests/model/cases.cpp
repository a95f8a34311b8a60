#include "common/tests/model/cases.h"

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <set>

#include "common/tests/model/families.h"

namespace model_kernels {

const std::vector<Family>& families() {
    static const std::vector<Family> all = [] {
        std::vector<Family> registered;
        for (const auto& register_families : {
                 launch_families,
                 copy_families,
                 gather_families,
                 cache_families,
                 arithmetic_families,
                 shared_memory_families,
                 reduction_families,
                 matrix_families,
                 stencil_families,
                 histogram_families,
                 divergence_families,
                 atomic_families,
                 private_memory_families,
             }) {
            for (Family& family : register_families()) registered.push_back(std::move(family));
        }
        for (Family& family : registered) {
            for (std::size_t i = 0; i < family.cases.size(); ++i) {
                family.cases[i].part = std::popcount(i) % 2 == 0 ? Part::train : Part::test;
            }
        }
        return registered;
    }();
    return all;
}

std::vector<std::string> registry_errors() {
    std::vector<std::string> errors;
    std::set<std::string> names;
    for (const Family& family : families()) {
        int difference = 0;
        for (const Case& registered : family.cases) {
            if (!names.insert(registered.name).second) {
                errors.push_back("two cases have the name \"" + registered.name + "\"");
            }
            difference += registered.part == Part::train ? 1 : -1;
        }
        if (std::abs(difference) > 2) {
            errors.push_back("the parts of the family \"" + family.name + "\" differ in size by " +
                             std::to_string(std::abs(difference)));
        }
    }
    return errors;
}

}  // namespace model_kernels
