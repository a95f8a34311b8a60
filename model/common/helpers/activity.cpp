#include "common/helpers/activity.h"

#include "common/helpers/instrument.h"

#ifdef __CPU_DEVICE__

#include <cuda_runtime.h>

#include "cpu_device/activity_log.h"

namespace warpwise {
namespace {

struct Logging {
    Logging() { cpu_device::start_log(); }
    ~Logging() { cpu_device::stop_log(); }
};

KernelThread thread_of(const cpu_device::LoggedThread& thread) { return {thread.launch, thread.block, thread.thread}; }

Writer writer_of(cpu_device::LastWriter writer) {
    switch (writer) {
        case cpu_device::LastWriter::kernel:
            return Writer::kernel;
        case cpu_device::LastWriter::host_copy:
            return Writer::host_copy;
        case cpu_device::LastWriter::fill:
            return Writer::fill;
        case cpu_device::LastWriter::nobody:
            break;
    }
    return Writer::nobody;
}

const char* name_of_kind(int kind) {
    switch (kind) {
        case cudaMemcpyHostToHost:
            return "cudaMemcpyHostToHost";
        case cudaMemcpyHostToDevice:
            return "cudaMemcpyHostToDevice";
        case cudaMemcpyDeviceToHost:
            return "cudaMemcpyDeviceToHost";
        case cudaMemcpyDeviceToDevice:
            return "cudaMemcpyDeviceToDevice";
        case cudaMemcpyDefault:
            return "cudaMemcpyDefault";
        default:
            return "";
    }
}

}  // namespace

bool can_log() { return is_diagnosing(); }

std::vector<ApiCall> log_during(const std::function<void()>& body) {
    {
        const Logging logging;
        body();
    }
    std::vector<ApiCall> calls;
    for (const cpu_device::LoggedCall& call : cpu_device::logged_calls()) {
        calls.push_back(
            {call.function, call.launch, name_of_kind(call.kind), call.bytes, call.waits, call.stream, call.in_graph});
    }
    return calls;
}

std::vector<WordActivity> activity_of(const void* memory, std::size_t bytes) {
    std::vector<WordActivity> activities;
    for (const cpu_device::WordLog& word : cpu_device::words_of(memory, bytes)) {
        activities.push_back({writer_of(word.writer), thread_of(word.written_by), thread_of(word.read_by), word.writes,
                              word.reads, word.bytes_of_kernels, word.bytes_read, word.copied_by});
    }
    return activities;
}

}  // namespace warpwise

#else

namespace warpwise {

bool can_log() { return false; }

std::vector<ApiCall> log_during(const std::function<void()>& body) {
    body();
    return {};
}

std::vector<WordActivity> activity_of(const void*, std::size_t) { return {}; }

}  // namespace warpwise

#endif
