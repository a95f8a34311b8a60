/*
 * Jacobi's method for a linear system, all iterations in one cooperative launch: the grid meets with grid.sync()
 * after every iteration, and a reduction over the grid decides when to stop. The same method with one launch an
 * iteration, and one on the host, are there to compare with.
 *
 * The matrix is diagonally dominant; the solution is all ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define N_ROWS 64
#define ROWS_PER_CTA 4
#define CONV_THRESHOLD 1.0e-9
#define MAX_ITERATIONS 100

#define checkCudaErrors(val) checkCuda((val), #val, __FILE__, __LINE__)
static void checkCuda(cudaError_t result, const char *func, const char *file, int line)
{
    if (result != cudaSuccess) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)result, cudaGetErrorName(result),
                func);
        cudaDeviceReset();
        exit(EXIT_FAILURE);
    }
}

typedef double real;

__device__ static real row_times_vector(const cg::thread_block_tile<32> &warp, const float *A, const real *x, int row)
{
    real sum = 0.0;
    for (int col = warp.thread_rank(); col < N_ROWS; col += warp.size())
        sum += (real)A[row * N_ROWS + col] * x[col];
    return cg::reduce(warp, sum, cg::plus<real>());
}

/* One warp a row; x and x_new change places after each iteration. */
__global__ void JacobiCooperative(const float *__restrict__ A, const float *__restrict__ b, real conv_threshold,
                                  real *x, real *x_new, real *difference, int *iterations)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block cta = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cta);
    const int row = blockIdx.x * ROWS_PER_CTA + cta.thread_rank() / 32;
    __shared__ float b_shared[ROWS_PER_CTA];

    if (cta.thread_rank() < ROWS_PER_CTA)
        b_shared[cta.thread_rank()] = b[blockIdx.x * ROWS_PER_CTA + cta.thread_rank()];
    cg::sync(cta);

    int k;
    for (k = 0; k < MAX_ITERATIONS; k++) {
        const real Ax = row_times_vector(warp, A, x, row);
        if (warp.thread_rank() == 0) {
            const real dx = (b_shared[warp.meta_group_rank()] - Ax) / A[row * N_ROWS + row];
            x_new[row] = x[row] + dx;
            atomicAdd(&difference[k % 3], fabs(dx));
        }
        if (grid.thread_rank() == 0)
            difference[(k + 1) % 3] = 0.0;  /* read last before the previous meeting */
        grid.sync();
        real *swapped = x;
        x = x_new;
        x_new = swapped;
        if (difference[k % 3] <= conv_threshold)
            break;
    }
    if (grid.thread_rank() == 0)
        *iterations = k + 1;
}

__global__ void JacobiStep(const float *A, const float *b, const real *x, real *x_new, real *difference)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int row = blockIdx.x * ROWS_PER_CTA + threadIdx.x / 32;
    const real Ax = row_times_vector(warp, A, x, row);
    if (warp.thread_rank() == 0) {
        const real dx = (b[row] - Ax) / A[row * N_ROWS + row];
        x_new[row] = x[row] + dx;
        atomicAdd(difference, fabs(dx));
    }
}

static int JacobiMethodCPU(const float *A, const float *b, real *x)
{
    static real x_new[N_ROWS];
    int k;
    for (k = 1; k <= MAX_ITERATIONS; k++) {
        real sum = 0.0;
        for (int i = 0; i < N_ROWS; i++) {
            real temp_dx = b[i];
            for (int j = 0; j < N_ROWS; j++)
                temp_dx -= (real)A[i * N_ROWS + j] * x[j];
            temp_dx /= A[i * N_ROWS + i];
            x_new[i] = x[i] + temp_dx;
            sum += fabs(temp_dx);
        }
        memcpy(x, x_new, sizeof(x_new));
        if (sum <= CONV_THRESHOLD)
            break;
    }
    return k;
}

static real final_error(const real *x)
{
    real sum = 0.0;
    for (int i = 0; i < N_ROWS; i++)
        sum += fabs(x[i] - 1.0);
    return sum;
}

int main(int argc, char **argv)
{
    const int verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    int device = 0, supported = 0, num_sms = 0, per_sm = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
    if (!supported) {
        printf("\nSelected GPU (%d) does not support Cooperative Kernel Launch, Waiving the run\n", device);
        return 2;
    }

    float *A_h = (float *)malloc(N_ROWS * N_ROWS * sizeof(float)), b_h[N_ROWS];
    real x_h[N_ROWS] = {0};
    for (int i = 0; i < N_ROWS; i++) {
        b_h[i] = 0;
        for (int j = 0; j < N_ROWS; j++) {
            A_h[i * N_ROWS + j] = i == j ? 512.0f : 1.0f + (float)((i + j) % 2);
            b_h[i] += A_h[i * N_ROWS + j];
        }
    }

    float *A, *b;
    real *x, *x_new, *d_sum;
    int *d_iterations, iterations;
    checkCudaErrors(cudaMalloc(&A, N_ROWS * N_ROWS * sizeof(float)));
    checkCudaErrors(cudaMalloc(&b, N_ROWS * sizeof(float)));
    checkCudaErrors(cudaMalloc(&x, N_ROWS * sizeof(real)));
    checkCudaErrors(cudaMalloc(&x_new, N_ROWS * sizeof(real)));
    checkCudaErrors(cudaMalloc(&d_sum, 3 * sizeof(real)));
    checkCudaErrors(cudaMalloc(&d_iterations, sizeof(int)));
    checkCudaErrors(cudaMemcpy(A, A_h, N_ROWS * N_ROWS * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemcpy(b, b_h, N_ROWS * sizeof(float), cudaMemcpyHostToDevice));
    checkCudaErrors(cudaMemset(x, 0, N_ROWS * sizeof(real)));
    checkCudaErrors(cudaMemset(d_sum, 0, 3 * sizeof(real)));

    /* All blocks have to be on the device at a time. */
    const dim3 nblocks(N_ROWS / ROWS_PER_CTA), nthreads(32 * ROWS_PER_CTA);
    checkCudaErrors(cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device));
    checkCudaErrors(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, JacobiCooperative, (int)nthreads.x, 0));
    if ((int)nblocks.x > num_sms * per_sm) {
        printf("The grid does not fit on the device\n");
        return 1;
    }

    real threshold = CONV_THRESHOLD;
    void *kernelArgs[] = {(void *)&A, (void *)&b, (void *)&threshold, (void *)&x, (void *)&x_new, (void *)&d_sum,
                          (void *)&d_iterations};
    checkCudaErrors(cudaLaunchCooperativeKernel((void *)JacobiCooperative, nblocks, nthreads, kernelArgs, 0, NULL));
    checkCudaErrors(cudaMemcpy(&iterations, d_iterations, sizeof(int), cudaMemcpyDeviceToHost));
    checkCudaErrors(cudaMemcpy(x_h, iterations % 2 ? x_new : x, sizeof x_h, cudaMemcpyDeviceToHost));
    const real error_cooperative = final_error(x_h);
    const int iterations_cooperative = iterations;

    real sum = 1.0;
    checkCudaErrors(cudaMemset(x, 0, N_ROWS * sizeof(real)));
    for (iterations = 0; iterations < MAX_ITERATIONS && sum > CONV_THRESHOLD; iterations++) {
        checkCudaErrors(cudaMemset(d_sum, 0, sizeof(real)));
        JacobiStep<<<nblocks, nthreads>>>(A, b, x, x_new, d_sum);
        checkCudaErrors(cudaGetLastError());
        checkCudaErrors(cudaMemcpy(&sum, d_sum, sizeof(real), cudaMemcpyDeviceToHost));
        real *swap = x; x = x_new; x_new = swap;
    }
    checkCudaErrors(cudaMemcpy(x_h, x, sizeof x_h, cudaMemcpyDeviceToHost));
    const real error_steps = final_error(x_h);

    memset(x_h, 0, sizeof x_h);
    const int iterations_cpu = JacobiMethodCPU(A_h, b_h, x_h);
    if (verbose)
        fprintf(stderr, "errors: %e %e %e\n", error_cooperative, error_steps, final_error(x_h));

    printf("CPU iterations : %d\n", iterations_cpu);
    printf("GPU iterations : %d in one launch, %d in single launches\n", iterations_cooperative, iterations);
    const int ok = iterations_cooperative == iterations_cpu && iterations == iterations_cpu &&
                   error_cooperative < 1e-7 && error_steps < 1e-7 && final_error(x_h) < 1e-7;

    checkCudaErrors(cudaFree(A));
    checkCudaErrors(cudaFree(b));
    checkCudaErrors(cudaFree(x));
    checkCudaErrors(cudaFree(x_new));
    checkCudaErrors(cudaFree(d_sum));
    checkCudaErrors(cudaFree(d_iterations));
    free(A_h);
    printf("&&&& jacobi_grid_sync %s\n", ok ? "PASSED" : "FAILED");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
