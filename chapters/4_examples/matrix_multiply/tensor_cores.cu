// Problem: C = A B once more, on tensor cores: units that multiply two small matrices in
// one instruction.
//
// A tensor core takes numbers of few bits and adds up their products in float. Here they
// are TF32 (11 significant bits in the 4 bytes of a float) and bf16 (8 bits in 2 bytes); C
// is float for both. By its datasheet an H200 does 7 times as many operations a second with
// TF32 as with FFMA instructions, 15 times as many with bf16. The difficulty is no longer
// to multiply but to bring the numbers: what does 4096 operations a cycle starves unless
// all else happens beside.
//
// What makes one text serve both: an instruction always takes 32 bytes of each row of A,
// and 32 bytes of each row of B transposed, be it 16 numbers of bf16 or 8 of TF32, and
// hands them to the threads by bytes. So the kernels below see matrices as rows of bytes,
// and only the name of the instruction depends on the precision. Inputs are rounded before
// they come here: of a float that is not TF32, the instructions would drop the lower 13
// bits, not round them.
//
// Steps: mma_fragments -> mma_cp_async (from sm_80 on) -> wgmma_tma -> wgmma_multicast
// (sm_90a alone) -> the vendor. The lesson in lesson.cu prints their table. On the CPU
// device, which has no tensor cores, there are none.
#include "chapters/4_examples/matrix_multiply/product.h"

#ifndef __CPU_DEVICE__

#include <cublas_v2.h>
#include <cuda.h>  // types of tensor maps; no function of the driver is linked
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/launch_shape.h"

// wgmma is an instruction of sm_90a: of this chip, and of no later one. `nvcc -arch=sm_90`
// does not know it.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define COMPILED_FOR_SM_90A 1
#else
#define COMPILED_FOR_SM_90A 0
#endif

namespace examples {
namespace {

using warpwise::check;
using warpwise::DeviceBuffer;

// What the device code of this program can do, told by the device code itself.
__constant__ const int d_compiled_for_sm_90a = COMPILED_FOR_SM_90A;

// ---- matrices as rows of bytes ----------------------------------------------------------

// Bytes that cp.async and the tensor memory accelerator move at the least.
constexpr unsigned kChunk = 16;

// A, or B transposed: rows of whole chunks that begin at multiples of 16 bytes. What lies
// behind column k is 0.
struct Operand {
    const unsigned char* data;
    std::size_t rows, row_bytes;
};

// How many parts an extent is cut into, the last of them perhaps cut short.
__host__ __device__ constexpr std::size_t parts_of(std::size_t extent, std::size_t part) {
    return (extent + part - 1) / part;
}

struct Result {
    float* data;
    std::size_t rows, cols;
};

template <class Element>
__global__ void pad_rows(const Element* in, Element* out, std::size_t rows,
                         std::size_t cols, std::size_t pitch) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i < rows * pitch; i += stride) {
        const std::size_t row = i / pitch, col = i % pitch;
        out[i] = col < cols ? in[row * cols + col] : static_cast<Element>(0.0f);
    }
}

// A matrix whose rows are whole chunks is used as it is. Others (k no multiple of 4 floats
// or 8 bf16) are copied, in the time of the step, into memory that is kept for the next
// time.
template <class Element>
Operand operand(const Element* data, std::size_t rows, std::size_t cols,
                DeviceBuffer<unsigned char>& copy) {
    const std::size_t row_bytes = parts_of(cols * sizeof(Element), kChunk) * kChunk;
    if (row_bytes == cols * sizeof(Element))
        return {reinterpret_cast<const unsigned char*>(data), rows, row_bytes};
    if (copy.size() < rows * row_bytes)
        copy = DeviceBuffer<unsigned char>(rows * row_bytes);
    const std::size_t pitch = row_bytes / sizeof(Element);
    const auto blocks =
        static_cast<unsigned>(std::min<std::size_t>(parts_of(rows * pitch, 256), 1 << 16));
    pad_rows<<<blocks, 256>>>(data, reinterpret_cast<Element*>(copy.data()), rows, cols,
                              pitch);
    warpwise::check_launch();
    return {copy.data(), rows, row_bytes};
}

// Calls `multiply(a, b, c)`, unless there is nothing to multiply.
template <Precision precision, class Multiply>
void with_whole_chunks(Product<precision>& problem, const Multiply& multiply) {
    static DeviceBuffer<unsigned char> copy_of_a, copy_of_b;
    if (problem.m == 0 || problem.n == 0) return;
    if (problem.k == 0) {
        check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    const Operand a = operand(problem.d_a.data(), problem.m, problem.k, copy_of_a);
    const Operand b = operand(problem.d_b.data(), problem.n, problem.k, copy_of_b);
    multiply(a, b, Result{problem.d_c.data(), problem.m, problem.n});
}

// Two neighbors of a row, the first in an even column; what lies outside of C is dropped.
__device__ void store_pair(const Result& c, std::size_t row, std::size_t col, float first,
                           float second) {
    if (row >= c.rows || col >= c.cols) return;
    float* const place = c.data + row * c.cols + col;
    if (c.cols % 2 == 0) {
        *reinterpret_cast<float2*>(place) = {first, second};
    } else {
        place[0] = first;
        if (col + 1 < c.cols) place[1] = second;
    }
}

// ---- step 1 -----------------------------------------------------------------------------

// d += a b for 16 x 8 sums, by one warp: a holds 32 bytes of each of 16 rows of A, b of 8
// columns of B.
template <Precision precision>
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
    if constexpr (precision == Precision::bf16) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    } else {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
#endif
}

// Step 1, one warp for 16 x 8 elements of C, and nothing but the instruction. Its matrices
// are spread over the registers of the warp; the part that one lane holds is its fragment.
// With group = lane / 4 and member = lane % 4:
//   - A: words `member` and `member + 4` of rows `group` and `group + 8` (a word: 4 bytes,
//     one TF32 or two bf16)
//   - B: words `member` and `member + 4` of column `group`
//   - C: columns 2 * member and 2 * member + 1 of rows `group` and `group + 8`
// No lane has a row or a column to itself, and none adds anything: the warp multiplies.
// Slow: every word comes from global memory, and each request wants one sector of eight
// rows. 768 bytes are fetched for an instruction that a tensor core does in a few cycles;
// the warps beside this one fetch most of them again.
constexpr unsigned kFragmentRows = 16, kFragmentCols = 8, kFragmentWords = 8;

__device__ unsigned word_of(const Operand& operand, std::size_t row, std::size_t word) {
    if (row >= operand.rows || word * 4 >= operand.row_bytes) return 0;
    return *reinterpret_cast<const unsigned*>(operand.data + row * operand.row_bytes +
                                              word * 4);
}

template <Precision precision>
__global__ void mma_fragments(Operand a, Operand b, Result c) {
    const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const unsigned group = threadIdx.x % 32 / 4, member = threadIdx.x % 4;
    const std::size_t tile_cols = parts_of(c.cols, kFragmentCols);
    const std::size_t row = warp / tile_cols * kFragmentRows + group;
    const std::size_t first_col = warp % tile_cols * kFragmentCols;
    float sums[4] = {};
    for (std::size_t word = member; word < parts_of(a.row_bytes, 32) * kFragmentWords;
         word += kFragmentWords) {
        const unsigned a_fragment[4] = {
            word_of(a, row, word), word_of(a, row + 8, word),  //
            word_of(a, row, word + 4), word_of(a, row + 8, word + 4)};
        const unsigned b_fragment[2] = {word_of(b, first_col + group, word),
                                        word_of(b, first_col + group, word + 4)};
        mma<precision>(sums, a_fragment, b_fragment);
    }
    store_pair(c, row, first_col + 2 * member, sums[0], sums[1]);
    store_pair(c, row + 8, first_col + 2 * member, sums[2], sums[3]);
}

template <Precision precision>
void fragments(Product<precision>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const Result& c) {
        const std::size_t warps =
            parts_of(c.rows, kFragmentRows) * parts_of(c.cols, kFragmentCols);
        mma_fragments<precision><<<warpwise::blocks_for(warps, 256 / 32), 256>>>(a, b, c);
        warpwise::check_launch();
    });
}

// ---- what steps 2 to 4 have in common ---------------------------------------------------

// A block makes 128 x 256 elements of C. Of each row of its operands it takes 128 bytes (64
// bf16, 32 TF32) at a time: a slice, 16 KB of A and 32 KB of B, which wait in a ring of
// slots in shared memory.
constexpr unsigned kTileRows = 128, kTileCols = 256;
constexpr unsigned kSliceBytes = 128;  // of a row
constexpr unsigned kStepBytes = 32;    // of a row, in one instruction
constexpr unsigned kSlotOfA = kTileRows * kSliceBytes, kSlotOfB = kTileCols * kSliceBytes;
constexpr unsigned kSlot = kSlotOfA + kSlotOfB;

// Eight rows of a slice are 1024 bytes, and each row begins at bank 0. Chunk i of row r
// lies in place i ^ (r % 8), so that the same chunk of eight rows is in eight different
// places. The tensor memory accelerator calls this the 128-byte swizzle; in step 2 it is
// done by hand.
__device__ unsigned swizzled(unsigned row, unsigned chunk) {
    return row * kSliceBytes + (chunk ^ row % 8) * kChunk;
}

// Which tile is made when: a band of `band` tile rows from left to right, column by column,
// then the next band. Tiles that are made at the same time lie in a square rather than in a
// row, and share more of A and B in the L2 cache.
struct TilePlace {
    unsigned row, col;
};
__device__ TilePlace place_of(unsigned tile, unsigned tile_rows, unsigned tile_cols,
                              unsigned band) {
    const unsigned first_row = tile / (band * tile_cols) * band;
    const unsigned height = min(band, tile_rows - first_row);
    const unsigned within = tile % (band * tile_cols);
    return {first_row + within % height, within / height};
}
// Of C: about a square with what 132 multiprocessors make at a time.
constexpr unsigned kBandRows = 2048;

__host__ __device__ constexpr unsigned tiles_of(std::size_t extent, unsigned tile) {
    return static_cast<unsigned>(parts_of(extent, tile));
}

__device__ unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// ---- step 2 -----------------------------------------------------------------------------

// Step 2, tiles in shared memory, as in the float table. A byte of a slice is used by 128
// rows or 256 columns, and cp.async brings the next slices while the warps multiply this
// one. Each of eight warps makes 64 x 64 elements of the tile: of 32 bytes a row, 4
// fragments of A and 8 of B serve 32 instructions. `ldmatrix` loads fragments: a lane names
// the address of 16 bytes of one row, and receives the word of another lane's row that step
// 1's layout wants.
// Slow: all words cross the register file on their way, and with addresses, copies,
// fragments and barriers the warps have more to do than the tensor cores leave time for. On
// an H200 this stops at a third of the peak.
constexpr unsigned kMmaThreads = 256;
constexpr unsigned kWarpRows = 64, kWarpCols = 64;

// 16 bytes, or as many zeros, on their way to shared memory.
__device__ void copy_chunk(unsigned to, const unsigned char* from, bool inside) {
#if __CUDA_ARCH__ >= 800
    const unsigned bytes = inside ? kChunk : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
#endif
}

__device__ void close_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until no more than the last `pending` groups are under way.
template <unsigned pending>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

// Four 8 x 16-byte matrices; lanes 8 i to 8 i + 7 name the rows of matrix i, which goes to
// word i of the fragment.
__device__ void load_matrices(unsigned (&fragment)[4], unsigned from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]),
                   "=r"(fragment[3])
                 : "r"(from)
                 : "memory");
#endif
}

template <unsigned rows>
__device__ void copy_slice(unsigned to, const Operand& from, std::size_t first_row,
                           std::size_t first_byte) {
    constexpr unsigned chunks = kSliceBytes / kChunk;
    const unsigned chunk = threadIdx.x % chunks;
    const std::size_t byte = first_byte + chunk * kChunk;
#pragma unroll
    for (unsigned i = 0; i < rows; i += kMmaThreads / chunks) {
        const unsigned row = threadIdx.x / chunks + i;
        const bool inside = first_row + row < from.rows && byte < from.row_bytes;
        copy_chunk(to + swizzled(row, chunk),
                   from.data + (inside ? (first_row + row) * from.row_bytes + byte : 0),
                   inside);
    }
}

template <Precision precision, unsigned slots>
__global__ void __launch_bounds__(kMmaThreads)
    mma_cp_async(Operand a, Operand b, Result c) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    const unsigned ring = shared_address(shared_memory);
    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, kTileRows), tiles_of(c.cols, kTileCols),  //
                 kBandRows / kTileRows);
    const std::size_t first_row = std::size_t{tile.row} * kTileRows,
                      first_col = std::size_t{tile.col} * kTileCols;
    const std::size_t slices = parts_of(a.row_bytes, kSliceBytes);
    const auto fetch = [&](std::size_t slice) {
        const unsigned slot = ring + static_cast<unsigned>(slice % slots) * kSlot;
        if (slice < slices) {
            copy_slice<kTileRows>(slot, a, first_row, slice * kSliceBytes);
            copy_slice<kTileCols>(slot + kSlotOfA, b, first_col, slice * kSliceBytes);
        }
        close_copies();  // an empty group, too: so that groups can be counted
    };

    constexpr unsigned warps_across = kTileCols / kWarpCols;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned warp_row = warp / warps_across * kWarpRows,
                   warp_col = warp % warps_across * kWarpCols;
    // The row that this lane names to ldmatrix. Matrices of A: rows 0-7 and 8-15 of the
    // first chunk, then of the second; of B: first and second chunk of columns 0-7, then of
    // columns 8-15.
    const unsigned a_row = warp_row + lane % 16, a_chunk = lane / 16;
    const unsigned b_row = warp_col + lane % 8 + lane / 16 * 8, b_chunk = lane / 8 % 2;

    float sums[kWarpRows / 16][kWarpCols / 8][4] = {};
    for (unsigned slice = 0; slice + 1 < slots; ++slice) fetch(slice);
    for (std::size_t slice = 0; slice < slices; ++slice) {
        wait_for_copies<slots - 2>();
        __syncthreads();  // slice is here for all; all are done with the slot that the next
                          // fetch writes to
        fetch(slice + slots - 1);
        const unsigned slot_of_a = ring + static_cast<unsigned>(slice % slots) * kSlot;
        const unsigned slot_of_b = slot_of_a + kSlotOfA;
#pragma unroll
        for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step) {
            unsigned a_fragments[kWarpRows / 16][4], b_fragments[kWarpCols / 16][4];
#pragma unroll
            for (unsigned i = 0; i < kWarpRows / 16; ++i)
                load_matrices(a_fragments[i],
                              slot_of_a + swizzled(a_row + 16 * i, 2 * step + a_chunk));
#pragma unroll
            for (unsigned j = 0; j < kWarpCols / 16; ++j)
                load_matrices(b_fragments[j],
                              slot_of_b + swizzled(b_row + 16 * j, 2 * step + b_chunk));
#pragma unroll
            for (unsigned i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
                for (unsigned j = 0; j < kWarpCols / 8; ++j) {
                    const unsigned* const pair = &b_fragments[j / 2][j % 2 * 2];
                    mma<precision>(sums[i][j], a_fragments[i], {pair[0], pair[1]});
                }
            }
        }
    }
#pragma unroll
    for (unsigned i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kWarpCols / 8; ++j) {
            const std::size_t row = first_row + warp_row + 16 * i + lane / 4;
            const std::size_t col = first_col + warp_col + 8 * j + lane % 4 * 2;
            store_pair(c, row, col, sums[i][j][0], sums[i][j][1]);
            store_pair(c, row + 8, col, sums[i][j][2], sums[i][j][3]);
        }
    }
}

int largest_shared_memory() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    return bytes;
}

template <Precision precision, unsigned slots>
void launch_mma(const Operand& a, const Operand& b, const Result& c) {
    constexpr unsigned shared_bytes = slots * kSlot;
    const auto kernel = mma_cp_async<precision, slots>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int{shared_bytes}));
    kernel<<<tiles_of(c.rows, kTileRows) * tiles_of(c.cols, kTileCols), kMmaThreads,
             shared_bytes>>>(a, b, c);
    warpwise::check_launch();
}

template <Precision precision>
void cp_async(Product<precision>& problem) {
    with_whole_chunks(problem, [](const Operand& a, const Operand& b, const Result& c) {
        static const int shared_memory = largest_shared_memory();
        if (shared_memory >= int{4 * kSlot}) {
            launch_mma<precision, 4>(a, b, c);
        } else {
            launch_mma<precision, 2>(a, b, c);  // chips of 100 KB
        }
    });
}

// ---- what steps 3 and 4 are made of -----------------------------------------------------

#if COMPILED_FOR_SM_90A

// A barrier in shared memory. It turns to its next phase once so many threads have arrived,
// and so many bytes that were announced have come. Phases have parity 0, 1, 0, ...; who
// waits names the parity of the phase that is to end. Of a new barrier, the phase of parity
// 1 "before the first" counts as ended.
__device__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// Makes new barriers known to the tensor memory accelerator and to the cluster.
__device__ void barriers_are_initialized() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void barrier_arrive_and_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

__device__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the barrier that stands in the same place in the shared memory of another block of the
// cluster (or of this one). Without `.release.cluster`, for which nvcc puts a fence of the
// whole GPU before each arrival: there are no writes that the other block would have to
// see, only reads by wgmma, and these are done.
__device__ void barrier_arrive_in(unsigned block, unsigned barrier) {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(barrier),
        "r"(block)
        : "memory");
}

__device__ void barrier_wait(unsigned barrier, unsigned parity) {
    unsigned ended = 0;
    while (ended == 0) {  // try_wait sleeps for a while by itself
        asm volatile(
            "{\n"
            ".reg .pred ended;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
            "selp.u32 %0, 1, 0, ended;\n"
            "}"
            : "=r"(ended)
            : "r"(barrier), "r"(parity)
            : "memory");
    }
}

// The tensor memory accelerator: one thread asks for a box of a matrix, from column and row
// on; the hardware computes addresses, fills in zeros outside of the matrix, swizzles, and
// announces the bytes to the barrier.
__device__ void load_box(unsigned to, const CUtensorMap& map, int col, int row,
                         unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(col), "r"(row), "r"(barrier)
        : "memory");
}

// The same for all blocks of the cluster that `blocks` has a bit for: box and bytes go to
// the same place in each.
__device__ void load_box_in(unsigned short blocks, unsigned to, const CUtensorMap& map,
                            int col, int row, unsigned barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(col), "r"(row), "r"(barrier), "h"(blocks)
        : "memory");
}

// Two floats to an address of shared memory.
__device__ void put_pair(unsigned to, float first, float second) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second)
                 : "memory");
}

// A box the other way; what lies outside of the matrix is dropped.
__device__ void store_box(const CUtensorMap& map, int col, int row, unsigned from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(col), "r"(row), "r"(from)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Tells wgmma where the first of a slice's rows lies. From bit 0: address / 16; from 16:
// not used with this swizzle; from 32: distance of two groups of eight rows / 16; from 62:
// 1 for the 128-byte swizzle. Slots begin at multiples of 1024 bytes. 32 bytes further
// along the rows is an address 32 bytes higher: the hardware swizzles the sum.
__device__ std::uint64_t rows_at(unsigned address) {
    constexpr std::uint64_t eight_rows = 8 * kSliceBytes;
    return std::uint64_t{1} << 62 | eight_rows / 16 << 32 | std::uint64_t{1} << 16 |
           (address & 0x3FFFF) / 16;
}
constexpr unsigned kStepInDescriptor = kStepBytes / 16;

// 128 sums in 128 registers, which the instruction wants by name.
// clang-format off
#define SUMS_8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                     "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_32(d, i) SUMS_8(d, i), SUMS_8(d, i + 8), SUMS_8(d, i + 16), SUMS_8(d, i + 24)
#define SUMS_128(d) SUMS_32(d, 0), SUMS_32(d, 32), SUMS_32(d, 64), SUMS_32(d, 96)
#define NAMES_128 \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, " \
    "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, " \
    "%124, %125, %126, %127}"
// clang-format on

// d = a b, or d += a b: 64 rows of A with 256 rows of B transposed, 32 bytes of each, by
// 128 threads. Returns at once. Warp w of the four holds rows 16 w to 16 w + 15, as 32
// fragments of C side by side, each as in step 1.
template <Precision precision>
__device__ void wgmma(float (&d)[128], std::uint64_t a, std::uint64_t b, bool add) {
    if constexpr (precision == Precision::bf16) {
        asm volatile(
            "{\n"
            ".reg .pred add;\n"
            "setp.ne.b32 add, %130, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " NAMES_128
            ", %128, %129, add, 1, 1, 0, 0;\n"
            "}"
            : SUMS_128(d)
            : "l"(a), "l"(b), "r"(int{add}));
    } else {
        asm volatile(
            "{\n"
            ".reg .pred add;\n"
            "setp.ne.b32 add, %130, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " NAMES_128
            ", %128, %129, add, 1, 1;\n"
            "}"
            : SUMS_128(d)
            : "l"(a), "l"(b), "r"(int{add}));
    }
}

// Before the first wgmma of a group: registers that were written before are in order.
__device__ void open_group() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void close_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until no more than the last `pending` groups are under way. The sums are named so
// that the compiler does not read them before.
template <unsigned pending>
__device__ void wait_for_groups(float (&d)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned %128;"
                 : SUMS_128(d)
                 : "n"(pending)
                 : "memory");
}

// The multiplications of one slice, 128 bytes of each row, as one group.
template <Precision precision>
__device__ void multiply_slice(float (&sums)[128], unsigned slot_of_a, unsigned slot_of_b,
                               bool first) {
    const std::uint64_t a = rows_at(slot_of_a), b = rows_at(slot_of_b);
    open_group();
#pragma unroll
    for (unsigned step = 0; step < kSliceBytes / kStepBytes; ++step)
        wgmma<precision>(sums, a + step * kStepInDescriptor, b + step * kStepInDescriptor,
                         !first || step != 0);
    close_group();
}

#endif

// Both steps: three warpgroups of 128 threads. The first only fetches, the others multiply
// 64 rows of the tile each.
constexpr unsigned kGroup = 128;
constexpr unsigned kWgmmaThreads = 3 * kGroup;
constexpr unsigned kMultiplyingWarps = 2 * kGroup / 32;
constexpr unsigned kSlots = 4;
constexpr unsigned kAlignment = 1024;  // of slots: eight rows of a slice

#if COMPILED_FOR_SM_90A

// A place in the ring, and the parity of the round.
struct RingPlace {
    unsigned slot = 0, parity = 0;
    __device__ void advance() {
        if (++slot == kSlots) {
            slot = 0;
            parity ^= 1;
        }
    }
};

#endif

// ---- step 3 -----------------------------------------------------------------------------

// Step 3, Hopper's way: `wgmma` reads both operands from shared memory, without registers,
// runs beside the program, and does 64 x 256 sums at a time. One thread fetches by the
// tensor memory accelerator, which needs no addresses of chunks, no guards and no swizzling
// of ours. Nobody meets at __syncthreads: two barriers a slot carry the traffic.
//   - full[slot] ends when the bytes of a slice have come; the multiplying warps wait for
//     it
//   - empty[slot] ends when all eight of them have read the slice; the fetching thread
//     waits for it setmaxnreg takes registers from the warpgroup that needs none and gives
//     them to those that keep 128 sums a thread: of 168 a thread at the launch, 40 and 232
//     now.
// Slow: at the end of a tile the tensor cores stand still while C is written, and again
// while the next block on this multiprocessor sets itself up and waits for its first slice.
// And the L2 cache delivers 48 KB for each slice.
template <Precision precision>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_tma(const __grid_constant__ CUtensorMap map_of_a,
              const __grid_constant__ CUtensorMap map_of_b, Result c, unsigned slices,
              int slice_elements) {
#if COMPILED_FOR_SM_90A
    extern __shared__ __align__(16) unsigned char shared_memory[];
    __shared__ std::uint64_t barriers[2][kSlots];
    const unsigned ring =
        (shared_address(shared_memory) + kAlignment - 1) / kAlignment * kAlignment;
    const auto full = [&](unsigned slot) { return shared_address(&barriers[0][slot]); };
    const auto empty = [&](unsigned slot) { return shared_address(&barriers[1][slot]); };
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < kSlots; ++slot) {
            barrier_init(full(slot), 1);
            barrier_init(empty(slot), kMultiplyingWarps);
        }
        barriers_are_initialized();
    }
    __syncthreads();

    const TilePlace tile =
        place_of(blockIdx.x, tiles_of(c.rows, kTileRows), tiles_of(c.cols, kTileCols),  //
                 kBandRows / kTileRows);
    RingPlace place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            const int row = static_cast<int>(tile.row * kTileRows),
                      col = static_cast<int>(tile.col * kTileCols);
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * kSlot;
                const int element = static_cast<int>(slice) * slice_elements;
                barrier_wait(empty(place.slot), place.parity ^ 1);
                barrier_arrive_and_expect(full(place.slot), kSlot);
                load_box(slot, map_of_a, element, row, full(place.slot));
                load_box(slot + kSlotOfA, map_of_b, element, col, full(place.slot));
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const unsigned group = threadIdx.x / kGroup - 1, warp = threadIdx.x % kGroup / 32,
                       lane = threadIdx.x % 32;
        float sums[128];
        unsigned before = 0;  // the slot of the slice before
        for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
            const unsigned slot = ring + place.slot * kSlot;
            barrier_wait(full(place.slot), place.parity);
            multiply_slice<precision>(sums, slot + group * (kSlotOfA / 2), slot + kSlotOfA,
                                      slice == 0);
            wait_for_groups<1>(
                sums);  // this slice is being multiplied, the one before is done
            if (slice != 0 && lane == 0) barrier_arrive(empty(before));
            before = place.slot;
        }
        wait_for_groups<0>(sums);
        const std::size_t row =
            std::size_t{tile.row} * kTileRows + 64 * group + 16 * warp + lane / 4;
        const std::size_t col = std::size_t{tile.col} * kTileCols + lane % 4 * 2;
#pragma unroll
        for (unsigned j = 0; j < kTileCols / 8; ++j) {
            store_pair(c, row, col + 8 * j, sums[4 * j], sums[4 * j + 1]);
            store_pair(c, row + 8, col + 8 * j, sums[4 * j + 2], sums[4 * j + 3]);
        }
    }
#endif
}

// A description of a row-major matrix and of boxes of it, 128 bytes wide, for the tensor
// memory accelerator. Made by a function of the driver, which is looked up rather than
// linked: so the program also starts where there is no driver.
CUtensorMap map_of(CUtensorMapDataType type, unsigned element_bytes, const void* data,
                   std::size_t rows, std::size_t row_bytes, unsigned box_rows) {
    static const auto encode = [] {
        constexpr auto name = "cuTensorMapEncodeTiled";
        constexpr unsigned version = 12000;  // as it was in CUDA 12.0
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
        check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault,
                                               &found));
        if (found != cudaDriverEntryPointSuccess)
            throw std::runtime_error("this driver has no tensor maps");
        return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
    }();
    constexpr std::size_t largest = std::numeric_limits<int>::max();
    if (rows > largest || row_bytes / element_bytes > largest)
        throw std::length_error(
            "the tensor memory accelerator counts rows and columns in 31 bits");
    CUtensorMap map;
    const std::array<cuuint64_t, 2> extents = {row_bytes / element_bytes, rows};
    const std::array<cuuint64_t, 1> pitch = {row_bytes};  // a multiple of 16
    const std::array<cuuint32_t, 2> box = {kSliceBytes / element_bytes, box_rows},
                                    every = {1, 1};
    const CUresult result = encode(
        &map, type, 2, const_cast<void*>(data), extents.data(), pitch.data(), box.data(),
        every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS)
        throw std::runtime_error("cuTensorMapEncodeTiled: " + std::to_string(result));
    return map;
}

template <Precision precision>
constexpr unsigned element_bytes = sizeof(typename Product<precision>::Element);

template <Precision precision>
CUtensorMap map_of(const Operand& operand, unsigned box_rows) {
    constexpr auto type = precision == Precision::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    return map_of(type, element_bytes<precision>, operand.data, operand.rows,
                  operand.row_bytes, box_rows);
}

template <Precision precision>
void launch_wgmma_tma(const Operand& a, const Operand& b, const Result& c) {
    constexpr unsigned shared_bytes = kSlots * kSlot + kAlignment;
    const auto kernel = wgmma_tma<precision>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int{shared_bytes}));
    kernel<<<tiles_of(c.rows, kTileRows) * tiles_of(c.cols, kTileCols), kWgmmaThreads,
             shared_bytes>>>(
        map_of<precision>(a, kTileRows), map_of<precision>(b, kTileCols), c,
        tiles_of(a.row_bytes, kSliceBytes), int{kSliceBytes / element_bytes<precision>});
    warpwise::check_launch();
}

template <Precision precision>
void tensor_memory_accelerator(Product<precision>& problem) {
    with_whole_chunks(problem, launch_wgmma_tma<precision>);
}

// ---- step 4 -----------------------------------------------------------------------------

// Step 4, three changes that keep the tensor cores busy between slices and between tiles.
//   - Sharing: a cluster of two blocks makes two tiles, one above the other, which want the
//     same slices of B. Either fetches half of a slice for both (multicast): the L2 cache
//     delivers 32 KB a slice and block, not 48. A slot is empty once sixteen warps have
//     read it, eight of them next door; so each warp arrives at two barriers.
//   - Staying: only as many blocks as fit are launched, and each makes one tile after
//     another. The fetching thread goes up to four slices into the next tile while the
//     others still write C.
//   - Leaving: a warp lays 16 x 32 sums in shared memory, swizzled, and has the tensor
//     memory accelerator write them: full lines of 128 bytes, and no guards. While one box
//     leaves, the warp fills the other.
// Left to do: the tensor cores wait while sums go from registers to shared memory, and in
// the last round of tiles not every block has one.
constexpr unsigned kBlocks = 2;  // of a cluster
constexpr unsigned kBoxRows = 16, kBoxBytes = kBoxRows * kSliceBytes;

template <Precision precision>
__global__ void __launch_bounds__(kWgmmaThreads, 1)
    wgmma_multicast(const __grid_constant__ CUtensorMap map_of_a,
                    const __grid_constant__ CUtensorMap map_of_b,
                    const __grid_constant__ CUtensorMap map_of_c, unsigned tile_rows,
                    unsigned tile_cols, unsigned slices, int slice_elements) {
#if COMPILED_FOR_SM_90A
    extern __shared__ __align__(16) unsigned char shared_memory[];
    __shared__ std::uint64_t barriers[2][kSlots];
    const unsigned ring =
        (shared_address(shared_memory) + kAlignment - 1) / kAlignment * kAlignment;
    const auto full = [&](unsigned slot) { return shared_address(&barriers[0][slot]); };
    const auto empty = [&](unsigned slot) { return shared_address(&barriers[1][slot]); };
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < kSlots; ++slot) {
            barrier_init(full(slot), 1);
            barrier_init(empty(slot), kBlocks * kMultiplyingWarps);
        }
        barriers_are_initialized();
    }
    asm volatile(
        "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
            : "memory");

    // Tiles are counted in pairs here: tile_rows is half of what it was.
    const unsigned block = blockIdx.x % kBlocks, tiles = tile_rows * tile_cols;
    const auto row_of = [&](const TilePlace& tile) {
        return static_cast<int>((tile.row * kBlocks + block) * kTileRows);
    };
    const auto col_of = [&](const TilePlace& tile) {
        return static_cast<int>(tile.col * kTileCols);
    };
    constexpr unsigned band = kBandRows / kTileRows / kBlocks;
    RingPlace place;
    if (threadIdx.x < kGroup) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            constexpr unsigned own_half = kSlotOfB / kBlocks,
                               own_cols = kTileCols / kBlocks;
            for (unsigned i = blockIdx.x / kBlocks; i < tiles; i += gridDim.x / kBlocks) {
                const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
                const int row = row_of(tile),
                          col = col_of(tile) + static_cast<int>(block * own_cols);
                for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                    const unsigned slot = ring + place.slot * kSlot;
                    const int element = static_cast<int>(slice) * slice_elements;
                    barrier_wait(empty(place.slot), place.parity ^ 1);
                    barrier_arrive_and_expect(full(place.slot), kSlot);
                    load_box(slot, map_of_a, element, row, full(place.slot));
                    load_box_in((1 << kBlocks) - 1, slot + kSlotOfA + block * own_half,
                                map_of_b, element, col, full(place.slot));
                }
            }
            // The block next door may still have to arrive at barriers of this one: stay
            // until it has.
            for (unsigned slot = 0; slot < kSlots; ++slot, place.advance())
                barrier_wait(empty(place.slot), place.parity ^ 1);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        const unsigned group = threadIdx.x / kGroup - 1, warp = threadIdx.x % kGroup / 32,
                       lane = threadIdx.x % 32;
        constexpr unsigned box_cols = kSliceBytes / sizeof(float);
        const unsigned boxes = ring + kSlots * kSlot + (group * 4 + warp) * 2 * kBoxBytes;
        const auto release = [&](unsigned slot) {
            if (lane < kBlocks) barrier_arrive_in(lane, empty(slot));
        };
        float sums[128];
        for (unsigned i = blockIdx.x / kBlocks; i < tiles; i += gridDim.x / kBlocks) {
            unsigned before = 0;
            for (unsigned slice = 0; slice < slices; ++slice, place.advance()) {
                const unsigned slot = ring + place.slot * kSlot;
                barrier_wait(full(place.slot), place.parity);
                multiply_slice<precision>(sums, slot + group * (kSlotOfA / 2),
                                          slot + kSlotOfA, slice == 0);
                wait_for_groups<1>(sums);
                if (slice != 0) release(before);
                before = place.slot;
            }
            wait_for_groups<0>(sums);
            release(before);

            const TilePlace tile = place_of(i, tile_rows, tile_cols, band);
            const int row = row_of(tile) + static_cast<int>(64 * group + 16 * warp),
                      col = col_of(tile);
#pragma unroll
            for (unsigned box = 0; box < kTileCols / box_cols; ++box) {
                const unsigned to = boxes + box % 2 * kBoxBytes;
                // Lane 0 has sent all boxes: the last may still be read, the one before it
                // has left this place.
                if (lane == 0)
                    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                __syncwarp();
#pragma unroll
                for (unsigned j = 0; j < box_cols / 8; ++j) {
                    const unsigned n = (box * (box_cols / 8) + j) * 4;
                    const unsigned chunk = 2 * j + lane % 4 / 2, within = lane % 2 * 8;
                    put_pair(to + swizzled(lane / 4, chunk) + within, sums[n], sums[n + 1]);
                    put_pair(to + swizzled(lane / 4 + 8, chunk) + within, sums[n + 2],
                             sums[n + 3]);
                }
                asm volatile("fence.proxy.async.shared::cta;" ::
                                 : "memory");  // stores above, accelerator below
                __syncwarp();
                if (lane == 0)
                    store_box(map_of_c, col + static_cast<int>(box * box_cols), row, to);
            }
        }
        if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
#endif
}

template <Precision precision>
void launch_wgmma_multicast(const Operand& a, const Operand& b, const Result& c) {
    // Boxes can be written only where rows of C begin at multiples of 16 bytes, too.
    if (c.cols * sizeof(float) % kChunk != 0) return launch_wgmma_tma<precision>(a, b, c);
    const auto kernel = wgmma_multicast<precision>;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = kBlocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(kBlocks);
    config.blockDim = dim3(kWgmmaThreads);
    config.dynamicSmemBytes =
        kSlots * kSlot + kMultiplyingWarps * 2 * kBoxBytes + kAlignment;
    config.attrs = &cluster;
    config.numAttrs = 1;
    static const unsigned clusters_that_fit = [&] {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(config.dynamicSmemBytes)));
        int clusters = 0;
        check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
        return static_cast<unsigned>(std::max(1, clusters));
    }();
    const unsigned tile_rows = tiles_of(c.rows, kBlocks * kTileRows),
                   tile_cols = tiles_of(c.cols, kTileCols);
    config.gridDim.x = kBlocks * std::min(clusters_that_fit, tile_rows * tile_cols);
    check(cudaLaunchKernelEx(&config, kernel, map_of<precision>(a, kTileRows),
                             map_of<precision>(b, kTileCols / kBlocks),
                             map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), c.data,
                                    c.rows, c.cols * sizeof(float), kBoxRows),
                             tile_rows, tile_cols, tiles_of(a.row_bytes, kSliceBytes),
                             int{kSliceBytes / element_bytes<precision>}));
}

template <Precision precision>
void multicast(Product<precision>& problem) {
    with_whole_chunks(problem, launch_wgmma_multicast<precision>);
}

// ---- the vendor -------------------------------------------------------------------------

// What a user would call instead. cuBLAS thinks in columns: to it, our rows of C are
// columns of C transposed = B' A', where our B transposed is a k x n matrix of columns that
// has to be transposed, and A is as it should be.
template <Precision precision>
void vendor(Product<precision>& problem) {
    static const cublasHandle_t handle = warpwise::make_cublas_handle();
    const int m = warpwise::cublas_extent(problem.m),
              n = warpwise::cublas_extent(problem.n),
              k = warpwise::cublas_extent(problem.k);
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(problem.d_c.data(), 0, problem.d_c.bytes()));
        return;
    }
    constexpr bool bf16 = precision == Precision::bf16;
    constexpr cudaDataType_t type = bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const float one = 1, zero = 0;
    warpwise::check_cublas(cublasGemmEx(
        handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, problem.d_b.data(), type, k,
        problem.d_a.data(), type, k, &zero, problem.d_c.data(), CUDA_R_32F, n,
        bf16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT));
}

template <Precision precision>
std::vector<warpwise::Step<Product<precision>>> steps() {
    using Steps = std::vector<warpwise::Step<Product<precision>>>;
    const int capability = compute_capability();
    if (capability < 80) return {};
    Steps steps = {
        {"mma_fragments",
         "a warp makes 16 x 8 sums of fragments straight from global memory",
         fragments<precision>},
        {"mma_cp_async",
         "tiles of 128 x 256 in a ring of slices, fetched by cp.async, fragments by "
         "ldmatrix",
         cp_async<precision>},
    };
    int compiled_for_sm_90a = 0;
    if (capability == 90)
        check(
            cudaMemcpyFromSymbol(&compiled_for_sm_90a, d_compiled_for_sm_90a, sizeof(int)));
    if (compiled_for_sm_90a != 0) {
        steps.push_back(
            {"wgmma_tma",
             "one thread fetches boxes, two warpgroups multiply out of shared memory",
             tensor_memory_accelerator<precision>});
        steps.push_back({"wgmma_multicast",
                         "blocks stay, two of them share B, and C leaves in boxes",
                         multicast<precision>});
    }
    steps.push_back(
        {"vendor", "cublasGemmEx", vendor<precision>, warpwise::StepKind::vendor});
    return steps;
}

}  // namespace

std::vector<warpwise::Step<Tf32Product>> tf32_steps() { return steps<Precision::tf32>(); }

std::vector<warpwise::Step<Bf16Product>> bf16_steps() { return steps<Precision::bf16>(); }

}  // namespace examples

#endif
