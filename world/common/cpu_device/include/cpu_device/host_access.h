// Host code that may use device memory: the algorithms of Thrust and CUB, which run on the host here.
#pragma once

namespace cpu_device {

/// From now on host code that reads or writes device memory is not reported, and what it writes counts as written.
/// Always true.
bool allow_host_access();

/// The same for the calling host thread, as long as this lives.
class HostAccess {
public:
    HostAccess();
    ~HostAccess();
    HostAccess(const HostAccess&) = delete;
    HostAccess& operator=(const HostAccess&) = delete;

private:
    bool before_;
};

}  // namespace cpu_device
