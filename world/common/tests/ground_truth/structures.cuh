// Structures that an array may consist of, without alignment of their own: nvcc moves them member by member.
#pragma once

namespace ground_truth {

struct Floats3 {
    float x, y, z;
};

struct Floats4 {
    float x, y, z, w;
};

}  // namespace ground_truth
