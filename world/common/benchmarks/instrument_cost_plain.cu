#define INSTRUMENT_COST_NAMESPACE plain
#include "common/benchmarks/instrument_cost_kernels.cuh"
