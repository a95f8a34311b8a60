// NCCL for one thread that drives all devices, where the chapter is built with it.
//
//     Communicators communicators(devices.count());
//     check_nccl(ncclGroupStart());
//     for (int d = 0; d < devices.count(); ++d)
//         check_nccl(ncclAllReduce(..., communicators.of(d), devices.stream(d)));
//     check_nccl(ncclGroupEnd());
#pragma once

#ifdef WARPWISE_NCCL

#include <nccl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chapters/6_several_gpus/devices.h"

namespace several_gpus {
namespace {

inline void check_nccl(ncclResult_t status, warpwise::SourceLocation where =
                                                warpwise::SourceLocation::current()) {
    if (status == ncclSuccess) return;
    throw std::runtime_error(warpwise::place_text(where) + ncclGetErrorString(status));
}

// One for each of the first `count` devices.
class Communicators {
public:
    explicit Communicators(int count) : communicators_(static_cast<std::size_t>(count)) {
        const OnDevice current(0);  // NCCL makes other devices current
        check_nccl(ncclCommInitAll(communicators_.data(), count, nullptr));
    }
    ~Communicators() {
        for (const ncclComm_t communicator : communicators_)
            (void)ncclCommDestroy(communicator);
    }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;
    ncclComm_t of(int device) const {
        return communicators_[static_cast<std::size_t>(device)];
    }

private:
    std::vector<ncclComm_t> communicators_;
};

// Made when they are first asked for, since that takes tenths of a second, and kept until
// the program ends: then NCCL may be gone before what would destroy them.
inline Communicators& communicators_of(int count) {
    static std::map<int, Communicators*> made;
    Communicators*& communicators = made[count];
    if (communicators == nullptr) communicators = new Communicators(count);
    return *communicators;
}

}  // namespace
}  // namespace several_gpus

#endif
