// Plain types of the CUDA runtime.
#pragma once

#include "cpu_device/types.h"
