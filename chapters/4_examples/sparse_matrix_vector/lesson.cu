// Problem: a matrix with few elements that are not 0 times a vector, y = A x. Only these
// elements are stored, row after row (CSR).
//
// Each stored element takes 8 bytes, its value and its column, for one multiplication and
// one addition. So only bytes count, as for a full matrix (lesson matrix_vector), but rows
// have different lengths: in many graphs most rows are short and a few are very long. The
// steps differ in how they divide this work among threads, blocks, and launches.
#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "chapters/4_examples/sparse_matrix_vector/matrix.h"
#include "chapters/4_examples/sparse_matrix_vector/step_02_thread_per_row.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_03_warp_per_row.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_04_adaptive.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_05_merge_path.cuh"
#include "chapters/4_examples/sparse_matrix_vector/step_06_sliced_ell.cuh"
#include "common/helpers/benchmark.h"
#include "common/helpers/check.h"
#include "common/helpers/cusparse.h"
#include "common/helpers/launch_shape.h"
#include "common/helpers/text.h"
#include "common/lesson/lesson.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core, in double.
void serial(Matrix& m) {
    std::vector<float> y(m.x.size());
    for (std::size_t row = 0; row < y.size(); ++row) {
        double sum = 0;
        for (int k = m.first[row]; k < m.first[row + 1]; ++k) {
            const auto at = static_cast<std::size_t>(k);
            sum += double{m.values[at]} * double{m.x[static_cast<std::size_t>(m.cols[at])]};
        }
        y[row] = static_cast<float>(sum);
    }
    m.d_y.upload(y);
}

void run_thread_per_row(Matrix& m) {
    thread_per_row<<<warpwise::blocks_for(m.x.size(), kThreads), kThreads>>>(
        m.csr(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

template <int Lanes>
void run_lanes_per_row(Matrix& m) {
    lanes_per_row<Lanes><<<warpwise::blocks_for(m.x.size(), kThreads / Lanes), kThreads>>>(
        m.csr(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

void run_adaptive(Matrix& m) {
    if (m.groups == 0) return;
    adaptive<<<static_cast<unsigned>(m.groups), kThreads>>>(
        m.csr(), m.d_groups.data(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

void run_merge_path(Matrix& m) {
    if (m.rows == 0) return;
    const unsigned blocks = m.path_blocks();
    find_crossings<kSteps><<<warpwise::blocks_for(blocks + 1, kThreads), kThreads>>>(
        m.csr(), static_cast<int>(blocks), m.d_crossings.data());
    warpwise::check_launch();
    merge_path<kSteps><<<blocks, kThreads>>>(m.csr(), m.d_crossings.data(), m.d_x.data(),
                                             m.d_y.data(), m.d_carry_rows.data(),
                                             m.d_carries.data());
    warpwise::check_launch();
    add_carries<<<warpwise::blocks_for(blocks, kThreads), kThreads>>>(
        m.d_carry_rows.data(), m.d_carries.data(), static_cast<int>(blocks), m.rows,
        m.d_y.data());
    warpwise::check_launch();
}

void run_sliced_ell(Matrix& m) {
    if (m.slices > 0) {
        sliced_ell<<<warpwise::blocks_for(static_cast<std::size_t>(m.slices), kWarps),
                     kThreads>>>(m.sliced(), m.d_x.data(), m.d_y.data());
        warpwise::check_launch();
    }
    if (m.long_rows > 0) {
        long_rows<<<static_cast<unsigned>(m.long_rows), kThreads>>>(
            m.csr(), m.d_long_rows.data(), m.d_x.data(), m.d_y.data());
        warpwise::check_launch();
    }
}

#ifndef __CPU_DEVICE__
// What a user would call instead. The preparation of the matrix is not timed, as it is not
// for steps 4 and 6.
class VendorProduct {
public:
    explicit VendorProduct(Matrix& m) {
        static const cusparseHandle_t handle = warpwise::make_cusparse_handle();
        handle_ = handle;
        warpwise::check_cusparse(cusparseCreateCsr(
            &matrix_, m.rows, m.rows, m.elements(), m.d_first.data(), m.d_cols.data(),
            m.d_values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        warpwise::check_cusparse(
            cusparseCreateDnVec(&x_, m.rows, m.d_x.data(), CUDA_R_32F));
        warpwise::check_cusparse(
            cusparseCreateDnVec(&y_, m.rows, m.d_y.data(), CUDA_R_32F));
        std::size_t bytes = 0;
        warpwise::check_cusparse(cusparseSpMV_bufferSize(
            handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
            CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, &bytes));
        buffer_ = DeviceBuffer<unsigned char>(bytes);
        warpwise::check_cusparse(cusparseSpMV_preprocess(
            handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
            CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, buffer_.data()));
    }
    VendorProduct(const VendorProduct&) = delete;
    ~VendorProduct() {
        (void)cusparseDestroyDnVec(y_);
        (void)cusparseDestroyDnVec(x_);
        (void)cusparseDestroySpMat(matrix_);
    }

    void run() {
        warpwise::check_cusparse(
            cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_,
                         &zero_, y_, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, buffer_.data()));
    }

private:
    float one_ = 1, zero_ = 0;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
    DeviceBuffer<unsigned char> buffer_;
};

void vendor_cusparse(Matrix& m) {
    if (m.rows == 0) return;
    if (m.elements() == 0) return warpwise::check(cudaMemset(m.d_y.data(), 0, m.d_y.bytes()));
    if (!m.vendor) m.vendor = std::make_shared<VendorProduct>(m);
    std::static_pointer_cast<VendorProduct>(m.vendor)->run();
}
#endif

struct Method {
    const char* name;
    const char* change;
    void (*run)(Matrix&);
};
const std::vector<Method> methods = {
    {"thread_per_row", "one thread per row", run_thread_per_row},
    {"warp_per_row", "one warp per row", run_lanes_per_row<kLanes>},
    {"adaptive", "groups of rows, through shared memory", run_adaptive},
    {"merge_path", "equal parts of the path of rows and elements", run_merge_path},
    {"sliced_ell", "slices of 32 sorted rows", run_sliced_ell},
};

// ---- matrices ---------------------------------------------------------------------------

struct Kind {
    const char* name;
    Rule rule;
};
const std::vector<Kind> kinds = {
    {"banded", Rule::banded}, {"power law", Rule::power_law}, {"dense row", Rule::dense_row}};

void show_lengths(warpwise::Lesson& lesson) {
    constexpr std::size_t kRows = 4096;
    std::vector<std::vector<std::string>> rows;
    for (const Kind& kind : kinds) {
        Matrix m({kRows}, kind.rule);
        int longest = 0, empty = 0;
        for (std::size_t row = 0; row < kRows; ++row) {
            const int length = m.first[row + 1] - m.first[row];
            longest = std::max(longest, length);
            empty += length == 0 ? 1 : 0;
        }
        rows.push_back({kind.name, std::to_string(m.elements()), std::to_string(longest),
                        std::to_string(empty)});
        for (const Method& method : methods) {
            m.poison();
            std::string bytes = "-";
            if (const auto counts = lesson.count([&] { method.run(m); }))
                bytes = text_of("%.1f", counts->global().bytes_moved() / m.elements());
            else
                method.run(m);
            rows.back().push_back(bytes);
            lesson.expect(m.compare().passed,
                          std::string(method.name) + ", " + kind.name + ": right");
        }
    }
    std::vector<std::string> header = {"matrix", "elements", "longest row", "empty rows"};
    for (const Method& method : methods) header.push_back(method.name);
    lesson.table({"bytes", "4096 rows: bytes that are moved for each element"}, header,
                 rows);
}

void check_special(warpwise::Lesson& lesson) {
    for (const int rows : {1, 31, 33, 257, 5000}) {
        for (const Rule rule :
             {Rule::no_elements, Rule::banded, Rule::dense_row, Rule::power_law}) {
            Matrix m({static_cast<std::size_t>(rows)}, rule);
            for (const Method& method : methods) {
                m.poison();
                method.run(m);
                lesson.expect(m.compare().passed, std::string(method.name) + ", " +
                                                      std::to_string(rows) + " rows");
            }
        }
    }
}

// GB/s of the bytes that a product needs at least, measured in turn.
void show_matrices(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("matrices");
        return;
    }
    std::vector<Method> contenders = methods;
    for (const Method& more : std::vector<Method>{{"4 lanes", "", run_lanes_per_row<4>},
                                                  {"8 lanes", "", run_lanes_per_row<8>}})
        contenders.push_back(more);
#ifndef __CPU_DEVICE__
    contenders.push_back({"cuSPARSE", "", vendor_cusparse});
#endif
    std::vector<std::string> header = {"matrix"};
    for (const Method& contender : contenders) header.push_back(contender.name);
    std::vector<std::vector<std::string>> rows;
    for (const Kind& kind : kinds) {
        Matrix m({std::size_t{1} << 22}, kind.rule);
        std::vector<warpwise::Candidate> candidates;
        for (const Method& contender : contenders) {
            candidates.push_back({[&m, &contender] { contender.run(m); }});
            m.poison();
            contender.run(m);
            lesson.expect(m.compare().passed,
                          std::string(kind.name) + ", " + contender.name + ": right");
        }
        rows.push_back({kind.name});
        for (const auto& timing :
             warpwise::measure_in_turn(candidates, {.samples = 10, .seconds = 0.1}))
            rows.back().push_back(text_of("%.0f", m.work().bytes / timing.median * 1e-9));
    }
    lesson.table({"matrices", "GB/s by the matrix, 4194304 rows"}, header, rows);
}

}  // namespace

void sparse_matrix_vector(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A sparse matrix stores only the elements that are not 0, row after row, each with
its column. Rows have different lengths. How many bytes does each step move for an element,
in a matrix with rows of equal lengths, with a few long rows, and with one row that has
all columns?)");
    show_lengths(lesson);
    check_special(lesson);
    lesson.conclusion(
        R"(An element has 8 bytes, and its factor of x 4 more, or a whole sector where
columns are far apart.)");
    lesson.question(R"(How fast are the steps for a matrix whose row lengths follow a power
law?)");
    std::vector<warpwise::Step<Matrix>> steps = {
        {"serial", "a loop in double, one core", serial, warpwise::StepKind::host}};
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back(
        {"cusparse", "cusparseSpMV", vendor_cusparse, warpwise::StepKind::vendor});
#endif
    lesson.steps<Matrix>({.gpu = {1 << 22},
                          .cpu = {3000},
                          .awkward = {{0}, {1}, {2}, {31}, {33}, {257}, {1009}, {4099}}},
                         steps);
    show_matrices(lesson);
    lesson.conclusion(R"(Where all rows have the same length, any division will do.)");
}

}  // namespace examples
