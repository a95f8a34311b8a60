// Wrong answer: the lanes of a warp share points by shuffles, the warps do not
// Rejected by: finds the neighbors of full blocks
// Message: no shared memory was used
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

__global__ void find_nearest_of_each(const Point* points, int count, int* nearest) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const Point own = points[min(i, count - 1)];
    float best = INFINITY;
    int best_index = -1;
    for (int first = 0; first < count; first += 32) {
        const Point mine = points[min(first + lane, count - 1)];
        for (int k = 0; k < 32; ++k) {
            const float x = own.x - __shfl_sync(0xffffffff, mine.x, k);
            const float y = own.y - __shfl_sync(0xffffffff, mine.y, k);
            const float z = own.z - __shfl_sync(0xffffffff, mine.z, k);
            const float distance = x * x + y * y + z * z;
            if (distance < best && first + k != i && first + k < count) {
                best = distance;
                best_index = first + k;
            }
        }
    }
    if (i < count) nearest[i] = best_index;
}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    find_nearest_of_each<<<(count + 127) / 128, 128>>>(d_points, count, d_nearest);
}
