// The sum of arrays that are on different devices, for all of them. The parts of an array
// go around a ring of devices twice: first each device adds its own numbers to what comes
// in, and after that the sums go on to all others.
#pragma once

#include <cuda_runtime.h>
#include <cuda/atomic>

#include <cstddef>

namespace several_gpus {
namespace {

constexpr unsigned kRingThreads = 512;

// Steps 1 to 3: adds what has arrived to the device's own numbers.
__global__ void __launch_bounds__(kRingThreads)
    add_arrays(const float* own, const float* arrived, std::size_t count, float* out) {
    const std::size_t stride = std::size_t{gridDim.x} * kRingThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kRingThreads + threadIdx.x; i < count;
         i += stride)
        out[i] = own[i] + arrived[i];
}

// ---- step 4 -----------------------------------------------------------------------------

using RingFlag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

// What a device knows of the ring. Pointers that begin with `next_` are in the memory of
// the next device. All arrays have `count` floats, `flags` one number per block.
struct Ring {
    const float* own;      // what this device has to add
    float* out;            // where the sum is to be
    const float* arrived;  // sums of the devices before, not yet complete
    const unsigned* flags;
    float* next_out;
    float* next_arrived;
    unsigned* next_flags;
    std::size_t count;
    std::size_t part;     // floats of a part, a multiple of 4
    std::size_t message;  // floats that a block sends at a time, a multiple of 4
    unsigned messages;    // of a block and a part
    unsigned first;       // messages that each block had received before this launch
    int device, devices;
};

__device__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Floats `begin` to `end` of the array go on to the next device. Adds: what has arrived is
// added to the device's own numbers; otherwise these go alone. Keeps: the sum is complete,
// so this device keeps it, too, and the next one gets it in its result.
template <bool Adds, bool Keeps>
__device__ void pass_on(const float* own, const float* arrived, float* keep, float* next,
                        std::size_t begin, std::size_t end) {
    constexpr unsigned at_once = 4;
    const std::size_t fours = (end - begin) / 4;
    const float4* const own4 = reinterpret_cast<const float4*>(own + begin);
    const float4* const arrived4 = reinterpret_cast<const float4*>(arrived + begin);
    float4* const keep4 = reinterpret_cast<float4*>(keep + begin);
    float4* const next4 = reinterpret_cast<float4*>(next + begin);
    for (std::size_t i = threadIdx.x; i < fours; i += at_once * kRingThreads) {
        float4 values[at_once], others[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            const std::size_t place = i + k * kRingThreads;
            if (place >= fours) break;
            values[k] = own4[place];
            if (Adds) others[k] = arrived4[place];
        }
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            const std::size_t place = i + k * kRingThreads;
            if (place >= fours) break;
            if (Adds) values[k] = plus(values[k], others[k]);
            if (Keeps) keep4[place] = values[k];
            next4[place] = values[k];
        }
    }
    const std::size_t tail = begin + fours * 4 + threadIdx.x;
    if (tail < end) {
        const float value = Adds ? own[tail] + arrived[tail] : own[tail];
        if (Keeps) keep[tail] = value;
        next[tail] = value;
    }
}

// Step 4, ring_in_one_kernel. Each block is a ring of its own with the blocks of the same
// number on the other devices: it sends its share of each part in messages, and sets a flag
// of the next device after each of them. Faster because nobody but the two blocks takes
// part in a hand-over: no event, no launch, no copy engine, and while one block waits,
// others send. The kernels of all devices have to run at the same time, and all their
// blocks, too, so each is a cooperative launch.
__global__ void __launch_bounds__(kRingThreads) ring_in_one_kernel(Ring ring) {
    const unsigned sends = 2 * unsigned(ring.devices - 1);  // of each message
    for (unsigned send = 0; send < sends; ++send) {
        // Part number `device` first, then the one that the device before has sent.
        const unsigned part = (unsigned(ring.device) + 2 * unsigned(ring.devices) - send) %
                              unsigned(ring.devices);
        for (unsigned message = 0; message < ring.messages; ++message) {
            if (send > 0) {
                const unsigned wanted =
                    ring.first + (send - 1) * ring.messages + message + 1;
                if (threadIdx.x == 0) {
                    RingFlag flag(const_cast<unsigned&>(ring.flags[blockIdx.x]));
                    while (int(flag.load(cuda::memory_order_acquire) - wanted) < 0) {
                    }
                }
                __syncthreads();
            }
            const std::size_t of_part =
                (std::size_t{message} * gridDim.x + blockIdx.x) * ring.message;
            const std::size_t part_begin = part * ring.part;
            const std::size_t part_end = min(part_begin + ring.part, ring.count);
            const std::size_t begin = min(part_begin + of_part, part_end);
            const std::size_t end = min(begin + ring.message, part_end);
            if (begin >= end) {
            } else if (send == 0) {
                pass_on<false, false>(ring.own, ring.arrived, ring.out, ring.next_arrived,
                                      begin, end);
            } else if (send < sends / 2) {
                pass_on<true, false>(ring.own, ring.arrived, ring.out, ring.next_arrived,
                                     begin, end);
            } else if (send == sends / 2) {
                pass_on<true, true>(ring.own, ring.arrived, ring.out, ring.next_out, begin,
                                    end);
            } else {
                pass_on<false, false>(ring.out, ring.arrived, ring.out, ring.next_out,
                                      begin, end);
            }
            __syncthreads();  // all threads have stored their share of the message
            if (threadIdx.x == 0)
                RingFlag(ring.next_flags[blockIdx.x])
                    .store(ring.first + send * ring.messages + message + 1,
                           cuda::memory_order_release);
        }
    }
    // The last part has to arrive, too.
    if (threadIdx.x == 0) {
        RingFlag flag(const_cast<unsigned&>(ring.flags[blockIdx.x]));
        while (int(flag.load(cuda::memory_order_acquire) -
                   (ring.first + sends * ring.messages)) < 0) {
        }
    }
}

}  // namespace
}  // namespace several_gpus
