#define WATCH_COST_NAMESPACE watched
#include "common/benchmarks/watch_cost_kernels.cuh"
