// Structures in global memory: copied whole and member by member, as an array of structures and as one array a member.
#include "common/tests/ground_truth/cases.h"
#include "common/tests/ground_truth/launch_and_check.cuh"
#include "common/tests/ground_truth/structures.cuh"

namespace ground_truth {

struct Doubles3 {
    double x, y, z;
};

/// Padding behind the byte: 8 bytes.
struct Mixed {
    float value;
    unsigned char flag;
};

// ---- whole ------------------------------------------------------------------------------------------------------

template <class T>
__device__ void copy_whole(const T* in, T* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i];
}

__global__ void whole_3_floats(const Floats3* in, Floats3* out) { copy_whole(in, out); }
__global__ void whole_4_floats(const Floats4* in, Floats4* out) { copy_whole(in, out); }
__global__ void whole_3_doubles(const Doubles3* in, Doubles3* out) { copy_whole(in, out); }
__global__ void whole_cuda_float3(const float3* in, float3* out) { copy_whole(in, out); }

// ---- member by member -------------------------------------------------------------------------------------------

template <class T>
__device__ void copy_three_members(const T* in, T* out) {
    const unsigned i = thread_in_grid();
    out[i].x = in[i].x;
    out[i].y = in[i].y;
    out[i].z = in[i].z;
}

__global__ void members_of_3_floats(const Floats3* in, Floats3* out) { copy_three_members(in, out); }
__global__ void members_of_3_doubles(const Doubles3* in, Doubles3* out) { copy_three_members(in, out); }

template <class T>
__device__ void copy_four_members(const T* in, T* out) {
    const unsigned i = thread_in_grid();
    out[i].x = in[i].x;
    out[i].y = in[i].y;
    out[i].z = in[i].z;
    out[i].w = in[i].w;
}

__global__ void members_of_4_floats(const Floats4* in, Floats4* out) { copy_four_members(in, out); }
__global__ void members_of_float4(const float4* in, float4* out) { copy_four_members(in, out); }

__global__ void members_float_and_byte(const Mixed* in, Mixed* out) {
    const unsigned i = thread_in_grid();
    out[i].value = in[i].value;
    out[i].flag = in[i].flag;
}

// ---- array of structures, structure of arrays -------------------------------------------------------------------

__global__ void one_member_of_an_array_of_structures(const Floats4* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i].y;
}

__global__ void sum_over_an_array_of_structures(const Floats3* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i].x + in[i].y + in[i].z;
}

/// `in` holds all x, then all y, then all z.
__global__ void sum_over_a_structure_of_arrays(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i] + in[kCount + i] + in[2 * kCount + i];
}

// ---- what they have to compute --------------------------------------------------------------------------------------

namespace {

template <class T>
void check_copy(void (*kernel)(const T*, T*)) {
    const std::vector<T> in = random_elements<T>(kCount);
    const DeviceBuffer<T> d_in(in);
    run_and_compare(kernel, {}, in, d_in.data());
}

void check_float_and_byte() {
    const std::vector<Mixed> in = random_elements<Mixed>(kCount);
    std::vector<Mixed> expected = unwritten<Mixed>(kCount);  // the padding stays
    for (unsigned i = 0; i < kCount; ++i) {
        expected[i].value = in[i].value;
        expected[i].flag = in[i].flag;
    }
    const DeviceBuffer<Mixed> d_in(in);
    run_and_compare(members_float_and_byte, {}, expected, d_in.data());
}

void check_one_member() {
    const std::vector<Floats4> in = random_elements<Floats4>(kCount);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i].y;
    const DeviceBuffer<Floats4> d_in(in);
    run_and_compare(one_member_of_an_array_of_structures, {}, expected, d_in.data());
}

void check_sum_over_structures() {
    const std::vector<Floats3> in = random_elements<Floats3>(kCount);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i].x + in[i].y + in[i].z;
    const DeviceBuffer<Floats3> d_in(in);
    run_and_compare(sum_over_an_array_of_structures, {}, expected, d_in.data());
}

void check_sum_over_arrays() {
    const std::vector<float> in = random_elements<float>(3 * kCount);
    std::vector<float> expected(kCount);
    for (unsigned i = 0; i < kCount; ++i) expected[i] = in[i] + in[kCount + i] + in[2 * kCount + i];
    const DeviceBuffer<float> d_in(in);
    run_and_compare(sum_over_a_structure_of_arrays, {}, expected, d_in.data());
}

}  // namespace

const std::vector<Case>& structure_cases() {
    static const std::vector<Case> cases = {
        {"whole_3_floats", [] { check_copy(whole_3_floats); }},
        {"whole_4_floats", [] { check_copy(whole_4_floats); }},
        {"whole_3_doubles", [] { check_copy(whole_3_doubles); }},
        {"whole_cuda_float3", [] { check_copy(whole_cuda_float3); }},
        {"members_of_3_floats", [] { check_copy(members_of_3_floats); }},
        {"members_of_3_doubles", [] { check_copy(members_of_3_doubles); }},
        {"members_of_4_floats", [] { check_copy(members_of_4_floats); }},
        {"members_of_float4", [] { check_copy(members_of_float4); }, "nvcc joins the members: one access of 16 bytes"},
        {"members_float_and_byte", [] { check_float_and_byte(); }},
        {"one_member_of_an_array_of_structures", [] { check_one_member(); }},
        {"sum_over_an_array_of_structures", [] { check_sum_over_structures(); }},
        {"sum_over_a_structure_of_arrays", [] { check_sum_over_arrays(); }},
    };
    return cases;
}

}  // namespace ground_truth
