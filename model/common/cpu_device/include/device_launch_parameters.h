// threadIdx, blockIdx, blockDim, gridDim and warpSize.
#pragma once

#include "cpu_device/execution.h"
