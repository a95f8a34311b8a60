// Who wrote and read memory, and which functions of the runtime API were called: the CPU device's log for those who
// work on every device. On a GPU there is none.
//
//     const Logged logged = log_during([&] { answer(d_in, d_out, n); });
//     for (const WordActivity& word : activity_of(d_out, bytes)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace warpwise {

/// A thread of a kernel: number of the launch (from 1; 0: nobody), linear index of the block, and of the thread in it.
struct KernelThread {
    std::uint32_t launch = 0;
    std::uint64_t block = 0;
    std::uint32_t thread = 0;
    auto operator<=>(const KernelThread&) const = default;
};

enum class Writer { nobody, kernel, host_copy, fill };

/// What happened to four bytes at a multiple of four.
struct WordActivity {
    Writer writer = Writer::nobody;      ///< the last one, of any of the bytes
    KernelThread written_by = {};        ///< of several threads that write parts of the word, the last one
    KernelThread read_by = {};           ///< the last one
    std::uint32_t writes = 0;            ///< by threads of kernels
    std::uint32_t reads = 0;             ///< by threads of kernels
    unsigned char bytes_of_kernels = 0;  ///< a bit for each byte that a kernel wrote last
    unsigned char bytes_read = 0;        ///< a bit for each byte that a kernel read
    std::uint32_t copied_by = 0;         ///< the call that copied the word here, if that was the last write: its place
                                         ///< among the calls, counted from 1
};

/// A call of the runtime API.
struct ApiCall {
    std::string function;          ///< "cudaMalloc"; "<<<>>>" for a launch
    int launch = 0;                ///< of a launch: its number
    std::string direction = {};    ///< of a copy: "cudaMemcpyHostToDevice" ...
    std::size_t bytes = 0;         ///< of a copy
    bool waits = false;            ///< for the device
    const void* stream = nullptr;  ///< of launches, copies, and fills; null for the default stream
    bool in_graph = false;         ///< a launch by a node of a graph, and not by the host
};

/// True where a log is kept: on the CPU device while it looks for errors.
bool can_log();

/// Runs `body` and logs meanwhile; what was logged before is forgotten. Returns the calls, in their order.
std::vector<ApiCall> log_during(const std::function<void()>& body);

/// What happened to memory in the last `log_during`: a word for every four bytes, from `memory` (rounded down) on.
std::vector<WordActivity> activity_of(const void* memory, std::size_t bytes);

}  // namespace warpwise
