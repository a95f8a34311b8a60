// The header name under which older CUDA programs include the math functions.
#pragma once

#include "cpu_device/math.h"
