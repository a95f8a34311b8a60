// Wrong answer: one block does it all
// Rejected by: finds the neighbors of full blocks
// Message: the task asks for at least 256 threads
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

constexpr int threads_per_block = 128;

__device__ float squared_distance(const Point& a, const Point& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

__global__ void find_nearest_of_each(const Point* points, int count, int* nearest) {
    __shared__ Point tile[threads_per_block];
    for (int begin = 0; begin < count; begin += threads_per_block) {
        const int i = begin + threadIdx.x;
        const Point own = points[min(i, count - 1)];
        float best = INFINITY;
        int best_index = -1;
        for (int first = 0; first < count; first += threads_per_block) {
            const int here = min(threads_per_block, count - first);
            const int j = first + threadIdx.x;
            if (j < count) tile[threadIdx.x] = points[j];
            __syncthreads();
            for (int k = 0; k < here; ++k) {
                const float distance = squared_distance(own, tile[k]);
                if (distance < best && first + k != i) {
                    best = distance;
                    best_index = first + k;
                }
            }
            __syncthreads();
        }
        if (i < count) nearest[i] = best_index;
    }
}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    find_nearest_of_each<<<1, threads_per_block>>>(d_points, count, d_nearest);
}
