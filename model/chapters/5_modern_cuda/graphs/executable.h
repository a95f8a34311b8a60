// Streams, events, pinned memory, and graphs that are destroyed when their time is over.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "common/helpers/check.h"

namespace modern_cuda {
namespace {

class Stream {
public:
    Stream() { warpwise::check(cudaStreamCreate(&stream_)); }
    ~Stream() { (void)cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

class Event {
public:
    Event() { warpwise::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

// Pinned host memory for a number: a copy to it does not wait.
class PinnedNumber {
public:
    PinnedNumber() { warpwise::check(cudaMallocHost(&number_, sizeof *number_)); }
    ~PinnedNumber() { (void)cudaFreeHost(number_); }
    PinnedNumber(const PinnedNumber&) = delete;
    PinnedNumber& operator=(const PinnedNumber&) = delete;
    unsigned* get() { return number_; }

private:
    unsigned* number_ = nullptr;
};

// A graph, and what was instantiated from it. Either may be null.
struct Executable {
    Executable() = default;
    ~Executable() {
        if (executable != nullptr) (void)cudaGraphExecDestroy(executable);
        if (graph != nullptr) (void)cudaGraphDestroy(graph);
    }
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
};

}  // namespace
}  // namespace modern_cuda
