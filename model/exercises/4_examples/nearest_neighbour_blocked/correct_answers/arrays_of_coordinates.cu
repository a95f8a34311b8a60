// Correct answer: three arrays of coordinates in shared memory, blocks of 256
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

constexpr int size = 256;

__global__ void nearest_of_all(const Point* __restrict__ points, int n,
                               int* __restrict__ nearest) {
    __shared__ float xs[size], ys[size], zs[size];
    const int t = threadIdx.x;
    const int me = blockIdx.x * size + t;
    float x = 0, y = 0, z = 0;
    if (me < n) {
        x = points[me].x;
        y = points[me].y;
        z = points[me].z;
    }
    float smallest = INFINITY;
    int found = -1;
    for (int begin = 0; begin < n; begin += size) {
        if (begin + t < n) {
            const Point p = points[begin + t];
            xs[t] = p.x;
            ys[t] = p.y;
            zs[t] = p.z;
        }
        __syncthreads();
        const int end = n - begin < size ? n - begin : size;
        for (int k = 0; k < end; ++k) {
            const float dx = x - xs[k], dy = y - ys[k], dz = z - zs[k];
            const float d = dx * dx + dy * dy + dz * dz;
            if (begin + k != me && d < smallest) {
                smallest = d;
                found = begin + k;
            }
        }
        __syncthreads();
    }
    if (me < n) nearest[me] = found;
}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count <= 0) return;
    nearest_of_all<<<(count + size - 1) / size, size>>>(d_points, count, d_nearest);
}
