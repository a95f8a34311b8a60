// Every plain type of the CUDA runtime: vector types and dim3, error codes, handles, enumerations.
#pragma once

#include "cpu_device/api_types.h"
#include "cpu_device/vector_types.h"
