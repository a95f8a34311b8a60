// Turning CUDA status codes into exceptions that say where and what.
//
//     check(cudaMalloc(&d_values, bytes));
//     scale<<<blocks, threads>>>(d_values, n);
//     check_launch();      // the launch itself: shape, resources, missing device code
//     check_finished();    // the kernel: waits for it and catches what went wrong while it ran
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace warpwise {

/// Where a call stands in the source. Used as a default argument it is the caller's line.
struct SourceLocation {
    const char* file;
    int line;
    const char* function;

    static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                            const char* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
};

/// How messages about a failed call begin: file, line, function, and the text of the source line where the file can be
/// read, with a colon after each.
std::string place_text(SourceLocation where);

/// A CUDA call that failed. The message is place_text with the error's name and description.
class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t code, SourceLocation where);

    cudaError_t code() const { return code_; }

private:
    cudaError_t code_;
};

/// Throws CudaError unless `status` is cudaSuccess.
void check(cudaError_t status, SourceLocation where = SourceLocation::current());

/// To be called right after a launch: throws CudaError if it was refused. With WARPWISE_SYNC=1 in the environment it
/// waits for the kernel too, so that an error inside it shows at the launch that caused it.
void check_launch(SourceLocation where = SourceLocation::current());

/// Waits for the device; throws CudaError if anything it was asked to do before has failed.
void check_finished(SourceLocation where = SourceLocation::current());

}  // namespace warpwise
