// Not on the CPU device: whoever uses it is told so.
#pragma once

#include "cpu_device/cub_refused.h"
