// Names the exercise that a grader belongs to. Every grader defines it once:
//
//     const grading::Exercise grading::exercise{"1_basics_and_pi", "grid_stride"};
#pragma once

namespace grading {

struct Exercise {
    const char* chapter;  ///< folder below exercises/ and solutions/
    const char* name;     ///< folder below that, and name of the answer's `.cu` file
};

extern const Exercise exercise;

}  // namespace grading
