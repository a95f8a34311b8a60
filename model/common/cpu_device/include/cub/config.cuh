// What every header of CUB needs.
#pragma once

#include "cub/util_ptx.cuh"
#include "cub/util_type.cuh"
#include "cub/version.cuh"
#include "cuda_runtime.h"
