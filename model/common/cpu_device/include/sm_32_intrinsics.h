// The header name under which older CUDA programs include __ldg, its relatives and the funnel shifts.
#pragma once

#include "cpu_device/math.h"
