// Lanes that go different ways: how many requests a warp makes depends on where its lanes come together again.
//
// Loops are kept from being unrolled, and the two sides of a branch move elements of different sizes where nvcc would
// otherwise make one access of both.
#include <algorithm>

#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"

namespace ground_truth {

// ---- branches ---------------------------------------------------------------------------------------------------

__global__ void branch_on_parity(const double* wide_in, const float* in, double* wide_out, float* out) {
    const unsigned i = thread_in_grid();
    if (lane_in_warp() % 2 == 1) {
        wide_out[i] = wide_in[i];
    } else {
        out[i] = in[i];
    }
}

__global__ void branch_on_lane_below_8(const double* wide_in, const float* in, double* wide_out, float* out) {
    const unsigned i = thread_in_grid();
    if (lane_in_warp() < 8) {
        wide_out[i] = wide_in[i];
    } else {
        out[i] = in[i];
    }
}

/// No divergence: all lanes of a warp go the same way.
__global__ void branch_on_warp(const double* wide_in, const float* in, double* wide_out, float* out) {
    const unsigned i = thread_in_grid();
    if (warp_in_block() % 2 == 1) {
        wide_out[i] = wide_in[i];
    } else {
        out[i] = in[i];
    }
}

/// After the branch all lanes are together again.
__global__ void together_after_branch(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
    if (lane_in_warp() < 12) {
#pragma unroll 1
        for (unsigned k = 0; k < 3; ++k) sum += in[k * kCount + i];
    }
    out[i] = sum + in[4 * kCount + i];
}

/// Four ways, each with a width of its own.
__global__ void switch_of_four_ways(const unsigned char* in1, const short* in2, const int* in4, const long long* in8,
                                    long long* out) {
    const unsigned i = thread_in_grid();
    long long value = 0;
    switch (lane_in_warp() % 4) {
        case 0:
            value = in1[i];
            break;
        case 1:
            value = in2[i];
            break;
        case 2:
            value = in4[i];
            break;
        default:
            value = in8[i];
            break;
    }
    out[i] = value;
}

/// The second element is read only where the first one is small, the third one only where the second one is large.
__global__ void short_circuit(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    if (in[i] < 500 && in[kCount + i] > 250) out[i] = in[2 * kCount + i];
}

__global__ void early_return_of_half(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    if (lane_in_warp() >= 16) return;
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 3; ++k) sum += in[k * kCount + i];
    out[i] = sum;
}

__noinline__ __device__ int load(const int* in, unsigned place) { return in[place]; }

/// One load instruction, which the two sides of a branch reach by a call.
__global__ void function_called_on_both_sides(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    if (lane_in_warp() < 16) {
        out[i] = load(in, i) + 1;
    } else {
        int sum = 0;
#pragma unroll 1
        for (unsigned k = 0; k < 3; ++k) sum += load(in, k * kCount + i);
        out[i] = sum;
    }
}

// ---- loops ------------------------------------------------------------------------------------------------------

__global__ void loop_count_is_lane(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < lane_in_warp(); ++k) sum += in[k * kCount + i];
    out[i] = sum;
}

/// Lanes wait for each other at the end of each inner loop.
__global__ void nested_loops(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned outer = 0; outer < 4; ++outer) {
#pragma unroll 1
        for (unsigned inner = 0; inner < lane_in_warp() % 5; ++inner) sum += in[(outer * 4 + inner) * kCount + i];
    }
    out[i] = sum;
}

__global__ void nested_loops_both_uneven(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned outer = 0; outer <= lane_in_warp() % 3; ++outer) {
#pragma unroll 1
        for (unsigned inner = 0; inner < (lane_in_warp() + outer) % 4; ++inner) {
            sum += in[(outer * 4 + inner) * kCount + i];
        }
        sum += in[(12 + outer) * kCount + i];
    }
    out[i] = sum;
}

__global__ void nested_loops_with_shared_memory(const int* in, int* out) {
    __shared__ int values[kThreads];
    const unsigned i = thread_in_grid();
    values[threadIdx.x] = in[i];
    __syncthreads();
    int sum = 0;
#pragma unroll 1
    for (unsigned outer = 0; outer < 3; ++outer) {
#pragma unroll 1
        for (unsigned inner = 0; inner < (lane_in_warp() + outer) % 4; ++inner) {
            sum += values[(threadIdx.x * 2 + inner * 32) % kThreads] + in[(outer * 4 + inner) * kCount + i];
        }
    }
    out[i] = sum;
}

/// The second loop is the same for all lanes, which have left the first one at different times.
__global__ void even_loop_after_uneven_loop(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < lane_in_warp() % 6; ++k) sum += in[k * kCount + i];
#pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) sum += in[(8 + k) * kCount + i];
    out[i] = sum;
}

/// How often it goes around depends on what it reads: the number of steps of the Collatz sequence, a look-up each.
__global__ void loop_until_data_says_so(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    unsigned value = static_cast<unsigned>(in[i] % 64 + 1);
    int sum = 0;
#pragma unroll 1
    while (value != 1) {
        sum += in[value];
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    }
    out[i] = sum;
}

__global__ void loop_with_break(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 16; ++k) {
        const int value = in[k * kCount + i];
        if (value % 8 == 0) break;
        sum += value;
    }
    out[i] = sum;
}

__global__ void loop_with_continue(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) {
        if ((k + lane_in_warp()) % 3 == 0) continue;
        sum += in[k * kCount + i];
    }
    out[i] = sum;
}

/// Each lane starts its loop somewhere else; all go around equally often.
__global__ void loop_with_uneven_starts(const int* in, int* out) {
    const unsigned i = thread_in_grid();
    int sum = 0;
#pragma unroll 1
    for (unsigned k = lane_in_warp() % 4; k < lane_in_warp() % 4 + 6; ++k) sum += in[k * kCount + i];
    out[i] = sum;
}

/// Position of a value in a sorted table of 1024: every lane takes ten steps through other places.
constexpr unsigned kSorted = 1024;

__global__ void binary_search(const int* wanted, const int* sorted, int* out) {
    const unsigned i = thread_in_grid();
    const int value = wanted[i];
    unsigned first = 0;
    unsigned count = kSorted;
#pragma unroll 1
    while (count > 0) {
        const unsigned half = count / 2;
        if (sorted[first + half] < value) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    out[i] = static_cast<int>(first);
}

/// Rows of a sparse matrix have 0 to 15 entries; one thread per row.
__global__ void sparse_rows(const unsigned* row_start, const unsigned* cols, const int* in, int* out) {
    const unsigned row = thread_in_grid();
    const unsigned end = row_start[row + 1];
    int sum = 0;
#pragma unroll 1
    for (unsigned k = row_start[row]; k < end; ++k) sum += in[cols[k]];
    out[row] = sum;
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

/// The wide element where `wide(i)`, else the narrow one.
template <class Wide>
void check_branch(void (*kernel)(const double*, const float*, double*, float*), Wide wide) {
    const std::vector<double> wide_in = random_elements<double>(kCount);
    const std::vector<float> in = random_elements<float>(kCount);
    std::vector<double> wide_expected = unwritten<double>(kCount);
    std::vector<float> expected = unwritten<float>(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        if (wide(i)) {
            wide_expected[i] = wide_in[i];
        } else {
            expected[i] = in[i];
        }
    }
    const DeviceBuffer<double> d_wide_in(wide_in);
    const DeviceBuffer<float> d_in(in);
    DeviceBuffer<double> d_wide_out(kCount);
    d_wide_out.fill_bytes(kUnwritten);
    run_and_compare(kernel, {}, expected, d_wide_in.data(), d_in.data(), d_wide_out.data());
    expect_equal(d_wide_out.download(), wide_expected);
}

void check_switch() {
    const auto in1 = random_elements<unsigned char>(kCount);
    const auto in2 = random_elements<short>(kCount);
    const auto in4 = random_elements<int>(kCount);
    const auto in8 = random_elements<long long>(kCount);
    std::vector<long long> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        const unsigned way = i % 4;
        expected[i] = way == 0 ? in1[i] : way == 1 ? in2[i] : way == 2 ? in4[i] : in8[i];
    }
    const DeviceBuffer<unsigned char> d_in1(in1);
    const DeviceBuffer<short> d_in2(in2);
    const DeviceBuffer<int> d_in4(in4);
    const DeviceBuffer<long long> d_in8(in8);
    run_and_compare(switch_of_four_ways, {}, expected, d_in1.data(), d_in2.data(), d_in4.data(), d_in8.data());
}

/// Up to 32 numbers for each thread: the k-th of thread i at k * kCount + i.
struct Numbers {
    std::vector<int> values;

    int operator()(unsigned k, unsigned i) const { return values[k * kCount + i]; }
};

/// `expected(numbers, i, lane)`: what thread i leaves in its output; -1 (every bit set) where it writes nothing.
template <class Expected>
void check_each(void (*kernel)(const int*, int*), Expected expected) {
    const Numbers numbers{warpwise::uniform_integers(kWarpSize * kCount, 5, 0, 999)};
    std::vector<int> all(kCount);
    for (unsigned i = 0; i < kCount; ++i) all[i] = expected(numbers, i, i % kWarpSize);
    const DeviceBuffer<int> d_in(numbers.values);
    run_and_compare(kernel, {}, all, d_in.data());
}

/// Sum of numbers first ... end - 1 of thread i.
int sum(const Numbers& numbers, unsigned i, unsigned first, unsigned end) {
    int total = 0;
    for (unsigned k = first; k < end; ++k) total += numbers(k, i);
    return total;
}

void check_together_after_branch() {
    check_each(together_after_branch, [](const Numbers& numbers, unsigned i, unsigned lane) {
        return (lane < 12 ? sum(numbers, i, 0, 3) : 0) + numbers(4, i);
    });
}

void check_short_circuit() {
    check_each(short_circuit, [](const Numbers& numbers, unsigned i, unsigned) {
        return numbers(0, i) < 500 && numbers(1, i) > 250 ? numbers(2, i) : -1;
    });
}

void check_early_return() {
    check_each(early_return_of_half, [](const Numbers& numbers, unsigned i, unsigned lane) {
        return lane < 16 ? sum(numbers, i, 0, 3) : -1;
    });
}

void check_function_called_on_both_sides() {
    check_each(function_called_on_both_sides, [](const Numbers& numbers, unsigned i, unsigned lane) {
        return lane < 16 ? numbers(0, i) + 1 : sum(numbers, i, 0, 3);
    });
}

void check_loop_count_is_lane() {
    check_each(loop_count_is_lane,
               [](const Numbers& numbers, unsigned i, unsigned lane) { return sum(numbers, i, 0, lane); });
}

void check_nested_loops() {
    check_each(nested_loops, [](const Numbers& numbers, unsigned i, unsigned lane) {
        int total = 0;
        for (unsigned outer = 0; outer < 4; ++outer) total += sum(numbers, i, outer * 4, outer * 4 + lane % 5);
        return total;
    });
}

void check_nested_loops_both_uneven() {
    check_each(nested_loops_both_uneven, [](const Numbers& numbers, unsigned i, unsigned lane) {
        int total = 0;
        for (unsigned outer = 0; outer <= lane % 3; ++outer) {
            total += sum(numbers, i, outer * 4, outer * 4 + (lane + outer) % 4) + numbers(12 + outer, i);
        }
        return total;
    });
}

void check_nested_loops_with_shared_memory() {
    check_each(nested_loops_with_shared_memory, [](const Numbers& numbers, unsigned i, unsigned lane) {
        const unsigned thread = i % kThreads;
        int total = 0;
        for (unsigned outer = 0; outer < 3; ++outer) {
            for (unsigned inner = 0; inner < (lane + outer) % 4; ++inner) {
                total += numbers(0, i - thread + (thread * 2 + inner * 32) % kThreads);
                total += numbers(outer * 4 + inner, i);
            }
        }
        return total;
    });
}

void check_even_loop_after_uneven_loop() {
    check_each(even_loop_after_uneven_loop, [](const Numbers& numbers, unsigned i, unsigned lane) {
        return sum(numbers, i, 0, lane % 6) + sum(numbers, i, 8, 16);
    });
}

void check_loop_until_data_says_so() {
    check_each(loop_until_data_says_so, [](const Numbers& numbers, unsigned i, unsigned) {
        int total = 0;
        for (int value = numbers(0, i) % 64 + 1; value != 1; value = value % 2 == 0 ? value / 2 : 3 * value + 1) {
            total += numbers.values[value];
        }
        return total;
    });
}

void check_loop_with_break() {
    check_each(loop_with_break, [](const Numbers& numbers, unsigned i, unsigned) {
        unsigned end = 0;
        while (end < 16 && numbers(end, i) % 8 != 0) ++end;
        return sum(numbers, i, 0, end);
    });
}

void check_loop_with_continue() {
    check_each(loop_with_continue, [](const Numbers& numbers, unsigned i, unsigned lane) {
        int total = 0;
        for (unsigned k = 0; k < 8; ++k) {
            if ((k + lane) % 3 != 0) total += numbers(k, i);
        }
        return total;
    });
}

void check_loop_with_uneven_starts() {
    check_each(loop_with_uneven_starts, [](const Numbers& numbers, unsigned i, unsigned lane) {
        return sum(numbers, i, lane % 4, lane % 4 + 6);
    });
}

void check_binary_search() {
    const std::vector<int> wanted = warpwise::uniform_integers(kCount, 6, 0, 9999);
    std::vector<int> sorted = warpwise::uniform_integers(kSorted, 7, 0, 9999);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        expected[i] = static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), wanted[i]) - sorted.begin());
    }
    const DeviceBuffer<int> d_wanted(wanted), d_sorted(sorted);
    run_and_compare(binary_search, {}, expected, d_wanted.data(), d_sorted.data());
}

void check_sparse_rows() {
    const std::vector<int> in = warpwise::uniform_integers(kCount, 8, 0, 999);
    const std::vector<unsigned> entries = random_indices(kCount, 16);
    std::vector<unsigned> row_start = {0};
    for (const unsigned count : entries) row_start.push_back(row_start.back() + count);
    const std::vector<unsigned> cols = random_indices(row_start.back(), kCount);
    std::vector<int> expected(kCount, 0);
    for (unsigned row = 0; row < kCount; ++row) {
        for (unsigned k = row_start[row]; k < row_start[row + 1]; ++k) expected[row] += in[cols[k]];
    }
    const DeviceBuffer<unsigned> d_row_start(row_start), d_cols(cols);
    const DeviceBuffer<int> d_in(in);
    run_and_compare(sparse_rows, {}, expected, d_row_start.data(), d_cols.data(), d_in.data());
}

}  // namespace

const std::vector<Case>& divergence_cases() {
    static const std::vector<Case> cases = {
        {"branch_on_parity", [] { check_branch(branch_on_parity, [](unsigned i) { return i % 2 == 1; }); }},
        {"branch_on_lane_below_8",
         [] { check_branch(branch_on_lane_below_8, [](unsigned i) { return i % kWarpSize < 8; }); }},
        {"branch_on_warp", [] { check_branch(branch_on_warp, [](unsigned i) { return i / kWarpSize % 2 == 1; }); }},
        {"together_after_branch", check_together_after_branch},
        {"switch_of_four_ways", check_switch},
        {"short_circuit", check_short_circuit},
        {"early_return_of_half", check_early_return},
        {"function_called_on_both_sides", check_function_called_on_both_sides},
        {"loop_count_is_lane", check_loop_count_is_lane},
        {"nested_loops", check_nested_loops},
        {"nested_loops_both_uneven", check_nested_loops_both_uneven},
        {"nested_loops_with_shared_memory", check_nested_loops_with_shared_memory},
        {"even_loop_after_uneven_loop", check_even_loop_after_uneven_loop},
        {"loop_until_data_says_so", check_loop_until_data_says_so},
        {"loop_with_break", check_loop_with_break},
        {"loop_with_continue", check_loop_with_continue},
        {"loop_with_uneven_starts", check_loop_with_uneven_starts},
        {"binary_search", check_binary_search},
        {"sparse_rows", check_sparse_rows},
    };
    return cases;
}

}  // namespace ground_truth
