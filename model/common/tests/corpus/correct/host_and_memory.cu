// Memory that the host prepares: pitched rows, variables, managed and pinned memory, streams, memory that is freed and
// allocated again, textures.
#include <algorithm>
#include <cstddef>
#include <numeric>

#include "common/tests/corpus/correct/expect.h"

namespace corpus {
namespace {

__global__ void add(int* values, int n, int amount) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += amount;
}

__global__ void copy(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

// ---- pitched rows and parts of arrays ------------------------------------------------------------------------

__global__ void sums_of_pitched_rows(const char* memory, std::size_t pitch, int rows, int cols, float* sums) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const auto* const values = reinterpret_cast<const float*>(memory + row * pitch);
    float sum = 0;
    for (int col = 0; col < cols; ++col) sum += values[col];
    sums[row] = sum;
}

void pitched_rows_are_read_to_their_width() {
    constexpr int rows = 20, cols = 37;
    const auto values = sequence<float>(rows * cols, [](int i) { return i % 11; });
    char* d_memory = nullptr;
    std::size_t pitch = 0;
    check(cudaMallocPitch(&d_memory, &pitch, cols * sizeof(float), rows));
    check(cudaMemcpy2D(d_memory, pitch, values.data(), cols * sizeof(float), cols * sizeof(float), rows,
                       cudaMemcpyHostToDevice));
    DeviceBuffer<float> d_sums(rows);
    sums_of_pitched_rows<<<1, 32>>>(d_memory, pitch, rows, cols, d_sums.data());
    check_finished();
    check(cudaFree(d_memory));
    expect_equal(d_sums.download(), sequence<float>(rows, [&](int row) {
                     return std::accumulate(&values[row * cols], &values[row * cols] + cols, 0.0f);
                 }));
}

void only_the_uploaded_half_is_read() {
    const auto values = sequence<int>(50, [](int i) { return i * i; });
    DeviceBuffer<int> d_in(100), d_out(50);
    check(cudaMemcpy(d_in.data() + 25, values.data(), 50 * sizeof(int), cudaMemcpyHostToDevice));
    copy<<<1, 64>>>(d_in.data() + 25, d_out.data(), 50);
    check_finished();
    expect_equal(d_out.download(), values);
}

__global__ void differences_around(const int* center, int* out, int reach) {
    const int offset = static_cast<int>(threadIdx.x) - reach;
    const int* const end = center + reach + 1;  // one past the last element: never read
    const int* const next = center + offset + 1;
    out[threadIdx.x] = next < end ? *next - center[offset] : 0;
}

void pointer_into_the_middle_with_negative_indices() {
    constexpr int reach = 20;
    DeviceBuffer<int> d_in(sequence<int>(2 * reach + 1, [](int i) { return i * i; })), d_out(2 * reach + 1);
    differences_around<<<1, 2 * reach + 1>>>(d_in.data() + reach, d_out.data(), reach);
    check_finished();
    expect_equal(d_out.download(), sequence<int>(2 * reach + 1, [](int i) { return i == 2 * reach ? 0 : 2 * i + 1; }));
}

__global__ void bytes_to_the_last(const unsigned char* in, unsigned char* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[n - 1 - i] = in[i];
}

void last_byte_of_an_odd_allocation() {
    DeviceBuffer<unsigned char> d_in(sequence<unsigned char>(1001, [](int i) { return i % 256; })), d_out(1001);
    bytes_to_the_last<<<1, 128>>>(d_in.data(), d_out.data(), 1001);
    check_finished();
    expect_equal(d_out.download(), sequence<unsigned char>(1001, [](int i) { return (1000 - i) % 256; }));
}

__global__ void sums_of_rows(int* const* rows, const int* lengths, int* sums) {
    int sum = 0;
    for (int i = 0; i < lengths[threadIdx.x]; ++i) sum += rows[threadIdx.x][i];
    sums[threadIdx.x] = sum;
}

void table_of_device_pointers() {
    DeviceBuffer<int> d_first(std::vector<int>{1, 2, 3}), d_second(std::vector<int>{10}), d_sums(3);
    DeviceBuffer<int*> d_rows(std::vector<int*>{d_first.data(), d_second.data(), nullptr});
    DeviceBuffer<int> d_lengths(std::vector<int>{3, 1, 0});
    sums_of_rows<<<1, 3>>>(d_rows.data(), d_lengths.data(), d_sums.data());
    check_finished();
    expect_equal(d_sums.download(), {6, 10, 0});
}

// ---- the order of things -------------------------------------------------------------------------------------

void memset_then_kernels_in_sequence() {
    DeviceBuffer<int> d_values(300), d_out(300);
    check(cudaMemset(d_values.data(), 0, d_values.bytes()));
    add<<<3, 128>>>(d_values.data(), 300, 5);
    add<<<5, 64>>>(d_values.data(), 300, -2);
    copy<<<3, 128>>>(d_values.data(), d_out.data(), 300);
    check_finished();
    expect_equal(d_out.download(), std::vector<int>(300, 3));
}

void device_copies_to_device() {
    DeviceBuffer<int> d_first(sequence<int>(64, [](int i) { return i; })), d_second(64), d_out(64);
    check(cudaMemcpy(d_second.data(), d_first.data(), d_first.bytes(), cudaMemcpyDeviceToDevice));
    copy<<<1, 64>>>(d_second.data(), d_out.data(), 64);
    check_finished();
    expect_equal(d_out.download(), d_first.download());
}

void second_stream_waits_for_an_event() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t done = nullptr;
    check(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    DeviceBuffer<int> d_values(std::vector<int>(100, 1)), d_out(100);
    check(cudaDeviceSynchronize());
    add<<<1, 128, 0, first>>>(d_values.data(), 100, 41);
    check(cudaEventRecord(done, first));
    check(cudaStreamWaitEvent(second, done, 0));
    copy<<<1, 128, 0, second>>>(d_values.data(), d_out.data(), 100);
    check(cudaStreamSynchronize(second));
    check(cudaEventDestroy(done));
    check(cudaStreamDestroy(second));
    check(cudaStreamDestroy(first));
    check_finished();
    expect_equal(d_out.download(), std::vector<int>(100, 42));
}

void freed_memory_is_allocated_and_written_anew() {
    for (int round = 0; round < 4; ++round) {
        DeviceBuffer<int> d_in(1000), d_out(1000);
        d_in.upload(sequence<int>(1000, [&](int i) { return i + round; }));
        copy<<<8, 128>>>(d_in.data(), d_out.data(), 1000);
        check_finished();
        expect_equal(d_out.download()[999], 999 + round);
    }
}

void memory_allocated_and_freed_in_stream_order() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    std::vector<int> result(100);
    int *d_first = nullptr, *d_second = nullptr;
    check(cudaMallocAsync(reinterpret_cast<void**>(&d_first), 100 * sizeof(int), stream));
    check(cudaMemsetAsync(d_first, 0, 100 * sizeof(int), stream));
    add<<<1, 128, 0, stream>>>(d_first, 100, 7);
    check(cudaMallocAsync(reinterpret_cast<void**>(&d_second), 100 * sizeof(int), stream));
    copy<<<1, 128, 0, stream>>>(d_first, d_second, 100);
    check(cudaFreeAsync(d_first, stream));
    check(cudaMemcpyAsync(result.data(), d_second, 100 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(d_second, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaStreamDestroy(stream));
    expect_equal(result, std::vector<int>(100, 7));
}

// ---- memory that host and device share -----------------------------------------------------------------------

void managed_memory_written_by_both_sides() {
    int* values = nullptr;
    check(cudaMallocManaged(&values, 100 * sizeof(int)));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) values[i] = round == 0 ? i : values[i] * 2;
        add<<<1, 128>>>(values, 100, 1);
        check_finished();
    }
    const int first = values[0], last = values[99];
    check(cudaFree(values));
    expect_equal(first, 7);
    expect_equal(last, 4 * 99 + 7);
}

void pinned_memory_read_through_its_device_pointer() {
    int *values = nullptr, *d_values = nullptr;
    check(cudaHostAlloc(reinterpret_cast<void**>(&values), 64 * sizeof(int), cudaHostAllocMapped));
    std::iota(values, values + 64, 100);
    check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&d_values), values, 0));
    add<<<1, 64>>>(d_values, 64, 1000);
    check_finished();
    const std::vector<int> result(values, values + 64);
    check(cudaFreeHost(values));
    expect_equal(result, sequence<int>(64, [](int i) { return 1100 + i; }));
}

void registered_host_array_is_copied() {
    std::vector<int> values = sequence<int>(4096, [](int i) { return i; });
    check(cudaHostRegister(values.data(), values.size() * sizeof(int), cudaHostRegisterDefault));
    DeviceBuffer<int> d_values(4096);
    check(cudaMemcpyAsync(d_values.data(), values.data(), d_values.bytes(), cudaMemcpyHostToDevice, nullptr));
    add<<<32, 128>>>(d_values.data(), 4096, 1);
    check(cudaMemcpyAsync(values.data(), d_values.data(), d_values.bytes(), cudaMemcpyDeviceToHost, nullptr));
    check_finished();
    check(cudaHostUnregister(values.data()));
    expect_equal(values, sequence<int>(4096, [](int i) { return i + 1; }));
}

// ---- variables -----------------------------------------------------------------------------------------------

__constant__ float weights[5];
__constant__ int primes[6] = {2, 3, 5, 7, 11, 13};
__device__ int launches = 10;
__device__ int collected[64];
__device__ unsigned zeroed_counter;

__global__ void polynomial(const float* in, float* out) {
    const float value = in[threadIdx.x];
    float sum = 0;
    for (int power = 4; power >= 0; --power) sum = sum * value + weights[power];
    out[threadIdx.x] = sum;
}

void constants_copied_by_the_host() {
    const float values[5] = {1, 0, 2, 0, 1};
    check(cudaMemcpyToSymbol(weights, values, sizeof values));
    DeviceBuffer<float> d_in(sequence<float>(10, [](int i) { return i; })), d_out(10);
    polynomial<<<1, 10>>>(d_in.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(10, [](int i) { return (i * i + 1) * (i * i + 1); }));
}

__global__ void use_variables(int* out) {
    const int thread = threadIdx.x;
    collected[thread] = primes[thread % 6] * thread;
    __syncthreads();
    out[thread] = collected[63 - thread];
    atomicAdd(&zeroed_counter, 1u);
    if (thread == 0) ++launches;
}

void variables_keep_their_values_between_launches() {
    DeviceBuffer<int> d_out(64);
    int launches_before = 0, launches_after = 0;
    unsigned counted_before = 0, counted_after = 0;
    check(cudaMemcpyFromSymbol(&launches_before, launches, sizeof launches_before));
    check(cudaMemcpyFromSymbol(&counted_before, zeroed_counter, sizeof counted_before));
    for (int launch = 0; launch < 3; ++launch) use_variables<<<1, 64>>>(d_out.data());
    check_finished();
    check(cudaMemcpyFromSymbol(&launches_after, launches, sizeof launches_after));
    check(cudaMemcpyFromSymbol(&counted_after, zeroed_counter, sizeof counted_after));
    expect_equal(launches_after, launches_before + 3);
    expect_equal(counted_after, counted_before + 3 * 64);
    constexpr int expected_primes[6] = {2, 3, 5, 7, 11, 13};
    expect_equal(d_out.download(), sequence<int>(64, [&](int i) { return expected_primes[(63 - i) % 6] * (63 - i); }));
}

void address_of_a_variable_given_to_a_kernel() {
    void* address = nullptr;
    check(cudaGetSymbolAddress(&address, collected));
    check(cudaMemset(address, 0, 64 * sizeof(int)));
    add<<<1, 64>>>(static_cast<int*>(address), 64, 9);
    DeviceBuffer<int> d_out(64);
    copy<<<1, 64>>>(static_cast<const int*>(address), d_out.data(), 64);
    check_finished();
    expect_equal(d_out.download(), std::vector<int>(64, 9));
}

// ---- other ways to read --------------------------------------------------------------------------------------

__global__ void read_only_loads(const int* __restrict__ in, const float2* __restrict__ pairs, float* out) {
    const float2 pair = __ldg(&pairs[threadIdx.x]);
    out[threadIdx.x] = static_cast<float>(__ldg(in + threadIdx.x)) + pair.x * pair.y;
}

void loads_through_ldg() {
    DeviceBuffer<int> d_in(sequence<int>(40, [](int i) { return i; }));
    DeviceBuffer<float2> d_pairs(std::vector<float2>(40, make_float2(2, 3)));
    DeviceBuffer<float> d_out(40);
    read_only_loads<<<1, 40>>>(d_in.data(), d_pairs.data(), d_out.data());
    check_finished();
    expect_equal(d_out.download(), sequence<float>(40, [](int i) { return i + 6; }));
}

__global__ void read_texture(cudaTextureObject_t texture, float* out, int width) {
    const int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(texture, i) + tex1Dfetch<float>(texture, width - 1 - i);
}

void texture_over_linear_memory() {
    constexpr int width = 60;
    DeviceBuffer<float> d_values(sequence<float>(width, [](int i) { return i * i; })), d_out(width);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d_values.data();
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = d_values.bytes();
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    read_texture<<<1, width>>>(texture, d_out.data(), width);
    check_finished();
    check(cudaDestroyTextureObject(texture));
    expect_equal(d_out.download(), sequence<float>(width, [](int i) { return i * i + (59 - i) * (59 - i); }));
}

}  // namespace

CaseList host_and_memory() {
    return {
        __FILE__,
        {
            {"pitched_rows_are_read_to_their_width", "the rest of a row is left alone",
             pitched_rows_are_read_to_their_width},
            {"only_the_uploaded_half_is_read", "the rest is never looked at", only_the_uploaded_half_is_read},
            {"pointer_into_the_middle_with_negative_indices", "inside of the allocation all the same",
             pointer_into_the_middle_with_negative_indices},
            {"last_byte_of_an_odd_allocation", "1001 bytes, all of them", last_byte_of_an_odd_allocation},
            {"table_of_device_pointers", "a null pointer that is never followed", table_of_device_pointers},
            {"memset_then_kernels_in_sequence", "launches of one stream are ordered", memset_then_kernels_in_sequence},
            {"device_copies_to_device", "a copy carries what was written", device_copies_to_device},
            {"second_stream_waits_for_an_event", "two streams, ordered by an event", second_stream_waits_for_an_event},
            {"freed_memory_is_allocated_and_written_anew", "the same addresses, written again",
             freed_memory_is_allocated_and_written_anew},
            {"memory_allocated_and_freed_in_stream_order", "used between cudaMallocAsync and cudaFreeAsync",
             memory_allocated_and_freed_in_stream_order},
            {"managed_memory_written_by_both_sides", "the host waits before it touches it",
             managed_memory_written_by_both_sides},
            {"pinned_memory_read_through_its_device_pointer", "mapped host memory",
             pinned_memory_read_through_its_device_pointer},
            {"registered_host_array_is_copied", "unregistered when the copies are done",
             registered_host_array_is_copied},
            {"constants_copied_by_the_host", "cudaMemcpyToSymbol before the launch", constants_copied_by_the_host},
            {"variables_keep_their_values_between_launches", "initialized where they are defined",
             variables_keep_their_values_between_launches},
            {"address_of_a_variable_given_to_a_kernel", "cudaGetSymbolAddress",
             address_of_a_variable_given_to_a_kernel},
            {"loads_through_ldg", "read-only data", loads_through_ldg},
            {"texture_over_linear_memory", "tex1Dfetch inside of the array", texture_over_linear_memory},
        }};
}

}  // namespace corpus
