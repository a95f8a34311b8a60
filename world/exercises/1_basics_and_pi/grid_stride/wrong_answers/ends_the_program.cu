// Wrong answer: ends the program with status 0 as soon as it is called
// Rejected by: covers the array when the grid is large enough
// Message: The answer ended the program with exit status 0 before the grader was done
#include <cstdlib>

#include "exercises/1_basics_and_pi/grid_stride/grid_stride.h"

void scale_and_add(float, const float*, float*, int, int, int) { std::_Exit(0); }
