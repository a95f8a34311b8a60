// The header name under which the CUDA Toolkit offers all plain types of the runtime.
#pragma once

#include "cpu_device/types.h"
