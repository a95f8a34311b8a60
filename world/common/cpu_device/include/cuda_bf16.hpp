// Where the CUDA Toolkit defines what cuda_bf16.h declares.
#pragma once

#include "cpu_device/bfloat16.h"
