// Where the CUDA Toolkit defines what cuda_fp16.h declares.
#pragma once

#include "cpu_device/half.h"
