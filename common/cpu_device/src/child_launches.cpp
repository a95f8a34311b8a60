#include "child_launches.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cpu_device {

void ChildLaunches::add(const ChildLaunch& child) {
    std::lock_guard lock(mutex_);
    children_.push_back(child);
}

std::vector<ChildLaunch> ChildLaunches::take() {
    std::lock_guard lock(mutex_);
    std::vector<ChildLaunch> all = std::exchange(children_, {});
    std::stable_sort(all.begin(), all.end(), [](const ChildLaunch& a, const ChildLaunch& b) {
        return std::tie(a.is_tail, a.block) < std::tie(b.is_tail, b.block);
    });
    return all;
}

void ChildLaunches::drop() {
    for (const ChildLaunch& child : take()) child.kept->destroy(child.kept);
}

}  // namespace cpu_device
