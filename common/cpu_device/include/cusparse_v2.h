#pragma once

#include "cusparse.h"  // NOLINT(misc-include-cleaner)
