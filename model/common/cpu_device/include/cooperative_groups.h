// Groups of threads; see cpu_device/cooperative_groups.h.
#pragma once

#include "cpu_device/cooperative_groups.h"
