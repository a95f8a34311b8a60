// A system of linear equations on host and device, for the files of the lesson linear_solver: the classic steps are in
// linear_solver.cu, the blocked solver and the vendor's in linear_solver_blocked.cu, the rest in
// linear_solver_system.cu.
//
//     LinearSystem system(n, matrix, right);
//     solve_blocked(system);
//     if (Verdict verdict = verdict_of(system); verdict.kind == Verdict::Kind::singular) ... verdict.column ...
//     std::vector<float> x = system.d_x.download();
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/helpers/compare.h"
#include "common/helpers/device_buffer.h"
#include "common/lesson/lesson.h"

namespace examples {

/// What may be tuned in the blocked solver.
struct BlockedTuning {
    unsigned panel;          ///< columns that are factored before the rest of the matrix hears of it
    unsigned panel_threads;  ///< of a block of the panel's kernel; each thread has one row
    unsigned tile;           ///< rows, and columns, of the matrix that a block of the product updates
    unsigned tile_side;      ///< threads of such a block: tile_side x tile_side
    unsigned slice;          ///< columns of the panel that it has in shared memory at a time

    unsigned words_a_block = panel + 2;  ///< of 64 bits, that a block of the panel's kernel sends for a column
};
#ifdef __CPU_DEVICE__  // all small, so that a small system has several panels, and a panel several blocks
inline constexpr BlockedTuning tuning = {.panel = 16, .panel_threads = 32, .tile = 32, .tile_side = 8, .slice = 8};
#else
inline constexpr BlockedTuning tuning = {.panel = 64, .panel_threads = 256, .tile = 128, .tile_side = 16, .slice = 8};
#endif

/// How large a pivot would be and in which row it stands, in one number: the larger of two keys is the larger
/// magnitude, and of equal ones the one in the lower row. Any candidate's key is larger than 0.
using PivotKey = unsigned long long;

/// A x = b, n equations, on the host and on the device. A solver copies `d_original` to `d_work`, works there, and
/// leaves x in `d_x` and the pivots, as it divided by them, in `d_pivots`.
struct LinearSystem {
    unsigned n;
    std::size_t pitch;                  // floats from row to row on the device, a multiple of 32
    std::vector<float> matrix;          // n x n, row by row
    std::vector<float> right;           // n
    double norm = 0;                    // of the matrix: the largest sum of the magnitudes of a row
    std::vector<double> column_maxima;  // the largest magnitude of each column

    warpwise::DeviceBuffer<float> d_original;  // rows of `pitch` floats: the matrix, the right-hand side, zeros
    warpwise::DeviceBuffer<float> d_work;      // as many floats
    warpwise::DeviceBuffer<float> d_x, d_pivots;
    warpwise::DeviceBuffer<PivotKey> d_keys;             // of each column
    warpwise::DeviceBuffer<PivotKey> d_block_maxima;     // of the blocks that search a column
    warpwise::DeviceBuffer<unsigned> d_column_of_row;    // what each row was the pivot row of
    warpwise::DeviceBuffer<unsigned long long> d_words;  // what the blocks of a panel tell each other
    warpwise::DeviceBuffer<unsigned> d_moves;            // where the rows of a panel went
    warpwise::DeviceBuffer<float> d_vendor_workspace;
    warpwise::DeviceBuffer<int> d_vendor_rows;

    /// A random matrix and a random right-hand side. Throws Refusal when the blocked solver cannot take so many rows.
    explicit LinearSystem(const warpwise::Size& size);
    LinearSystem(unsigned unknowns, std::vector<float> a, std::vector<float> b);

    void poison();                   ///< x and pivots become NaN
    warpwise::Comparison compare();  ///< A x, worked out in double, with b
    warpwise::Work work() const;     ///< of the best known way: two thirds of n^3 operations
    std::vector<warpwise::Figure> figures() const;
    static std::size_t device_bytes(const warpwise::Size& size);

    /// max |A x - b| / (|A| max |x|), worked out in double: how much A would have to change for x to be exact.
    double backward_error();
    double tolerance() const;  ///< the largest backward error that compare() accepts

private:
    double backward_error_ = 0;  // as compare() found it
};

/// What the pivots say about a solution.
struct Verdict {
    enum class Kind { solved, nearly_singular, singular };
    Kind kind = Kind::solved;
    unsigned column = 0;  ///< the first one whose pivot gave offense

    bool operator==(const Verdict&) const = default;
    std::string text() const;  ///< "solved", "singular: column 3"
};

/// Reads the pivots of the last solution. Singular: a pivot is 0, or not finite. Nearly singular: at most n * epsilon
/// (of float) is left of the largest element of the column; that is no more than rounding leaves of nothing.
Verdict verdict_of(const LinearSystem& system);

/// Begins a solution: copies the system to d_work, with rows `pitch` floats apart.
void copy_to_work(LinearSystem& system, std::size_t pitch);

/// A matrix with a name, and what has to be said about it.
struct NamedMatrix {
    std::string name;
    unsigned n;
    std::vector<float> matrix;
    Verdict::Kind kind;
    std::optional<unsigned> column;  ///< that the verdict has to name; any if absent
};

/// A way to solve a system.
struct Method {
    const char* name;
    void (*solve)(LinearSystem&);
    std::size_t (*launches)(unsigned n);  ///< that it should take; null if it does not say
};

/// Random, dominant, permuted, badly scaled, nearly singular and singular ones; of n rows unless the name says more.
std::vector<NamedMatrix> matrices_of_all_kinds(unsigned n);

/// Such a matrix, and as right-hand side the sums of its rows: all unknowns are 1, up to the rounding of those sums.
LinearSystem system_of_ones(const NamedMatrix& named);

/// Solves all of them by all methods, prints verdicts and backward errors, and expects them to be right.
void show_matrices_of_all_kinds(warpwise::Lesson& lesson, const std::vector<Method>& methods);

/// LU factorization with partial pivoting, panel by panel, with a matrix product for the rest.
void solve_blocked(LinearSystem& system);

/// Kernels that solve_blocked launches.
std::size_t launches_of_blocked(unsigned n);

/// How many unknowns it can take on this device: as many rows as can be in the panel's kernel at once.
std::size_t most_unknowns();

/// cusolverDnSgetrf and cusolverDnSgetrs. Not on the CPU device.
void solve_by_cusolver(LinearSystem& system);

// ---- pivots, for both files --------------------------------------------------------------------------------------

// A float without its sign, read as an integer, grows with its magnitude. ~row is larger for lower rows.
__device__ inline PivotKey pivot_key(float value, unsigned row) {
    return PivotKey{__float_as_uint(fabsf(value))} << 32 | ~row;
}
__device__ inline unsigned row_of(PivotKey key) { return ~static_cast<unsigned>(key); }

// The largest value of the warp, in all lanes. Chips from compute capability 8.0 on have an instruction for it.
__device__ inline unsigned warp_max(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        value = max(value, __shfl_xor_sync(0xFFFFFFFF, value, distance));
    }
    return value;
#else
    return __reduce_max_sync(0xFFFFFFFF, value);
#endif
}

// The same for keys: first the magnitudes, then the rows of those that have the largest one.
__device__ inline PivotKey warp_max(PivotKey key) {
    const unsigned magnitude = static_cast<unsigned>(key >> 32);
    const unsigned largest = warp_max(magnitude);
    const unsigned row = warp_max(magnitude == largest ? static_cast<unsigned>(key) : 0u);
    return PivotKey{largest} << 32 | row;
}

// The largest key of the block, in all threads. `warp_maxima` has room for one key a warp, in shared memory; there has
// to be a barrier between two calls with the same room.
__device__ inline PivotKey block_max(PivotKey key, PivotKey* warp_maxima) {
    const unsigned lane = threadIdx.x % 32;
    const PivotKey of_warp = warp_max(key);
    if (lane == 0) warp_maxima[threadIdx.x / 32] = of_warp;
    __syncthreads();
    return warp_max(lane < blockDim.x / 32 ? warp_maxima[lane] : PivotKey{0});
}

}  // namespace examples
