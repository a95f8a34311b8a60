// The files of cases with one mistake each, in the order in which they are listed.
#pragma once

#include "common/tests/corpus/corpus.h"

namespace corpus {

CaseList bounds();             // global memory
CaseList bounds_of_objects();  // the same, inside templates, functions, structures ...
CaseList bounds_on_chip();     // shared and constant memory, device variables
CaseList alignment();
CaseList lifetime();  // used after it was freed, freed twice, never freed
CaseList host_pointers();
CaseList unseen_errors();
CaseList uninitialized();  // global memory
CaseList uninitialized_shared();
CaseList shared_races();
CaseList reduction_races();  // sums, scans and searches in shared memory
CaseList global_races();     // inside a block
CaseList grid_races();       // between blocks
CaseList exchange_races();   // between lanes, across shuffles and votes
CaseList race_hints();       // what reports of races have to say
CaseList handover_races();   // between blocks and warps, through flags, tickets, and locks
CaseList divergent_barriers();
CaseList missing_lanes();
CaseList unwritten_managed();  // never written
CaseList volatile_global();    // code for a warp in lockstep
CaseList kernel_ends();        // traps and kernels that never end
CaseList async_copies();       // and cuda::barrier
CaseList cub_mistakes();
CaseList stream_order();  // streams, pools, managed memory, and the host
CaseList graphs();        // and programmatic dependent launches
CaseList cluster_mistakes();
CaseList ranges_of_nvtx();
CaseList bulk_copies();  // by the tensor memory accelerator
CaseList tensor_core_mistakes();
CaseList mistakes_with_several_devices();

}  // namespace corpus
