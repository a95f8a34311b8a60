// Solution: the tail of the last tile belongs to nobody.
//
// The last tile has count - first points, and its other places hold what happens to be
// there: nothing in the first round, and later the points of the tile before, under numbers
// that no point has. One of those is point i itself, at distance 0, which `first + k != i`
// does not recognize any more. So only as many places are looked at as were written.
//
// The guards for i and for j are about other things: whether this thread has a point of its
// own, and whether it has one to load. A thread without a point of its own still loads for
// the others, and still comes to the barriers.
//
// Filling the places that are left with points infinitely far away is right as well; then
// the loop has a fixed length.
#include "exercises/4_examples/nearest_neighbour_tail/nearest_neighbour_tail.h"

constexpr int threads_per_block = 128;  // and points of a tile

__device__ float squared_distance(const Point& a, const Point& b) {
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

__global__ void find_nearest_in_tiles(const Point* points, int count, int* nearest) {
    __shared__ Point tile[threads_per_block];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Point own = points[i < count ? i : 0];
    float best = INFINITY;
    int best_index = -1;
    for (int first = 0; first < count; first += threads_per_block) {
        const int j = first + threadIdx.x;
        if (j < count) tile[threadIdx.x] = points[j];
        __syncthreads();
        const int here = min(threads_per_block, count - first);
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
    find_nearest_in_tiles<<<blocks, threads_per_block>>>(d_points, count, d_nearest);
}
