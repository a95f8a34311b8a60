// Heat in a box: explicit finite differences of eighth order in space, several steps in time.
//
// The kernel marches along z: a block owns a column of the volume, keeps the current plane with its halo in shared
// memory, and what lies in front of and behind it in registers. The volumes are pitched allocations (cudaMalloc3D).

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class CudaError : public std::runtime_error {
public:
    CudaError(cudaError_t code, const std::string& what, const char* file, int line)
        : std::runtime_error(what + ": " + cudaGetErrorName(code) + " (" + cudaGetErrorString(code) + ") at " + file +
                             ":" + std::to_string(line)) {}
};

#define CHECK(expression)                                                 \
    if (const cudaError_t status = (expression); status != cudaSuccess) { \
        throw CudaError(status, #expression, __FILE__, __LINE__);         \
    }                                                                     \
    static_assert(true, "")

constexpr int RADIUS = 4;
constexpr int BLOCK_X = 16, BLOCK_Y = 8;

__constant__ float stencil[RADIUS + 1];

/// A pitched volume: rows of `pitch` bytes, `rows` of them a plane.
template <typename T>
struct Volume {
    char* data;
    size_t pitch;
    int rows;

    __host__ __device__ __forceinline__ T& at(int x, int y, int z) const {
        return reinterpret_cast<T*>(data + (static_cast<size_t>(z) * rows + y) * pitch)[x];
    }
};

template <int R>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y, 4) step(Volume<float> out, Volume<const float> in, dim3 dims) {
    __shared__ float plane[BLOCK_Y + 2 * R][BLOCK_X + 2 * R];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x + R;
    const int y = blockIdx.y * BLOCK_Y + threadIdx.y + R;
    const int tx = threadIdx.x + R, ty = threadIdx.y + R;

    // A queue of values along z; queue[R] is the current one.
    float queue[2 * R + 1];
#pragma unroll
    for (int i = 0; i < 2 * R; ++i) queue[i + 1] = in.at(x, y, i);

    for (int z = R; z < static_cast<int>(dims.z) - R; ++z) {
#pragma unroll
        for (int i = 0; i < 2 * R; ++i) queue[i] = queue[i + 1];
        queue[2 * R] = in.at(x, y, z + R);

        __syncthreads();  // the plane before was used by all
        plane[ty][tx] = queue[R];
        if (threadIdx.y < R) {
            plane[threadIdx.y][tx] = in.at(x, y - R, z);
            plane[threadIdx.y + BLOCK_Y + R][tx] = in.at(x, y + BLOCK_Y, z);
        }
        if (threadIdx.x < R) {
            plane[ty][threadIdx.x] = in.at(x - R, y, z);
            plane[ty][threadIdx.x + BLOCK_X + R] = in.at(x + BLOCK_X, y, z);
        }
        __syncthreads();

        float sum = 3.0f * stencil[0] * queue[R];
#pragma unroll
        for (int i = 1; i <= R; ++i) {
            sum += stencil[i] * (plane[ty][tx - i] + plane[ty][tx + i] + plane[ty - i][tx] + plane[ty + i][tx] +
                                 queue[R - i] + queue[R + i]);
        }
        out.at(x, y, z) = queue[R] + sum;
    }
}

struct HostVolume {
    int nx, ny, nz;
    std::vector<float> values;
    HostVolume(int x, int y, int z) : nx(x), ny(y), nz(z), values(static_cast<size_t>(x) * y * z) {}
    float& at(int x, int y, int z) { return values[(static_cast<size_t>(z) * ny + y) * nx + x]; }
};

void step_on_host(HostVolume& out, HostVolume& in, const std::array<float, RADIUS + 1>& c) {
    for (int z = RADIUS; z < in.nz - RADIUS; ++z)
        for (int y = RADIUS; y < in.ny - RADIUS; ++y)
            for (int x = RADIUS; x < in.nx - RADIUS; ++x) {
                double sum = 3.0 * c[0] * in.at(x, y, z);
                for (int i = 1; i <= RADIUS; ++i)
                    sum += c[i] * (double(in.at(x - i, y, z)) + in.at(x + i, y, z) + in.at(x, y - i, z) +
                                   in.at(x, y + i, z) + in.at(x, y, z - i) + in.at(x, y, z + i));
                out.at(x, y, z) = static_cast<float>(in.at(x, y, z) + sum);
            }
}

/// Copies between the host's packed volume and the device's pitched one.
void copy_volume(cudaPitchedPtr to, cudaPitchedPtr from, cudaExtent extent, cudaMemcpyKind kind) {
    cudaMemcpy3DParms parameters = {0};
    parameters.srcPtr = from;
    parameters.dstPtr = to;
    parameters.extent = extent;
    parameters.kind = kind;
    CHECK(cudaMemcpy3D(&parameters));
}

int run(int steps) {
    constexpr int nx = 2 * BLOCK_X + 2 * RADIUS, ny = 3 * BLOCK_Y + 2 * RADIUS, nz = 10 + 2 * RADIUS;
    const float k = 0.1f;  // small enough for the scheme to be stable
    const std::array<float, RADIUS + 1> coefficients{-k * 205.0f / 72, k * 8.0f / 5, -k * 1.0f / 5, k * 8.0f / 315,
                                                     -k * 1.0f / 560};
    CHECK(cudaMemcpyToSymbol(stencil, coefficients.data(), sizeof(stencil)));

    HostVolume now(nx, ny, nz), result(nx, ny, nz);
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) now.at(x, y, z) = (x / 5 + y / 3 + z / 2) % 2 == 0 ? 1.0f : 0.0f;
    HostVolume next = now;

    const cudaExtent extent = make_cudaExtent(nx * sizeof(float), ny, nz);
    std::array<cudaPitchedPtr, 2> device;
    for (auto& volume : device) {
        CHECK(cudaMalloc3D(&volume, extent));
        copy_volume(volume, make_cudaPitchedPtr(now.values.data(), nx * sizeof(float), nx, ny), extent,
                    cudaMemcpyHostToDevice);
    }

    const dim3 block{BLOCK_X, BLOCK_Y}, grid{(nx - 2 * RADIUS) / BLOCK_X, (ny - 2 * RADIUS) / BLOCK_Y};
    for (int i = 0; i < steps; ++i) {
        auto& [in, out] = device;
        step<RADIUS><<<grid, block>>>({(char*)out.ptr, out.pitch, ny}, {(char*)in.ptr, in.pitch, ny}, dim3(nx, ny, nz));
        CHECK(cudaGetLastError());
        std::swap(in, out);
        step_on_host(next, now, coefficients);
        std::swap(now, next);
    }
    CHECK(cudaDeviceSynchronize());
    copy_volume(make_cudaPitchedPtr(result.values.data(), nx * sizeof(float), nx, ny), device[0], extent,
                cudaMemcpyDeviceToHost);
    for (auto& volume : device) CHECK(cudaFree(volume.ptr));

    float worst = 0, sum = 0;
    for (size_t i = 0; i < result.values.size(); ++i) {
        worst = std::max(worst, std::fabs(result.values[i] - now.values[i]));
        sum += result.values[i];
    }
    std::printf("%d x %d x %d points, radius %d, %d steps\n", nx, ny, nz, RADIUS, steps);
    std::printf("mean temperature %.3f\n", sum / result.values.size());
    const bool good = std::isfinite(sum) && worst < 1e-5f;
    std::printf("largest difference from the host is %s 1e-5\n", good ? "below" : "NOT below");
    std::puts(good ? "PASSED" : "FAILED");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char** argv) try {
    return run(argc > 1 ? std::stoi(argv[1]) : 4);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
}
