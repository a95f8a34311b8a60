// A system of linear equations on host and device, and what the files of this lesson have
// in common. The kernels are in step_01_four_launches.cuh to step_10_messages.cuh, to be
// read in this order. lesson.cu launches steps 1 to 5, panels.cu steps 6 to 10 and the
// vendor's routine, and system.cu makes and judges systems.
//
//     LinearSystem system(n, matrix, right);
//     solve_blocked(system);
//     const Solvability found = solvability_of(system);
//     if (found.kind == Solvability::Kind::singular)
//         ... found.column ... std::vector<float> x = system.d_x.download();
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

/// Sizes of steps 6 to 10.
struct BlockedTuning {
    unsigned panel;  ///< columns that are factored before the rest of the matrix is updated
    unsigned
        one_block;  ///< threads of the only block in the panel's kernel of steps 6 to 8
    unsigned panel_threads;  ///< of a block of the panel's kernel of steps 9 and 10; each
                             ///< thread has one row
    unsigned
        tile;  ///< rows, and columns, of the matrix that a block of the product updates
    unsigned tile_side;  ///< threads of such a block: tile_side x tile_side
    unsigned slice;      ///< columns of the panel that it has in shared memory at a time

    unsigned words_per_block =
        panel + 2;  ///< of 64 bits, that a block of the panel's kernel sends per column
};
#ifdef __CPU_DEVICE__  // all small, so that a small system has several panels, and a panel
                       // several blocks
inline constexpr BlockedTuning tuning = {.panel = 16,
                                         .one_block = 64,
                                         .panel_threads = 32,
                                         .tile = 32,
                                         .tile_side = 8,
                                         .slice = 8};
#else
inline constexpr BlockedTuning tuning = {.panel = 64,
                                         .one_block = 1024,
                                         .panel_threads = 256,
                                         .tile = 128,
                                         .tile_side = 16,
                                         .slice = 8};
#endif

/// How large a pivot would be and in which row it stands, in one number: the larger of two
/// keys is the larger magnitude, and of equal ones the one in the lower row. Any
/// candidate's key is larger than 0.
using PivotKey = unsigned long long;

/// A x = b, n equations, on the host and on the device. A solver copies `d_original` to
/// `d_work`, works there, and leaves x in `d_x` and the pivots, as it divided by them, in
/// `d_pivots`.
struct LinearSystem {
    unsigned n;
    std::size_t pitch;          // floats from row to row on the device, a multiple of 32
    std::vector<float> matrix;  // n x n, row by row
    std::vector<float> right;   // n
    double norm = 0;            // of the matrix: the largest sum of the magnitudes of a row
    std::vector<double> column_maxima;  // the largest magnitude of each column

    warpwise::DeviceBuffer<float>
        d_original;  // rows of `pitch` floats: the matrix, the right-hand side, zeros
    warpwise::DeviceBuffer<float> d_work;  // as many floats
    warpwise::DeviceBuffer<float> d_x, d_pivots;
    warpwise::DeviceBuffer<PivotKey> d_keys;           // of each column
    warpwise::DeviceBuffer<PivotKey> d_block_maxima;   // of the blocks that search a column
    warpwise::DeviceBuffer<unsigned> d_column_of_row;  // what each row was the pivot row of
    warpwise::DeviceBuffer<unsigned long long>
        d_words;                               // what the blocks of a panel tell each other
    warpwise::DeviceBuffer<unsigned> d_moves;  // where the rows of a panel went
    warpwise::DeviceBuffer<float> d_vendor_workspace;
    warpwise::DeviceBuffer<int> d_vendor_rows;

    /// A random matrix and a random right-hand side. Throws Refusal when the blocked solver
    /// cannot take so many rows.
    explicit LinearSystem(const warpwise::Size& size);
    LinearSystem(unsigned unknowns, std::vector<float> a, std::vector<float> b);

    void poison();                   ///< x and pivots become NaN
    warpwise::Comparison compare();  ///< A x, worked out in double, with b
    warpwise::Work work() const;  ///< of the best known way: two thirds of n^3 operations
    std::vector<warpwise::Figure> figures() const;
    static std::size_t device_bytes(const warpwise::Size& size);

    /// max |A x - b| / (|A| max |x|), worked out in double: how much A would have to change
    /// for x to be exact.
    double backward_error();
    double tolerance() const;  ///< the largest backward error that compare() accepts

private:
    double backward_error_ = 0;  // as compare() found it
};

/// What the pivots say about a solution.
struct Solvability {
    enum class Kind { solved, nearly_singular, singular };
    Kind kind = Kind::solved;
    unsigned column = 0;  ///< the first one whose pivot gave offense

    bool operator==(const Solvability&) const = default;
    std::string text() const;  ///< "solved", "singular: column 3"
};

/// Reads the pivots of the last solution. Singular: a pivot is 0, or not finite. Nearly
/// singular: at most n * epsilon (of float) is left of the largest element of the column;
/// that is no more than rounding leaves of nothing.
Solvability solvability_of(const LinearSystem& system);

/// Begins a solution: copies the system to d_work, with rows `pitch` floats apart.
void copy_to_work(LinearSystem& system, std::size_t pitch);

/// A matrix with a name, and what has to be said about it.
struct NamedMatrix {
    std::string name;
    unsigned n;
    std::vector<float> matrix;
    Solvability::Kind kind;
    std::optional<unsigned> column;  ///< that has to be named; any if absent
};

/// A way to solve a system.
struct Method {
    const char* name;
    void (*solve)(LinearSystem&);
    std::size_t (*launches)(unsigned n);  ///< that it should take; null if it does not say
};

/// Random, dominant, permuted, badly scaled, nearly singular and singular ones; of n rows
/// unless the name says more.
std::vector<NamedMatrix> matrices_of_all_kinds(unsigned n);

/// Such a matrix, and as right-hand side the sums of its rows: all unknowns are 1, up to
/// the rounding of those sums.
LinearSystem system_of_ones(const NamedMatrix& named);

/// Solves all of them by all methods, prints what was found and backward errors, and
/// expects them to be right.
void show_matrices_of_all_kinds(warpwise::Lesson& lesson,
                                const std::vector<Method>& methods);

/// LU factorization with partial pivoting, panel by panel. Steps 6 to 10, in this order.
void solve_with_one_block(LinearSystem& system);
void solve_with_registers(LinearSystem& system);
void solve_with_product(LinearSystem& system);
void solve_with_grid_barrier(LinearSystem& system);
void solve_blocked(LinearSystem& system);

/// Kernels that steps 6 to 10 launch: `per_panel` for each panel, one less for the last
/// one, and one per panel for the back substitution.
std::size_t launches_by_panels(unsigned n, unsigned per_panel);

/// How many unknowns steps 9 and 10 can take on this device: as many rows as can be in the
/// panel's kernel at once.
std::size_t most_unknowns();

/// cusolverDnSgetrf and cusolverDnSgetrs. Not on the CPU device.
void solve_by_cusolver(LinearSystem& system);

}  // namespace examples
