// The header name under which older CUDA programs include the marks and ranges of NVTX.
#pragma once

#include "nvtx3/nvToolsExt.h"
