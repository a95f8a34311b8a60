// Launches of steps 6 to 10, and the vendor's routine. Read lesson.cu and the steps first.
//
// All five steps take a panel of 64 columns at a time. The right-hand side is column n of
// the matrix, and takes part like any other. L is not needed any more once the rest of the
// matrix has been updated, and so the rows of panels that are done never change places.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#ifndef __CPU_DEVICE__
#include <cublas_v2.h>
#include <cusolverDn.h>
#endif

#include "chapters/4_examples/linear_solver/step_06_panel_in_one_block.cuh"
#include "chapters/4_examples/linear_solver/step_07_triangle_in_registers.cuh"
#include "chapters/4_examples/linear_solver/step_08_matrix_product.cuh"
#include "chapters/4_examples/linear_solver/step_09_grid_barrier.cuh"
#include "chapters/4_examples/linear_solver/step_10_messages.cuh"
#include "chapters/4_examples/linear_solver/system.h"
#include "common/helpers/check.h"
#include "common/helpers/cublas.h"
#include "common/helpers/launch_shape.h"

namespace examples {
namespace {

// A panel, and what a step launches for it.
struct Panel {
    LinearSystem& system;
    float* a;
    std::size_t pitch;
    unsigned n, first, width;

    unsigned end() const { return first + width; }
    unsigned columns_after() const { return n + 1 - end(); }  // with the right-hand side
    unsigned* origins() const { return system.d_moves.data(); }
    unsigned* targets() const { return origins() + kPanel; }
    unsigned* swaps() const { return targets() + kPanel; }
};

void factor_in_one_block(const Panel& p) {
    factor_in_one_block<<<1, kOneBlock>>>(p.a, p.pitch, p.n, p.first, p.width, p.swaps(),
                                          p.system.d_pivots.data());
    warpwise::check_launch();
}

// `exchange`: candidates or words of all blocks.
template <class Exchange>
void factor_in_all_blocks(const Panel& p,
                          void (*kernel)(float*, std::size_t, unsigned, unsigned, unsigned,
                                         Exchange*, unsigned*, unsigned*, float*),
                          Exchange* exchange) {
    float* a = p.a;
    std::size_t pitch = p.pitch;
    unsigned n = p.n, first = p.first, width = p.width;
    unsigned *origins = p.origins(), *targets = p.targets();
    float* pivots = p.system.d_pivots.data();
    void* arguments[] = {&a,        &pitch,   &n,       &first, &width,
                         &exchange, &origins, &targets, &pivots};
    const unsigned blocks = warpwise::blocks_for(n - first, tuning.panel_threads);
    warpwise::check(cudaLaunchCooperativeKernel(kernel, dim3(blocks),
                                                dim3(tuning.panel_threads), arguments));
}

void follow_rows(const Panel& p) {
    follow_rows<<<1, kPanel>>>(p.swaps(), p.first, p.width, p.origins(), p.targets());
    warpwise::check_launch();
}

void exchange_and_substitute(const Panel& p) {
    exchange_and_substitute<<<warpwise::blocks_for(p.columns_after(), kColumnsPerBlock),
                              kColumnsPerBlock>>>(p.a, p.pitch, p.n, p.first, p.width,
                                                  p.swaps());
    warpwise::check_launch();
}

void solve_block_row(const Panel& p) {
    solve_block_row<<<warpwise::blocks_for(p.columns_after(), kColumnsPerBlock),
                      kColumnsPerBlock>>>(p.a, p.pitch, p.n, p.first, p.width, p.origins(),
                                          p.targets());
    warpwise::check_launch();
}

void update_each_element(const Panel& p) {
    if (p.end() == p.n) return;
    const dim3 blocks(warpwise::blocks_for(p.columns_after(), kLanes),
                      warpwise::blocks_for(p.n - p.end(), kWarps));
    update_each_element<<<blocks, dim3(kLanes, kWarps)>>>(p.a, p.pitch, p.n, p.first);
    warpwise::check_launch();
}

void update_rest(const Panel& p) {
    if (p.end() == p.n) return;
    const dim3 tiles(warpwise::blocks_for(p.columns_after(), BN),
                     warpwise::blocks_for(p.n - p.end(), BM));
    update_rest<<<tiles, kTileThreads>>>(p.a, p.pitch, p.n, p.first);
    warpwise::check_launch();
}

// Copies the system, calls `work(panel)` for one panel after the other, and solves the
// triangle that remains.
template <class Work>
void solve_by_panels(LinearSystem& system, const Work& work) {
    const unsigned n = system.n;
    if (n == 0) return;
    copy_to_work(system, system.pitch);
    float* const a = system.d_work.data();
    for (unsigned first = 0; first < n; first += kPanel) {
        work(Panel{system, a, system.pitch, n, first, std::min(kPanel, n - first)});
    }
    for (unsigned first = (n - 1) / kPanel * kPanel;; first -= kPanel) {
        const unsigned blocks = warpwise::blocks_for(first, kBackRows);
        substitute_back<<<blocks, kBackThreads>>>(
            a, system.pitch, n, first, std::min(kPanel, n - first), system.d_x.data());
        warpwise::check_launch();
        if (first == 0) break;
    }
}

}  // namespace

std::size_t most_unknowns() {
    const unsigned blocks =
        std::min(warpwise::blocks_that_fill(factor_with_grid_barrier, tuning.panel_threads),
                 warpwise::blocks_that_fill(factor_panel, tuning.panel_threads));
    return std::size_t{blocks} * tuning.panel_threads;
}

std::size_t launches_by_panels(unsigned n, unsigned per_panel) {
    const std::size_t panels = warpwise::ceil_div(n, kPanel);
    return (per_panel + 1) * panels -
           (n == 0 ? 0 : 1);  // nothing is left to update after the last panel
}

void solve_with_one_block(LinearSystem& system) {
    solve_by_panels(system, [](const Panel& panel) {
        factor_in_one_block(panel);
        exchange_and_substitute(panel);
        update_each_element(panel);
    });
}

void solve_with_registers(LinearSystem& system) {
    solve_by_panels(system, [](const Panel& panel) {
        factor_in_one_block(panel);
        follow_rows(panel);
        solve_block_row(panel);
        update_each_element(panel);
    });
}

void solve_with_product(LinearSystem& system) {
    solve_by_panels(system, [](const Panel& panel) {
        factor_in_one_block(panel);
        follow_rows(panel);
        solve_block_row(panel);
        update_rest(panel);
    });
}

void solve_with_grid_barrier(LinearSystem& system) {
    solve_by_panels(system, [](const Panel& panel) {
        factor_in_all_blocks(panel, factor_with_grid_barrier,
                             reinterpret_cast<unsigned*>(panel.system.d_words.data()));
        solve_block_row(panel);
        update_rest(panel);
    });
}

void solve_blocked(LinearSystem& system) {
    if (system.n == 0) return;
    warpwise::check(cudaMemsetAsync(system.d_words.data(), 0,
                                    system.d_words.bytes()));  // tags of the last solution
    solve_by_panels(system, [](const Panel& panel) {
        factor_in_all_blocks(panel, factor_panel, panel.system.d_words.data());
        solve_block_row(panel);
        update_rest(panel);
    });
}

// ---- the vendor's routine ---------------------------------------------------------------

#ifndef __CPU_DEVICE__

namespace {

void check_cusolver(cusolverStatus_t status,
                    warpwise::SourceLocation where = warpwise::SourceLocation::current()) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
        throw std::runtime_error(warpwise::place_text(where) + "cuSOLVER: status " +
                                 std::to_string(static_cast<int>(status)));
    }
}

}  // namespace

// cuSOLVER wants columns where we have rows: the copy that every solver begins with turns
// the matrix around.
void solve_by_cusolver(LinearSystem& system) {
    static const cublasHandle_t blas = warpwise::make_cublas_handle();
    // Made once, and kept until the program ends.
    static cusolverDnHandle_t solver = nullptr;
    if (solver == nullptr) check_cusolver(cusolverDnCreate(&solver));
    if (system.n == 0) return;
    const int n = static_cast<int>(system.n), pitch = static_cast<int>(system.pitch);
    float* const a = system.d_work.data();
    if (system.d_vendor_workspace.size() == 0) {
        int floats = 0;
        check_cusolver(cusolverDnSgetrf_bufferSize(solver, n, n, a, n, &floats));
        system.d_vendor_workspace =
            warpwise::DeviceBuffer<float>(static_cast<std::size_t>(std::max(floats, 1)));
        system.d_vendor_rows = warpwise::DeviceBuffer<int>(system.n + 1);
    }
    const float one = 1, zero = 0;
    const float* const original = system.d_original.data();
    warpwise::check_cublas(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, original,
                                       pitch, &zero, a, n, a, n));
    warpwise::check_cublas(cublasScopy(blas, n, original + n, pitch, system.d_x.data(), 1));
    int* const rows = system.d_vendor_rows.data();
    int* const info =
        rows +
        n;  // the first column whose pivot is 0, counted from 1; the pivots tell the same
    check_cusolver(
        cusolverDnSgetrf(solver, n, n, a, n, system.d_vendor_workspace.data(), rows, info));
    warpwise::check_cublas(cublasScopy(blas, n, a, n + 1, system.d_pivots.data(), 1));
    check_cusolver(cusolverDnSgetrs(solver, CUBLAS_OP_N, n, 1, a, n, rows,
                                    system.d_x.data(), n, info));
}

#endif

}  // namespace examples
