// Shared memory cut into arrays, viewed as other types, used again for something else, and filled only where it is
// read.
#include <cstdint>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

constexpr int kThreads = 64;

// ---- cut into arrays -----------------------------------------------------------------------------------------

/// The widest type first, so that every array is aligned.
__global__ void several_arrays(const float* in, double* sums, int n) {
    extern __shared__ double wide[];
    float* const values = reinterpret_cast<float*>(wide + n);
    auto* const order = reinterpret_cast<short*>(values + n);
    auto* const small = reinterpret_cast<bool*>(order + n);
    const int thread = threadIdx.x;
    if (thread < n) {
        wide[thread] = 1000.0 * thread;
        values[thread] = in[thread];
        order[thread] = static_cast<short>(n - 1 - thread);
        small[thread] = in[thread] < 10;
    }
    __syncthreads();
    if (thread < n) {
        const int other = order[thread];
        sums[thread] = small[other] ? wide[other] + values[other] : -1;
    }
}

void dynamic_memory_cut_into_four_arrays() {
    constexpr int n = 37;
    DeviceBuffer<float> d_in(sequence<float>(n, [](int i) { return i; }));
    DeviceBuffer<double> d_sums(n);
    constexpr std::size_t bytes = n * (sizeof(double) + sizeof(float) + sizeof(short) + sizeof(bool));
    several_arrays<<<1, kThreads, bytes>>>(d_in.data(), d_sums.data(), n);
    check_finished();
    expect_equal(d_sums.download(),
                 sequence<double>(n, [](int i) { return n - 1 - i < 10 ? 1001.0 * (n - 1 - i) : -1.0; }));
}

__global__ void static_beside_dynamic(const int* in, int* out) {
    extern __shared__ int copies[];
    __shared__ int offset;
    __shared__ int doubled[kThreads];
    const int thread = threadIdx.x;
    if (thread == 5) offset = in[5];
    copies[thread] = in[thread];
    copies[thread + kThreads] = -in[thread];
    doubled[thread] = 2 * in[thread];
    __syncthreads();
    const int other = kThreads - 1 - thread;
    out[thread] = copies[other] + copies[other + kThreads] + doubled[other] + offset;
}

void static_and_dynamic_arrays_together() {
    DeviceBuffer<int> d_in(sequence<int>(kThreads, [](int i) { return i; })), d_out(kThreads);
    static_beside_dynamic<<<1, kThreads, 2 * kThreads * sizeof(int)>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(kThreads, [](int i) { return 2 * (kThreads - 1 - i) + 5; }));
}

__global__ void look_up_in_large_table(int* out, int n) {
    extern __shared__ int table[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) table[i] = i * 3;
    __syncthreads();
    out[threadIdx.x] = table[n - 1 - 160 * static_cast<int>(threadIdx.x)];
}

void more_than_48_kb_on_request() {
    constexpr int n = 16000;
    DeviceBuffer<int> d_out(100);
    check(cudaFuncSetAttribute(look_up_in_large_table, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(int)));
    look_up_in_large_table<<<1, 100, n * sizeof(int)>>>(d_out.data(), n);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(100, [](int i) { return 3 * (n - 1 - 160 * i); }));
}

// ---- filled where it is read ---------------------------------------------------------------------------------

__global__ void transpose_padded(const int* in, int* out, int rows, int cols) {
    __shared__ int tile[16][17];  // nobody touches the last column
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();
    col = blockIdx.x * 16 + threadIdx.y;
    row = blockIdx.y * 16 + threadIdx.x;
    if (row < rows && col < cols) out[col * rows + row] = tile[threadIdx.x][threadIdx.y];
}

void padded_column_is_never_touched() {
    constexpr int rows = 30, cols = 41;
    DeviceBuffer<int> d_in(sequence<int>(rows * cols, [](int i) { return i; })), d_out(rows * cols);
    transpose_padded<<<dim3(3, 2), dim3(16, 16)>>>(d_in.data(), d_out.data(), rows, cols);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(rows * cols, [](int i) { return i % rows * cols + i / rows; }));
}

__global__ void smooth_with_halo(const float* in, float* out, int n) {
    __shared__ float values[kThreads + 4];
    const int thread = threadIdx.x, i = blockIdx.x * kThreads + thread;
    values[thread + 2] = i < n ? in[i] : 0;
    if (thread < 2) {
        values[thread] = i >= 2 ? in[i - 2] : 0;
        values[kThreads + 2 + thread] = i + kThreads < n ? in[i + kThreads] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int offset = 0; offset < 5; ++offset) sum += values[thread + offset];
    if (i < n) out[i] = sum;
}

void halo_loaded_by_the_first_threads() {
    constexpr int n = 150;
    const auto values = scrambled<float>(n, 20);
    DeviceBuffer<float> d_in(values), d_out(n);
    smooth_with_halo<<<3, kThreads>>>(d_in.data(), d_out.data(), n);
    check_finished();
    expect_equal(d_out.download(), sequence<float>(n, [&](int i) {
                     float sum = 0;
                     for (int other = i - 2; other <= i + 2; ++other)
                         sum += other >= 0 && other < n ? values[other] : 0;
                     return sum;
                 }));
}

/// Only the first `count` places are filled, and only they are read.
__global__ void median_of_positive(const int* values, int* medians) {
    __shared__ int positive[kThreads];
    __shared__ int count;
    const int thread = threadIdx.x;
    if (thread == 0) count = 0;
    __syncthreads();
    const int value = values[blockIdx.x * kThreads + thread];
    if (value > 0) positive[atomicAdd(&count, 1)] = value;
    __syncthreads();
    if (value <= 0) return;
    int smaller = 0;
    for (int i = 0; i < count; ++i) smaller += positive[i] < value;
    if (smaller == count / 2) medians[blockIdx.x] = value;
}

void only_the_filled_part_is_read() {
    DeviceBuffer<int> d_values(sequence<int>(2 * kThreads, [](int i) { return i * 37 % 128 - 100 + i / 64 * 50; }));
    DeviceBuffer<int> d_medians(2);
    median_of_positive<<<2, kThreads>>>(d_values.data(), d_medians.data());
    check_finished();
    std::vector<int> expected;
    for (int block = 0; block < 2; ++block) {
        std::vector<int> positive;
        for (int i = 64 * block; i < 64 * block + 64; ++i) {
            if (const int value = i * 37 % 128 - 100 + i / 64 * 50; value > 0) positive.push_back(value);
        }
        for (const int value : positive) {
            int smaller = 0;
            for (const int other : positive) smaller += other < value;
            if (smaller == static_cast<int>(positive.size()) / 2) expected.push_back(value);
        }
    }
    expect_equal(d_medians.download(), expected);
}

/// Row i of a triangle has i + 1 elements; rows lie one behind the other without gaps.
__global__ void triangle(int* sums) {
    __shared__ int elements[32 * 33 / 2];
    const int row = threadIdx.x;
    for (int col = 0; col <= row; ++col) elements[row * (row + 1) / 2 + col] = col;
    __syncthreads();
    int sum = 0;
    for (int below = row; below < 32; ++below) sum += elements[below * (below + 1) / 2 + row];
    sums[row] = sum;
}

void triangle_without_gaps() {
    DeviceBuffer<int> d_sums(32);
    triangle<<<1, 32>>>(d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), sequence<int>(32, [](int i) { return i * (32 - i); }));
}

// ---- viewed as other types -----------------------------------------------------------------------------------

__global__ void quads_of_floats(const float* in, float* out) {
    __shared__ alignas(16) float values[4 * kThreads];
    const int thread = threadIdx.x;
    for (int part = 0; part < 4; ++part) values[part * kThreads + thread] = in[part * kThreads + thread];
    __syncthreads();
    const float4 quad = reinterpret_cast<const float4*>(values)[thread];
    reinterpret_cast<float4*>(out)[thread] = make_float4(quad.w, quad.z, quad.y, quad.x);
}

void floats_written_singly_read_four_at_a_time() {
    DeviceBuffer<float> d_in(sequence<float>(4 * kThreads, [](int i) { return i; })), d_out(4 * kThreads);
    quads_of_floats<<<1, kThreads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(4 * kThreads, [](int i) { return i ^ 3; }));
}

union Bits {
    float number;
    std::uint32_t bits;
    unsigned char bytes[4];
};

__global__ void exponents(const float* in, int* out) {
    __shared__ Bits values[kThreads];
    const int thread = threadIdx.x, other = kThreads - 1 - thread;
    values[thread].number = in[thread];
    __syncthreads();
    const int exponent = static_cast<int>(values[other].bits >> 23) - 127;
    const int high_byte = values[other].bytes[3];
    out[thread] = 1000 * exponent + high_byte;
}

void bits_of_floats_through_a_union() {
    DeviceBuffer<float> d_in(sequence<float>(kThreads, [](int i) { return 1 << i % 20; }));
    DeviceBuffer<int> d_out(kThreads);
    exponents<<<1, kThreads>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(kThreads, [](int i) {
                     const int exponent = (kThreads - 1 - i) % 20;
                     return 1000 * exponent + (127 + exponent) / 2;
                 }));
}

/// Three bytes of padding behind `label`, copied with the rest although nobody ever writes them.
struct Sample {
    char label;
    float value;
    short rank;
};

__global__ void reverse_samples(const float* values, Sample* out) {
    __shared__ Sample samples[kThreads];
    const int thread = threadIdx.x;
    samples[thread].label = static_cast<char>('a' + thread % 26);
    samples[thread].value = values[thread];
    samples[thread].rank = static_cast<short>(thread);
    __syncthreads();
    out[thread] = samples[kThreads - 1 - thread];
}

void structures_with_padding_are_copied_whole() {
    DeviceBuffer<float> d_values(sequence<float>(kThreads, [](int i) { return 0.5f * i; }));
    DeviceBuffer<Sample> d_out(std::vector<Sample>(kThreads, Sample{}));
    reverse_samples<<<1, kThreads>>>(d_values.data(), d_out.data());
    check_finished();
    const std::vector<Sample> samples = d_out.download();
    for (int i = 0; i < kThreads; ++i) {
        const int from = kThreads - 1 - i;
        expect_equal<int>(samples[i].label, 'a' + from % 26);
        expect_equal(samples[i].value, 0.5f * from);
        expect_equal<int>(samples[i].rank, from);
    }
}

/// Copied by one load of 8 bytes, of which 3 are padding.
struct alignas(8) Tagged {
    char tag;
    int value;
};

__global__ void make_pixels(uchar4* pixels, Tagged* tagged) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    pixels[i].x = static_cast<unsigned char>(i);
    pixels[i].y = static_cast<unsigned char>(i >> 8);
    pixels[i].z = 7;  // and no alpha
    tagged[i].tag = 'a';
    tagged[i].value = static_cast<int>(i);
}

__global__ void use_pixels(const uchar4* pixels, const Tagged* tagged, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uchar4 pixel = pixels[i];
    const Tagged one = tagged[i];
    out[i] = pixel.x + 256 * pixel.y + pixel.z + (one.tag == 'a' ? one.value : 0);
}

void structures_with_padding_in_a_large_grid() {
    constexpr int count = 600 * 32;
    DeviceBuffer<uchar4> d_pixels(count);
    DeviceBuffer<Tagged> d_tagged(count);
    DeviceBuffer<int> d_out(count);
    make_pixels<<<count / 32, 32>>>(d_pixels.data(), d_tagged.data());
    use_pixels<<<count / 32, 32>>>(d_pixels.data(), d_tagged.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<int>(count, [](int i) { return 2 * i + 7; }));
}

__global__ void write_bytes(unsigned char* bytes) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    bytes[i] = 1;
}

__global__ void sum_words(const unsigned* words, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = words[i];
}

void words_written_byte_by_byte() {
    constexpr int count = 400 * 64;
    DeviceBuffer<unsigned> d_words(count), d_out(count);
    write_bytes<<<4 * count / 64, 64>>>(reinterpret_cast<unsigned char*>(d_words.data()));
    sum_words<<<count / 64, 64>>>(d_words.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), std::vector<unsigned>(count, 0x01010101u));
}

// ---- used again ----------------------------------------------------------------------------------------------

/// First counters, then positions, then values: a barrier before each new use.
__global__ void counting_sort(int* values) {
    __shared__ int memory[kThreads];
    const int thread = threadIdx.x;
    const int value = values[thread];  // below 8
    if (thread < 8) memory[thread] = 0;
    __syncthreads();
    const int rank = atomicAdd(&memory[value], 1);
    __syncthreads();
    int start = 0;
    for (int smaller = 0; smaller < value; ++smaller) start += memory[smaller];
    __syncthreads();
    float* const sorted = reinterpret_cast<float*>(memory);
    sorted[start + rank] = static_cast<float>(value);
    __syncthreads();
    values[thread] = static_cast<int>(sorted[thread]);
}

void same_memory_holds_counters_then_floats() {
    std::vector<int> values = scrambled(kThreads, 8), expected;
    DeviceBuffer<int> d_values(values);
    counting_sort<<<1, kThreads>>>(d_values.data());
    check_finished();
    for (int value = 0; value < 8; ++value) {
        for (const int other : values) {
            if (other == value) expected.push_back(value);
        }
    }
    expect_equal(d_values.download(), expected);
}

template <class T>
__global__ void reverse_any(T* values) {
    __shared__ T copies[kThreads];
    copies[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = copies[kThreads - 1 - threadIdx.x];
}

template <class T>
void check_reversal() {
    DeviceBuffer<T> d_values(sequence<T>(kThreads, [](int i) { return i; }));
    reverse_any<<<1, kThreads>>>(d_values.data());
    check_finished();
    expect_equal(d_values.download(), sequence<T>(kThreads, [](int i) { return kThreads - 1 - i; }));
}

void one_shared_array_for_each_type() {
    check_reversal<char>();
    check_reversal<short>();
    check_reversal<float>();
    check_reversal<long long>();
}

}  // namespace

CaseList shared_layouts() {
    return {
        __FILE__,
        {
            {"dynamic_memory_cut_into_four_arrays", "the widest type comes first", dynamic_memory_cut_into_four_arrays},
            {"static_and_dynamic_arrays_together", "two kinds of shared memory, no overlap",
             static_and_dynamic_arrays_together},
            {"more_than_48_kb_on_request", "cudaFuncSetAttribute allows it", more_than_48_kb_on_request},
            {"padded_column_is_never_touched", "unwritten, but unread, too", padded_column_is_never_touched},
            {"halo_loaded_by_the_first_threads", "every element that is read was written",
             halo_loaded_by_the_first_threads},
            {"only_the_filled_part_is_read", "as many elements as were counted", only_the_filled_part_is_read},
            {"triangle_without_gaps", "rows of different lengths", triangle_without_gaps},
            {"floats_written_singly_read_four_at_a_time", "four writers, a barrier, one reader",
             floats_written_singly_read_four_at_a_time},
            {"bits_of_floats_through_a_union", "written as float, read as integer and bytes",
             bits_of_floats_through_a_union},
            {"structures_with_padding_in_a_large_grid", "nobody writes what nobody uses",
             structures_with_padding_in_a_large_grid},
            {"words_written_byte_by_byte", "written by four threads each", words_written_byte_by_byte},
            {"structures_with_padding_are_copied_whole", "padding carries no value",
             structures_with_padding_are_copied_whole},
            {"same_memory_holds_counters_then_floats", "a barrier before each new use",
             same_memory_holds_counters_then_floats},
            {"one_shared_array_for_each_type", "template with a shared array of its type",
             one_shared_array_for_each_type},
        }};
}

}  // namespace corpus
