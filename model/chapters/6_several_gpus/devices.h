// Several devices, driven by one thread of the host: which of them there are, the current
// one, and a stream of each.
//
//     Devices devices(device_count());
//     devices.fork();  // the streams wait for the default stream of device 0
//     for (int d = 0; d < devices.count(); ++d) {
//         const OnDevice current(d);
//         kernel<<<blocks, threads, 0, devices.stream(d)>>>(...);
//     }
//     devices.join();  // and the default stream of device 0 waits for them
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "common/helpers/check.h"

namespace several_gpus {
namespace {

inline int device_count() {
    int count = 0;
    warpwise::check(cudaGetDeviceCount(&count));
    return count;
}

// Makes a device the current one. In the end, the one before is current again.
class OnDevice {
public:
    explicit OnDevice(int device) {
        warpwise::check(cudaGetDevice(&before_));
        warpwise::check(cudaSetDevice(device));
    }
    ~OnDevice() { (void)cudaSetDevice(before_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

private:
    int before_ = 0;
};

// A stream that does not wait for the default stream of its device.
class Stream {
public:
    // `urgent`: its blocks go before those of other streams.
    explicit Stream(int device, bool urgent = false) {
        const OnDevice current(device);
        int least = 0, greatest = 0;
        warpwise::check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        warpwise::check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                     urgent ? greatest : least));
    }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

class Event {
public:
    explicit Event(int device) {
        const OnDevice current(device);
        warpwise::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

    void record(cudaStream_t stream) { warpwise::check(cudaEventRecord(event_, stream)); }
    void wait_in(cudaStream_t stream) const {
        warpwise::check(cudaStreamWaitEvent(stream, event_, 0));
    }

private:
    cudaEvent_t event_ = nullptr;
};

// Whether `device` can read and write the memory of `peer` by itself.
inline bool can_access(int device, int peer) {
    int can = 1;
    if (device != peer) warpwise::check(cudaDeviceCanAccessPeer(&can, device, peer));
    return can != 0;
}

// From now on, kernels of `device` may use the memory of `peer`.
inline void enable_peer(int device, int peer) {
    const OnDevice current(device);
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();
        return;
    }
    warpwise::check(status);
}

// Each of the first `count` devices for each other one. False if there is a pair that
// cannot: then nothing is enabled.
inline bool enable_all_peers(int count) {
    for (int device = 0; device < count; ++device)
        for (int peer = 0; peer < count; ++peer)
            if (!can_access(device, peer)) return false;
    for (int device = 0; device < count; ++device)
        for (int peer = 0; peer < count; ++peer)
            if (device != peer) enable_peer(device, peer);
    return true;
}

// The first `count` devices, with a stream and an event each.
class Devices {
public:
    explicit Devices(int count) {
        for (int device = 0; device < count; ++device) {
            streams_.push_back(std::make_unique<Stream>(device));
            events_.push_back(std::make_unique<Event>(device));
        }
        begin_ = std::make_unique<Event>(0);
    }

    int count() const { return static_cast<int>(streams_.size()); }
    cudaStream_t stream(int device) const { return streams_[index(device)]->get(); }
    Event& event(int device) { return *events_[index(device)]; }

    // What the streams are given from now on waits for the default stream of device 0,
    // where the lesson runner measures the time.
    void fork() {
        const OnDevice current(0);
        begin_->record(nullptr);
        for (const auto& stream : streams_) begin_->wait_in(stream->get());
    }

    // The default stream of device 0 waits for all that the streams were given.
    void join() {
        for (int device = 0; device < count(); ++device) {
            const OnDevice current(device);
            event(device).record(stream(device));
        }
        const OnDevice current(0);
        for (int device = 0; device < count(); ++device) event(device).wait_in(nullptr);
    }

    // The host waits for all of them.
    void wait() const {
        for (const auto& stream : streams_)
            warpwise::check(cudaStreamSynchronize(stream->get()));
    }

private:
    static std::size_t index(int device) { return static_cast<std::size_t>(device); }

    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<std::unique_ptr<Event>> events_;
    std::unique_ptr<Event> begin_;
};

// `count` things are split among `parts`: part `part` has those from begin to end, and the
// sizes of two parts differ by 1 at most.
struct Part {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};

inline Part part_of(std::size_t count, int parts, int part) {
    const std::size_t all = static_cast<std::size_t>(parts);
    const std::size_t number = static_cast<std::size_t>(part);
    const std::size_t each = count / all, more = count % all;
    const std::size_t begin = number * each + (number < more ? number : more);
    return {begin, begin + each + (number < more ? 1 : 0)};
}

}  // namespace
}  // namespace several_gpus
