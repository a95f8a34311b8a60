// Accesses at addresses that are no multiple of their size.
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;

constexpr int threads = 32;

std::vector<float> ones(int count) { return std::vector<float>(static_cast<std::size_t>(count), 1.0f); }

__global__ void sum_fours(const float* in, float* out) {
    const float4 four = reinterpret_cast<const float4*>(in)[threadIdx.x];  // MISTAKE(misaligned_access): element 1 on
    out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

void float4_at_odd_offset() {
    DeviceBuffer<float> d_in(ones(4 * threads + 1)), d_out(threads);
    sum_fours<<<1, threads>>>(d_in.data() + 1, d_out.data());
    check_finished();
}

__global__ void sum_row_by_fours(const float* matrix, float* sums, int cols) {
    const float4* row = reinterpret_cast<const float4*>(matrix + static_cast<int>(threadIdx.x) * cols);
    float sum = 0;
    for (int i = 0; i < cols / 4; ++i) {
        const float4 four = row[i];  // MISTAKE(misaligned_access): rows of 6 floats
        sum += four.x + four.y + four.z + four.w;
    }
    sums[threadIdx.x] = sum;
}

void float4_in_unpadded_rows() {
    DeviceBuffer<float> d_matrix(ones(6 * 8)), d_sums(8);
    sum_row_by_fours<<<1, 8>>>(d_matrix.data(), d_sums.data(), 6);
    check_finished();
}

__global__ void read_lengths(const unsigned char* records, int* lengths) {
    const unsigned char* record = records + 9 * threadIdx.x;           // one byte of type, then two integers
    lengths[threadIdx.x] = *reinterpret_cast<const int*>(record + 1);  // MISTAKE(misaligned_access): packed integer
}

void int_in_byte_record() {
    DeviceBuffer<unsigned char> d_records(std::vector<unsigned char>(9 * threads, 1));
    DeviceBuffer<int> d_lengths(threads);
    read_lengths<<<1, threads>>>(d_records.data(), d_lengths.data());
    check_finished();
}

__global__ void mixed_shared(double* out) {
    extern __shared__ char memory[];
    float* scale = reinterpret_cast<float*>(memory);
    double* values = reinterpret_cast<double*>(memory + sizeof(float));
    if (threadIdx.x == 0) *scale = 2;
    values[threadIdx.x] = threadIdx.x;  // MISTAKE(misaligned_access): doubles begin at byte 4
    __syncthreads();
    out[threadIdx.x] = *scale * values[threads - 1 - threadIdx.x];  // MISTAKE(misaligned_access): the same array
}

void double_in_shared_behind_float() {
    DeviceBuffer<double> d_out(threads);
    mixed_shared<<<1, threads, sizeof(float) + threads * sizeof(double)>>>(d_out.data());
    check_finished();
}

__global__ void write_pairs(int* out) {
    const int i = static_cast<int>(threadIdx.x);
    *reinterpret_cast<int2*>(out + 3 * i) = make_int2(i, i);  // MISTAKE(misaligned_access): every third integer
}

void int2_store_with_stride_3() {
    DeviceBuffer<int> d_out(3 * threads);
    write_pairs<<<1, threads>>>(d_out.data());
    check_finished();
}

__global__ void count_wide(int* header) {
    auto* total = reinterpret_cast<unsigned long long*>(header + 1);
    atomicAdd(total, 1ull);  // MISTAKE(misaligned_access): a 64-bit counter behind one integer
}

void atomic_behind_int() {
    DeviceBuffer<int> d_header(std::vector<int>(4, 0));
    count_wide<<<1, threads>>>(d_header.data());
    check_finished();
}

}  // namespace

namespace corpus {

CaseList alignment() {
    return {__FILE__,
            {{"float4_at_odd_offset", "float4 from element 1 on", float4_at_odd_offset},
             {"float4_in_unpadded_rows", "float4 in rows of 6 floats", float4_in_unpadded_rows},
             {"int_in_byte_record", "integer at byte 1 of a packed record", int_in_byte_record},
             {"double_in_shared_behind_float", "shared doubles behind one float", double_in_shared_behind_float},
             {"int2_store_with_stride_3", "int2 stored at every third int", int2_store_with_stride_3},
             {"atomic_behind_int", "64-bit atomic at byte 4", atomic_behind_int}}};
}

}  // namespace corpus
