// The lessons of chapter 3, in the order in which they are taught. Each is defined in the `.cu` file of its name.
#pragma once

#include "common/lesson/lesson.h"

namespace optimization {

void strategy_and_amdahl(warpwise::Lesson& lesson);
void timers(warpwise::Lesson& lesson);
void error_handling(warpwise::Lesson& lesson);
void serial_c(warpwise::Lesson& lesson);
void dot_product(warpwise::Lesson& lesson);
void transpose(warpwise::Lesson& lesson);
void occupancy(warpwise::Lesson& lesson);
void divergence(warpwise::Lesson& lesson);
void instruction_throughput(warpwise::Lesson& lesson);
void latency_hiding(warpwise::Lesson& lesson);
void accuracy(warpwise::Lesson& lesson);

}  // namespace optimization
