// The loops of lesson serial_c, as the compiler makes them with -O1. CMakeLists.txt gives
// this file its options.
#ifndef LOOPS
#error "Compile this file with -O1 -falign-loops=32 -DLOOPS=loops_o1."
#endif
#include "chapters/3_optimization/serial_c/loops.h"
