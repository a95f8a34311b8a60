// What mma.sync, ldmatrix, and nvcuda::wmma mean: which lane holds what, layouts, and distances of rows. The numbers
// are small and whole, so that every product is exact. (What is rounded, and how, is in tensor_core_bits_test.cpp.)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/helpers/tensor_core.cuh"
#include "common/tests/device/map_on_device.cuh"
#include "common/tests/device/results_of.h"

namespace {

using namespace nvcuda;

template <class T>
T* on_device(const std::vector<T>& values) {
    device_or_skip();
    T* d_values = nullptr;
    REQUIRE(cudaMalloc(&d_values, values.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    return d_values;
}

/// Whole numbers from `least` to `most` without visible order.
template <class T>
std::vector<T> whole_numbers(std::size_t count, int least, int most, unsigned seed) {
    std::vector<T> values;
    unsigned state = 2463534242u + seed;
    for (std::size_t i = 0; i < count; ++i) {
        state = 1664525u * state + 1013904223u;
        values.push_back(
            static_cast<T>(least + static_cast<int>((state >> 8) % static_cast<unsigned>(most - least + 1))));
    }
    return values;
}

// ---- ldmatrix ----------------------------------------------------------------------------------------------------

/// Element i of shared memory is i. Each lane writes its fragments.
template <unsigned count, bool transposed>
__global__ void load_fragments(unsigned* out) {
    __shared__ __align__(16) unsigned short tile[32 * 8];
    for (unsigned i = threadIdx.x; i < 32 * 8; i += 32) tile[i] = static_cast<unsigned short>(i);
    __syncwarp();
    unsigned fragment[count];
    // Rows in another order, so that each has to come from where its lane says.
    const unsigned row = (threadIdx.x * 5 + 3) % 32;
    if (transposed) {
        warpwise::ldmatrix_trans(fragment, warpwise::shared_address(tile + row * 8));
    } else {
        warpwise::ldmatrix(fragment, warpwise::shared_address(tile + row * 8));
    }
    for (unsigned i = 0; i < count; ++i) out[threadIdx.x * count + i] = fragment[i];
}

template <unsigned count, bool transposed>
void check_fragments() {
    device_or_skip();
    const auto out =
        results_of<unsigned>(32 * count, [](unsigned* d_out) { load_fragments<count, transposed><<<1, 32>>>(d_out); });
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < count; ++i) {
            const auto element = [&](unsigned row, unsigned col) { return ((8 * i + row) * 5 + 3) % 32 * 8 + col; };
            const unsigned g = lane / 4, t = lane % 4;
            const unsigned low = transposed ? element(2 * t, g) : element(g, 2 * t);
            const unsigned high = transposed ? element(2 * t + 1, g) : element(g, 2 * t + 1);
            INFO("lane " << lane << ", matrix " << i);
            CHECK(out[lane * count + i] == (low | high << 16));
        }
    }
}

// ---- cvt.rna.tf32 ------------------------------------------------------------------------------------------------

struct ToTf32 {
    __device__ unsigned operator()(unsigned bits) const { return warpwise::to_tf32(__uint_as_float(bits)); }
};
struct WmmaToTf32 {
    __device__ unsigned operator()(unsigned bits) const {
        return __float_as_uint(wmma::__float_to_tf32(__uint_as_float(bits)));
    }
};

// ---- nvcuda::wmma ------------------------------------------------------------------------------------------------

template <int m_, int n_, int k_, class T, class In, class Sum>
struct Types {
    static constexpr int m = m_, n = n_, k = k_;
    using Factor = T;  // of the fragments
    using Element = In;
    using Sums = Sum;
};

template <class Types, class LayoutA, class LayoutB, bool through_shared>
__global__ void multiply(const typename Types::Element* a, unsigned distance_a, const typename Types::Element* b,
                         unsigned distance_b, const typename Types::Sums* c, typename Types::Sums* d,
                         unsigned distance_d, wmma::layout_t layout) {
    constexpr int m = Types::m, n = Types::n, k = Types::k;
    using Element = typename Types::Element;
    wmma::fragment<wmma::matrix_a, m, n, k, typename Types::Factor, LayoutA> of_a;
    wmma::fragment<wmma::matrix_b, m, n, k, typename Types::Factor, LayoutB> of_b;
    wmma::fragment<wmma::accumulator, m, n, k, typename Types::Sums> sums;
    if constexpr (through_shared) {
        __shared__ __align__(32) Element tile[1024];
        const unsigned rows = std::is_same_v<LayoutA, wmma::row_major> ? m : k;
        for (unsigned i = threadIdx.x; i < rows * distance_a; i += 32) tile[i] = a[i];
        __syncwarp();
        wmma::load_matrix_sync(of_a, tile, distance_a);
    } else {
        wmma::load_matrix_sync(of_a, a, distance_a);
    }
    wmma::load_matrix_sync(of_b, b, distance_b);
    wmma::load_matrix_sync(sums, c, distance_d, layout);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(d, sums, distance_d, layout);
}

template <class Types, class LayoutA, class LayoutB, bool through_shared>
void check_product(wmma::layout_t layout) {
    using Element = typename Types::Element;
    using Sums = typename Types::Sums;
    constexpr int m = Types::m, n = Types::n, k = Types::k;
    constexpr bool rows_of_a = std::is_same_v<LayoutA, wmma::row_major>;
    constexpr bool rows_of_b = std::is_same_v<LayoutB, wmma::row_major>;
    const bool rows_of_d = layout == wmma::mem_row_major;
    // Rows lie further apart than they are long, by multiples of 16 bytes.
    const auto after = [](int length) { return static_cast<unsigned>(length + 15) / 16 * 16 + 16; };
    const unsigned distance_a = after(rows_of_a ? k : m), distance_b = after(rows_of_b ? n : k);
    const unsigned distance_d = after(rows_of_d ? n : m);
    const int least = std::is_same_v<Element, unsigned char> ? 0 : -3;
    const auto a = whole_numbers<Element>((rows_of_a ? m : k) * distance_a, least, 4, 1);
    const auto b = whole_numbers<Element>((rows_of_b ? k : n) * distance_b, least, 4, 2);
    const auto c = whole_numbers<Sums>((rows_of_d ? m : n) * distance_d, -9, 9, 3);
    Element* const d_a = on_device(a);
    Element* const d_b = on_device(b);
    Sums* const d_c = on_device(c);
    const auto d = results_of<Sums>(c.size(), [&](Sums* d_d) {
        multiply<Types, LayoutA, LayoutB, through_shared>
            <<<1, 32>>>(d_a, distance_a, d_b, distance_b, d_c, d_d, distance_d, layout);
    });
    REQUIRE(cudaFree(d_a) == cudaSuccess);
    REQUIRE(cudaFree(d_b) == cudaSuccess);
    REQUIRE(cudaFree(d_c) == cudaSuccess);
    int different = 0;
    for (int row = 0; row < m; ++row) {
        for (int col = 0; col < n; ++col) {
            const std::size_t place = rows_of_d ? row * distance_d + col : col * distance_d + row;
            double sum = static_cast<float>(c[place]);
            for (int i = 0; i < k; ++i)
                sum +=
                    static_cast<double>(
                        static_cast<float>(a[rows_of_a ? row * distance_a + i : i * distance_a + row])) *
                    static_cast<double>(static_cast<float>(b[rows_of_b ? i * distance_b + col : col * distance_b + i]));
            different += !(static_cast<double>(static_cast<float>(d[place])) == sum);
        }
    }
    INFO(m << " x " << n << " x " << k << ", rows of a " << rows_of_a << ", of b " << rows_of_b << ", of d "
           << rows_of_d);
    CHECK(different == 0);
}

using Half16 = Types<16, 16, 16, __half, __half, float>;
using Half32 = Types<32, 8, 16, __half, __half, float>;
using Half8 = Types<8, 32, 16, __half, __half, float>;
using HalfSums = Types<16, 16, 16, __half, __half, __half>;
using Bf16 = Types<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>;
using Bf16Tall = Types<32, 8, 16, __nv_bfloat16, __nv_bfloat16, float>;
using Bf16Wide = Types<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>;
using Tf32 = Types<16, 16, 8, wmma::precision::tf32, float, float>;
using Signed = Types<16, 16, 16, signed char, signed char, int>;
using SignedTall = Types<32, 8, 16, signed char, signed char, int>;
using Unsigned = Types<16, 16, 16, unsigned char, unsigned char, int>;
using UnsignedWide = Types<8, 32, 16, unsigned char, unsigned char, int>;
using Double = Types<8, 8, 4, double, double, double>;

__global__ void half_and_float_sums(const __half* a, float* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> in_half;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> in_float;
    wmma::load_matrix_sync(of_a, a, 16);
    wmma::fill_fragment(of_b, __half(1.0f));
    wmma::fill_fragment(in_half, __half(0.0f));
    wmma::mma_sync(in_half, of_a, of_b, in_half);
    wmma::mma_sync(in_float, of_a, of_b, in_half);  // from one to the other
    wmma::mma_sync(in_half, of_a, of_b, in_float);
    for (int i = 0; i < in_half.num_elements; ++i) in_float.x[i] += __half2float(in_half.x[i]);
    wmma::store_matrix_sync(out, in_float, 16, wmma::mem_row_major);
}

__global__ void sums_at_their_limits(int* out) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c, d;
    wmma::fill_fragment(a, static_cast<signed char>(100));
    wmma::fill_fragment(b, static_cast<signed char>(1));
    wmma::fill_fragment(c, 2147483647 - 1599);  // 16 * 100 is one more than there is room for
    wmma::mma_sync(d, a, b, c);
    wmma::store_matrix_sync(out, d, 16, wmma::mem_row_major);
    wmma::mma_sync(d, a, b, c, true);
    wmma::store_matrix_sync(out + 256, d, 16, wmma::mem_row_major);
}

}  // namespace

TEST_CASE("ldmatrix gives each lane its words of one, two, and four matrices") {
    check_fragments<1, false>();
    check_fragments<2, false>();
    check_fragments<4, false>();
}

TEST_CASE("ldmatrix.trans gives each lane the elements of its columns") {
    check_fragments<1, true>();
    check_fragments<2, true>();
    check_fragments<4, true>();
}

TEST_CASE("to_tf32 rounds to ten bits of fraction, ties away from zero") {
    const std::vector<unsigned> inputs = {0x3F800000u,   // 1
                                          0x3F800FFFu,   // just below a tie
                                          0x3F801000u,   // a tie, away from zero
                                          0x3F803000u,   // a tie next to an odd neighbor
                                          0xBF801000u,   // negative
                                          0x3FFFF000u,   // up to 2
                                          0x7F7FFFFFu,   // to infinity
                                          0x7F800000u,   // infinity
                                          0xFF800000u,   // -infinity
                                          0x00000000u,   // 0
                                          0x80000000u,   // -0
                                          0x00001000u,   // the tie between 0 and the smallest
                                          0x00000FFFu,   // below it
                                          0x007FF000u};  // the largest subnormal numbers become normal
    const std::vector<unsigned> expected = {0x3F800000u, 0x3F800000u, 0x3F802000u, 0x3F804000u, 0xBF802000u,
                                            0x40000000u, 0x7F800000u, 0x7F800000u, 0xFF800000u, 0x00000000u,
                                            0x80000000u, 0x00002000u, 0x00000000u, 0x00800000u};
    CHECK(map_on_device<ToTf32>(inputs) == expected);
    CHECK(map_on_device<WmmaToTf32>(inputs) == expected);
}

TEST_CASE("to_tf32 of NaN keeps the first ten bits of its fraction, as an H200 does") {
    const std::vector<unsigned> inputs = {0x7FC00000u, 0xFFFFFFFFu, 0x7FFFF000u, 0x7F802000u,
                                          0x7F803000u, 0xFFC01234u, 0x7F801FFFu, 0xFF800001u};
    const std::vector<unsigned> expected = {0x7FC00000u, 0xFFFFE000u, 0x7FFFE000u, 0x7F802000u, 0x7F802000u,
                                            0xFFC00000u, 0x7F800000u, 0xFF800000u};  // the last two are infinity
    CHECK(map_on_device<ToTf32>(inputs) == expected);
    CHECK(map_on_device<WmmaToTf32>(inputs) == expected);
}

TEMPLATE_TEST_CASE("wmma multiplies matrices in rows and in columns", "", Half16, Half32, Half8, HalfSums, Bf16,
                   Bf16Tall, Bf16Wide, Tf32, Signed, SignedTall, Unsigned, UnsignedWide, Double) {
    using wmma::col_major, wmma::row_major;
    check_product<TestType, row_major, row_major, false>(wmma::mem_row_major);
    check_product<TestType, row_major, col_major, true>(wmma::mem_col_major);
    check_product<TestType, col_major, row_major, true>(wmma::mem_row_major);
    check_product<TestType, col_major, col_major, false>(wmma::mem_col_major);
}

TEST_CASE("fragments have as many elements as CUDA's") {
    using wmma::accumulator, wmma::col_major, wmma::fragment, wmma::matrix_a, wmma::matrix_b, wmma::row_major;
    CHECK(fragment<matrix_a, 16, 16, 16, __half, row_major>::num_elements == 16);
    CHECK(fragment<matrix_b, 32, 8, 16, __half, col_major>::num_elements == 16);
    CHECK(fragment<accumulator, 16, 16, 16, __half>::num_elements == 8);
    CHECK(fragment<accumulator, 8, 32, 16, float>::num_elements == 8);
    CHECK(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>::num_elements == 8);
    CHECK(fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major>::num_elements == 4);
    CHECK(fragment<matrix_a, 16, 16, 8, wmma::precision::tf32, col_major>::num_elements == 4);
    CHECK(fragment<matrix_b, 8, 32, 16, signed char, row_major>::num_elements == 16);
    CHECK(fragment<matrix_a, 8, 8, 4, double, row_major>::num_elements == 1);
    CHECK(fragment<accumulator, 8, 8, 4, double>::num_elements == 2);
}

TEST_CASE("sums in half and in float can be mixed") {
    const auto a = whole_numbers<__half>(256, -3, 4, 5);
    __half* const d_a = on_device(a);
    const auto out = results_of<float>(256, [&](float* d_out) { half_and_float_sums<<<1, 32>>>(d_a, d_out); });
    REQUIRE(cudaFree(d_a) == cudaSuccess);
    for (int row = 0; row < 16; ++row) {
        float sum = 0;
        for (int i = 0; i < 16; ++i) sum += static_cast<float>(a[row * 16 + i]);
        for (int col = 0; col < 16; ++col) CHECK(out[row * 16 + col] == 5 * sum);
    }
}

TEST_CASE("sums of integers wrap around, or stay at the limit where that is asked for") {
    device_or_skip();
    const auto out = results_of<int>(512, [](int* d_out) { sums_at_their_limits<<<1, 32>>>(d_out); });
    for (int i = 0; i < 256; ++i) {
        CHECK(out[i] == std::numeric_limits<int>::min());
        CHECK(out[256 + i] == std::numeric_limits<int>::max());
    }
}
