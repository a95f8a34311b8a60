// Wrong answer: the host searches, and the kernel is empty
// Rejected by: finds the neighbors of full blocks
// Message: copied from host memory
#include "exercises/4_examples/nearest_neighbour_blocked/nearest_neighbour_blocked.h"

#include <vector>

__global__ void find_nearest_of_each() {}

void find_nearest(const Point* d_points, int count, int* d_nearest) {
    if (count == 0) return;
    std::vector<Point> points(count);
    std::vector<int> nearest(count, -1);
    cudaMemcpy(points.data(), d_points, count * sizeof(Point), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) {
        float best = 3.4e38f;
        for (int j = 0; j < count; ++j) {
            const float x = points[i].x - points[j].x;
            const float y = points[i].y - points[j].y;
            const float z = points[i].z - points[j].z;
            const float distance = x * x + y * y + z * z;
            if (i != j && distance < best) {
                best = distance;
                nearest[i] = j;
            }
        }
    }
    cudaMemcpy(d_nearest, nearest.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    find_nearest_of_each<<<1, 1>>>();
}
