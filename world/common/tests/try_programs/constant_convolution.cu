/*
 * Separable convolution of an image: rows first, then columns. The taps of the filter sit in constant memory, the
 * image's tiles with their halo in shared memory. Out of the image everything is zero.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define CHECK_CUDA(call)                                                                                       \
    {                                                                                                          \
        cudaError_t err = call;                                                                                \
        if (cudaSuccess != err) {                                                                              \
            fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__,                  \
                    cudaGetErrorString(err));                                                                  \
            exit(EXIT_FAILURE);                                                                                \
        }                                                                                                      \
    }

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 4
#define ROWS_HALO_STEPS 1

#define COLUMNS_BLOCKDIM_X 16
#define COLUMNS_BLOCKDIM_Y 8
#define COLUMNS_RESULT_STEPS 4
#define COLUMNS_HALO_STEPS 1

#define IMUL(a, b) __mul24(a, b)

__constant__ float c_Kernel[KERNEL_LENGTH];

extern "C" void setConvolutionKernel(float *h_Kernel)
{
    CHECK_CUDA(cudaMemcpyToSymbol(c_Kernel, h_Kernel, KERNEL_LENGTH * sizeof(float)));
}

__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y]
                           [(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];

    // Offset to the left halo edge
    const int baseX = IMUL(blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS, ROWS_BLOCKDIM_X) + threadIdx.x;
    const int baseY = IMUL(blockIdx.y, ROWS_BLOCKDIM_Y) + threadIdx.y;
    if (imageH < 0) return;

    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

    // Main data
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];

    // Left halo, then right halo
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;

    __syncthreads();
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

// One padding column against bank conflicts.
__global__ void convolutionColumnsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[COLUMNS_BLOCKDIM_X]
                           [(COLUMNS_RESULT_STEPS + 2 * COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + 1];

    const int baseX = IMUL(blockIdx.x, COLUMNS_BLOCKDIM_X) + threadIdx.x;
    const int baseY = (blockIdx.y * COLUMNS_RESULT_STEPS - COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;
    assert(baseX < imageW);

    for (int i = 0; i < 2 * COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
        const int y = baseY + i * COLUMNS_BLOCKDIM_Y;
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] =
            (y >= 0 && y < imageH) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;
    }
    __syncthreads();

#pragma unroll
    for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y + j];
        d_Dst[i * COLUMNS_BLOCKDIM_Y * pitch] = sum;
    }
}

static void convolutionCPU(float *h_Dst, const float *h_Src, const float *h_Kernel, int w, int h, int dx, int dy)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++) {
                int cx = x + k * dx, cy = y + k * dy;
                if (cx >= 0 && cx < w && cy >= 0 && cy < h) sum += h_Src[cy * w + cx] * h_Kernel[KERNEL_RADIUS - k];
            }
            h_Dst[y * w + x] = sum;
        }
}

int main(void)
{
    const int imageW = 128, imageH = 64;
    static_assert(ROWS_BLOCKDIM_X * ROWS_HALO_STEPS >= KERNEL_RADIUS, "the halo of the rows is too narrow");
    assert(imageW % (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X) == 0 && imageH % ROWS_BLOCKDIM_Y == 0);
    assert(imageW % COLUMNS_BLOCKDIM_X == 0 && imageH % (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y) == 0);

    float h_Kernel[KERNEL_LENGTH];
    size_t size = imageW * imageH * sizeof(float);
    float *h_Input = (float *)malloc(size), *h_Buffer = (float *)malloc(size);
    float *h_OutputCPU = (float *)malloc(size), *h_OutputGPU = (float *)malloc(size);
    srand(200);
    for (int i = 0; i < KERNEL_LENGTH; i++) h_Kernel[i] = (float)(i % 16) / 16;
    for (int i = 0; i < imageW * imageH; i++) h_Input[i] = (float)(rand() % 16);

    float *d_Input, *d_Output, *d_Buffer;
    CHECK_CUDA(cudaMalloc((void **)&d_Input, size));
    CHECK_CUDA(cudaMalloc((void **)&d_Output, size));
    CHECK_CUDA(cudaMalloc((void **)&d_Buffer, size));
    setConvolutionKernel(h_Kernel);
    CHECK_CUDA(cudaMemcpy(d_Input, h_Input, size, cudaMemcpyHostToDevice));

    dim3 rowBlocks(imageW / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), imageH / ROWS_BLOCKDIM_Y);
    dim3 rowThreads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
    convolutionRowsKernel<<<rowBlocks, rowThreads>>>(d_Buffer, d_Input, imageW, imageH, imageW);
    CHECK_CUDA(cudaGetLastError());
    dim3 columnBlocks(imageW / COLUMNS_BLOCKDIM_X, imageH / (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y));
    dim3 columnThreads(COLUMNS_BLOCKDIM_X, COLUMNS_BLOCKDIM_Y);
    convolutionColumnsKernel<<<columnBlocks, columnThreads>>>(d_Output, d_Buffer, imageW, imageH, imageW);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(h_OutputGPU, d_Output, size, cudaMemcpyDeviceToHost));

    convolutionCPU(h_Buffer, h_Input, h_Kernel, imageW, imageH, 1, 0);
    convolutionCPU(h_OutputCPU, h_Buffer, h_Kernel, imageW, imageH, 0, 1);
    double sum = 0, delta = 0;
    for (int i = 0; i < imageW * imageH; i++) {
        delta += (h_OutputGPU[i] - h_OutputCPU[i]) * (h_OutputGPU[i] - h_OutputCPU[i]);
        sum += h_OutputCPU[i] * h_OutputCPU[i];
    }
    double L2norm = sqrt(delta / sum);
    printf("Image Width x Height = %i x %i, %i taps\n", imageW, imageH, KERNEL_LENGTH);
    printf(" ...Relative L2 norm: %s\n", L2norm < 1e-6 ? "below 1e-6" : "too large");

    CHECK_CUDA(cudaFree(d_Buffer)); CHECK_CUDA(cudaFree(d_Output)); CHECK_CUDA(cudaFree(d_Input));
    free(h_OutputGPU); free(h_OutputCPU); free(h_Buffer); free(h_Input);
    if (!(L2norm < 1e-6)) { printf("Test failed!\n"); exit(EXIT_FAILURE); }
    printf("Test passed\n");
    exit(EXIT_SUCCESS);
}
