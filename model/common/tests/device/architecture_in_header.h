// Part of architecture_test.cu: what a header says about __CUDA_ARCH__ reaches the files that include it.
#pragma once

#include <cuda_runtime.h>

#define TEST_BOTH __host__ __device__

#ifdef __CUDA_ARCH__
#define SIDE_IN_HEADER 2
#else
#define SIDE_IN_HEADER 1
#endif

// Depends on the macro by another one.
#define SIDE_TIMES(n) ((n)*SIDE_IN_HEADER)

namespace architecture {

TEST_BOTH inline int side_of_header() { return SIDE_IN_HEADER; }

}  // namespace architecture
