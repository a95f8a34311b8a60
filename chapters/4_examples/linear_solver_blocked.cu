// The last step of the lesson linear_solver, and the vendor's routine. Read linear_solver.cu first.
//
// Gauss-Jordan elimination passes over the whole matrix for each column. Here the elimination of 64 columns, a panel,
// is worked out on the panel alone; then the rest of the matrix hears of all 64 at once, which is a matrix product and
// reads and writes it once instead of 64 times. And rows above the pivot are left alone: what remains is a triangle U
// with U x = y, solved from below (LU factorization). A panel at a time:
//
//     factor_panel       all rows of 64 columns     64 pivots, one exchange between the blocks for each
//     solve_block_row    64 rows of all columns     rows change places; forward substitution within the 64 rows
//     update_rest        the rest of the matrix     rest -= (multipliers of the panel) * (the 64 rows)
//
// The right-hand side is column n of the matrix, and goes along. L is needed no more once the rest has been updated,
// and so the rows of panels that are done never change places.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>
#include <stdexcept>
#include <string>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#include <cusolverDn.h>
#endif

#include "chapters/4_examples/linear_solver.h"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/launch_shape.h"

namespace examples {
namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kPanel = tuning.panel;
constexpr unsigned kNobody = 0xFFFFFFFF;  // the position of a row that does not exist

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }
__device__ void store4(float* to, float4 value) { *reinterpret_cast<float4*>(to) = value; }

// ---- the panel ---------------------------------------------------------------------------------------------------

// The blocks tell each other numbers in words of 64 bits: the number, and a tag that says for which column it is. An
// atomic access writes or reads the word as one, so whoever finds the right tag has the right number beside it. Tags
// are never 0, and a word never has the same tag twice.
// `cuda::atomic_ref` with device scope makes the accesses atomic for all threads of the device. The order is relaxed:
// nothing but the word itself has to become visible, so no fence is needed. Whoever sends data in *other* memory, and
// then a flag, needs memory_order_release for the flag's store and memory_order_acquire for its load.
// (`volatile` in place of atomic_ref would promise neither: the language gives it no meaning between threads.)
using Word = unsigned long long;
using SharedWord = cuda::atomic_ref<Word, cuda::thread_scope_device>;

__device__ void send(Word* word, unsigned number, unsigned tag) {
    SharedWord(*word).store(Word{tag} << 32 | number, cuda::memory_order_relaxed);
}

__device__ Word look_at(Word* word) { return SharedWord(*word).load(cuda::memory_order_relaxed); }

__device__ unsigned receive(Word* word, unsigned tag) {
    Word found = look_at(word);
    while (found >> 32 != tag) found = look_at(word);
    return static_cast<unsigned>(found);
}

// The key of a block's candidate, from its value and its position: both are asked for before either is waited for.
__device__ PivotKey receive_key(Word* words, unsigned tag) {
    Word value = look_at(words), position = look_at(words + 1);
    while (value >> 32 != tag || position >> 32 != tag) {
        value = look_at(words);
        position = look_at(words + 1);
    }
    return pivot_key(__uint_as_float(static_cast<unsigned>(value)), static_cast<unsigned>(position));
}

// Warps of a block that listen to the others, one thread for each number of the pivot row: fewer that ask, sooner
// answers.
constexpr unsigned kListeners = (kPanel + kLanes - 1) / kLanes * kLanes;
static_assert(tuning.panel_threads % kLanes == 0 && tuning.panel_threads >= kListeners && kPanel % 4 == 0);
static_assert(tuning.words_a_block == 2 + kPanel, "value, position, row");

// Factors `width` columns from `first` on, all rows from `first` on. Each thread has a row of the panel in registers,
// and no row moves: a thread knows at which position its row stands by now, and writes it there at the end. For each
// column:
//   - each block looks for its best candidate, and sends that whole row to all blocks;
//   - each block finds the best of all candidates, by itself, and so all find the same one;
//   - each thread subtracts a multiple of that row from its own.
// The row is kept rotated: the column to be eliminated is always row[0], and row[i] becomes row[i + 1] less something,
// which moves it along for nothing. So the loop needs no register with a variable index, and its body is short. Behind
// the panel's last column follow the multipliers, from which nothing is subtracted: there the pivot row holds zeros.
//
// Blocks wait for each other, so all of them have to be on the device: a cooperative launch sees to that.
// `words`: two sets in turn, since a fast block may send for the next column while a slow one still reads for this one.
// It cannot be two columns ahead: for that it needs the slow one's candidate. A set has the value and the position of
// each block's candidate, and then their rows.
// `origins`: where the row stood that is now row first + i.
// `targets`: where the row went that was row first + i.
__global__ void __launch_bounds__(tuning.panel_threads)
    factor_panel(float* a, std::size_t pitch, unsigned n, unsigned first, unsigned width, Word* words,
                 unsigned* origins, unsigned* targets, float* pivots) {
    __shared__ PivotKey warp_maxima[tuning.panel_threads / kLanes];
    __shared__ __align__(16) float pivot_row[kPanel];
    __shared__ unsigned pivot_position;
    const unsigned lane = threadIdx.x % kLanes;
    const unsigned origin = first + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned position = origin;
    bool active = origin < n;  // until the row is a pivot row

    float row[kPanel];
#pragma unroll
    for (unsigned i = 0; i < kPanel; i += 4) {
        float4 four = make_float4(0, 0, 0, 0);
        if (active && i < width) four = load4(a + origin * pitch + first + i);
        row[i] = i < width ? four.x : 0;
        row[i + 1] = i + 1 < width ? four.y : 0;
        row[i + 2] = i + 2 < width ? four.z : 0;
        row[i + 3] = i + 3 < width ? four.w : 0;
    }
    __threadfence();  // all rows are read before one is written, at the end, to where another one stood

    for (unsigned j = 0; j < width; ++j) {
        const unsigned tag = first + j + 1;
        Word* const keys = words + std::size_t{j % 2} * gridDim.x * tuning.words_a_block;
        Word* const rows = keys + 2 * gridDim.x;
        const PivotKey own = active ? pivot_key(row[0], position) : 0;
        const PivotKey best_of_block = block_max(own, warp_maxima);
        const bool none = best_of_block == 0;  // all rows of this block are pivot rows
        if (none ? threadIdx.x == 0 : own == best_of_block) {
            send(keys + 2 * blockIdx.x, none ? 0 : __float_as_uint(row[0]), tag);
            send(keys + 2 * blockIdx.x + 1, none ? kNobody : position, tag);
            if (!none) {
#pragma unroll
                for (unsigned i = 0; i < kPanel; ++i)
                    send(rows + blockIdx.x * kPanel + i, __float_as_uint(row[i]), tag);
            }
        }
#ifdef __CPU_DEVICE__  // its blocks take turns, and none could wait for a word that another one has yet to send
        cooperative_groups::this_grid().sync();
#endif
        if (threadIdx.x < kListeners) {  // lane k looks at the candidates of blocks k, k + 32 ...
            PivotKey best_of_lane = 0;
            unsigned sender = 0;
            for (unsigned block = lane; block < gridDim.x; block += kLanes) {
                const PivotKey key = receive_key(keys + 2 * block, tag);
                if (key > best_of_lane) {
                    best_of_lane = key;
                    sender = block;
                }
            }
            const PivotKey best = warp_max(best_of_lane);
            const unsigned lanes_with_best = __ballot_sync(0xFFFFFFFF, best_of_lane == best);
            sender = __shfl_sync(0xFFFFFFFF, sender, __ffs(static_cast<int>(lanes_with_best)) - 1);
            if (threadIdx.x < kPanel) {
                const bool to_be_eliminated = threadIdx.x < kPanel - j;
                Word* const word = rows + sender * kPanel + threadIdx.x;
                pivot_row[threadIdx.x] = to_be_eliminated ? __uint_as_float(receive(word, tag)) : 0;
            }
            if (threadIdx.x == 0) pivot_position = row_of(best);
        }
        __syncthreads();

        const float pivot = pivot_row[0];
        if (blockIdx.x == 0 && threadIdx.x == 0) pivots[first + j] = pivot;
        if (active && position == pivot_position) {
            position = first + j;
            active = false;
        } else if (position == first + j) {
            position = pivot_position;
        }
        const float multiplier = active ? row[0] / pivot : 0;
        const float last = active ? multiplier : row[0];
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i) row[i] = row[i + 1] - multiplier * pivot_row[i + 1];
        row[kPanel - 1] = last;
    }
    for (unsigned j = width; j < kPanel; ++j) {  // the last panel may be narrow: rotate on, once around in all
        const float front = row[0];
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i) row[i] = row[i + 1];
        row[kPanel - 1] = front;
    }

    __threadfence();
    if (origin >= n) return;
    float* const to = a + position * pitch + first;
#pragma unroll
    for (unsigned i = 0; i < kPanel; i += 4) {
        if (i + 4 <= width) {
            store4(to + i, make_float4(row[i], row[i + 1], row[i + 2], row[i + 3]));
        } else {
            if (i < width) to[i] = row[i];
            if (i + 1 < width) to[i + 1] = row[i + 1];
            if (i + 2 < width) to[i + 2] = row[i + 2];
        }
    }
    if (origin - first < width) targets[origin - first] = position;
    if (position - first < width) origins[position - first] = origin;
}

// ---- the block row -----------------------------------------------------------------------------------------------

// Everything right of the panel, a thread a column: rows change places as they did in the panel, and the 64 pivot rows,
// which come to stand on top, are freed of each other. Of all rows at most 128 move, and many elements are loaded
// before the first one is stored: a few trips to memory instead of one for each exchange. The forward substitution then
// runs in registers, rotated like the panel: u[0] is ready, and what it adds to the others goes off with the rotation.
constexpr unsigned kColumnsABlock = 64;
constexpr unsigned kDisplaced = kPanel / 4;  // elements of displaced rows that a thread holds at a time

__global__ void __launch_bounds__(kColumnsABlock)
    solve_block_row(float* a, std::size_t pitch, unsigned n, unsigned first, unsigned width, const unsigned* origins,
                    const unsigned* targets) {
    __shared__ __align__(16) float below[kPanel][kPanel];  // below[j][i]: multiplier in column j, row j + 1 + i; then 0
    __shared__ unsigned from[kPanel], to[kPanel];
    for (unsigned i = threadIdx.x; i < kPanel; i += kColumnsABlock) {
        from[i] = i < width ? origins[i] : kNobody;
        to[i] = i < width ? targets[i] : 0;
    }
    for (unsigned k = threadIdx.x; k < kPanel * kPanel; k += kColumnsABlock) {
        const unsigned row = k / kPanel, j = k % kPanel;
        const bool is_multiplier = j < row && row < width;
        const float value = is_multiplier ? a[(first + row) * pitch + first + j] : 0;
        below[j][(row + kPanel - 1 - j) % kPanel] = value;
    }
    __syncthreads();
    const unsigned behind = first + width;
    const std::size_t col = std::size_t{behind} + blockIdx.x * kColumnsABlock + threadIdx.x;
    if (col > n) return;

    float u[kPanel];
#pragma unroll
    for (unsigned i = 0; i < kPanel; ++i) u[i] = from[i] != kNobody ? a[from[i] * pitch + col] : 0;
#pragma unroll 1
    for (unsigned begin = 0; begin < kPanel; begin += kDisplaced) {
        float displaced[kDisplaced];
#pragma unroll
        for (unsigned i = 0; i < kDisplaced; ++i) {
            displaced[i] = to[begin + i] >= behind ? a[(first + begin + i) * pitch + col] : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < kDisplaced; ++i) {
            if (to[begin + i] >= behind) a[to[begin + i] * pitch + col] = displaced[i];
        }
    }
    for (unsigned j = 0; j < width; ++j) {
        const float ready = u[0];
        a[(first + j) * pitch + col] = ready;
#pragma unroll
        for (unsigned i = 0; i + 1 < kPanel; ++i) u[i] = u[i + 1] - below[j][i] * ready;
    }
}

// ---- the rest ----------------------------------------------------------------------------------------------------

// rest -= L * U: L are the panel's rows below, U the block row to the right. A block has a tile of 128 x 128 of the
// rest, a thread 8 x 8 of it in registers, as four groups of 4 x 4 so that neighboring threads read neighboring
// float4s. Of L and U, 8 columns and rows at a time are in shared memory, and while the block works on them the next 8
// are under way. The lesson matrix_multiply builds such a product step by step. The right-hand side is the last column
// of the rest.
constexpr unsigned kTile = tuning.tile;
constexpr unsigned kSide = tuning.tile_side;
constexpr unsigned kSlice = tuning.slice;
constexpr unsigned kTileThreads = kSide * kSide;
constexpr unsigned kGroups = kTile / (4 * kSide);  // of 4 rows, and of 4 columns, that a thread has
static_assert(kPanel % kSlice == 0);
static_assert(kGroups * 4 * kSide == kTile, "a thread has whole groups");
static_assert(kTile * kSlice == 4 * kTileThreads, "for a slice, a thread loads four neighbors of each factor");

struct Slice {
    float l[kSlice][kTile + 4];  // transposed; 4 more, so that stores of a column spread over the banks
    float u[kSlice][kTile];
};

__global__ void __launch_bounds__(kTileThreads, 2)
    update_rest(float* a, std::size_t pitch, unsigned n, unsigned first) {
    __shared__ __align__(16) Slice slices[2];
    const unsigned row_begin = first + kPanel + blockIdx.y * kTile;
    const unsigned col_begin = first + kPanel + blockIdx.x * kTile;
    const unsigned thread_row = 4 * (threadIdx.x / kSide), thread_col = 4 * (threadIdx.x % kSide);
    const float4 zeros = make_float4(0, 0, 0, 0);

    // What this thread loads: four neighbors of a row of L, and of a row of U.
    const unsigned l_row = threadIdx.x / (kSlice / 4), l_inner = threadIdx.x % (kSlice / 4) * 4;
    const unsigned u_inner = threadIdx.x / (kTile / 4), u_col = threadIdx.x % (kTile / 4) * 4;
    const bool has_l = row_begin + l_row < n, has_u = col_begin + u_col <= n;
    const float* l_from = a + (row_begin + l_row) * pitch + first + l_inner;
    const float* u_from = a + (first + u_inner) * pitch + col_begin + u_col;
    const auto keep = [&](Slice& slice, float4 l, float4 u) {
        slice.l[l_inner][l_row] = l.x;
        slice.l[l_inner + 1][l_row] = l.y;
        slice.l[l_inner + 2][l_row] = l.z;
        slice.l[l_inner + 3][l_row] = l.w;
        store4(&slice.u[u_inner][u_col], u);
    };
    // The row and column of a thread's element (i, j) in the tile.
    const auto tile_row = [&](unsigned i) { return i / 4 * 4 * kSide + thread_row + i % 4; };
    const auto tile_col = [&](unsigned j) { return j / 4 * 4 * kSide + thread_col + j % 4; };

    float4 l_ahead = has_l ? load4(l_from) : zeros, u_ahead = has_u ? load4(u_from) : zeros;
    float product[4 * kGroups][4 * kGroups] = {};
    keep(slices[0], l_ahead, u_ahead);
    __syncthreads();
#pragma unroll 1
    for (unsigned slice = 0; slice < kPanel; slice += kSlice) {
        const Slice& now = slices[slice / kSlice % 2];
        const bool more = slice + kSlice < kPanel;
        if (more) {
            l_from += kSlice;
            u_from += kSlice * pitch;
            l_ahead = has_l ? load4(l_from) : zeros;
            u_ahead = has_u ? load4(u_from) : zeros;
        }
#pragma unroll
        for (unsigned inner = 0; inner < kSlice; ++inner) {
            float l[4 * kGroups], u[4 * kGroups];
#pragma unroll
            for (unsigned i = 0; i < 4 * kGroups; i += 4) {
                const float4 four = load4(&now.l[inner][tile_row(i)]);
                l[i] = four.x, l[i + 1] = four.y, l[i + 2] = four.z, l[i + 3] = four.w;
            }
#pragma unroll
            for (unsigned j = 0; j < 4 * kGroups; j += 4) {
                const float4 four = load4(&now.u[inner][tile_col(j)]);
                u[j] = four.x, u[j + 1] = four.y, u[j + 2] = four.z, u[j + 3] = four.w;
            }
#pragma unroll
            for (unsigned i = 0; i < 4 * kGroups; ++i) {
#pragma unroll
                for (unsigned j = 0; j < 4 * kGroups; ++j) product[i][j] += l[i] * u[j];
            }
        }
        if (more) keep(slices[(slice / kSlice + 1) % 2], l_ahead, u_ahead);
        __syncthreads();
    }
    // Four rows at a time, first their loads, then their stores: a store in between would hold up the loads behind it.
#pragma unroll
    for (unsigned begin = 0; begin < 4 * kGroups; begin += 4) {
#pragma unroll
        for (unsigned i = begin; i < begin + 4; ++i) {
#pragma unroll
            for (unsigned j = 0; j < 4 * kGroups; j += 4) {
                const unsigned row = row_begin + tile_row(i), col = col_begin + tile_col(j);
                const float4 rest = row < n && col <= n ? load4(a + row * pitch + col) : zeros;
                product[i][j] = rest.x - product[i][j];
                product[i][j + 1] = rest.y - product[i][j + 1];
                product[i][j + 2] = rest.z - product[i][j + 2];
                product[i][j + 3] = rest.w - product[i][j + 3];
            }
        }
#pragma unroll
        for (unsigned i = begin; i < begin + 4; ++i) {
#pragma unroll
            for (unsigned j = 0; j < 4 * kGroups; j += 4) {
                const unsigned row = row_begin + tile_row(i), col = col_begin + tile_col(j);
                if (row >= n || col > n) continue;  // behind column n there are zeros up to the pitch, and stay zeros
                const float(&four)[4 * kGroups] = product[i];
                store4(a + row * pitch + col, make_float4(four[j], four[j + 1], four[j + 2], four[j + 3]));
            }
        }
    }
}

// ---- back substitution -------------------------------------------------------------------------------------------

// U x = y for the unknowns of one panel, the ones behind them being known: the triangle is solved by all blocks alike,
// which saves a launch, and then each block subtracts what these unknowns contribute to some of the rows above.
constexpr unsigned kBackThreads = 256;
constexpr unsigned kBackRows = 16;  // that a block subtracts from
static_assert(kBackThreads >= kPanel);

__global__ void substitute_back(float* a, std::size_t pitch, unsigned n, unsigned first, unsigned width, float* x) {
    __shared__ float upper[kPanel][kPanel + 1];
    __shared__ float solved[kPanel];
    for (unsigned k = threadIdx.x; k < kPanel * kPanel; k += kBackThreads) {
        const unsigned row = k / kPanel, col = k % kPanel;
        if (row <= col && col < width) upper[row][col] = a[(first + row) * pitch + first + col];
    }
    float y = threadIdx.x < width ? a[(first + threadIdx.x) * pitch + n] : 0;
    __syncthreads();
    for (unsigned j = width; j-- > 0;) {
        if (threadIdx.x == j) solved[j] = y / upper[j][j];
        __syncthreads();
        if (threadIdx.x < j) y -= upper[threadIdx.x][j] * solved[j];
    }
    if (blockIdx.x == 0 && threadIdx.x < width) x[first + threadIdx.x] = solved[threadIdx.x];

    const unsigned lane = threadIdx.x % kLanes;
    for (unsigned i = threadIdx.x / kLanes; i < kBackRows; i += kBackThreads / kLanes) {
        const unsigned row = blockIdx.x * kBackRows + i;
        if (row >= first) break;
        float sum = 0;
        for (unsigned j = lane; j < width; j += kLanes) sum += a[row * pitch + first + j] * solved[j];
        for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
        }
        if (lane == 0) a[row * pitch + n] -= sum;
    }
}

}  // namespace

std::size_t most_unknowns() {
    return std::size_t{warpwise::blocks_that_fill(factor_panel, tuning.panel_threads)} * tuning.panel_threads;
}

std::size_t launches_of_blocked(unsigned n) {
    const std::size_t panels = warpwise::ceil_div(n, kPanel);
    return 4 * panels - (n == 0 ? 0 : 1);  // nothing is left to be updated behind the last panel
}

void solve_blocked(LinearSystem& system) {
    unsigned n = system.n;
    if (n == 0) return;
    copy_to_work(system, system.pitch);
    float* a = system.d_work.data();
    float* x = system.d_x.data();
    float* pivots = system.d_pivots.data();
    std::size_t pitch = system.pitch;
    Word* words = system.d_words.data();
    unsigned* origins = system.d_moves.data();
    unsigned* targets = origins + kPanel;
    warpwise::check(cudaMemsetAsync(words, 0, system.d_words.bytes()));  // tags of the last solution
    for (unsigned first = 0; first < n; first += kPanel) {
        unsigned width = std::min(kPanel, n - first);
        const unsigned behind = first + width;
        void* arguments[] = {&a, &pitch, &n, &first, &width, &words, &origins, &targets, &pivots};
        const unsigned blocks = warpwise::blocks_for(n - first, tuning.panel_threads);
        warpwise::check(cudaLaunchCooperativeKernel(factor_panel, dim3(blocks), dim3(tuning.panel_threads), arguments));
        solve_block_row<<<warpwise::blocks_for(n + 1 - behind, kColumnsABlock), kColumnsABlock>>>(
            a, pitch, n, first, width, origins, targets);
        warpwise::check_launch();
        if (behind == n) continue;
        const dim3 tiles(warpwise::blocks_for(n + 1 - behind, kTile), warpwise::blocks_for(n - behind, kTile));
        update_rest<<<tiles, kTileThreads>>>(a, pitch, n, first);
        warpwise::check_launch();
    }
    for (unsigned first = (n - 1) / kPanel * kPanel;; first -= kPanel) {
        const unsigned blocks = warpwise::blocks_for(first, kBackRows);
        substitute_back<<<blocks, kBackThreads>>>(a, pitch, n, first, std::min(kPanel, n - first), x);
        warpwise::check_launch();
        if (first == 0) break;
    }
}

// ---- the vendor's routine ----------------------------------------------------------------------------------------

#ifndef __CPU_DEVICE__

namespace {

void check_cusolver(cusolverStatus_t status, warpwise::SourceLocation where = warpwise::SourceLocation::current()) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
        throw std::runtime_error(warpwise::place_text(where) + "cuSOLVER: status " +
                                 std::to_string(static_cast<int>(status)));
    }
}

}  // namespace

// cuSOLVER wants columns where we have rows: the copy that every solver begins with turns the matrix around.
void solve_by_cusolver(LinearSystem& system) {
    static const cublasHandle_t blas = warpwise::make_cublas_handle();
    static cusolverDnHandle_t solver = nullptr;  // made once, and kept until the program ends
    if (solver == nullptr) check_cusolver(cusolverDnCreate(&solver));
    if (system.n == 0) return;
    const int n = static_cast<int>(system.n), pitch = static_cast<int>(system.pitch);
    float* const a = system.d_work.data();
    if (system.d_vendor_workspace.size() == 0) {
        int floats = 0;
        check_cusolver(cusolverDnSgetrf_bufferSize(solver, n, n, a, n, &floats));
        system.d_vendor_workspace = warpwise::DeviceBuffer<float>(static_cast<std::size_t>(std::max(floats, 1)));
        system.d_vendor_rows = warpwise::DeviceBuffer<int>(system.n + 1);
    }
    const float one = 1, zero = 0;
    const float* const original = system.d_original.data();
    warpwise::check_cublas(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, original, pitch, &zero, a, n, a, n));
    warpwise::check_cublas(cublasScopy(blas, n, original + n, pitch, system.d_x.data(), 1));
    int* const rows = system.d_vendor_rows.data();
    int* const info = rows + n;  // the first column whose pivot is 0, counted from 1; the pivots tell the same
    check_cusolver(cusolverDnSgetrf(solver, n, n, a, n, system.d_vendor_workspace.data(), rows, info));
    warpwise::check_cublas(cublasScopy(blas, n, a, n + 1, system.d_pivots.data(), 1));
    check_cusolver(cusolverDnSgetrs(solver, CUBLAS_OP_N, n, 1, a, n, rows, system.d_x.data(), n, info));
}

#endif

}  // namespace examples
