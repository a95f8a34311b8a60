// Textures and surfaces; see cpu_device/texture.h.
#pragma once

#include "cpu_device/texture.h"
