// What is wrong with a copy's arguments, in words; nothing is said unless errors are looked for.
#pragma once

#include <cstddef>
#include <optional>

#include "api_call.h"
#include "cpu_device/types.h"

namespace cpu_device {

/// Memory that a call reads or writes while its other side is an array, or is looked at by itself.
struct CopiedMemory {
    const void* pointer = nullptr;
    bool is_destination = false;
    cudaMemcpyKind kind = cudaMemcpyDefault;

    /// The direction says that the device reaches it.
    bool called_device() const {
        return kind == cudaMemcpyDeviceToDevice ||
               kind == (is_destination ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    }
};

/// While it lives, the calling thread's copies and fills are work of this stream. Outside of that they are only looked
/// at: they are captured, or become a node of a graph.
class StreamOfCall {
public:
    explicit StreamOfCall(cudaStream_t stream);
    ~StreamOfCall();
    StreamOfCall(const StreamOfCall&) = delete;
    StreamOfCall& operator=(const StreamOfCall&) = delete;

private:
    std::optional<cudaStream_t> before_;
};

/// Reports host memory where the direction says device memory and the other way round, memory that was freed, and
/// `bytes` bytes from the pointer on that go past the end.
void report_copied_memory(const CopiedMemory& memory, std::size_t bytes, const ApiCall& call);

}  // namespace cpu_device
