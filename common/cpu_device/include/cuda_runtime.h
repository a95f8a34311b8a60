// What a CUDA program sees of the CPU device: the counterpart of the CUDA Toolkit's header of the same name.
#pragma once

#include "cpu_device/watched.h"  // before the C library

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpu_device/types.h"

#include "cpu_device/qualifiers.h"

#include "cpu_device/execution.h"

#include "cpu_device/runtime_api.h"

#include "cpu_device/math.h"

#include "cpu_device/atomics.h"

#include "cpu_device/warp.h"

#include "cpu_device/texture.h"
