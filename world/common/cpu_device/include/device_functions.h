// The header name under which older CUDA programs include the device intrinsics.
#pragma once

#include "cpu_device/math.h"
