// Which stream handles are alive, and what cudaDeviceReset makes of handles.
#pragma once

#include "cpu_device/types.h"

namespace cpu_device {

/// True for the default streams and for those created and not yet destroyed.
bool stream_exists(cudaStream_t stream);

/// Whether its work and that of the legacy default stream wait for each other: it was not made with
/// cudaStreamNonBlocking.
bool stream_is_blocking(cudaStream_t stream);

int stream_priority(cudaStream_t stream);
/// Of a stream that the program has created; taken into the range that the device has.
void set_stream_priority(cudaStream_t stream, int priority);
/// True for the legacy default stream, which waits for other streams and lets them wait.
bool is_legacy(cudaStream_t stream);

void forget_streams();
void forget_events();
[[gnu::weak]] void forget_arrays();             ///< null in programs without textures
[[gnu::weak]] void forget_pools();              ///< null in programs without stream-ordered memory
[[gnu::weak]] void forget_stream_attributes();  ///< null in programs without them

}  // namespace cpu_device
