// Copies and streams: widths, strides, offsets, shapes of blocks, sizes of grids, loads in flight, and layouts.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace copies_kernels {

// ---- strides and widths -------------------------------------------------------------------------------------------

template <unsigned from, unsigned to, class T>
__global__ void copy_strided(const T* in, T* out) {
    const unsigned i = thread_in_grid();
    out[to * i] = in[from * i];
}

/// `n` elements of T, each of which consists of sizeof(T) / sizeof(Part) parts.
template <unsigned from, unsigned to, class T, class Part = T>
Prepared strided(unsigned n) {
    constexpr unsigned parts = sizeof(T) / sizeof(Part);
    const Array<Part> in = input<Part>(parts * from * n);
    const Array<Part> out = output<Part>(parts * to * n);
    const auto expected = [](std::size_t i) {
        const std::size_t place = i / parts;
        if (place % to != 0) return std::numeric_limits<Part>::quiet_NaN();  // not written
        return element<Part>(place / to * from * parts + i % parts);
    };
    return prepared(copy_strided<from, to, T>, {n / 256, 256}, out, expected, 0, in.template as<T>(),
                    out.template as<T>());
}

template <unsigned from, unsigned to>
__global__ void copy_shifted(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i + to] = in[i + from];
}

template <unsigned from, unsigned to>
Prepared shifted(unsigned n) {
    const Array<float> in = input<float>(n + from);
    const Array<float> out = output<float>(n + to);
    const auto expected = [](std::size_t i) {
        if constexpr (to != 0) {
            if (i < to) return std::numeric_limits<float>::quiet_NaN();  // not written
        }
        return element<float>(i - to + from);
    };
    return prepared(copy_shifted<from, to>, {n / 256, 256}, out, expected, 0, in, out);
}

/// Thread i reads what thread `i ^ flip` would read in a plain copy.
template <unsigned flip>
__global__ void copy_flipped(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i ^ flip];
}

template <unsigned flip>
Prepared flipped(unsigned n) {
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n);
    return prepared(
        copy_flipped<flip>, {n / 256, 256}, out, [](std::size_t i) { return element<float>(i ^ flip); }, 0, in, out);
}

__global__ void copy_one_value_per_warp(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = in[i / 32];
}

Prepared one_value_per_warp(unsigned n) {
    const Array<float> in = input<float>(n / 32);
    const Array<float> out = output<float>(n);
    return prepared(
        copy_one_value_per_warp, {n / 256, 256}, out, [](std::size_t i) { return element<float>(i / 32); }, 0, in, out);
}

std::vector<Case> strided_copies() {
    return {
        {"copy_width_1", [] { return strided<1, 1, unsigned char>(8 * kMi); }},
        {"copy_width_2", [] { return strided<1, 1, unsigned short>(4 * kMi); }},
        {"copy_width_4", [] { return strided<1, 1, float>(4 * kMi); }},
        {"copy_width_8", [] { return strided<1, 1, float2, float>(4 * kMi); }},
        {"copy_width_16", [] { return strided<1, 1, float4, float>(4 * kMi); }},
        {"copy_width_4_small", [] { return strided<1, 1, float>(kMi / 4); }},
        {"copy_width_16_small", [] { return strided<1, 1, float4, float>(kMi / 8); }},
        {"copy_load_stride_2", [] { return strided<2, 1, float>(2 * kMi); }},
        {"copy_load_stride_3", [] { return strided<3, 1, float>(2 * kMi); }},
        {"copy_load_stride_4", [] { return strided<4, 1, float>(2 * kMi); }},
        {"copy_load_stride_6", [] { return strided<6, 1, float>(2 * kMi); }},
        {"copy_load_stride_8", [] { return strided<8, 1, float>(2 * kMi); }},
        {"copy_load_stride_12", [] { return strided<12, 1, float>(kMi); }},
        {"copy_load_stride_16", [] { return strided<16, 1, float>(kMi); }},
        {"copy_load_stride_32", [] { return strided<32, 1, float>(kMi); }},
        {"copy_store_stride_2", [] { return strided<1, 2, float>(2 * kMi); }},
        {"copy_store_stride_4", [] { return strided<1, 4, float>(2 * kMi); }},
        {"copy_store_stride_9", [] { return strided<1, 9, float>(kMi); }},
        {"copy_store_stride_16", [] { return strided<1, 16, float>(kMi); }},
        {"copy_store_stride_32", [] { return strided<1, 32, float>(kMi); }},
        {"copy_doubles_load_stride_2", [] { return strided<2, 1, double>(2 * kMi); }},
        {"copy_doubles_load_stride_5", [] { return strided<5, 1, double>(kMi); }},
        {"copy_float4_stride_2", [] { return strided<2, 2, float4, float>(kMi); }},
        {"copy_both_stride_3", [] { return strided<3, 3, float>(kMi); }},
        {"copy_load_offset_1", [] { return shifted<1, 0>(4 * kMi); }},
        {"copy_load_offset_7", [] { return shifted<7, 0>(4 * kMi); }},
        {"copy_load_offset_16", [] { return shifted<16, 0>(4 * kMi); }},
        {"copy_store_offset_1", [] { return shifted<0, 1>(4 * kMi); }},
        {"copy_store_offset_3", [] { return shifted<0, 3>(4 * kMi); }},
        {"copy_flip_lanes", [] { return flipped<21>(4 * kMi); }},
        {"copy_flip_warps", [] { return flipped<0xE0>(4 * kMi); }},
        {"copy_flip_blocks", [] { return flipped<0xFFFF00>(16 * kMi); }},
        {"copy_one_value_per_warp", [] { return one_value_per_warp(4 * kMi); }},
    };
}

// ---- shapes of blocks ---------------------------------------------------------------------------------------------

__global__ void scale_and_add(const float* a, const float* b, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = 2 * a[i] + b[i];
}

Prepared scaled_sum(unsigned threads, unsigned n = 2 * kMi) {
    const unsigned blocks = n / threads;
    const unsigned size = blocks * threads;
    const Array<float> a = input<float>(size);
    const Array<float> b = input_of<float>(size, [](std::size_t i) { return element<float>(i + 7); });
    const Array<float> out = output<float>(size);
    const auto expected = [](std::size_t i) { return 2 * element<float>(i) + element<float>(i + 7); };
    return prepared(scale_and_add, {blocks, threads}, out, expected, 0, a, b, out);
}

/// 64 dependent multiplications and additions per element.
__global__ void polynomial_of_degree_64(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    const float x = in[i];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k) sum = sum * x + static_cast<float>(k % 7 - 3);
    out[i] = sum;
}

Prepared polynomials(unsigned threads) {
    const unsigned blocks = kMi / threads;
    const Array<float> in = input<float>(blocks * threads);
    const Array<float> out = output<float>(blocks * threads);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < 64; ++k) sum = sum * element<double>(i) + (k % 7 - 3);
        return sum;
    };
    return prepared(polynomial_of_degree_64, {blocks, threads}, out, expected, 1e-4, in, out);
}

__global__ void add_matrices(unsigned cols, const float* a, const float* b, float* out) {
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    out[row * cols + col] = a[row * cols + col] + b[row * cols + col];
}

Prepared matrix_sum(dim3 block) {
    constexpr unsigned rows = 1024, cols = 2048;
    const Array<float> a = input<float>(rows * cols);
    const Array<float> b = input_of<float>(rows * cols, [](std::size_t i) { return element<float>(i + 7); });
    const Array<float> out = output<float>(rows * cols);
    const auto expected = [](std::size_t i) { return element<float>(i) + element<float>(i + 7); };
    return prepared(add_matrices, {dim3(cols / block.x, rows / block.y), block}, out, expected, 0, cols, a, b, out);
}

std::vector<Case> block_shapes() {
    return {
        {"block_32", [] { return scaled_sum(32); }},
        {"block_64", [] { return scaled_sum(64); }},
        {"block_96", [] { return scaled_sum(96); }},
        {"block_128", [] { return scaled_sum(128); }},
        {"block_192", [] { return scaled_sum(192); }},
        {"block_256", [] { return scaled_sum(256); }},
        {"block_384", [] { return scaled_sum(384); }},
        {"block_512", [] { return scaled_sum(512); }},
        {"block_768", [] { return scaled_sum(768); }},
        {"block_1024", [] { return scaled_sum(1024); }},
        {"block_33", [] { return scaled_sum(33); }},
        {"block_polynomial_32", [] { return polynomials(32); }},
        {"block_polynomial_64", [] { return polynomials(64); }},
        {"block_polynomial_256", [] { return polynomials(256); }},
        {"block_polynomial_1024", [] { return polynomials(1024); }},
        {"block_8x8", [] { return matrix_sum(dim3(8, 8)); }},
        {"block_16x16", [] { return matrix_sum(dim3(16, 16)); }},
        {"block_4x64", [] { return matrix_sum(dim3(4, 64)); }},
        {"block_64x4", [] { return matrix_sum(dim3(64, 4)); }},
        {"block_1x256", [] { return matrix_sum(dim3(1, 256)); }},
    };
}

// ---- sizes of grids -----------------------------------------------------------------------------------------------

constexpr unsigned kPerThread = 8;

/// Each block sums 8 x 256 elements: every thread loads eight values and does some arithmetic with each.
__global__ void weighted_sums(const float* in, float* out) {
    const float* const first = in + static_cast<std::size_t>(blockIdx.x) * kPerThread * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < kPerThread; ++k) {
        const float value = first[k * blockDim.x];
        sum += value * value + static_cast<float>(k) * value;
    }
    out[thread_in_grid()] = sum;
}

Prepared grid_of(unsigned blocks) {
    const Array<float> in = input<float>(std::size_t{blocks} * kPerThread * 256);
    const Array<float> out = output<float>(std::size_t{blocks} * 256);
    const auto expected = [](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < kPerThread; ++k) {
            const double value = element<double>((i / 256 * kPerThread + k) * 256 + i % 256);
            sum += value * value + static_cast<double>(k) * value;
        }
        return sum;
    };
    return prepared(weighted_sums, {blocks, 256}, out, expected, 1e-5, in, out);
}

std::vector<Case> grid_sizes() {
    return {
        {"grid_1", [] { return grid_of(1); }},         {"grid_2", [] { return grid_of(2); }},
        {"grid_8", [] { return grid_of(8); }},         {"grid_33", [] { return grid_of(33); }},
        {"grid_66", [] { return grid_of(66); }},       {"grid_132", [] { return grid_of(132); }},
        {"grid_264", [] { return grid_of(264); }},     {"grid_528", [] { return grid_of(528); }},
        {"grid_1056", [] { return grid_of(1056); }},   {"grid_1500", [] { return grid_of(1500); }},
        {"grid_4224", [] { return grid_of(4224); }},   {"grid_8448", [] { return grid_of(8448); }},
        {"grid_16896", [] { return grid_of(16896); }},
    };
}

// ---- loads in flight ----------------------------------------------------------------------------------------------

__device__ float total(float value) { return value; }
__device__ float total(float4 value) { return (value.x + value.y) + (value.z + value.w); }

/// `loads` independent loads per thread.
template <unsigned loads, class T>
__global__ void sum_independent_loads(const T* in, float* out) {
    const T* const first = in + static_cast<std::size_t>(blockIdx.x) * loads * blockDim.x + threadIdx.x;
    T values[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) values[k] = first[k * blockDim.x];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) sum += total(values[k]);
    out[thread_in_grid()] = sum;
}

/// The same work, but the compiler may not move the next load before the sum that uses the previous one.
template <unsigned loads, class T>
__global__ void sum_one_load_at_a_time(const T* in, float* out) {
    const T* place = in + static_cast<std::size_t>(blockIdx.x) * loads * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k < loads; ++k) {
        const T value = *place;
        sum += total(value);
        // Always blockDim.x, which the compiler cannot know: the next address depends on the value.
        place += sum < 1e30f ? blockDim.x : 0;
    }
    out[thread_in_grid()] = sum;
}

template <unsigned loads, class T>
Prepared load_sums(void (*kernel)(const T*, float*), unsigned floats, unsigned threads, unsigned shared_bytes) {
    constexpr unsigned parts = sizeof(T) / sizeof(float);
    const unsigned outputs = floats / parts / loads;
    const Array<float> in = input<float>(floats);
    const Array<float> out = output<float>(outputs);
    const auto expected = [threads](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < loads; ++k) {
            const std::size_t place = (i / threads * loads + k) * threads + i % threads;
            for (std::size_t part = 0; part < parts; ++part) sum += element<double>(place * parts + part);
        }
        return sum;
    };
    return prepared(kernel, {outputs / threads, threads, shared_bytes}, out, expected, 0, in.template as<T>(), out);
}

template <unsigned loads, class T>
Prepared independent(unsigned shared_bytes = 0) {
    return load_sums<loads, T>(sum_independent_loads<loads, T>, 8 * kMi, 256, shared_bytes);
}

template <unsigned loads, class T>
Prepared one_at_a_time(unsigned shared_bytes = 0) {
    return load_sums<loads, T>(sum_one_load_at_a_time<loads, T>, 8 * kMi, 256, shared_bytes);
}

std::vector<Case> loads_in_flight() {
    return {
        {"loads_1", [] { return independent<1, float>(); }},
        {"loads_2", [] { return independent<2, float>(); }},
        {"loads_4", [] { return independent<4, float>(); }},
        {"loads_8", [] { return independent<8, float>(); }},
        {"loads_1_one_block_per_sm", [] { return independent<1, float>(kOneBlockPerSm); }},
        {"loads_2_one_block_per_sm", [] { return independent<2, float>(kOneBlockPerSm); }},
        {"loads_4_one_block_per_sm", [] { return independent<4, float>(kOneBlockPerSm); }},
        {"loads_8_one_block_per_sm", [] { return independent<8, float>(kOneBlockPerSm); }},
        {"loads_2_two_blocks_per_sm", [] { return independent<2, float>(kTwoBlocksPerSm); }},
        {"loads_8_two_blocks_per_sm", [] { return independent<8, float>(kTwoBlocksPerSm); }},
        {"loads_4_four_blocks_per_sm", [] { return independent<4, float>(kFourBlocksPerSm); }},
        {"loads_1_float4", [] { return independent<1, float4>(); }},
        {"loads_2_float4", [] { return independent<2, float4>(); }},
        {"loads_4_float4", [] { return independent<4, float4>(); }},
        {"loads_1_float4_one_block_per_sm", [] { return independent<1, float4>(kOneBlockPerSm); }},
        {"loads_2_float4_one_block_per_sm", [] { return independent<2, float4>(kOneBlockPerSm); }},
        {"loads_4_float4_one_block_per_sm", [] { return independent<4, float4>(kOneBlockPerSm); }},
        {"loads_8_one_at_a_time", [] { return one_at_a_time<8, float>(); }},
        {"loads_8_one_at_a_time_one_block_per_sm", [] { return one_at_a_time<8, float>(kOneBlockPerSm); }},
        {"loads_8_one_at_a_time_four_blocks_per_sm", [] { return one_at_a_time<8, float>(kFourBlocksPerSm); }},
        {"loads_4_one_at_a_time_float4", [] { return one_at_a_time<4, float4>(); }},
        {"loads_64_one_at_a_time", [] { return one_at_a_time<64, float>(); }},
    };
}

// ---- streams ------------------------------------------------------------------------------------------------------

template <class T>
__global__ void fill(T value, T* out) {
    out[thread_in_grid()] = value;
}

Prepared fill_floats(unsigned n) {
    const Array<float> out = output<float>(n);
    return prepared(
        fill<float>, {n / 256, 256}, out, [](std::size_t) { return 3.0f; }, 0, 3.0f, out);
}

Prepared fill_float4(unsigned n) {
    const Array<float> out = output<float>(4 * n);
    return prepared(
        fill<float4>, {n / 256, 256}, out, [](std::size_t i) { return static_cast<float>(i % 4); }, 0,
        make_float4(0, 1, 2, 3), out.as<float4>());
}

Prepared fill_bytes(unsigned n) {
    const Array<unsigned char> out = output<unsigned char>(n);
    return prepared(
        fill<unsigned char>, {n / 256, 256}, out, [](std::size_t) { return 7; }, 0, static_cast<unsigned char>(7), out);
}

/// Reads 128 times as much as it writes: every thread of the grid sums `loads` elements, a grid apart.
template <class T>
__global__ void sum_a_grid_apart(const T* in, unsigned loads, float* out) {
    const unsigned threads = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 4
    for (unsigned k = 0; k < loads; ++k) sum += total(in[thread_in_grid() + static_cast<std::size_t>(k) * threads]);
    out[thread_in_grid()] = sum;
}

template <class T>
Prepared grid_sums(unsigned blocks, unsigned threads, unsigned loads) {
    constexpr unsigned parts = sizeof(T) / sizeof(float);
    const std::size_t grid = std::size_t{blocks} * threads;
    const Array<float> in = input<float>(grid * loads * parts);
    const Array<float> out = output<float>(grid);
    const auto expected = [grid, loads](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < loads; ++k) {
            for (std::size_t part = 0; part < parts; ++part) sum += element<double>((i + k * grid) * parts + part);
        }
        return sum;
    };
    return prepared(sum_a_grid_apart<T>, {blocks, threads}, out, expected, 0, in.template as<T>(), loads, out);
}

__global__ void sum_of_five(const float* a, const float* b, const float* c, const float* d, const float* e,
                            float* out) {
    const unsigned i = thread_in_grid();
    out[i] = a[i] + b[i] + c[i] + d[i] + e[i];
}

Prepared five_arrays(unsigned n) {
    std::vector<Array<float>> in;
    for (std::size_t k = 0; k < 5; ++k) {
        in.push_back(input_of<float>(n, [k](std::size_t i) { return element<float>(i + k); }));
    }
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 5; ++k) sum += element<float>(i + k);
        return sum;
    };
    return prepared(sum_of_five, {n / 256, 256}, out, expected, 0, in[0], in[1], in[2], in[3], in[4], out);
}

__global__ void scale_in_place(float factor, float4* values) {
    const unsigned i = thread_in_grid();
    float4 value = values[i];
    value.x *= factor;
    value.y *= factor;
    value.z *= factor;
    value.w *= factor;
    values[i] = value;
}

Prepared in_place(unsigned n) {
    const Array<float> values = input<float>(4 * n);
    return prepared(
        scale_in_place, {n / 256, 256}, values, [](std::size_t i) { return -element<float>(i); }, 0, -1.0f,
        values.as<float4>());
}

struct Particle {
    float x, y, z, vx, vy, vz, mass;
};

/// An array of structures of 28 bytes.
__global__ void move_particles(const Particle* particles, float* out) {
    const unsigned i = thread_in_grid();
    const Particle p = particles[i];
    out[i] = (p.x + p.vx) + (p.y + p.vy) + (p.z + p.vz) + p.mass;
}

Prepared structures(unsigned n) {
    const Array<float> particles = input<float>(7 * n);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 7; ++k) sum += element<float>(7 * i + k);
        return sum;
    };
    return prepared(move_particles, {n / 256, 256}, out, expected, 0, particles.as<Particle>(), out);
}

/// One field of each structure of 28 bytes.
__global__ void copy_masses(const Particle* particles, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = particles[i].mass;
}

Prepared one_field(unsigned n) {
    const Array<float> particles = input<float>(7 * n);
    const Array<float> out = output<float>(n);
    return prepared(
        copy_masses, {n / 256, 256}, out, [](std::size_t i) { return element<float>(7 * i + 6); }, 0,
        particles.as<Particle>(), out);
}

__global__ void lengths_of_float3(const float3* points, float* out) {
    const unsigned i = thread_in_grid();
    const float3 p = points[i];
    out[i] = p.x * p.x + p.y * p.y + p.z * p.z;
}

Prepared points(unsigned n) {
    const Array<float> in = input<float>(3 * n);
    const Array<float> out = output<float>(n);
    const auto expected = [](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += element<float>(3 * i + k) * element<float>(3 * i + k);
        return sum;
    };
    return prepared(lengths_of_float3, {n / 256, 256}, out, expected, 1e-6, in.as<float3>(), out);
}

__global__ void interleave(const float* re, const float* im, float2* out) {
    const unsigned i = thread_in_grid();
    out[i] = make_float2(re[i], im[i]);
}

Prepared interleaved(unsigned n) {
    const Array<float> re = input<float>(n);
    const Array<float> im = input_of<float>(n, [](std::size_t i) { return element<float>(i + 5); });
    const Array<float> out = output<float>(2 * n);
    const auto expected = [](std::size_t i) { return element<float>(i / 2 + i % 2 * 5); };
    return prepared(interleave, {n / 256, 256}, out, expected, 0, re, im, out.as<float2>());
}

__global__ void widen_bytes(const uchar4* in, float4* out) {
    const unsigned i = thread_in_grid();
    const uchar4 bytes = in[i];
    out[i] = make_float4(bytes.x, bytes.y, bytes.z, bytes.w);
}

Prepared widened_bytes(unsigned n) {
    const Array<unsigned char> in = input<unsigned char>(4 * n);
    const Array<float> out = output<float>(4 * n);
    return prepared(
        widen_bytes, {n / 256, 256}, out, [](std::size_t i) { return element<unsigned char>(i); }, 0, in.as<uchar4>(),
        out.as<float4>());
}

__global__ void copy_read_only(const float* in, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = __ldg(in + i);
}

Prepared read_only(unsigned n) {
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n);
    return prepared(copy_read_only, {n / 128, 128}, out, element<float>, 0, in, out);
}

__global__ void copy_from_texture(cudaTextureObject_t texture, float* out) {
    const unsigned i = thread_in_grid();
    out[i] = tex1Dfetch<float>(texture, static_cast<int>(i));
}

Prepared linear_texture(unsigned n) {
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = in.data;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc description{};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    warpwise::check(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    // The object lives as long as the launch that uses it, and it is destroyed before the array that it reads.
    const std::shared_ptr<void> owner(in.data, [texture, in](void*) { (void)cudaDestroyTextureObject(texture); });
    Prepared kernel = prepared(copy_from_texture, {n / 256, 256}, out, element<float>, 0, texture, out);
    kernel.launch = [owner, launch = kernel.launch] { launch(); };
    return kernel;
}

std::vector<Case> streams() {
    return {
        {"fill_4_bytes", [] { return fill_floats(8 * kMi); }},
        {"fill_16_bytes", [] { return fill_float4(4 * kMi); }},
        {"fill_1_byte", [] { return fill_bytes(8 * kMi); }},
        {"fill_16_bytes_small", [] { return fill_float4(kMi / 4); }},
        {"read_4_bytes", [] { return grid_sums<float>(264, 1024, 128); }},
        {"read_16_bytes", [] { return grid_sums<float4>(264, 1024, 32); }},
        {"read_16_bytes_few_warps", [] { return grid_sums<float4>(132, 256, 128); }},
        {"read_4_bytes_few_warps", [] { return grid_sums<float>(132, 128, 256); }},
        {"stream_five_arrays", [] { return five_arrays(4 * kMi); }},
        {"stream_in_place", [] { return in_place(2 * kMi); }},
        {"stream_structures_of_28_bytes", [] { return structures(2 * kMi); }},
        {"stream_one_field_of_28_bytes", [] { return one_field(2 * kMi); }},
        {"stream_float3", [] { return points(4 * kMi); }},
        {"stream_interleave", [] { return interleaved(4 * kMi); }},
        {"stream_widen_bytes", [] { return widened_bytes(4 * kMi); }},
        {"stream_ldg", [] { return read_only(8 * kMi); }},
        {"stream_linear_texture", [] { return linear_texture(4 * kMi); }},
    };
}

}  // namespace copies_kernels

std::vector<Family> copy_families() {
    return {{"strided_copies", copies_kernels::strided_copies()},
            {"block_shapes", copies_kernels::block_shapes()},
            {"grid_sizes", copies_kernels::grid_sizes()},
            {"loads_in_flight", copies_kernels::loads_in_flight()},
            {"streams", copies_kernels::streams()}};
}

}  // namespace model_kernels
