#include <chrono>
#include <optional>
#include <string>

#include "api_call.h"
#include "capture.h"
#include "cpu_device/runtime_api.h"
#include "device_work.h"
#include "devices.h"
#include "diagnoser.h"
#include "handles.h"
#include "live_objects.h"
#include "stream_order.h"
#include "streams.h"

namespace cpu_device {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
    unsigned flags = cudaEventDefault;
    std::optional<Clock::time_point> recorded;
    int device = 0;
};

Handles<cudaEvent_t, Event>& events() {
    static auto* all = new Handles<cudaEvent_t, Event>;  // still needed when the process exits
    return *all;
}

bool event_exists(cudaEvent_t event) {
    return events().with(event, [](const Event&) {});
}

int device_of_event(cudaEvent_t event) {
    int device = current_device;
    events().with(event, [&](const Event& found) { device = found.device; });
    return device;
}

/// When the event was recorded; nothing if it is unknown, never was, or does not keep times.
std::optional<Clock::time_point> time_of(cudaEvent_t event) {
    std::optional<Clock::time_point> time;
    events().with(event, [&](const Event& found) {
        if ((found.flags & cudaEventDisableTiming) == 0) time = found.recorded;
    });
    return time;
}

}  // namespace

void forget_events() { events().remove_all_of(current_device); }

}  // namespace cpu_device

using namespace cpu_device;

namespace {

cudaError_t create_event(cudaEvent_t* event, unsigned flags, const void* code,
                         const char* name = __builtin_FUNCTION()) {
    const auto create = [&]() -> cudaError_t {
        constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
        const bool shared_with_timing = (flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0;
        if (event == nullptr || (flags & ~known) != 0 || shared_with_timing) return cudaErrorInvalidValue;
        *event = events().add({flags, std::nullopt, current_device});
        note_created(ObjectKind::event, *event, code);
        return cudaSuccess;
    };
    return api_call(Waits::no, create, name, code);
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags, const ApiCall& call) {
    const auto record = [&]() -> cudaError_t {
        if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (StreamCapture* const capture = stream_capture(); capture != nullptr && event_exists(event)) {
            if (const auto captured = capture->record(event, stream)) return *captured;
        }
        if (!event_exists(event)) return cudaErrorInvalidResourceHandle;
        if (const int of = device_of_event(event), on = device_of_stream(stream); of != on) {
            report_misuse(
                DiagnosticKind::wrong_device, call,
                "records an event of device " + std::to_string(of) + " in a stream of device " + std::to_string(on),
                "create the event while the device of its stream is the current one (cudaSetDevice)");
            return cudaErrorInvalidResourceHandle;
        }
        const auto note_time = [event] { events().with(event, [](Event& state) { state.recorded = Clock::now(); }); };
        if (DeviceWork* const work = device_work()) {
            work->record(event, stream, note_time);
        } else {
            note_time();
        }
        note_order(OrderStep::record, stream, event);
        return cudaSuccess;
    };
    return api_call(Waits::no, record, call);
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return create_event(event, cudaEventDefault, __builtin_return_address(0));
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return create_event(event, flags, __builtin_return_address(0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return create_event(event, flags, __builtin_return_address(0));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api_call(Waits::no, [&] {
        note_destroyed(ObjectKind::event, event);
        note_order(OrderStep::event_destroyed, nullptr, event);
        return events().remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const ApiCall call{"cudaEventRecord", {}, __builtin_return_address(0)};
    return record_event(event, stream, cudaEventRecordDefault, call);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    const ApiCall call{"cudaEventRecordWithFlags", {}, __builtin_return_address(0)};
    return record_event(event, stream, flags, call);
}

namespace {

cudaError_t event_is_done(cudaEvent_t event) {
    if (!event_exists(event)) return cudaErrorInvalidResourceHandle;
    if (StreamCapture* const capture = stream_capture()) {
        if (const auto refused = capture->query(event)) return *refused;
    }
    note_order(OrderStep::event_done, nullptr, event);
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return api_call(Waits::yes, [&] {
        cudaError_t error = event_is_done(event);
        if (DeviceWork* const work = device_work(); work != nullptr && error == cudaSuccess)
            error = work->finish(event);
        if (error == cudaSuccess && trim_pools != nullptr) trim_pools();
        return error;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return api_call(Waits::yes, [&] {
        if (DeviceWork* const work = device_work()) {
            work->progress();
            if (!work->is_done(event)) return cudaErrorNotReady;
        }
        return event_is_done(event);
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
        if (!stream_exists(stream) || !event_exists(event)) return cudaErrorInvalidResourceHandle;
        nothing_overlaps();
        if (StreamCapture* const capture = stream_capture()) {
            if (const auto captured = capture->wait(stream, event)) return *captured;
        }
        if (DeviceWork* const work = device_work()) work->wait(stream, event);
        note_order(OrderStep::wait, stream, event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
    const ApiCall call{"cudaEventElapsedTime", {}, __builtin_return_address(0)};
    const auto measure = [&]() -> cudaError_t {
        if (milliseconds == nullptr) return cudaErrorInvalidValue;
        if (event_exists(start) && event_exists(end) && device_of_event(start) != device_of_event(end)) {
            report_misuse(DiagnosticKind::wrong_device, call,
                          "measures from an event of device " + std::to_string(device_of_event(start)) +
                              " to an event of device " + std::to_string(device_of_event(end)),
                          "devices have no common clock: measure with two events of one device, or with the clock of "
                          "the host around work that has ended");
            return cudaErrorInvalidResourceHandle;
        }
        if (DeviceWork* const work = device_work(); work != nullptr && event_exists(start) && event_exists(end)) {
            if (!work->is_done(start) || !work->is_done(end)) return cudaErrorNotReady;
        }
        const auto from = time_of(start);
        const auto to = time_of(end);
        if (!from || !to) return cudaErrorInvalidResourceHandle;
        *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
        return cudaSuccess;
    };
    return api_call(Waits::no, measure, call);
}
