// The lessons of chapter 2, in the order in which they are taught. Each is defined in the `.cu` file of its name.
#pragma once

#include "common/lesson/lesson.h"

namespace memory_model {

void memory_spaces(warpwise::Lesson& lesson);
void coalescing(warpwise::Lesson& lesson);
void shared_memory(warpwise::Lesson& lesson);
void bank_conflicts(warpwise::Lesson& lesson);
void constant_memory(warpwise::Lesson& lesson);
void texture_laplace(warpwise::Lesson& lesson);
void registers_and_local(warpwise::Lesson& lesson);
void histogram(warpwise::Lesson& lesson);
void fences_and_last_block(warpwise::Lesson& lesson);
void pitched_memory(warpwise::Lesson& lesson);
void host_memory_and_streams(warpwise::Lesson& lesson);
void warp_synchronous_code(warpwise::Lesson& lesson);

}  // namespace memory_model
