/* Conway's game of life on a torus.
 *
 * Two ways to make a generation: one cell per thread straight from global memory, and tiles with a rim in shared
 * memory. Both play against the host from the same start, a glider and an R-pentomino, in pitched char grids.
 *
 *   game_of_life [-w WIDTH] [-h HEIGHT] [-g GENERATIONS] [-q]        -q: no pictures
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIVE 'O'
#define DEAD '.'

#define TILE_W 32
#define TILE_H 8

typedef unsigned char cell;

static int width = 40, height = 18, generations = 24, quiet = 0;

static void checkCUDAError(const char* msg) {
    cudaError_t err = cudaGetLastError();
    if (cudaSuccess != err) {
        fprintf(stderr, "Cuda error: %s: %s.\n", msg, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}

/* -1 is the last row (or column), n is the first. */
__host__ __device__ static inline int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

__host__ __device__ static inline cell rule(cell now, int neighbors) {
    return neighbors == 3 || (neighbors == 2 && now == ALIVE) ? ALIVE : DEAD;
}

__global__ void life_naive(const cell* in, cell* out, size_t pitch, int w, int h) {
    const int x = blockDim.x * blockIdx.x + threadIdx.x;
    const int y = blockDim.y * blockIdx.y + threadIdx.y;
    int neighbors = 0;

    if (x >= w || y >= h) return;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx != 0 || dy != 0) neighbors += in[wrap(y + dy, h) * pitch + wrap(x + dx, w)] == ALIVE;
    out[y * pitch + x] = rule(in[y * pitch + x], neighbors);
}

__global__ void life_tiled(const cell* in, cell* out, size_t pitch, int w, int h) {
    __shared__ cell tile[TILE_H + 2][TILE_W + 2];
    const int x0 = TILE_W * blockIdx.x, y0 = TILE_H * blockIdx.y;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;

    /* The tile and its rim, by all threads of the block. Tiles at the edge load a few cells that nobody needs. */
    for (int i = threadIdx.y * TILE_W + threadIdx.x; i < (TILE_H + 2) * (TILE_W + 2); i += TILE_W * TILE_H) {
        const int ty = i / (TILE_W + 2), tx = i % (TILE_W + 2);
        tile[ty][tx] = in[(y0 + ty - 1 + h) % h * pitch + (x0 + tx - 1 + w) % w];
    }
    __syncthreads();

    if (x < w && y < h) {
        cell(*t)[TILE_W + 2] = &tile[threadIdx.y];
        const int c = threadIdx.x + 1;
        int neighbors = (t[0][c - 1] == ALIVE) + (t[0][c] == ALIVE) + (t[0][c + 1] == ALIVE) + (t[1][c - 1] == ALIVE) +
                        (t[1][c + 1] == ALIVE) + (t[2][c - 1] == ALIVE) + (t[2][c] == ALIVE) + (t[2][c + 1] == ALIVE);
        out[y * pitch + x] = rule(t[1][c], neighbors);
    }
}

/* The device prints its own picture: one thread, which owns the only pen. */
__global__ void print_grid(const cell* grid, size_t pitch, int w, int h, int generation) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    printf("generation %d\n", generation);
    for (int y = 0; y < h; ++y) {
        for (int x = 0; x < w; ++x) printf("%c", grid[y * pitch + x]);
        printf("\n");
    }
}

/* How many cells are alive: a vote of the block for each row, one row per block. */
__global__ void population(const cell* grid, size_t pitch, int w, int* count) {
    const cell* row = grid + blockIdx.x * pitch;
    for (int x0 = 0; x0 < w; x0 += blockDim.x) {
        const int x = x0 + threadIdx.x;
        const int alive = __syncthreads_count(x < w && row[x] == ALIVE);
        if (threadIdx.x == 0) atomicAdd(count, alive);
    }
}

static void generation_on_host(const cell* in, cell* out) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int neighbors = -(in[y * width + x] == ALIVE);
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    neighbors += in[wrap(y + dy, height) * width + wrap(x + dx, width)] == ALIVE;
            out[y * width + x] = rule(in[y * width + x], neighbors);
        }
}

static void put(cell* grid, int x, int y, const char* pattern) {
    int px = x;
    for (; *pattern; ++pattern) {
        if (*pattern == '/')
            ++y, px = x;
        else
            grid[wrap(y, height) * width + wrap(px++, width)] = *pattern;
    }
}

int main(int argc, char** argv) {
    int option;
    while ((option = getopt(argc, argv, "w:h:g:q")) != -1) {
        switch (option) {
            case 'w':
                width = atoi(optarg);
                break;
            case 'h':
                height = atoi(optarg);
                break;
            case 'g':
                generations = atoi(optarg);
                break;
            case 'q':
                quiet = 1;
                break;
            default:
                fprintf(stderr, "usage: %s [-w WIDTH] [-h HEIGHT] [-g GENERATIONS] [-q]\n", argv[0]);
                return 1;
        }
    }
    if (width < 8 || height < 8 || generations < 0) {
        fprintf(stderr, "at least 8 x 8 cells, and no way back in time\n");
        return 1;
    }

    const size_t cells = (size_t)width * height;
    cell *start = (cell*)malloc(cells), *expected = (cell*)malloc(cells), *spare = (cell*)malloc(cells);
    cell *result = (cell*)malloc(cells), *swap;
    memset(start, DEAD, cells);
    put(start, 2, 1, ".O./..O/OOO");
    put(start, width / 2, height / 2, ".OO/OO./.O.");
    memcpy(expected, start, cells);
    for (int g = 0; g < generations; ++g) {
        generation_on_host(expected, spare);
        swap = expected, expected = spare, spare = swap;
    }

    cell *d_in, *d_out;
    size_t pitch;
    int *d_count, count, failures = 0;
    cudaMallocPitch((void**)&d_in, &pitch, width, height);
    cudaMallocPitch((void**)&d_out, &pitch, width, height);
    cudaMalloc((void**)&d_count, sizeof(int));
    checkCUDAError("allocating");

    dim3 threads(TILE_W, TILE_H);
    dim3 blocks((width + threads.x - 1) / threads.x, (height + threads.y - 1) / threads.y);
    for (int version = 0; version < 2; ++version) {
        cudaMemcpy2D(d_in, pitch, start, width, width, height, cudaMemcpyHostToDevice);
        if (version == 0 && !quiet) print_grid<<<1, 32>>>(d_in, pitch, width, height, 0);
        for (int g = 0; g < generations; ++g) {
            if (version == 0)
                life_naive<<<blocks, threads>>>(d_in, d_out, pitch, width, height);
            else
                life_tiled<<<blocks, threads>>>(d_in, d_out, pitch, width, height);
            swap = d_in, d_in = d_out, d_out = swap;
        }
        checkCUDAError("playing");
        if (version == 0 && !quiet) print_grid<<<1, 32>>>(d_in, pitch, width, height, generations);
        cudaMemset(d_count, 0, sizeof(int));
        population<<<height, 64>>>(d_in, pitch, width, d_count);
        cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy2D(result, width, d_in, pitch, width, height, cudaMemcpyDeviceToHost);
        checkCUDAError("fetching the result");

        int host_count = 0;
        for (size_t i = 0; i < cells; ++i) host_count += expected[i] == ALIVE;
        int same = memcmp(result, expected, cells) == 0 && count == host_count;
        printf("%s: %d cells alive after %d generations, %s\n", version == 0 ? "naive" : "tiled", count, generations,
               same ? "as on the host" : "NOT as on the host");
        failures += !same;
    }

    cudaFree(d_in);
    cudaFree(d_out);
    cudaFree(d_count);
    checkCUDAError("freeing");
    free(start), free(expected), free(spare), free(result);
    puts(failures ? "FAILED" : "PASSED");
    return failures != 0;
}
