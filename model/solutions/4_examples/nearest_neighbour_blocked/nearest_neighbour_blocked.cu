// Solution: every warp reads all points for itself.
//
// 1024 points are 32 warps, each of which loads 3 floats of 1024 points: 98304 requests, 32
// bytes each, 3.1 MB. With tiles in shared memory a block of 128 threads reads each point
// once, 8 blocks do so, and neighboring threads load neighboring points: 0.33 MB, a ninth.
// The points are 12 bytes, so the three floats of 32 points take three requests of 12
// sectors; read as an array of floats they would take three of 4.
//
// Two barriers: nobody looks at the tile before all of it is there, and nobody writes the
// next one while others still look. The last tile has `count - first` points, the threads
// without a point of their own load like the others.
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

constexpr int threads_per_block = 128;

__device__ float squared_distance(const Point& a, const Point& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

__global__ void find_nearest_of_each(const Point* points, int count, int* nearest) {
    __shared__ Point tile[threads_per_block];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
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

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    const int blocks = (count + threads_per_block - 1) / threads_per_block;
    find_nearest_of_each<<<blocks, threads_per_block>>>(d_points, count, d_nearest);
}
