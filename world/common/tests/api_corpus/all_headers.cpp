// Preprocessed for the list of functions that the CPU device declares. nvtx3 and the profiler's headers are left out:
// they are another library's, and do nothing here.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
