// Reads of memory that nobody wrote.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int n = 100;
constexpr int threads = 128;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void add(const float* a, const float* b, float* sum, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) sum[i] = a[i] + b[i];  // MISTAKE(uninitialized_read): nobody copied b
}

void input_never_copied() {
    DeviceBuffer<float> d_a(ones(n)), d_b(n), d_sum(n);
    add<<<1, threads>>>(d_a.data(), d_b.data(), d_sum.data(), n);
    check_finished();
}

__global__ void square_all(const float* in, float* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * in[i];
}

__global__ void negate_all(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = -in[i];  // MISTAKE(uninitialized_read): elements 96 to 99
}

void tail_never_computed() {
    DeviceBuffer<float> d_in(ones(n)), d_square(n), d_out(n);
    square_all<<<n / 32, 32>>>(d_in.data(), d_square.data());  // 3 blocks instead of 4
    negate_all<<<4, 32>>>(d_square.data(), d_out.data(), n);
    check_finished();
}

__global__ void weigh(const float* in, float* out, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) out[i] = 2 * in[i];  // MISTAKE(uninitialized_read): only 100 bytes were copied
}

void copied_bytes_for_elements() {
    const std::vector<float> in = ones(n);
    DeviceBuffer<float> d_in(n), d_out(n);
    check(cudaMemcpy(d_in.data(), in.data(), n, cudaMemcpyHostToDevice));
    weigh<<<1, threads>>>(d_in.data(), d_out.data(), n);
    check_finished();
}

__global__ void accumulate(float* sums, const float* in, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) sums[i] += in[i];  // MISTAKE(uninitialized_read): sums begin with whatever was there
}

void sums_without_start() {
    DeviceBuffer<float> d_sums(n), d_in(ones(n));
    accumulate<<<1, threads>>>(d_sums.data(), d_in.data(), n);
    check_finished();
}

__global__ void total(const float* in, float* sum, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) atomicAdd(sum, in[i]);  // MISTAKE(uninitialized_read): the sum was never set to 0
}

void atomic_sum_without_zero() {
    DeviceBuffer<float> d_in(ones(n)), d_sum(1);
    total<<<1, threads>>>(d_in.data(), d_sum.data(), n);
    check_finished();
}

__global__ void count_bytes(const unsigned char* bytes, int count, unsigned* bins) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
        atomicAdd(&bins[bytes[i]], 1u);  // MISTAKE(uninitialized_read): cudaMalloc does not clear the bins
    }
}

void histogram_without_memset() {
    DeviceBuffer<unsigned char> d_bytes(std::vector<unsigned char>(300, 42));
    DeviceBuffer<unsigned> d_bins(256);
    count_bytes<<<1, threads>>>(d_bytes.data(), 300, d_bins.data());
    check_finished();
}

__global__ void add_ones(int* values, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < count) values[i] += 1;  // MISTAKE(uninitialized_read): the last 75 values were not cleared
}

void memset_of_elements() {
    DeviceBuffer<int> d_values(n);
    check(cudaMemset(d_values.data(), 0, n));
    add_ones<<<1, threads>>>(d_values.data(), n);
    check_finished();
}

__global__ void sum_rows(const char* matrix, std::size_t pitch, float* sums) {
    const float* row = reinterpret_cast<const float*>(matrix + threadIdx.x * pitch);
    float sum = 0;
    for (std::size_t col = 0; col < pitch / sizeof(float); ++col) {
        sum += row[col];  // MISTAKE(uninitialized_read): the padding behind column 19
    }
    sums[threadIdx.x] = sum;
}

void pitched_padding() {
    constexpr int rows = 4, cols = 20;
    const std::vector<float> in = ones(rows * cols);
    char* d_matrix = nullptr;
    std::size_t pitch = 0;
    const std::size_t width = cols * sizeof(float);
    check(cudaMallocPitch(&d_matrix, &pitch, width, rows));
    check(cudaMemcpy2D(d_matrix, pitch, in.data(), width, width, rows, cudaMemcpyHostToDevice));
    DeviceBuffer<float> d_sums(rows);
    sum_rows<<<1, rows>>>(d_matrix, pitch, d_sums.data());
    check_finished();
    check(cudaFree(d_matrix));
}

struct Body {
    float x, y, z, mass;
};

__global__ void place(Body* bodies) {
    Body& body = bodies[threadIdx.x];
    body.x = static_cast<float>(threadIdx.x);
    body.y = 0;
    body.z = 0;
}

__global__ void weigh_bodies(const Body* bodies, float* weights) {
    weights[threadIdx.x] = 9.81f * bodies[threadIdx.x].mass;  // MISTAKE(uninitialized_read): only x, y and z were set
}

void member_never_set() {
    DeviceBuffer<Body> d_bodies(32);
    DeviceBuffer<float> d_weights(32);
    place<<<1, 32>>>(d_bodies.data());
    weigh_bodies<<<1, 32>>>(d_bodies.data(), d_weights.data());
    check_finished();
}

__global__ void smooth(const float* from, float* to, int count) {
    const int i = static_cast<int>(threadIdx.x);
    if (i > 0 && i < count - 1) to[i] = (from[i - 1] + from[i + 1]) / 2;  // MISTAKE(uninitialized_read): edges
}

void ping_pong_without_edges() {
    DeviceBuffer<float> d_even(ones(n)), d_odd(n);
    smooth<<<1, threads>>>(d_even.data(), d_odd.data(), n);
    smooth<<<1, threads>>>(d_odd.data(), d_even.data(), n);
    check_finished();
}

template <class T>
__global__ void produce(T* out) {
    out[threadIdx.x] = T(1);
}

template <class T>
__global__ void consume(const T* in, T* out) {
    out[threadIdx.x] = in[threadIdx.x] + T(1);  // MISTAKE(uninitialized_read): launched before the producer
}

void consumer_before_producer() {
    DeviceBuffer<double> d_between(32), d_out(32);
    consume<<<1, 32>>>(d_between.data(), d_out.data());
    produce<<<1, 32>>>(d_between.data());
    check_finished();
}

__global__ void add_one(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;  // MISTAKE(uninitialized_read): one byte of the number is set
}

void memset_of_one_byte() {
    DeviceBuffer<int> d_in(1), d_out(1);
    check(cudaMemset(d_in.data(), 0, 1));
    add_one<<<1, 1>>>(d_in.data(), d_out.data());
    check_finished();
}

__global__ void low_halves(const unsigned short* in, unsigned* packed) {
    reinterpret_cast<unsigned short*>(packed)[2 * threadIdx.x] = in[threadIdx.x];
}

__global__ void unpack(const unsigned* packed, unsigned* out) {
    out[threadIdx.x] = packed[threadIdx.x] >> 1;  // MISTAKE(uninitialized_read): the high halves
}

void high_halves_never_written() {
    DeviceBuffer<unsigned short> d_in(std::vector<unsigned short>(32, 7));
    DeviceBuffer<unsigned> d_packed(32), d_out(32);
    low_halves<<<1, 32>>>(d_in.data(), d_packed.data());
    unpack<<<1, 32>>>(d_packed.data(), d_out.data());
    check_finished();
}

__global__ void write_all_but(float* out, int hole) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i != hole) out[i] = 1;
}

__global__ void sum_with_next(const float* in, float* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < count) out[i] = in[i] + in[i + 1];  // MISTAKE(uninitialized_read): element 50000, in block 1562
}

void one_element_of_a_large_grid() {
    constexpr int count = 3000 * 32;
    DeviceBuffer<float> d_values(count), d_sums(count);
    write_all_but<<<count / 32, 32>>>(d_values.data(), 50000);
    sum_with_next<<<count / 32, 32>>>(d_values.data(), d_sums.data(), count);
    check_finished();
}

}  // namespace

namespace corpus {

CaseList uninitialized() {
    return {__FILE__,
            {{"input_never_copied", "second input never copied", input_never_copied},
             {"tail_never_computed", "grid rounded down, the tail is not written", tail_never_computed},
             {"copied_bytes_for_elements", "cudaMemcpy of n bytes for n floats", copied_bytes_for_elements},
             {"sums_without_start", "+= on fresh memory", sums_without_start},
             {"atomic_sum_without_zero", "atomicAdd on fresh memory", atomic_sum_without_zero},
             {"histogram_without_memset", "histogram bins never cleared", histogram_without_memset},
             {"memset_of_elements", "cudaMemset of n bytes for n integers", memset_of_elements},
             {"pitched_padding", "sum over the padding of pitched rows", pitched_padding},
             {"member_never_set", "one member of a structure never set", member_never_set},
             {"ping_pong_without_edges", "edges of the second buffer never set", ping_pong_without_edges},
             {"memset_of_one_byte", "cudaMemset of 1 byte for one integer", memset_of_one_byte},
             {"high_halves_never_written", "two halves of a word, one of them written", high_halves_never_written},
             {"one_element_of_a_large_grid", "one element of 96,000 is not written", one_element_of_a_large_grid},
             {"consumer_before_producer", "kernels launched in the wrong order", consumer_before_producer}}};
}

}  // namespace corpus
