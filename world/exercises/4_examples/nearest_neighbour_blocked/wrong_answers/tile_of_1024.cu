// Wrong answer: one tile for all points, which ends after 1024
// Rejected by: handles any number of points
// Message: out of bounds
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

__device__ float squared_distance(const Point& a, const Point& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

__global__ void find_nearest_of_each(const Point* points, int count, int* nearest) {
    __shared__ Point all[1024];
    for (int j = threadIdx.x; j < count; j += blockDim.x) all[j] = points[j];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Point own = all[i];
    float best = INFINITY;
    int best_index = -1;
    for (int j = 0; j < count; ++j) {
        const float distance = squared_distance(own, all[j]);
        if (distance < best && j != i) {
            best = distance;
            best_index = j;
        }
    }
    nearest[i] = best_index;
}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    find_nearest_of_each<<<(count + 127) / 128, 128>>>(d_points, count, d_nearest);
}
