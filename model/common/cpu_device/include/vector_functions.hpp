// Where the CUDA Toolkit defines make_float4 and its relatives.
#pragma once

#include "cpu_device/vector_types.h"
