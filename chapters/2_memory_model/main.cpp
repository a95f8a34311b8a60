// Chapter 2: the kinds of memory, what each is good for, and what wrong use of it costs.
#include "chapters/2_memory_model/lessons.h"
#include "common/lesson/chapter.h"

int main(int argc, char** argv) {
    using namespace memory_model;
    return warpwise::run_chapter(
        argc, argv,
        {.number = 2,
         .title = "Memory model",
         .folder = "2_memory_model",
         .lessons = {
             {"memory_spaces", "the kinds of memory: scope, lifetime, who may write, how long a load takes",
              memory_spaces},
             {"coalescing", "which bytes a warp asks for decides how many sectors move", coalescing},
             {"shared_memory", "a tile that a block loads once and reads many times, and when the cache does that job",
              shared_memory},
             {"bank_conflicts", "32 banks, and what happens when lanes meet in one of them", bank_conflicts},
             {"constant_memory", "one address for the whole warp, or one for each lane", constant_memory},
             {"texture_laplace", "a stencil by five paths to memory: what won in 2008 and what wins today",
              texture_laplace},
             {"registers_and_local", "arrays that stay in registers, and arrays that do not", registers_and_local},
             {"histogram", "many threads, few counters: atomics from slow to fast", histogram},
             {"fences_and_last_block", "one launch for a whole sum: the block that finishes last adds up",
              fences_and_last_block},
             {"pitched_memory", "rows that begin where a request begins", pitched_memory},
             {"host_memory_and_streams", "four kinds of host memory, and copies that overlap with kernels",
              host_memory_and_streams},
             {"warp_synchronous_code", "what lanes of a warp may know of each other without asking",
              warp_synchronous_code},
         }});
}
