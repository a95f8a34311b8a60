// The header name under which older CUDA programs include the names of streams and events for NVTX.
#pragma once

#include "nvtx3/nvToolsExtCudaRt.h"
