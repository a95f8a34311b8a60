// A memory pool of one's own, and a stream that does not wait for the default stream.
//
//     Pool pool;                                  // gives memory back as soon as it can
//     Pool keeping(Pool::keep_everything);        // keeps it for the next allocation
//     cudaMallocFromPoolAsync(&d_scratch, bytes, keeping.handle(), stream);
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/helpers/check.h"

namespace modern_cuda {
namespace {

using warpwise::check;

class Stream {
public:
    explicit Stream(int priority = 0) {
        check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority));
    }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }
    void wait() const { check(cudaStreamSynchronize(stream_)); }

private:
    cudaStream_t stream_ = nullptr;
};

// One stream's work after another's.
class Event {
public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// What `later` is given from now on waits for all that `earlier` was given so far.
    void order(cudaStream_t earlier, cudaStream_t later) const {
        check(cudaEventRecord(event_, earlier));
        check(cudaStreamWaitEvent(later, event_));
    }

private:
    cudaEvent_t event_ = nullptr;
};

class Pool {
public:
    static constexpr std::uint64_t keep_everything = ~std::uint64_t{0};

    explicit Pool(std::uint64_t release_threshold = 0) {
        cudaMemPoolProps properties = {};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        check(cudaGetDevice(&properties.location.id));
        check(cudaMemPoolCreate(&pool_, &properties));
        check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold,
                                      &release_threshold));
    }
    ~Pool() { (void)cudaMemPoolDestroy(pool_); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    cudaMemPool_t handle() const { return pool_; }

    /// Bytes that the pool holds, whether somebody uses them or not.
    std::uint64_t reserved() const { return number(cudaMemPoolAttrReservedMemCurrent); }
    /// Bytes of allocations.
    std::uint64_t used() const { return number(cudaMemPoolAttrUsedMemCurrent); }

private:
    std::uint64_t number(cudaMemPoolAttr attribute) const {
        std::uint64_t value = 0;
        check(cudaMemPoolGetAttribute(pool_, attribute, &value));
        return value;
    }

    cudaMemPool_t pool_ = nullptr;
};

}  // namespace
}  // namespace modern_cuda
