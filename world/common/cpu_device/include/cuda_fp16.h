// The CUDA Toolkit's header for 16-bit floating point.
#pragma once

#include "cpu_device/half.h"
