// Problem: y = A x for a matrix of which only the elements that are not 0 are stored, row
// after row, each with its column.
//
// An element takes 8 bytes and gives one multiplication and one addition, so only bytes
// count, as for a full matrix (lesson matrix_vector). But rows have different lengths: in
// many graphs most rows are short, and a few are very long. The steps differ in how they
// divide the elements among threads. What a step gives its busiest warp follows from the
// lengths of the rows, so the lesson predicts it, and the counters agree.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "chapters/4_examples/sparse_matrix_vector/loads.h"
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
#include "common/lesson/memory.h"

namespace examples {
namespace {

using warpwise::text_of;

// ---- steps ------------------------------------------------------------------------------

// Step 1, one core, in double.
void serial(Matrix& m) {
    std::vector<float> y(m.row_count());
    for (std::size_t row = 0; row < y.size(); ++row) {
        double sum = 0;
        for (auto k = static_cast<std::size_t>(m.first[row]);
             k < static_cast<std::size_t>(m.first[row + 1]); ++k)
            sum += double{m.values[k]} *
                   double{m.x[static_cast<std::size_t>(m.element_cols[k])]};
        y[row] = static_cast<float>(sum);
    }
    m.d_y.upload(y);
}

void run_thread_per_row(Matrix& m) {
    thread_per_row<<<warpwise::blocks_for(m.row_count(), kThreads), kThreads>>>(
        m.csr(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

template <int Lanes>
void run_lanes_per_row(Matrix& m) {
    lanes_per_row<Lanes>
        <<<warpwise::blocks_for(m.row_count(), kThreads / Lanes), kThreads>>>(
            m.csr(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

void run_adaptive(Matrix& m) {
    if (m.rows == 0) return;
    adaptive<<<static_cast<unsigned>(m.group_count()), kThreads>>>(
        m.csr(), m.d_groups.data(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

template <int Steps, bool Once>
void run_merge_path(Matrix& m) {
    if (m.rows == 0) return;
    const unsigned blocks = m.path_blocks(Steps);
    find_crossings<Steps><<<warpwise::blocks_for(blocks + 1, kThreads), kThreads>>>(
        m.csr(), static_cast<int>(blocks), m.d_crossing_rows.data());
    warpwise::check_launch();
    merge_path<Steps, Once>
        <<<blocks, kThreads>>>(m.csr(), m.d_crossing_rows.data(), m.d_x.data(),
                               m.d_y.data(), m.d_carry_rows.data(), m.d_carries.data());
    warpwise::check_launch();
    add_carries<<<warpwise::blocks_for(blocks, kThreads), kThreads>>>(
        m.d_carry_rows.data(), m.d_carries.data(), static_cast<int>(blocks), m.rows,
        m.d_y.data());
    warpwise::check_launch();
}

void run_sliced_ell(Matrix& m) {
    if (m.rows == 0) return;
    const auto slices = static_cast<std::size_t>(m.slice_count());
    sliced_ell<<<warpwise::blocks_for(slices, kWarps), kThreads>>>(m.sliced(), m.d_x.data(),
                                                                   m.d_y.data());
    warpwise::check_launch();
    const std::size_t parts = m.slices.part_rows.size();
    if (parts == 0) return;
    parts_of_long_rows<<<warpwise::blocks_for(parts, 1), kThreads>>>(
        m.csr(), m.d_part_rows.data(), m.d_part_begins.data(), m.d_x.data(), m.d_y.data());
    warpwise::check_launch();
}

#ifndef __CPU_DEVICE__
// What a user would call instead. Its preparation is not timed, as that of steps 4 and 6 is
// not. A matrix without elements is left to cudaMemset.
class VendorProduct {
public:
    VendorProduct(Matrix& m, cusparseSpMVAlg_t algorithm) : algorithm_(algorithm) {
        static const cusparseHandle_t handle = warpwise::make_cusparse_handle();
        handle_ = handle;
        warpwise::check_cusparse(
            cusparseCreateCsr(&matrix_, m.rows, m.cols, m.elements(), m.d_first.data(),
                              m.d_cols.data(), m.d_values.data(), CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        warpwise::check_cusparse(
            cusparseCreateDnVec(&x_, m.cols, m.d_x.data(), CUDA_R_32F));
        warpwise::check_cusparse(
            cusparseCreateDnVec(&y_, m.rows, m.d_y.data(), CUDA_R_32F));
        std::size_t bytes = 0;
        warpwise::check_cusparse(cusparseSpMV_bufferSize(
            handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
            CUDA_R_32F, algorithm_, &bytes));
        buffer_ = DeviceBuffer<unsigned char>(bytes);
#if CUSPARSE_VERSION >= 12300
        warpwise::check_cusparse(cusparseSpMV_preprocess(
            handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
            CUDA_R_32F, algorithm_, buffer_.data()));
#endif
    }
    VendorProduct(const VendorProduct&) = delete;
    VendorProduct& operator=(const VendorProduct&) = delete;
    ~VendorProduct() {
        (void)cusparseDestroyDnVec(y_);
        (void)cusparseDestroyDnVec(x_);
        (void)cusparseDestroySpMat(matrix_);
    }

    void run() {
        warpwise::check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                              &one_, matrix_, x_, &zero_, y_, CUDA_R_32F,
                                              algorithm_, buffer_.data()));
    }

private:
    cusparseSpMVAlg_t algorithm_;
    float one_ = 1, zero_ = 0;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
    DeviceBuffer<unsigned char> buffer_;
};

template <int Algorithm>
void vendor_cusparse(Matrix& m) {
    if (m.rows == 0) return;
    if (m.elements() == 0) return m.d_y.fill_bytes(0);
    std::shared_ptr<void>& kept = m.vendors[Algorithm - 1];
    if (!kept) {
        kept = std::make_shared<VendorProduct>(
            m, Algorithm == 1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2);
    }
    std::static_pointer_cast<VendorProduct>(kept)->run();
}
#endif

struct Method {
    const char* name;
    const char* change;
    void (*run)(Matrix&);
    Loads (*loads)(const Matrix&);
};
const std::vector<Method> methods = {
    {"thread_per_row", "one thread per row", run_thread_per_row, loads_of_thread_per_row},
    {"warp_per_row", "one warp per row", run_lanes_per_row<kLanes>, loads_of_warp_per_row},
    {"adaptive", "groups of short rows, through shared memory", run_adaptive,
     loads_of_adaptive},
    {"merge_path", "equal parts of a path of elements and ends of rows",
     run_merge_path<kPathSteps, true>, loads_of_merge_path},
    {"sliced_ell", "sorted rows, 32 of them side by side", run_sliced_ell,
     loads_of_sliced_ell},
};

// ---- what each step asks for ------------------------------------------------------------

struct Kind {
    const char* name;
    Rule rule;
};
const std::vector<Kind> kinds = {{"banded", Rule::banded},
                                 {"power law", Rule::power_law},
                                 {"dense row", Rule::dense_row}};

// So few rows that the CPU device counts all blocks of a launch, not a sample of them.
constexpr std::size_t kRows = 2048, kCols = 8192;

// All loads, and those of the busiest warp.
void show_loads(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> all, busiest;
    for (const Method& method : methods) {
        all.push_back({method.name});
        busiest.push_back({method.name});
    }
    for (const Kind& kind : kinds) {
        Matrix m({kRows, kCols}, kind.rule);
        for (std::size_t i = 0; i < methods.size(); ++i) {
            const Loads loads = methods[i].loads(m);
            all[i].push_back(text_of("%.2f", loads.all() * kLanes / m.elements()));
            busiest[i].push_back(std::to_string(loads.busiest()));
            m.poison();
            const auto counts = lesson.count([&] { methods[i].run(m); });
            if (!counts) continue;
            const std::string name = std::string(methods[i].name) + ", " + kind.name + ": ";
            lesson.expect(m.compare().passed, name + "the product is right");
            lesson.expect(counts->global_load.requests == loads.all(),
                          name + "loads, " + text_of("%.0f", counts->global_load.requests) +
                              ", predicted " + text_of("%.0f", loads.all()));
        }
    }
    const std::vector<std::string> header = {"step", kinds[0].name, kinds[1].name,
                                             kinds[2].name};
    lesson.table({"loads", "2048 x 8192: global loads of warps per 32 elements"}, header,
                 all);
    lesson.table({"busiest", "2048 x 8192: loads of values by the busiest warp"}, header,
                 busiest);
}

// Places of slices per element, if rows are sorted in windows of so many rows.
double padding(const Matrix& m, std::size_t window) {
    std::vector<int> lengths(m.row_count());
    for (int row = 0; row < m.rows; ++row) {
        const int length = m.length(row);
        lengths[static_cast<std::size_t>(row)] = length > kLongest ? 0 : length;
    }
    const double elements = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    double places = 0;
    for (std::size_t begin = 0; begin < lengths.size(); begin += window) {
        const std::size_t end = std::min(begin + window, lengths.size());
        if (window > kLanes) {
            std::sort(lengths.begin() + static_cast<std::ptrdiff_t>(begin),
                      lengths.begin() + static_cast<std::ptrdiff_t>(end),
                      [](int a, int b) { return a > b; });
        }
        for (std::size_t slice = begin; slice < end; slice += kLanes) {
            const auto from = lengths.begin() + static_cast<std::ptrdiff_t>(slice);
            const auto count = std::min<std::size_t>(kLanes, lengths.size() - slice);
            places +=
                kLanes * *std::max_element(from, from + static_cast<std::ptrdiff_t>(count));
        }
    }
    return places / elements;
}

void show_padding(warpwise::Lesson& lesson) {
    const std::vector<std::size_t> windows = {32, 256, kWindow};
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t window : windows) rows.push_back({std::to_string(window)});
    for (const Kind& kind : kinds) {
        const Matrix m({kCols, kCols}, kind.rule);
        for (std::size_t i = 0; i < windows.size(); ++i)
            rows[i].push_back(text_of("%.2f", padding(m, windows[i])));
        double stored = 0;
        for (const int length : m.slices.lengths) stored += length;
        const auto places = static_cast<double>(m.slices.cols.size());
        lesson.expect(places / stored == padding(m, kWindow),
                      std::string(kind.name) + ": places of the slices");
    }
    lesson.table({"padding", "8192 x 8192: places in slices per element"},
                 {"rows sorted together", kinds[0].name, kinds[1].name, kinds[2].name},
                 rows);
}

// ---- other matrices, and other numbers --------------------------------------------------

struct Contender {
    const char* name;
    void (*run)(Matrix&);
};
const std::vector<Contender> contenders = {
    {"thread_per_row", run_thread_per_row},
    {"warp_per_row", run_lanes_per_row<kLanes>},
    {"8 lanes per row", run_lanes_per_row<8>},
    {"4 lanes per row", run_lanes_per_row<4>},
    {"adaptive", run_adaptive},
    {"merge_path", run_merge_path<kPathSteps, true>},
    {"  without __ldcs", run_merge_path<kPathSteps, false>},
    {"  5 steps per thread", run_merge_path<5, true>},
    {"  11 steps per thread", run_merge_path<11, true>},
    {"sliced_ell", run_sliced_ell},
#ifndef __CPU_DEVICE__
    {"cusparseSpMV, algorithm 1", vendor_cusparse<1>},
    {"cusparseSpMV, algorithm 2", vendor_cusparse<2>},
#endif
};

void expect_right(warpwise::Lesson& lesson, const Contender& contender, Matrix& m,
                  const std::string& of) {
    m.poison();
    contender.run(m);
    lesson.expect(m.compare().passed, std::string(contender.name) + ": right, " + of);
}

void check_rules(warpwise::Lesson& lesson) {
    for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{1, 1},
                                     {1, 5000},
                                     {33, 31},
                                     {257, 3000},
                                     {3000, 257},
                                     {5000, 1}}) {
        for (const Kind& kind : std::vector<Kind>{{"no elements", Rule::no_elements},
                                                  {"last row only", Rule::last_row},
                                                  {"banded", Rule::banded},
                                                  {"power law", Rule::power_law},
                                                  {"dense row", Rule::dense_row}}) {
            Matrix m({rows, cols}, kind.rule);
            for (const Contender& contender : contenders)
                expect_right(
                    lesson, contender, m,
                    std::to_string(rows) + " x " + std::to_string(cols) + ", " + kind.name);
        }
    }
}

// GB/s of the bytes that the product needs at least, measured in turn.
void show_matrices(warpwise::Lesson& lesson) {
    if (!lesson.measures()) {
        lesson.show_recorded("matrices");
        return;
    }
    const std::size_t count =
        warpwise::halve_to_fit(std::size_t{1} << 22, 4096, [](std::size_t rows) {
            return Matrix::device_bytes({rows, rows});
        });
    std::vector<std::vector<std::string>> rows;
    for (const Contender& contender : contenders) rows.push_back({contender.name});
    for (const Kind& kind : kinds) {
        Matrix m({count, count}, kind.rule);
        std::vector<warpwise::Candidate> candidates;
        for (const Contender& contender : contenders) {
            candidates.push_back({[&m, &contender] { contender.run(m); }});
            expect_right(lesson, contender, m, kind.name);
        }
        const auto timings =
            warpwise::measure_in_turn(candidates, {.samples = 20, .seconds = 0.2});
        for (std::size_t i = 0; i < timings.size(); ++i)
            rows[i].push_back(text_of("%.0f", m.work().bytes / timings[i].median * 1e-9));
        for (const Contender& contender : contenders)
            expect_right(lesson, contender, m, std::string(kind.name) + ", after timing");
    }
    lesson.table({"matrices", "GB/s for " + std::to_string(count) + " rows and columns"},
                 {"step", kinds[0].name, kinds[1].name, kinds[2].name}, rows);
}

}  // namespace

void sparse_matrix_vector(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A sparse matrix stores only the elements that are not 0, row after row. Three
matrices have 2048 rows and 8192 columns: "banded" has 27 elements in each row, "power law"
has a few long rows among many short ones, and "dense row" has 16 elements in each row, but
all 8192 in one. How many loads does each step need, and how many of them are the busiest
warp's?)");
    lesson.predict(
        {.question = R"(A matrix has 16 elements in each row, but one row has all 8192. One
warp computes one row, and a load takes 32 neighboring elements. How many loads of values
does the busiest warp issue?)",
         .answer =
             warpwise::Number{
                 .value = 256,
                 .unit = "loads",
                 .shown_by = warpwise::TableCell{"busiest", {"warp_per_row"}, "dense row"}},
         .because = R"(8192 / 32. All other warps issue one load each, with half of their
lanes.)"});
    lesson.predict(
        {.question = R"(A step lines up the elements of all rows and the ends of rows. Each
thread takes 7 neighbors of this line, and a load takes 32 elements. How many loads of
values does the busiest warp issue, for the matrix with one long row?)",
         .answer =
             warpwise::Number{
                 .value = 7,
                 .unit = "loads",
                 .shown_by = warpwise::TableCell{"busiest", {"merge_path"}, "dense row"}},
         .because = R"(A warp has 32 x 7 places of the line. If all of them are elements,
these are 7 loads. How long a row is does not matter.)"});
    show_loads(lesson);
    check_rules(lesson);
    lesson.conclusion(
        R"(Each element needs a value, a column, and an element of x, so 3 loads per 32
elements would be enough. One thread per row needs more where lanes wait for the longest of
32 rows, and one warp per row where rows are shorter than 32. Only merge_path gives all
warps the same work, whatever the rows are. Where there are counters, they agree
exactly.)");
    lesson.question(
        R"(Slices give each lane a row of its own, and pad 32 rows to the length of the
longest one. How much room does that take, with sorting and without?)");
    lesson.predict(
        {.question = R"(A slice pads 32 rows to the longest one. 31 of its rows have 4
elements, and one has 100. How many places does the slice have?)",
         .answer = warpwise::Number{.value = 3200, .unit = "places"},
         .because = R"(32 times 100, for 224 elements. Lanes skip their padding, but the
warp still takes 100 turns.)"});
    show_padding(lesson);
    lesson.conclusion(
        R"(Where all rows have the same length, nothing is padded. Where lengths differ,
sorting puts rows of about the same length into a slice. A window of 4096 rows is enough for
that, and keeps the results of a slice close to each other in y.)");
    lesson.question(
        R"(How fast are the steps on a GPU, for a matrix whose lengths follow the power law?
Its columns are all over the matrix, so each element of x is a sector of its own.)");
    lesson.predict(
        {.question = R"(Most rows of a large matrix are short, a few have thousands of
elements, and one in eight is empty. Which step is the fastest on a GPU?)",
         .answer = warpwise::Fastest{{"thread_per_row", "warp_per_row", "adaptive",
                                      "merge_path", "sliced_ell"}},
         .because = R"(An element of x costs a sector in all steps, from the L2 cache if
x fits there. What differs is how many such loads are in flight, and whether some warps have
more work than others.)"});
    std::vector<warpwise::Step<Matrix>> steps = {
        {"serial", "a loop on one core, in double", serial, warpwise::StepKind::host}};
    for (const Method& method : methods)
        steps.push_back({method.name, method.change, method.run});
#ifndef __CPU_DEVICE__
    steps.push_back({"cusparse_1", "cusparseSpMV, CUSPARSE_SPMV_CSR_ALG1",
                     vendor_cusparse<1>, warpwise::StepKind::vendor});
    steps.push_back({"cusparse_2", "cusparseSpMV, CUSPARSE_SPMV_CSR_ALG2",
                     vendor_cusparse<2>, warpwise::StepKind::vendor});
#endif
    lesson.steps<Matrix>({.gpu = {1 << 22, 1 << 22},
                          .cpu = {3000, 3000},
                          .awkward = {{0, 0},
                                      {0, 5},
                                      {5, 0},
                                      {1, 1},
                                      {2, 3},
                                      {31, 33},
                                      {33, 31},
                                      {257, 1000},
                                      {1009, 1009},
                                      {4099, 701}}},
                         steps);
    show_matrices(lesson);
    lesson.conclusion(
        R"(With rows of equal lengths, slices are hard to beat: nothing is searched or
exchanged. With rows of all lengths, the work has to be divided by elements and not by rows.
merge_path does so for each matrix as it is. sliced_ell needs the matrix in another format,
which pays for itself when many products follow.)");
}

}  // namespace examples
