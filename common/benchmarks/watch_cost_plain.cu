#define WATCH_COST_NAMESPACE plain
#include "common/benchmarks/watch_cost_kernels.cuh"
