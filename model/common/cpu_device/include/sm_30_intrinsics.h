// The header name under which older CUDA programs include the shuffles and votes.
#pragma once

#include "cpu_device/warp.h"
