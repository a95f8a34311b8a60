// The header name under which older CUDA programs include the atomic functions.
#pragma once

#include "cpu_device/atomics.h"
