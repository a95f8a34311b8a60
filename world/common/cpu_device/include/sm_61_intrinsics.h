// The header name under which older CUDA programs include the integer dot products (__dp4a).
#pragma once

#include "cpu_device/math.h"
