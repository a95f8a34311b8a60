// What the lesson sparse_matrix_vector predicts from the lengths of the rows: how many
// loads each warp of a step issues.
//
//     const Loads loads = loads_of_merge_path(matrix);
//     loads.busiest();    // loads of values by the warp that has most of them
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "chapters/4_examples/sparse_matrix_vector/matrix.h"

namespace examples {
namespace {

struct Loads {
    std::vector<int> of_values;  // by each warp
    double others = 0;           // neither values, nor columns, nor elements of x

    // Each load of values goes with one of columns and one of x.
    double all() const {
        double sum = others;
        for (const int loads : of_values) sum += 3 * loads;
        return sum;
    }
    int busiest() const {
        return of_values.empty() ? 0
                                 : *std::max_element(of_values.begin(), of_values.end());
    }
};

// Turns that a warp of a block takes for `count` neighbors, one per thread and turn.
inline int turns(int count, int warp) {
    return std::max(0, (count - warp * kLanes + kThreads - 1) / kThreads);
}

inline Loads loads_of_thread_per_row(const Matrix& m) {
    Loads loads;
    for (int row = 0; row < m.rows; row += kLanes) {
        int longest = 0;
        for (int lane = 0; lane < kLanes && row + lane < m.rows; ++lane)
            longest = std::max(longest, m.length(row + lane));
        loads.of_values.push_back(longest);
        loads.others += 2;  // two entries of `first`
    }
    return loads;
}

inline Loads loads_of_warp_per_row(const Matrix& m) {
    Loads loads;
    for (int row = 0; row < m.rows; ++row) {
        loads.of_values.push_back((m.length(row) + kLanes - 1) / kLanes);
        loads.others += 2;
    }
    return loads;
}

inline Loads loads_of_adaptive(const Matrix& m) {
    Loads loads;
    for (std::size_t group = 1; group < m.groups.size(); ++group) {
        const int begin = m.groups[group - 1], end = m.groups[group];
        const int elements = m.first_of(end) - m.first_of(begin);
        for (int warp = 0; warp < kWarps; ++warp) {
            loads.of_values.push_back(turns(elements, warp));
            loads.others += 4;  // two of `groups`, two of `first`
            if (elements <= kStream) loads.others += 2 * turns(end - begin, warp);
        }
    }
    return loads;
}

// The search of find_crossings: where it ends, and how many entries of `first` it loads.
struct Search {
    int row, loads;
};

inline Search search(const Matrix& m, long long steps) {
    long long low = std::max(steps - m.elements(), 0LL);
    long long high = std::min(steps, static_cast<long long>(m.rows));
    int loads = 0;
    for (; low < high; ++loads) {
        const long long middle = (low + high) / 2;
        if (middle + m.first_of(static_cast<int>(middle) + 1) < steps)
            low = middle + 1;
        else
            high = middle;
    }
    return {static_cast<int>(low), loads};
}

inline Loads loads_of_merge_path(const Matrix& m) {
    Loads loads;
    const long long tile = kThreads * kPathSteps, all = m.rows + m.elements();
    const int blocks = static_cast<int>(m.path_blocks(kPathSteps));
    int longest_search = 0;  // of the lanes of a warp
    for (int block = 0; block <= blocks; ++block) {
        const Search begin = search(m, std::min(block * tile, all));
        longest_search = std::max(longest_search, begin.loads);
        if (block % kLanes == kLanes - 1 || block == blocks) {
            loads.others += longest_search;
            longest_search = 0;
        }
        if (block == blocks) break;
        const long long end = std::min((block + 1) * tile, all);
        const int rows = search(m, end).row - begin.row;
        const int elements = static_cast<int>(end - block * tile) - rows;
        for (int warp = 0; warp < kWarps; ++warp) {
            loads.of_values.push_back(turns(elements, warp));
            loads.others += 2 + turns(rows, warp);  // two crossings, and `first`
        }
        if (block % kLanes == 0) loads.others += 2;  // by add_carries
    }
    return loads;
}

inline Loads loads_of_sliced_ell(const Matrix& m) {
    Loads loads;
    for (std::size_t slice = 0; slice < m.slices.begin.size(); ++slice) {
        loads.of_values.push_back(m.slices.longest(slice));
        loads.others += 3;  // the row, its length, and where the slice begins
    }
    for (std::size_t part = 0; part < m.slices.part_rows.size(); ++part) {
        const int begin = m.slices.part_begins[part];
        const int end = m.first_of(m.slices.part_rows[part] + 1);
        for (int warp = 0; warp < kWarps; ++warp) {
            loads.of_values.push_back(turns(std::min(kPart, end - begin), warp));
            loads.others += 3;  // the row, where the part begins, and the end of the row
        }
    }
    return loads;
}

}  // namespace
}  // namespace examples
