// The CUDA Toolkit's header for bfloat16.
#pragma once

#include "cpu_device/bfloat16.h"
