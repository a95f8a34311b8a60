// The header name under which older CUDA programs include __ldg and its relatives.
#pragma once

#include "cpu_device/math.h"
