// Edit distance of two texts by dynamic programming. Cell (i, j) of the table needs its neighbors above, to the left
// and on the diagonal, so all cells of one anti-diagonal can be computed at a time:
//
//   cells    one launch an anti-diagonal of cells; three anti-diagonals are kept
//   tiles    one launch an anti-diagonal of 16 x 16 tiles; a block works through its tile in shared memory
//
// Usage: levenshtein [text text]     without texts: pairs with a known distance, and long random ones

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

void throw_on_error(cudaError_t code, const char* file, int line) {
    if (code != cudaSuccess) {
        std::cerr << file << ':' << line << ": " << cudaGetErrorName(code) << ", " << cudaGetErrorString(code) << '\n';
        std::exit(EXIT_FAILURE);
    }
}
#define CHECK(code) throw_on_error((code), __FILE__, __LINE__)
#define LAUNCH(kernel, grid, block, ...)         \
    do {                                         \
        kernel<<<(grid), (block)>>>(__VA_ARGS__); \
        CHECK(cudaGetLastError());               \
    } while (0)

/// Device memory as a unique_ptr; the deleter is a function.
template <typename T>
using DevicePtr = std::unique_ptr<T, void (*)(T*)>;
template <typename T>
DevicePtr<T> device_array(std::size_t count) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T)));
    return {static_cast<T*>(memory), [](T* p) { cudaFree(p); }};
}
DevicePtr<char> to_device(std::string_view text) {
    auto copy = device_array<char>(text.size());
    if (!text.empty()) CHECK(cudaMemcpy(copy.get(), text.data(), text.size(), cudaMemcpyHostToDevice));
    return copy;
}

struct Texts {
    const char* a;
    const char* b;
    int rows, columns;  // lengths
};

template <typename T, typename... Others>
__host__ __device__ constexpr T least(T result, Others... others) {
    ((result = others < result ? others : result), ...);
    return result;
}

// Anti-diagonal d holds the cells with i + j == d, each at index i.
__global__ void cells_of_diagonal(Texts t, int d, const int* before_last, const int* last, int* now) {
    const int first = d > t.columns ? d - t.columns : 0;
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x, j = d - i;
    if (i > t.rows || j < 0) return;
    if (i == 0 || j == 0) {
        now[i] = d;
    } else {
        const int differs = t.a[i - 1] != t.b[j - 1];
        now[i] = least(last[i - 1] + 1, last[i] + 1, before_last[i - 1] + differs);
    }
}

int distance_by_cells(std::string_view a, std::string_view b) {
    const auto d_a = to_device(a), d_b = to_device(b);
    const Texts texts{d_a.get(), d_b.get(), static_cast<int>(a.size()), static_cast<int>(b.size())};
    std::array<DevicePtr<int>, 3> diagonals{device_array<int>(a.size() + 1), device_array<int>(a.size() + 1),
                                            device_array<int>(a.size() + 1)};
    const int last = texts.rows + texts.columns;
    for (int d = 0; d <= last; ++d) {
        const int first = std::max(0, d - texts.columns), cells = std::min(d, texts.rows) - first + 1;
        auto& [before, previous, now] = diagonals;
        LAUNCH(cells_of_diagonal, (cells + 63) / 64, 64, texts, d, before.get(), previous.get(), now.get());
        std::rotate(diagonals.begin(), diagonals.begin() + 1, diagonals.end());
    }
    int result = -1;
    CHECK(cudaMemcpy(&result, diagonals[1].get() + texts.rows, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

// One block a tile of the anti-diagonal of tiles; the whole table lies in memory, `pitch` ints from row to row.
template <int kTile>
__global__ __launch_bounds__(kTile) void tiles_of_diagonal(Texts t, int diagonal, int first, int* table, int pitch) {
    __shared__ int cell[kTile + 1][kTile + 1];
    __shared__ char row_text[kTile], column_text[kTile];
    const int tile_row = first + blockIdx.x, tile_column = diagonal - tile_row;
    const int top = tile_row * kTile, left = tile_column * kTile, k = threadIdx.x;

    // The borders above and to the left are ready: other tiles, or the table's edge.
    const auto load = [&](int i, int j) { return i <= t.rows && j <= t.columns ? table[i * pitch + j] : 0; };
    cell[k + 1][0] = load(top + k + 1, left);
    cell[0][k + 1] = load(top, left + k + 1);
    if (k == 0) cell[0][0] = load(top, left);
    row_text[k] = top + k < t.rows ? t.a[top + k] : '\0';
    column_text[k] = left + k < t.columns ? t.b[left + k] : '\0';
    __syncthreads();

    for (int d = 0; d < 2 * kTile - 1; ++d) {
        const int i = k + 1, j = d - k + 1;
        if (j >= 1 && j <= kTile) {
            const int differs = row_text[i - 1] == column_text[j - 1] ? 0 : 1;
            cell[i][j] = least(cell[i - 1][j] + 1, cell[i][j - 1] + 1, cell[i - 1][j - 1] + differs);
        }
        __syncthreads();
    }
    for (int i = 1; i <= kTile; ++i)
        if (top + i <= t.rows && left + k + 1 <= t.columns) table[(top + i) * pitch + left + k + 1] = cell[i][k + 1];
}

__global__ void edges(int* table, int rows, int columns, int pitch) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= rows) table[i * pitch] = i;
    if (i > 0 && i <= columns) table[i] = i;
}

int distance_by_tiles(std::string_view a, std::string_view b) {
    constexpr int tile = 16;
    const auto d_a = to_device(a), d_b = to_device(b);
    const int rows = static_cast<int>(a.size()), columns = static_cast<int>(b.size()), pitch = columns + 1;
    const auto table = device_array<int>(std::size_t(rows + 1) * pitch);
    LAUNCH(edges, std::max(rows, columns) / 128 + 1, 128, table.get(), rows, columns, pitch);
    const int tile_rows = (rows + tile - 1) / tile, tile_columns = (columns + tile - 1) / tile;
    for (int d = 0; d < tile_rows + tile_columns - 1 && rows > 0 && columns > 0; ++d) {
        const int first = std::max(0, d - tile_columns + 1), end = std::min(d, tile_rows - 1) + 1;
        tiles_of_diagonal<tile><<<end - first, tile>>>({d_a.get(), d_b.get(), rows, columns}, d, first, table.get(),
                                                       pitch);
        CHECK(cudaPeekAtLastError());
    }
    int result = -1;
    CHECK(cudaMemcpy(&result, table.get() + std::size_t(rows) * pitch + columns, sizeof(int), cudaMemcpyDeviceToHost));
    return result;
}

int distance_on_host(std::string_view a, std::string_view b) {
    std::vector<int> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        int diagonal = std::exchange(row[0], static_cast<int>(i));
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

std::string random_text(std::size_t length, std::uint32_t seed) {
    std::string text(length, ' ');
    for (char& c : text) c = "ACGT"[(seed = seed * 1664525u + 1013904223u) >> 30];
    return text;
}

}  // namespace

int main(int argc, char* argv[]) {
    using Method = std::function<int(std::string_view, std::string_view)>;
    const std::tuple<const char*, Method> methods[] = {{"cells", distance_by_cells}, {"tiles", distance_by_tiles}};
    if (argc == 3) {
        for (const auto& [name, method] : methods) std::cout << name << ": " << method(argv[1], argv[2]) << '\n';
        return 0;
    }
    struct Pair {
        std::string a, b;
        int known = -1;
    };
    const std::vector<Pair> pairs = {{"kitten", "sitting", 3},
                                     {"intention", "execution", 5},
                                     {"", "abc", 3},
                                     {"same", "same", 0},
                                     {random_text(100, 1), random_text(90, 2)},
                                     {random_text(33, 3), random_text(130, 4)}};
    int wrong = 0;
    for (const auto& [a, b, known] : pairs) {
        const int expected = known >= 0 ? known : distance_on_host(a, b);
        std::cout << std::setw(3) << a.size() << " x " << std::left << std::setw(3) << b.size() << std::right;
        for (const auto& [name, method] : methods) {
            const int distance = method(a, b);
            std::cout << "  " << name << ' ' << std::setw(3) << distance;
            wrong += distance != expected;
        }
        std::cout << "  expected " << expected << '\n';
    }
    std::cout << (wrong == 0 ? "PASSED" : "FAILED") << '\n';
    return wrong == 0 ? 0 : 1;
}
