// Kernels cannot launch kernels on the CPU device; programs include this header for the types in it.
#pragma once

#include "cpu_device/runtime_api.h"
