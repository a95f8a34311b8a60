// A merge sort of structures, a transformation of two arrays, and a function for every index or element.
#include <cub/device/device_for.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include <algorithm>
#include <cstdio>
#include <vector>

struct Point {
    int x, y;
};
struct ByDistance {
    __host__ __device__ bool operator()(const Point &a, const Point &b) const {
        return a.x * a.x + a.y * a.y < b.x * b.x + b.y * b.y;
    }
};
struct Saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct AddOne {
    __device__ void operator()(float &x) const { x += 1; }
};
struct StoreSquare {
    int *out;
    __device__ void operator()(int i) const { out[i] = i * i; }
};

int main() {
    bool ok = true;
    for (int n : {1, 33, 257, 10007}) {
        std::vector<Point> points(n), sorted(n);
        std::vector<float> x(n), y(n), z(n);
        std::vector<int> squares(n);
        for (int i = 0; i < n; ++i) {
            points[i] = {(i * 37) % 19 - 9, (i * 53) % 23 - 11};
            x[i] = (float)(i % 100);
            y[i] = (float)(i % 7);
        }
        Point *d_points;
        float *d_x, *d_y, *d_z;
        int *d_squares;
        cudaMalloc(&d_points, n * sizeof(Point));
        cudaMalloc(&d_x, n * sizeof(float));
        cudaMalloc(&d_y, n * sizeof(float));
        cudaMalloc(&d_z, n * sizeof(float));
        cudaMalloc(&d_squares, n * sizeof(int));
        cudaMemcpy(d_points, points.data(), n * sizeof(Point), cudaMemcpyHostToDevice);
        cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
        cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

        void *d_temp = nullptr;
        size_t bytes = 0;
        cub::DeviceMergeSort::StableSortKeys(d_temp, bytes, d_points, n, ByDistance());
        cudaMalloc(&d_temp, bytes);
        cub::DeviceMergeSort::StableSortKeys(d_temp, bytes, d_points, n, ByDistance());
        cudaMemcpy(sorted.data(), d_points, n * sizeof(Point), cudaMemcpyDeviceToHost);
        std::stable_sort(points.begin(), points.end(), ByDistance());
        for (int i = 0; i < n; ++i) ok = ok && sorted[i].x == points[i].x && sorted[i].y == points[i].y;

        cub::DeviceTransform::Transform(cuda::std::make_tuple(d_x, d_y), d_z, n, Saxpy{2});
        cub::DeviceFor::ForEachN(d_z, n, AddOne());
        cub::DeviceFor::Bulk(n, StoreSquare{d_squares});
        cudaMemcpy(z.data(), d_z, n * sizeof(float), cudaMemcpyDeviceToHost);
        cudaMemcpy(squares.data(), d_squares, n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; ++i) ok = ok && z[i] == 2 * x[i] + y[i] + 1 && squares[i] == i * i;
        cudaFree(d_temp);
        cudaFree(d_points);
        cudaFree(d_x);
        cudaFree(d_y);
        cudaFree(d_z);
        cudaFree(d_squares);
    }
    printf("sort, transform, for: %s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
