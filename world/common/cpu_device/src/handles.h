// Handles of a runtime object: numbers dressed up as pointers. They are never dereferenced and never used twice, so
// that a destroyed handle stays recognizable.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace cpu_device {

template <class Handle, class State>
class Handles {
public:
    Handle add(const State& state) {
        std::lock_guard lock(mutex_);
        next_ += 16;
        const auto handle = reinterpret_cast<Handle>(next_);
        alive_.emplace(handle, state);
        return handle;
    }

    bool remove(Handle handle) {
        std::lock_guard lock(mutex_);
        return alive_.erase(handle) == 1;
    }

    void remove_all() {
        std::lock_guard lock(mutex_);
        alive_.clear();
    }

    /// Removes what belongs to that device.
    void remove_all_of(int device) {
        std::lock_guard lock(mutex_);
        std::erase_if(alive_, [device](const auto& one) { return one.second.device == device; });
    }

    /// Calls `use(state)` if the handle is alive; otherwise returns false.
    template <class Use>
    bool with(Handle handle, const Use& use) {
        std::lock_guard lock(mutex_);
        const auto found = alive_.find(handle);
        if (found == alive_.end()) return false;
        use(found->second);
        return true;
    }

private:
    std::mutex mutex_;
    std::map<Handle, State> alive_;
    std::uintptr_t next_ = 0x1000;  // in a page that no program ever has
};

}  // namespace cpu_device
