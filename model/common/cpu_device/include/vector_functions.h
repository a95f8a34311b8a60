// The header name under which the CUDA Toolkit offers make_float4 and its relatives.
#pragma once

#include "cpu_device/vector_types.h"
