// The function that the grader calls.
#pragma once

struct Point {
    float x, y, z;
};

/// d_nearest[i] = the number of the point that is closest to point i, of all but itself; of
/// several at the same distance the lowest number; -1 where there is only one point.
/// Squared distances are numbers that a float can hold. Both are device arrays of `count`
/// elements. With a count of 0 it does nothing.
void find_nearest(const Point* d_points, int count, int* d_nearest);
