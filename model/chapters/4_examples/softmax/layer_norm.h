// The second part of the lesson softmax: layer norm. layer_norm.cu has its problem and its
// launches, layer_norm.cuh its kernels.
#pragma once

#include "common/lesson/lesson.h"

namespace examples {

void tell_layer_norm(warpwise::Lesson& lesson);

}  // namespace examples
