// The loops of lesson serial_c, as the compiler makes them with -O3. CMakeLists.txt gives
// this file its options.
#ifndef LOOPS
#error "Compile this file with -O3 -falign-loops=32 -DLOOPS=loops_o3."
#endif
#include "chapters/3_optimization/serial_c/loops.h"
