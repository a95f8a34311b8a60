#include "scale.h"

double sum_of(const float* values, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += values[i];
    return sum;
}
