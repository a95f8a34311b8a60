// What a CUDA program sees of the CPU device: the counterpart of the CUDA Toolkit's header of the same name.
//
// Of the standard library it includes little: after `using namespace std`, each name of the library is one that a
// program cannot give to a variable of its own (count, merge, distance ...).
#pragma once

#include "cpu_device/instrumented.h"  // before the C library

#include "cpu_device/standard_math.h"  // before whatever else includes <cmath>

#include <string.h>
#include <time.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "cpu_device/types.h"

#include "cpu_device/qualifiers.h"

#include "cpu_device/compiler_macros.h"

#include "cpu_device/execution.h"

#include "cpu_device/runtime_api.h"

#include "cpu_device/math.h"

#include "cpu_device/address_space.h"

#include "cpu_device/atomics.h"

#include "cpu_device/ptx.h"

#include "cpu_device/warp.h"

#include "cpu_device/ptx_matrices.h"

#include "cpu_device/texture.h"
