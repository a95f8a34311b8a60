// The kernels of transpose, in the order of its steps: out[col][row] = in[row][col].
#pragma once

#include <cstddef>

namespace optimization {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kSectorBytes = 32;

// Step 1: the loop over the rows of a serial program, with one thread per row. A thread
// reads its row from left to right.
// Slow because neighboring threads read neighboring rows: the 32 lanes of a load touch 32
// sectors and use 4 bytes of each. (What they write lies side by side.) And there are only
// as many threads as rows, far too few to keep a GPU busy.
__global__ void transpose_row_per_thread(const float* in, float* out, std::size_t rows,
                                         std::size_t cols) {
    const std::size_t row = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (std::size_t col = 0; col < cols; ++col)
        out[col * rows + row] = in[row * cols + col];
}

// Step 2: one thread per column of the input. It writes a row of the output from left to
// right, so lanes read neighbors, and the 32 lanes of a store touch 32 sectors.
// Slow because a store has to send its 4 bytes on to the L2 cache, each in a sector of its
// own. In step 1 it was the load that touched 32 sectors, and a loaded sector may still be
// in a cache when the next column needs its other bytes.
__global__ void transpose_column_per_thread(const float* in, float* out, std::size_t rows,
                                            std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    for (std::size_t row = 0; row < rows; ++row)
        out[col * rows + row] = in[row * cols + col];
}

constexpr unsigned kBlockRows = 8;  // of threads

// Step 3: one thread per element, in blocks of 32 x 8. A grid has at most 65535 blocks in
// y, so the kernel strides on by the height of the grid.
// This could be faster because there are enough threads. Still slow because one side is
// still scattered.
__global__ void transpose_naive(const float* in, float* out, std::size_t rows,
                                std::size_t cols) {
    const std::size_t col = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const std::size_t stride = std::size_t{gridDim.y} * blockDim.y;
    if (col >= cols) return;
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += stride) {
        out[col * rows + row] = in[row * cols + col];
    }
}

// From here on each block moves a square tile. Tiles are numbered along the rows, in one
// dimension, which has room for 2^31 - 1 of them.
struct Corner {
    std::size_t row, col;
};

__device__ Corner corner_of_block(std::size_t cols, unsigned side) {
    const unsigned tiles_per_row = static_cast<unsigned>((cols + side - 1) / side);
    return {std::size_t{blockIdx.x / tiles_per_row} * side,
            std::size_t{blockIdx.x % tiles_per_row} * side};
}

constexpr unsigned kTile = 32;

// Step 4: a tile of 32 x 32 in shared memory. A warp reads a row of the tile and, after the
// barrier, writes a *column* of it, which is part of a row of the output: both are side by
// side. The output has rows of `rows` floats, and the tile's place in it is
// (corner.col, corner.row). A tile at the edge may be cut short in one direction or the
// other, so load and store each have a guard of their own, and no thread leaves before the
// barrier.
// Faster because both sides are coalesced. Still slow because the column that a warp takes
// from the tile lies in a single bank.
__global__ void transpose_tile(const float* in, float* out, std::size_t rows,
                               std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols)
        tile[y][x] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows)
        out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
}

// Step 5: padding, one more column that nobody uses. tile[x][y] is word 33 x + y, in
// another bank for every x.
// Faster because there are no bank conflicts. Still slow, probably because a thread loads
// only 4 bytes. And 1024 threads wait at one barrier, while an SM has room for two such
// blocks: when one of them waits for its last warp, half of the SM has nothing in flight.
__global__ void transpose_padded_tile(const float* in, float* out, std::size_t rows,
                                      std::size_t cols) {
    __shared__ float tile[kTile][kTile + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols)
        tile[y][x] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows)
        out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
}

// Step 6: a swizzle instead of padding. Element (row, col) is kept at column col ^ row.
// This should take the same time, since there was no conflict left. But the rows of the
// tile stay aligned, which step 12 will need.
__global__ void transpose_swizzled_tile(const float* in, float* out, std::size_t rows,
                                        std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kTile);

    if (corner.row + y < rows && corner.col + x < cols)
        tile[y][x ^ y] = in[(corner.row + y) * cols + corner.col + x];
    __syncthreads();
    if (corner.col + y < cols && corner.row + x < rows)
        out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
}

// Step 7: four elements per thread. A block of 32 x 8 threads takes the tile in four goes,
// and loads all four elements before it puts the first into the tile.
// Faster because a thread has 16 bytes in flight, and because an SM has room for eight such
// blocks, of which some load while others store. Still slow if rows begin anywhere, because
// then most requests touch a fifth sector.
constexpr unsigned kElements = kTile / kBlockRows;  // of a thread

__global__ void transpose_four_per_thread(const float* in, float* out, std::size_t rows,
                                          std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x;
    const Corner corner = corner_of_block(cols, kTile);

    float values[kElements];
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        tile[y][x ^ y] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kElements; ++k) {
        const unsigned y = threadIdx.y + k * kBlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
    }
}

// Step 8: sixteen elements per thread. The tile is that of step 7, and a block of 32 x 2
// threads takes it in sixteen goes. So a block has 64 threads.
// This could be faster: a thread has 64 bytes in flight, not 16. (nvcc 13.0 gives it 64
// registers, so an SM holds half as many threads as in step 7, with twice the bytes in
// flight.) An H200 gains little. Still slow, probably because a row of the tile is only 128
// bytes long: a block reads 32 short pieces, and writes 32 short pieces.
constexpr unsigned kFewRows = 2;                 // of threads
constexpr unsigned kSixteen = kTile / kFewRows;  // elements of a thread

__global__ void transpose_sixteen_per_thread(const float* in, float* out, std::size_t rows,
                                             std::size_t cols) {
    __shared__ float tile[kTile][kTile];
    const unsigned x = threadIdx.x;
    const Corner corner = corner_of_block(cols, kTile);

    float values[kSixteen];
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        tile[y][x ^ y] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kSixteen; ++k) {
        const unsigned y = threadIdx.y + k * kFewRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ x];
    }
}

constexpr unsigned kWide = 64;

// Step 9: the other half of the change, beside step 7. The tile has 64 x 64 elements, and a
// thread takes four of them, as in step 7. So a block has 32 x 32 threads. Each warp takes
// two pieces of 32 neighbors from each of two rows. Only the lower five bits of the row
// choose the place in a row of the tile, because there are 32 banks: the swizzle is
// x ^ (y % 32).
// This could be faster because rows of the tile are twice as long, and fewer tiles share
// their edges. Still slow, probably because 1024 threads wait at one barrier, as in step 5.
//
// Step 10 is the same kernel with 8 rows of threads: the larger tile of step 9, and the
// sixteen elements per thread of step 8, in blocks of 256 threads as in step 7.
// Faster, and the two changes need each other: on an H200 either alone gained little.
// Still slow if rows begin anywhere, because then most requests touch a fifth sector.
template <unsigned BlockRows>
__global__ void transpose_wide_swizzled_tile(const float* in, float* out, std::size_t rows,
                                             std::size_t cols) {
    __shared__ float tile[kWide][kWide];
    constexpr unsigned elements = kWide * kWide / (kLanes * BlockRows);
    const Corner corner = corner_of_block(cols, kWide);

    float values[elements];
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * BlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * BlockRows;
        tile[y][x ^ (y % kLanes)] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < elements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * BlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside)
            out[(corner.col + y) * rows + corner.row + x] = tile[x][y ^ (x % kLanes)];
    }
}

// Step 11: padding instead of the swizzle, nothing else. Neither has a conflict, so this
// should take about the same time. Padding spares the exclusive or, and nvcc 13.0 needs 34
// registers for it instead of 40; the steps for rows that begin anywhere keep it. Still
// slow if rows begin anywhere, as before.
constexpr unsigned kWideElements = kWide * kWide / (kLanes * kBlockRows);

__global__ void transpose_wide_tile(const float* in, float* out, std::size_t rows,
                                    std::size_t cols) {
    __shared__ float tile[kWide][kWide + 1];
    const Corner corner = corner_of_block(cols, kWide);

    float values[kWideElements];
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const bool inside = corner.row + y < rows && corner.col + x < cols;
        values[k] = inside ? in[(corner.row + y) * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const bool inside = corner.col + y < cols && corner.row + x < rows;
        if (inside) out[(corner.col + y) * rows + corner.row + x] = tile[x][y];
    }
}

// Step 12: 16 bytes per access, for loads, stores, and the tile. A float4 of the input is
// four columns of one row, and one of the output is four rows of one column. So each thread
// takes four float4s, one below the other: 4 x 4 elements, which it transposes in
// registers. That costs nothing, because it only gives other names to them. A column of the
// tile is kept as 16 float4s. Number y of column 4 x + k is written at y ^ (x % 8), and
// number x of column 4 y + k is read at x ^ (y % 8). Eight lanes are served at a time. They
// differ in x both times, so they are in eight different groups of four banks.
// This could be faster because there is a quarter of the requests. It needs rows of both
// matrices that begin at multiples of 16 bytes; any other matrix goes to step 11.
constexpr unsigned kFours = kWide / 4;

__global__ void transpose_float4_tile(const float* in, float* out, std::size_t rows,
                                      std::size_t cols) {
    __shared__ float4 tile[kWide][kFours];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const Corner corner = corner_of_block(cols, kWide);

    // Rows and columns are multiples of 4, so that of 4 x 4 elements all are inside the
    // matrix, or none.
    if (corner.row + 4 * y < rows && corner.col + 4 * x < cols) {
        float4 four[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const float* const place =
                in + (corner.row + 4 * y + k) * cols + corner.col + 4 * x;
            four[k] = *reinterpret_cast<const float4*>(place);
        }
        tile[4 * x][y ^ (x % 8)] = make_float4(four[0].x, four[1].x, four[2].x, four[3].x);
        tile[4 * x + 1][y ^ (x % 8)] =
            make_float4(four[0].y, four[1].y, four[2].y, four[3].y);
        tile[4 * x + 2][y ^ (x % 8)] =
            make_float4(four[0].z, four[1].z, four[2].z, four[3].z);
        tile[4 * x + 3][y ^ (x % 8)] =
            make_float4(four[0].w, four[1].w, four[2].w, four[3].w);
    }
    __syncthreads();
    if (corner.col + 4 * y < cols && corner.row + 4 * x < rows) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            float* const place = out + (corner.col + 4 * y + k) * rows + corner.row + 4 * x;
            *reinterpret_cast<float4*>(place) = tile[4 * y + k][x ^ (y % 8)];
        }
    }
}

// Step 13: columns of the tile begin where sectors of the output begin. This is for rows
// that begin anywhere. There, a sector at the edge of a tile is stored in two pieces, by
// two tiles. The memory takes whole sectors, so the sector has to be read from the memory
// and put together if the two pieces do not meet in the L2 cache. Loads are different: a
// sector that two tiles load comes from the cache the second time. So row `col` of the
// output, which begins (col * rows) % 8 floats after the start of a sector, is stored from
// so many rows above the tile on. The tile gets 7 more rows at the top, which the tile
// above it loads, too.
// Faster because all stores are whole sectors. Still slow, probably because the tile above
// is far away in the order of the blocks, so that the 7 rows may have left the cache.
constexpr unsigned kSectorFloats = kSectorBytes / sizeof(float);
constexpr unsigned kSkew = kSectorFloats - 1;  // the most rows that a column begins higher
constexpr unsigned kSkewedRows = kWide + kSectorFloats;
constexpr unsigned kSkewedElements = kSkewedRows * kWide / (kLanes * kBlockRows);

__global__ void transpose_shifted_columns(const float* in, float* out, std::size_t rows,
                                          std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const Corner corner = corner_of_block(cols, kWide);
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps,
    // and is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside =
            y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 14: tiles are numbered down the columns of the matrix, nothing else.
// Faster, probably because the tile above, which loads the same 7 rows, is the block before
// this one, so the rows are still in the L2 cache. Still slow, probably because a row of
// the tile is 256 bytes that begin anywhere, and the bytes around its two ends are fetched
// in parts, at two times: for this tile, and for the one beside it.
__global__ void transpose_whole_sectors(const float* in, float* out, std::size_t rows,
                                        std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const unsigned tiles_per_column =
        static_cast<unsigned>((rows + kSkew + kWide - 1) / kWide);
    const Corner corner = {std::size_t{blockIdx.x % tiles_per_column} * kWide,
                           std::size_t{blockIdx.x / tiles_per_column} * kWide};
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps,
    // and is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside =
            y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 15: 256 bytes per fetch, for the same matrices. The kernel is that of step 14, but
// its loads carry a hint: if a sector is not in the L2 cache, all of the 256 bytes around
// it are to be fetched, from one multiple of 256 to the next. (load_with_neighbors does
// this. The hint needs PTX, because CUDA C++ has no words for it.)
// Faster, probably because the tile beside this one finds its part of them in the cache.
// Where rows begin at multiples of 256 bytes there is nothing to gain; such matrices go to
// step 14. Still slow because rows of the tile are short, so that there are many ends.
constexpr std::size_t kChunkFloats = 256 / sizeof(float);

// The element `index` after `first`; 0 if that is outside. If it is not in the L2 cache,
// all 256 bytes around it are to be fetched (PTX ISA, ld with .level::prefetch_size).
// Three things to copy along with it. `volatile` and "memory" tell the compiler that this
// reads memory, so that it keeps it in order with other accesses. Where the element is
// outside, no pointer to it may even be formed, so its address is computed as a number. And
// ld.global takes an address of global memory, which __cvta_generic_to_global makes.
__device__ float load_with_neighbors(const float* first, std::size_t index, bool inside) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(__CPU_DEVICE__)
    const std::size_t address = __cvta_generic_to_global(first) + index * sizeof(float);
    float value;
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.f32 %0, 0f00000000; @p "
        "ld.global.L2::256B.f32 %0, [%1]; }"
        : "=f"(value)
        : "l"(address), "r"(static_cast<unsigned>(inside))
        : "memory");
    return value;
#else
    return inside ? first[index] : 0;
#endif
}

__global__ void transpose_hinted_loads(const float* in, float* out, std::size_t rows,
                                       std::size_t cols) {
    __shared__ float tile[kSkewedRows][kWide + 1];
    const unsigned tiles_per_column =
        static_cast<unsigned>((rows + kSkew + kWide - 1) / kWide);
    const Corner corner = {std::size_t{blockIdx.x % tiles_per_column} * kWide,
                           std::size_t{blockIdx.x / tiles_per_column} * kWide};
    // If no column begins higher, the first rows stay empty.
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    // Row y of the tile is row corner.row + y - kSkew of the matrix. Below 0 that wraps,
    // and is no row either.
    float values[kSkewedElements];
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside =
            y >= top && y < kSkew + kWide && row < rows && corner.col + x < cols;
        values[k] = load_with_neighbors(in, row * cols + corner.col + x, inside);
    }
#pragma unroll
    for (unsigned k = 0; k < kSkewedElements; ++k) {
        tile[threadIdx.y + k / 2 * kBlockRows][threadIdx.x + k % 2 * kLanes] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kWideElements; ++k) {
        const unsigned x = threadIdx.x + k % 2 * kLanes,
                       y = threadIdx.y + k / 2 * kBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (col < cols && row < rows) out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 16: the longer tile alone, beside step 14. It has 112 x 96 elements and not
// 64 x 64, and no hint as in step 15.
// Faster because there are fewer ends of rows, and fewer rows that two tiles load. Still
// slow because the bytes around the ends of a row are still fetched in parts.
// (112 + 8 rows of 96 + 1 floats are nearly the 48 KiB that an array in shared memory may
// have. 12 rows of threads take the 120 rows in ten goes, and the 96 columns in eight.
// __launch_bounds__ asks for no more than two blocks per SM, so that all loads get
// registers. Matrices whose rows begin at multiples of 256 bytes go to step 14 here, too.)
constexpr unsigned kLongRows = 112, kLongCols = 96;
// Its rows, and those that columns may begin higher.
constexpr unsigned kLongSkewedRows = kLongRows + kSectorFloats;
constexpr unsigned kLongBlockRows = 12, kLongThreads = kLanes * kLongBlockRows;
constexpr unsigned kLoadsPerRow = kLongCols / kLanes;
constexpr unsigned kStoresPerColumn = (kLongRows + kLanes - 1) / kLanes;
constexpr unsigned kLongLoads = kLongSkewedRows / kLongBlockRows * kLoadsPerRow;
constexpr unsigned kLongStores = kLongCols / kLongBlockRows * kStoresPerColumn;

__global__ void __launch_bounds__(kLongThreads, 2)
    transpose_long_tile(const float* in, float* out, std::size_t rows, std::size_t cols) {
    __shared__ float tile[kLongSkewedRows][kLongCols + 1];
    const unsigned tiles_per_column =
        static_cast<unsigned>((rows + kSkew + kLongRows - 1) / kLongRows);
    const Corner corner = {std::size_t{blockIdx.x % tiles_per_column} * kLongRows,
                           std::size_t{blockIdx.x / tiles_per_column} * kLongCols};
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    float values[kLongLoads];
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsPerRow * kLanes,
                       y = threadIdx.y + k / kLoadsPerRow * kLongBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside =
            y >= top && y < kSkew + kLongRows && row < rows && corner.col + x < cols;
        values[k] = inside ? in[row * cols + corner.col + x] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsPerRow * kLanes,
                       y = threadIdx.y + k / kLoadsPerRow * kLongBlockRows;
        tile[y][x] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kLongStores; ++k) {
        const unsigned x = threadIdx.x + k % kStoresPerColumn * kLanes;
        const unsigned y = threadIdx.y + k / kStoresPerColumn * kLongBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (x < kLongRows && col < cols && row < rows)
            out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

// Step 17: tuning, both. The longer tile of step 16, with the hint of step 15. For 10007 x
// 16411 one H200 measured 3867 GB/s in step 14, 3980 GB/s with the hint, 3939 GB/s with the
// longer tile, and 4020 GB/s with both. For square matrices all four are the same.
//
// For 32771 x 32779 both were slower in a trial (not recorded), 3738 GB/s after 3828,
// perhaps because the tile beside comes 293 tiles later there; in bands 146 tiles high, the
// tiles made 3924.
__global__ void __launch_bounds__(kLongThreads, 2)
    transpose_whole_chunks(const float* in, float* out, std::size_t rows,
                           std::size_t cols) {
    __shared__ float tile[kLongSkewedRows][kLongCols + 1];
    const unsigned tiles_per_column =
        static_cast<unsigned>((rows + kSkew + kLongRows - 1) / kLongRows);
    const Corner corner = {std::size_t{blockIdx.x % tiles_per_column} * kLongRows,
                           std::size_t{blockIdx.x / tiles_per_column} * kLongCols};
    const unsigned top = rows % kSectorFloats == 0 ? kSkew : 0;

    float values[kLongLoads];
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsPerRow * kLanes,
                       y = threadIdx.y + k / kLoadsPerRow * kLongBlockRows;
        const std::size_t row = corner.row + y - kSkew;
        const bool inside =
            y >= top && y < kSkew + kLongRows && row < rows && corner.col + x < cols;
        values[k] = load_with_neighbors(in, row * cols + corner.col + x, inside);
    }
#pragma unroll
    for (unsigned k = 0; k < kLongLoads; ++k) {
        const unsigned x = threadIdx.x + k % kLoadsPerRow * kLanes,
                       y = threadIdx.y + k / kLoadsPerRow * kLongBlockRows;
        tile[y][x] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kLongStores; ++k) {
        const unsigned x = threadIdx.x + k % kStoresPerColumn * kLanes;
        const unsigned y = threadIdx.y + k / kStoresPerColumn * kLongBlockRows;
        const std::size_t col = corner.col + y;
        const unsigned higher = static_cast<unsigned>(col * rows % kSectorFloats);
        const std::size_t row = corner.row + x - higher;
        if (x < kLongRows && col < cols && row < rows)
            out[col * rows + row] = tile[kSkew + x - higher][y];
    }
}

}  // namespace
}  // namespace optimization
