// The lessons of chapter 4, in the order in which they are taught. Each is defined in the `.cu` file of its name.
#pragma once

#include "common/lesson/lesson.h"

namespace examples {

void vector_distance(warpwise::Lesson& lesson);
void matrix_vector(warpwise::Lesson& lesson);
void matrix_multiply(warpwise::Lesson& lesson);
void linear_solver(warpwise::Lesson& lesson);
void nearest_neighbour(warpwise::Lesson& lesson);

}  // namespace examples
