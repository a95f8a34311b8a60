// Correct answer: the tile holds the number of each point, -1 where there is none
#include "exercises/4_examples/nearest_neighbour_tail/nearest_neighbour_tail.h"

struct Numbered {
    float x, y, z;
    int number;
};

__global__ void find_nearest_in_tiles(const Point* points, int count, int* nearest) {
    extern __shared__ Numbered tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    Point own = {};
    if (i < count) own = points[i];
    float best = INFINITY;
    int best_index = -1;
    for (int first = 0; first < count; first += blockDim.x) {
        Numbered mine = {0, 0, 0, -1};
        const int j = first + threadIdx.x;
        if (j < count) mine = {points[j].x, points[j].y, points[j].z, j};
        tile[threadIdx.x] = mine;
        __syncthreads();
        for (unsigned k = 0; k < blockDim.x; ++k) {
            const Numbered other = tile[k];
            if (other.number < 0) break;
            const float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z;
            const float distance = x * x + y * y + z * z;
            if (other.number != i && distance < best) {
                best = distance;
                best_index = other.number;
            }
        }
        __syncthreads();
    }
    if (i < count) nearest[i] = best_index;
}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    const int threads = 128;
    const int blocks = (count + threads - 1) / threads;
    const size_t bytes = threads * sizeof(Numbered);
    find_nearest_in_tiles<<<blocks, threads, bytes>>>(d_points, count, d_nearest);
}
