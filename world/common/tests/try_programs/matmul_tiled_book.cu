// Chapter "Memory and data locality": P = M * N for matrices of any size, with tiles whose width is chosen when the
// program runs, and with several columns per thread. From basic to better:
//
//   multiply_basic         one element per thread, everything from global memory
//   multiply_tiled    tiles in dynamically sized shared memory, boundaries checked
//   multiply_coarsened   the same, COARSE_FACTOR tiles of columns per block

#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

#define COARSE_FACTOR 4

#define gpuErrchk(ans) \
    { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char* file, int line, bool abort = true) {
    if (code != cudaSuccess) {
        std::cerr << "GPUassert: " << cudaGetErrorString(code) << ' ' << file << ' ' << line << std::endl;
        if (abort) exit(code);
    }
}

/// A matrix on the host, row by row.
struct Matrix {
    int height, width;
    std::vector<float> elements;

    Matrix(int h, int w) : height(h), width(w), elements(static_cast<size_t>(h) * w) {}
    float& operator()(int row, int col) { return elements[static_cast<size_t>(row) * width + col]; }
    float operator()(int row, int col) const { return elements[static_cast<size_t>(row) * width + col]; }
    size_t bytes() const { return elements.size() * sizeof(float); }
};

// M is m x k, N is k x n, P is m x n.
__global__ void multiply_basic(const float* M, const float* N, float* P, int m, int k, int n) {
    int Row = blockIdx.y * blockDim.y + threadIdx.y;
    int Col = blockIdx.x * blockDim.x + threadIdx.x;

    if ((Row < m) && (Col < n)) {
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += M[Row * k + i] * N[i * n + Col];
        P[Row * n + Col] = sum;
    }
}

__global__ void multiply_tiled(const float* M, const float* N, float* P, int m, int k, int n, unsigned bytes_of_first) {
    // One piece of shared memory, cut in two by whoever launches the kernel.
    extern __shared__ char both_tiles[];
    float* tileM = (float*)both_tiles;
    float* tileN = (float*)(both_tiles + bytes_of_first);

    const int tileWidth = blockDim.x;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int Row = blockIdx.y * tileWidth + ty;
    int Col = blockIdx.x * tileWidth + tx;

    float sum = 0;
    for (int ph = 0; ph < ceil(k / (float)tileWidth); ++ph) {
        // Each thread loads one element of either tile; what is outside counts as zero.
        if ((Row < m) && (ph * tileWidth + tx) < k)
            tileM[ty * tileWidth + tx] = M[Row * k + ph * tileWidth + tx];
        else
            tileM[ty * tileWidth + tx] = 0.0f;
        if ((ph * tileWidth + ty) < k && Col < n)
            tileN[ty * tileWidth + tx] = N[(ph * tileWidth + ty) * n + Col];
        else
            tileN[ty * tileWidth + tx] = 0.0f;
        __syncthreads();

        for (int i = 0; i < tileWidth; ++i) sum += tileM[ty * tileWidth + i] * tileN[i * tileWidth + tx];
        __syncthreads();
    }
    if ((Row < m) && (Col < n)) P[Row * n + Col] = sum;
}

template <int TILE_WIDTH>
__global__ void multiply_coarsened(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ float tileM[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileN[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = by * TILE_WIDTH + ty;
    int colStart = bx * TILE_WIDTH * COARSE_FACTOR + tx;

    float sum[COARSE_FACTOR];
    for (int c = 0; c < COARSE_FACTOR; ++c) sum[c] = 0.0f;

    for (int ph = 0; ph < (k + TILE_WIDTH - 1) / TILE_WIDTH; ++ph) {
        int kCol = ph * TILE_WIDTH + tx, kRow = ph * TILE_WIDTH + ty;
        tileM[ty][tx] = (row < m && kCol < k) ? M[row * k + kCol] : 0.0f;

        for (int c = 0; c < COARSE_FACTOR; ++c) {
            int col = colStart + c * TILE_WIDTH;
            tileN[ty][tx] = (kRow < k && col < n) ? N[kRow * n + col] : 0.0f;
            __syncthreads();

#pragma unroll
            for (int i = 0; i < TILE_WIDTH; ++i) sum[c] += tileM[ty][i] * tileN[i][tx];
            __syncthreads();
        }
    }
    for (int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c * TILE_WIDTH;
        if (row < m && col < n) P[row * n + col] = sum[c];
    }
}

/// The widest tile, a power of two, of which two fit into a block's shared memory and one into a block's threads.
int widest_tile(const cudaDeviceProp& prop, int most) {
    int width = 1;
    while (2 * width <= most && 4 * width * width <= prop.maxThreadsPerBlock &&
           2 * 4 * width * width * sizeof(float) <= prop.sharedMemPerBlock)
        width *= 2;
    return width;
}

Matrix multiplyOnHost(const Matrix& M, const Matrix& N) {
    Matrix P(M.height, N.width);
    for (int row = 0; row < P.height; ++row)
        for (int col = 0; col < P.width; ++col) {
            double sum = 0;
            for (int i = 0; i < M.width; ++i) sum += double(M(row, i)) * N(i, col);
            P(row, col) = static_cast<float>(sum);
        }
    return P;
}

bool compare(const char* name, const Matrix& result, const Matrix& expected) {
    float worst = 0;
    bool finite = true;
    for (size_t i = 0; i < result.elements.size(); ++i) {
        finite = finite && std::isfinite(result.elements[i]);
        worst = fmax(worst, fabs(result.elements[i] - expected.elements[i]));
    }
    const bool good = finite && worst <= 1e-4f;
    std::cout << std::left << std::setw(24) << name << (good ? "matches the host" : "DIFFERS from the host") << '\n';
    return good;
}

int main() {
    cudaDeviceProp prop;
    gpuErrchk(cudaGetDeviceProperties(&prop, 0));

    const int m = 70, k = 51, n = 90;
    Matrix M(m, k), N(k, n), P(m, n);
    for (int i = 0; i < m * k; ++i) M.elements[i] = std::sin(0.1f * i);
    for (int i = 0; i < k * n; ++i) N.elements[i] = std::cos(0.07f * i);
    const Matrix expected = multiplyOnHost(M, N);

    float *d_M, *d_N, *d_P;
    gpuErrchk(cudaMalloc(&d_M, M.bytes()));
    gpuErrchk(cudaMalloc(&d_N, N.bytes()));
    gpuErrchk(cudaMalloc(&d_P, P.bytes()));
    gpuErrchk(cudaMemcpy(d_M, M.elements.data(), M.bytes(), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(d_N, N.elements.data(), N.bytes(), cudaMemcpyHostToDevice));

    bool good = true;
    const auto fetchAndCompare = [&](const char* name) {
        gpuErrchk(cudaPeekAtLastError());
        gpuErrchk(cudaDeviceSynchronize());
        gpuErrchk(cudaMemcpy(P.elements.data(), d_P, P.bytes(), cudaMemcpyDeviceToHost));
        gpuErrchk(cudaMemset(d_P, 0xFF, P.bytes()));
        good = compare(name, P, expected) && good;
    };

    std::cout << '(' << m << " x " << k << ") * (" << k << " x " << n << ")\n";
    dim3 dimBlock(16, 16, 1);
    dim3 dimGrid(ceil(n / 16.0), ceil(m / 16.0), 1);
    multiply_basic<<<dimGrid, dimBlock>>>(d_M, d_N, d_P, m, k, n);
    fetchAndCompare("basic");

    for (int most : {8, 32}) {
        const int width = widest_tile(prop, most);
        const size_t size = 2 * width * width * sizeof(float);
        dimBlock = dim3(width, width);
        dimGrid = dim3((n + width - 1) / width, (m + width - 1) / width);
        multiply_tiled<<<dimGrid, dimBlock, size>>>(d_M, d_N, d_P, m, k, n, size / 2);
        fetchAndCompare(("tiles " + std::to_string(width) + " wide").c_str());
    }

    dimGrid = dim3((n + 16 * COARSE_FACTOR - 1) / (16 * COARSE_FACTOR), (m + 15) / 16);
    multiply_coarsened<16><<<dimGrid, {16, 16}>>>(d_M, d_N, d_P, m, k, n);
    fetchAndCompare("coarsened");

    gpuErrchk(cudaFree(d_M));
    gpuErrchk(cudaFree(d_N));
    gpuErrchk(cudaFree(d_P));
    std::cout << (good ? "PASSED" : "FAILED") << std::endl;
    return good ? 0 : 1;
}
