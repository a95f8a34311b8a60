#include "common/tests/corpus/mistakes/mistakes.h"

namespace corpus {

std::vector<CaseList> diagnostics() {
    return {bounds(),
            bounds_of_objects(),
            bounds_on_chip(),
            alignment(),
            lifetime(),
            host_pointers(),
            unseen_errors(),
            uninitialized(),
            uninitialized_shared(),
            shared_races(),
            reduction_races(),
            global_races(),
            grid_races(),
            exchange_races(),
            handover_races(),
            race_hints(),
            divergent_barriers(),
            missing_lanes(),
            unwritten_managed(),
            volatile_global(),
            kernel_ends(),
            async_copies(),
            cub_mistakes(),
            stream_order(),
            graphs(),
            cluster_mistakes(),
            ranges_of_nvtx(),
            bulk_copies(),
            tensor_core_mistakes(),
            mistakes_with_several_devices()};
}

}  // namespace corpus
