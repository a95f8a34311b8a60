// Between the functions that give work to a stream and the capture of streams, which programs without graphs do not
// link.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include "cpu_device/execution.h"
#include "cpu_device/types.h"

namespace cpu_device {

struct ApiCall;

/// A copy of rows of bytes; one row where the memory has no pitch.
struct CopiedRows {
    void* to = nullptr;
    std::size_t to_pitch = 0;
    const void* from = nullptr;
    std::size_t from_pitch = 0;
    std::size_t width = 0;
    std::size_t height = 1;
    cudaMemcpyKind kind = cudaMemcpyDefault;
    bool of_variable = false;  ///< one side is a variable of the device, by its name
};

/// Rows of bytes or of larger elements that get a value.
struct FilledRows {
    void* to = nullptr;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0;  ///< in elements
    std::size_t height = 1;
};

/// What is asked for while streams are captured. Each returns nothing if the stream (or event) has nothing to do with a
/// capture: then the work is to be done as always.
class StreamCapture {
public:
    virtual std::optional<cudaError_t> launch(const LaunchSite& site, const LaunchConfig& config,
                                              const ErasedLaunch& launch, bool cooperative) = 0;
    virtual std::optional<cudaError_t> copy(const CopiedRows& rows, cudaStream_t stream, const ApiCall& call) = 0;
    virtual std::optional<cudaError_t> fill(const FilledRows& rows, cudaStream_t stream, const ApiCall& call) = 0;
    virtual std::optional<cudaError_t> host_function(cudaHostFn_t function, void* data, cudaStream_t stream,
                                                     const ApiCall& call) = 0;
    virtual std::optional<cudaError_t> record(cudaEvent_t event, cudaStream_t stream) = 0;
    virtual std::optional<cudaError_t> wait(cudaStream_t stream, cudaEvent_t event) = 0;
    /// A call that asks how far the stream or the event is.
    virtual std::optional<cudaError_t> query(cudaStream_t stream) = 0;
    virtual std::optional<cudaError_t> query(cudaEvent_t event) = 0;
    /// Something that a stream cannot do while it is captured.
    virtual std::optional<cudaError_t> refuse(cudaStream_t stream) = 0;
    virtual bool captures(cudaStream_t stream) = 0;
    /// Called ahead of every function of the runtime.
    virtual cudaError_t before(const char* function) = 0;

protected:
    ~StreamCapture() = default;
};

extern std::atomic<StreamCapture*> running_capture;

/// Null while nothing is captured.
inline StreamCapture* stream_capture() { return running_capture.load(std::memory_order_acquire); }

inline bool is_captured(cudaStream_t stream) {
    StreamCapture* const capture = stream_capture();
    return capture != nullptr && capture->captures(stream);
}

/// What the functions for copies and fills do, for a node of a graph. Checks nothing that belongs to a stream.
cudaError_t carry_out(const CopiedRows& rows, const ApiCall& call);
cudaError_t carry_out(const FilledRows& rows, const ApiCall& call);
/// The same checks alone.
cudaError_t check_rows(const CopiedRows& rows, const ApiCall& call);
cudaError_t check_rows(const FilledRows& rows, const ApiCall& call);

/// A kernel that is known by its address, with copies of the arguments.
cudaError_t keep_known_kernel(const void* kernel, void** arguments, KeptLaunch** kept);

}  // namespace cpu_device
