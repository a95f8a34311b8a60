// The header name under which older CUDA programs include __host__, __device__ and their relatives.
#pragma once

#include "cpu_device/qualifiers.h"
