// Watch mode: the exercise is built and graded at every save, and keys ask for the rest.
//
//     return watch(project, catalog, progress, exercise);
#pragma once

#include "common/guide/catalog.h"
#include "common/guide/progress.h"
#include "common/guide/project.h"

namespace guide {

/// From this exercise on, until the learner quits. Returns the exit status: 0, or 130 after Ctrl-C.
int watch(const Project& project, const Catalog& catalog, ProgressFile& progress, const Exercise& first);

}  // namespace guide
