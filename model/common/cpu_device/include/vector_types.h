// The header name under which the CUDA Toolkit offers its vector types.
#pragma once

#include "cpu_device/vector_types.h"
