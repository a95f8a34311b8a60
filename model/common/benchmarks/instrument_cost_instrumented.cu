#define INSTRUMENT_COST_NAMESPACE instrumented
#include "common/benchmarks/instrument_cost_kernels.cuh"
