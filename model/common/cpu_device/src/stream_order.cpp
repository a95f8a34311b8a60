#include "stream_order.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "devices.h"
#include "instrumented_code.h"
#include "streams.h"

namespace cpu_device {
namespace {

/// How much of the work of each stream is known, by the streams' indices.
using StreamClock = std::vector<std::uint64_t>;

std::uint64_t& count_in(StreamClock& clock, std::size_t stream) {
    if (clock.size() <= stream) clock.resize(stream + 1);
    return clock[stream];
}

void learn_from(StreamClock& clock, const StreamClock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

bool knows(const StreamClock& clock, WorkStamp work) {
    return work.count == 0 || (work.stream < clock.size() && clock[work.stream] >= work.count);
}

struct OrderedStream {
    std::size_t index = 0;
    int device = 0;
    bool blocking = true;  ///< its work and that of the legacy default stream wait for each other
    StreamClock clock;     ///< what its last piece of work comes after, itself included
};

/// One clock for all host threads: which of them told another of what is not seen, and counts as told.
class StreamOrder {
public:
    std::mutex mutex;

    WorkStamp give_work(cudaStream_t handle) {
        OrderedStream& stream = stream_of(handle);
        learn_from(stream.clock, host_);
        if (is_legacy(handle)) {
            learn_from_blocking(stream.clock, stream.device);
        } else if (stream.blocking) {
            const OnDevice device(stream.device);
            learn_from(stream.clock, stream_of(nullptr).clock);
        }
        const std::uint64_t count = ++count_in(counts_, stream.index);
        count_in(stream.clock, stream.index) = count;
        return {stream.index, count};
    }

    WorkStamp last_work_of(cudaStream_t handle) {
        const OrderedStream& stream = stream_of(handle);
        return {stream.index, count_in(counts_, stream.index)};
    }

    const StreamClock& clock_of_stream(cudaStream_t handle) { return stream_of(handle).clock; }

    bool is_known_to(cudaStream_t handle, WorkStamp work) { return knows(stream_of(handle).clock, work); }
    bool is_known_to_host(WorkStamp work) const { return knows(host_, work); }

    void record(cudaEvent_t event, cudaStream_t handle) {
        (void)give_work(handle);
        events_[event] = stream_of(handle).clock;
    }

    /// An event that was never recorded orders nothing.
    void wait(cudaStream_t handle, cudaEvent_t event) {
        const auto recorded = events_.find(event);
        if (recorded == events_.end()) return;
        (void)give_work(handle);
        learn_from(stream_of(handle).clock, recorded->second);
    }

    void stream_is_done(cudaStream_t handle) {
        learn_from(host_, stream_of(handle).clock);
        if (is_legacy(handle)) learn_from_blocking(host_, current_device);
    }

    void event_is_done(cudaEvent_t event) {
        const auto recorded = events_.find(event);
        if (recorded != events_.end()) learn_from(host_, recorded->second);
    }

    /// All work of the current device.
    void all_is_done() {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            if (devices_[i] == current_device) count_in(host_, i) = counts_[i];
        }
        for (const auto& [key, stream] : streams_) {
            if (stream.device == current_device) learn_from(host_, stream.clock);
        }
    }

    /// Its work goes on. A later stream may take its index, and then counts as one that comes after it.
    void destroy(cudaStream_t handle) {
        const auto found = streams_.find({device_of_stream(handle), handle});
        if (found == streams_.end()) return;
        free_indices_.push_back(found->second.index);
        streams_.erase(found);
    }

    void destroy(cudaEvent_t event) { events_.erase(event); }

    void reset() {
        all_is_done();
        if (device_count() > 1) {  // events may be those of other devices
            std::erase_if(streams_, [](const auto& one) { return one.second.device == current_device; });
            return;
        }
        events_.clear();
        streams_.clear();
        free_indices_.clear();
        for (std::size_t i = 0; i < counts_.size(); ++i) free_indices_.push_back(i);
    }

private:
    OrderedStream& stream_of(cudaStream_t handle) {
        if (handle == cudaStreamLegacy) handle = nullptr;
        const auto [found, is_new] = streams_.try_emplace({device_of_stream(handle), handle});
        OrderedStream& stream = found->second;
        if (!is_new) return stream;
        stream.device = device_of_stream(handle);
        stream.blocking = stream_is_blocking(handle);
        stream.index = counts_.size();
        if (free_indices_.empty()) {
            counts_.push_back(0);
            devices_.push_back(stream.device);
        } else {
            stream.index = free_indices_.back();
            free_indices_.pop_back();
            devices_[stream.index] = stream.device;
        }
        count_in(stream.clock, stream.index) = counts_[stream.index];
        return stream;
    }

    void learn_from_blocking(StreamClock& clock, int device) {
        for (const auto& [handle, stream] : streams_) {
            if (stream.blocking && stream.device == device) learn_from(clock, stream.clock);
        }
    }

    std::map<std::pair<int, cudaStream_t>, OrderedStream> streams_;  ///< by device and handle
    std::map<cudaEvent_t, StreamClock> events_;
    StreamClock counts_;        ///< pieces of work, by stream
    std::vector<int> devices_;  ///< by stream
    StreamClock host_;
    std::vector<std::size_t> free_indices_;
};

thread_local unsigned host_functions = 0;  ///< that the thread runs now

StreamOrder& stream_order() {
    static auto* order = new StreamOrder;  // still needed when the process exits
    return *order;
}

}  // namespace

void keep_order(OrderStep step, cudaStream_t stream, cudaEvent_t event) {
    StreamOrder& order = stream_order();
    const RuntimeLock lock(order.mutex);
    switch (step) {
        case OrderStep::work:
            return (void)order.give_work(stream);
        case OrderStep::record:
            return order.record(event, stream);
        case OrderStep::wait:
            return order.wait(stream, event);
        case OrderStep::stream_done:
            return order.stream_is_done(stream);
        case OrderStep::event_done:
            return order.event_is_done(event);
        case OrderStep::all_done:
            return order.all_is_done();
        case OrderStep::stream_destroyed:
            return order.destroy(stream);
        case OrderStep::event_destroyed:
            return order.destroy(event);
        case OrderStep::reset:
            return order.reset();
        case OrderStep::host_function_begins:
            (void)order.give_work(stream);
            ++host_functions;
            return;
        case OrderStep::host_function_ends:
            --host_functions;
            return;
    }
}

WorkStamp stamp_work(cudaStream_t stream) {
    const RuntimeLock lock(stream_order().mutex);
    return stream_order().give_work(stream);
}

WorkStamp last_work(cudaStream_t stream) {
    const RuntimeLock lock(stream_order().mutex);
    return stream_order().last_work_of(stream);
}

std::vector<std::uint64_t> clock_of(cudaStream_t stream) {
    const RuntimeLock lock(stream_order().mutex);
    return stream_order().clock_of_stream(stream);
}

bool stream_knows(cudaStream_t stream, WorkStamp work) {
    const RuntimeLock lock(stream_order().mutex);
    return stream_order().is_known_to(stream, work);
}

bool in_host_function() { return host_functions > 0; }

bool host_knows(WorkStamp work) {
    const RuntimeLock lock(stream_order().mutex);
    return stream_order().is_known_to_host(work);
}

}  // namespace cpu_device
