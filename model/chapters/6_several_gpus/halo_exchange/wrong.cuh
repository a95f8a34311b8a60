// Mistakes with halos, for the CPU device to find.
#pragma once

#include <cuda_runtime.h>

#include "chapters/6_several_gpus/devices.h"
#include "chapters/6_several_gpus/halo_exchange/strips.h"

namespace several_gpus {
namespace {

// WRONG: the edges are stored in the halos of the neighbors, which may still read them: no
// stream waits for the neighbors.
void no_wait_for_neighbors() {
    enable_all_peers(2);
    Strips strips(16, 64, 2);
    for (int iteration = 0; iteration < 2; ++iteration) {
        for (int d = 0; d < 2; ++d) {
            strips.launch_edges(d, iteration, true, strips.devices.stream(d));
            strips.launch_relax(d, iteration, 2, strips.strip(d).size() - 2,
                                strips.devices.stream(d));
        }
    }
    strips.devices.wait();
}

}  // namespace
}  // namespace several_gpus
