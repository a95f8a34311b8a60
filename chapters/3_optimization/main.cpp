// Chapter 3: how to find out why a kernel is slow, and the ways to make it fast.
#include "chapters/3_optimization/lessons.h"
#include "common/lesson/chapter.h"

int main(int argc, char** argv) {
    using namespace optimization;
    return warpwise::run_chapter(
        argc, argv,
        {.number = 3,
         .title = "Optimization",
         .folder = "3_optimization",
         .lessons = {
             {"strategy_and_amdahl", "measure, find what limits, change one thing, measure again", strategy_and_amdahl},
             {"timers", "what each clock can tell, and the measurement that stops too early", timers},
             {"error_handling", "what each kind of mistake looks like, and when it shows", error_handling},
             {"serial_c", "before the GPU: what makes loops fast, and what the compiler does by itself", serial_c},
             {"dot_product", "a reduction in ten steps, from modulo to the read roof", dot_product},
             {"transpose", "rows in, columns out: both sides of a tile at full speed", transpose},
             {"occupancy", "how many warps an SM holds, what limits them, and when fewer are faster", occupancy},
             {"divergence", "lanes of a warp that want to go different ways", divergence},
             {"instruction_throughput", "what each kind of instruction costs", instruction_throughput},
             {"latency_hiding", "independent work, so that nobody waits", latency_hiding},
             {"accuracy", "sums of floats: how wrong, and what it costs to be right", accuracy},
         }});
}
