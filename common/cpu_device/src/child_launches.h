// Dynamic parallelism: kernels that a kernel launches.
//
// CUDA 12 lets them begin at any time and gives the parent no way to wait for them; only the parent's own end waits.
// So they are kept, with copies of their arguments, until the parent has ended, and then run one after the other: those
// of each block in the order in which it launched them, blocks in ascending order, which is the same in every run. Work
// of the stream cudaStreamTailLaunch comes after all others, as CUDA promises.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cpu_device/execution.h"

namespace cpu_device {

struct ChildLaunch {
    std::uint64_t block;  ///< of the parent: which one launched it
    bool is_tail;
    LaunchSite site;
    LaunchConfig config;
    dim3 cluster;
    KeptLaunch* kept;
};

class ChildLaunches {
public:
    ChildLaunches() = default;
    ~ChildLaunches() { drop(); }
    ChildLaunches(const ChildLaunches&) = delete;
    ChildLaunches& operator=(const ChildLaunches&) = delete;

    /// Any host thread may call it.
    void add(const ChildLaunch& child);
    /// Takes all of them, in the order in which they run.
    std::vector<ChildLaunch> take();

private:
    void drop();

    std::mutex mutex_;
    std::vector<ChildLaunch> children_;
};

}  // namespace cpu_device
