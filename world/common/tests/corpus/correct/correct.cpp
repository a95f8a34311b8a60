#include "common/tests/corpus/corpus.h"

namespace corpus {

CaseList separate_writes();
CaseList barriers();
CaseList warps();
CaseList atomic_updates();
CaseList between_blocks();
CaseList groups();
CaseList shared_layouts();
CaseList host_and_memory();
CaseList language();
CaseList algorithms();
CaseList unseen_host_writes();
CaseList handovers();
CaseList locks();
CaseList last_blocks();
CaseList inside_blocks();
CaseList harmless_writes();
CaseList correct_async_copies();
CaseList correct_cub();
CaseList stream_order_kept();
CaseList correct_graphs();
CaseList correct_clusters();
CaseList correct_ranges();
CaseList correct_bulk_copies();
CaseList correct_tensor_cores();
CaseList several_devices();

std::vector<CaseList> correct() {
    return {separate_writes(),
            barriers(),
            warps(),
            atomic_updates(),
            between_blocks(),
            groups(),
            shared_layouts(),
            host_and_memory(),
            language(),
            algorithms(),
            handovers(),
            locks(),
            last_blocks(),
            inside_blocks(),
            harmless_writes(),
            unseen_host_writes(),
            correct_async_copies(),
            correct_cub(),
            stream_order_kept(),
            correct_graphs(),
            correct_clusters(),
            correct_ranges(),
            correct_bulk_copies(),
            correct_tensor_cores(),
            several_devices()};
}

}  // namespace corpus
