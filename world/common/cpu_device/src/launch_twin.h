// Whether a kernel uses a value that is undefined: a copy of the process finishes the launch with another value in its
// place, and the two results are compared.
#pragma once

#include <sys/types.h>

#include <optional>

namespace cpu_device {

class LaunchTwin {
public:
    LaunchTwin() = default;
    ~LaunchTwin();
    LaunchTwin(const LaunchTwin&) = delete;
    LaunchTwin& operator=(const LaunchTwin&) = delete;

    /// Makes the copy, unless there is one. Called on the only host thread that runs the launch, by a device thread.
    /// The copy prints nothing, and is stopped when it takes too long.
    void start();
    bool was_started() const { return tried_; }
    /// True in the copy.
    bool is_copy() const { return tried_ && original_ >= 0; }

    /// In the copy: tells the original what came out, and ends. `failure`: the kernel's.
    void end_copy(int failure) const;
    /// In the original: whether all memory of the device holds the same in both. Nothing if that cannot be told.
    std::optional<bool> has_same_result(int failure);

private:
    bool tried_ = false;
    pid_t copy_ = -1;
    int result_ = -1;    ///< from which the copy's result can be read
    int original_ = -1;  ///< in the copy: to which it is written
};

}  // namespace cpu_device
