// The lessons of chapter 1, in the order in which they are taught. Each is defined in the `.cu` file of its name.
#pragma once

#include "common/lesson/lesson.h"

namespace basics_and_pi {

void device_query(warpwise::Lesson& lesson);
void hello_threads(warpwise::Lesson& lesson);
void fork_join(warpwise::Lesson& lesson);
void qualifiers(warpwise::Lesson& lesson);
void vector_add(warpwise::Lesson& lesson);
void matrix_add(warpwise::Lesson& lesson);
void pi(warpwise::Lesson& lesson);

}  // namespace basics_and_pi
