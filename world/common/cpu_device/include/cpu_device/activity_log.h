// A log of what a program does to memory and of the functions of the runtime API that it calls, for whoever judges
// programs: which kernel, block, and thread wrote a word last, how often kernels read it, what was copied.
//
//     cpu_device::start_log();
//     ... launches and copies ...
//     cpu_device::stop_log();
//     for (const cpu_device::WordLog& word : cpu_device::words_of(d_out, bytes)) ...
//
// Only accesses of instrumented kernels are seen, and only while errors are looked for: then all blocks run on one host
// thread. The log grows by eight times the memory that is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_device/types.h"

namespace cpu_device {

/// A thread of a launch that was logged.
struct LoggedThread {
    std::uint32_t launch = 0;  ///< counted from 1 since start_log(); 0: nobody
    std::uint64_t block = 0;   ///< linear index in the grid
    std::uint32_t thread = 0;  ///< linear index in the block
};

enum class LastWriter : unsigned char {
    nobody,  ///< since start_log()
    kernel,
    host_copy,  ///< a copy from host memory
    fill,       ///< cudaMemset and the like
};

/// What happened to four bytes that begin at a multiple of four.
struct WordLog {
    LastWriter writer = LastWriter::nobody;  ///< of any of the bytes
    LoggedThread written_by;                 ///< the thread that wrote last, if it was a kernel's
    LoggedThread read_by;                    ///< the thread that read last
    std::uint32_t writes = 0;                ///< by threads of kernels
    std::uint32_t reads = 0;                 ///< by threads of kernels; atomic operations count on both sides
    unsigned char bytes_of_kernels = 0;      ///< a bit for each byte: a kernel wrote it last
    unsigned char bytes_read = 0;            ///< a bit for each byte: a kernel read it
    std::uint32_t copied_by = 0;             ///< the call that copied it here, if that was the last write: its place in
                                             ///< logged_calls(), counted from 1
};

struct LoggedCall {
    std::string function;   ///< "cudaMalloc"; "<<<>>>" for a launch. One that others are built on has its own name
    int launch = 0;         ///< of a launch: its number, from 1
    int kind = -1;          ///< of a copy: its cudaMemcpyKind
    std::size_t bytes = 0;  ///< of a copy
    bool waits = false;     ///< for the device
    const void* stream = nullptr;  ///< of launches, copies, and fills; null for the default stream
    bool in_graph = false;         ///< a launch by a node of a graph, and not by the host
};

/// Forgets what was logged, and logs from now on.
void start_log();
void stop_log();

/// The words from `memory` (rounded down to a multiple of 4) on, `bytes` far, as logged last.
std::vector<WordLog> words_of(const void* memory, std::size_t bytes);

/// The calls of the runtime API, successful or not, in their order.
std::vector<LoggedCall> logged_calls();

/// From now on the memory counts as never written: it is an error of a kernel to read it.
void forget_contents(const void* memory, std::size_t bytes);

}  // namespace cpu_device
