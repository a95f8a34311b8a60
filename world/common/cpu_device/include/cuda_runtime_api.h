// The host side of CUDA.
#pragma once

#include "cpu_device/runtime_api.h"
