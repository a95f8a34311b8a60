// Wrong answer: ends the process with status 0
// Rejected by: develops pictures of any shape
// Message: The answer ended the program with exit status 0
#include "exercises/3_optimization/loop_invariants/loop_invariants.h"

#include <cstdlib>

void develop(const Counted*, const Counted*, Counted*, int, int, const Camera&) {
    std::_Exit(EXIT_SUCCESS);
}
