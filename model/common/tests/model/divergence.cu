// Warps whose lanes take different branches, loops of different lengths, and threads that leave early.
#include "common/tests/model/families.h"
#include "common/tests/model/prepare.cuh"

namespace model_kernels {
namespace divergence_kernels {

__host__ __device__ constexpr float factor_of(unsigned way) { return 0.99f - 0.01f * static_cast<float>(way); }

/// Lane l takes branch l % ways, and each branch has the same number of multiply-adds.
__global__ void branch_by_lane(unsigned ways, unsigned rounds, float* out) {
    const unsigned mine = threadIdx.x % 32 % ways;
    float x = static_cast<float>(threadIdx.x % 32);
    for (unsigned way = 0; way < ways; ++way) {
        if (mine == way) {
            const float factor = factor_of(way);
#pragma unroll 4
            for (unsigned r = 0; r < rounds; ++r) x = x * factor + 0.01f;
        }
    }
    out[thread_in_grid()] = x;
}

/// The same, but all lanes of a warp take the same branch.
__global__ void branch_by_warp(unsigned ways, unsigned rounds, float* out) {
    const unsigned mine = threadIdx.x / 32 % ways;
    float x = static_cast<float>(threadIdx.x % 32);
    for (unsigned way = 0; way < ways; ++way) {
        if (mine == way) {
            const float factor = factor_of(way);
#pragma unroll 4
            for (unsigned r = 0; r < rounds; ++r) x = x * factor + 0.01f;
        }
    }
    out[thread_in_grid()] = x;
}

Prepared branches(bool by_lane, unsigned ways, unsigned blocks, unsigned rounds) {
    std::vector<double> results(256);
    for (unsigned thread = 0; thread < 256; ++thread) {
        const unsigned way = by_lane ? thread % 32 % ways : thread / 32 % ways;
        double x = thread % 32;
        for (unsigned r = 0; r < rounds; ++r) x = x * static_cast<double>(factor_of(way)) + 0.01;
        results[thread] = x;
    }
    const Array<float> out = output<float>(std::size_t{blocks} * 256);
    const auto expected = [results](std::size_t i) { return results[i % 256]; };
    return prepared(by_lane ? branch_by_lane : branch_by_warp, {blocks, 256}, out, expected, 1e-4, ways, rounds, out);
}

/// Four branches with different functions, chosen by random data.
__global__ void four_functions(const float* in, const unsigned char* kind, float* out) {
    const unsigned i = thread_in_grid();
    float x = in[i];
    switch (kind[i] % 4) {
        case 0:
            for (int r = 0; r < 8; ++r) x = __sinf(x) + 0.5f;
            break;
        case 1:
            for (int r = 0; r < 8; ++r) x = sqrtf(x + 2);
            break;
        case 2:
            for (int r = 0; r < 8; ++r) x = 1 / (x + 3);
            break;
        default:
            for (int r = 0; r < 8; ++r) x = x * 0.75f + 0.25f;
    }
    out[i] = x;
}

/// The lowest bits of bytes say which function: of random bytes, or all the same in a warp.
Prepared functions(unsigned n, bool same_in_warp) {
    const auto kind_of = [same_in_warp](std::size_t i) {
        return element<unsigned char>(same_in_warp ? i / 32 : i + 99);
    };
    const Array<float> in = input<float>(n);
    const Array<unsigned char> kind = input_of<unsigned char>(n, kind_of);
    const Array<float> out = output<float>(n);
    const auto expected = [kind_of](std::size_t i) {
        double x = element<double>(i);
        for (int r = 0; r < 8; ++r) {
            switch (kind_of(i) % 4) {
                case 0:
                    x = std::sin(x) + 0.5;
                    break;
                case 1:
                    x = std::sqrt(x + 2);
                    break;
                case 2:
                    x = 1 / (x + 3);
                    break;
                default:
                    x = x * 0.75 + 0.25;
            }
        }
        return x;
    };
    return prepared(four_functions, {n / 256, 256}, out, expected, 1e-4, in, kind, out);
}

/// Multiply-adds in a loop whose number of rounds the data says.
__global__ void rounds_from_data(const unsigned* rounds, float* out) {
    const unsigned i = thread_in_grid();
    const unsigned mine = rounds[i];
    float x = 1;
    for (unsigned r = 0; r < mine; ++r) x = x * 0.999f + 0.01f;
    out[i] = x;
}

template <class Rounds>
Prepared loops(unsigned n, unsigned most, Rounds rounds_of) {
    std::vector<double> results(most + 1, 1.0);
    for (unsigned r = 1; r <= most; ++r)
        results[r] = results[r - 1] * static_cast<double>(0.999f) + static_cast<double>(0.01f);
    const Array<unsigned> rounds = input_of<unsigned>(n, rounds_of);
    const Array<float> out = output<float>(n);
    const auto expected = [results, rounds_of](std::size_t i) { return results[rounds_of(i)]; };
    return prepared(rounds_from_data, {n / 256, 256}, out, expected, 1e-4, rounds, out);
}

/// Steps of the Collatz sequence until 1.
__global__ void collatz(unsigned first, unsigned* out) {
    const unsigned i = thread_in_grid();
    unsigned x = first + i, steps = 0;
    while (x != 1) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        ++steps;
    }
    out[i] = steps;
}

Prepared collatz_steps(unsigned n) {
    const Array<unsigned> out = output<unsigned>(n);
    const auto expected = [](std::size_t i) {
        unsigned x = 1 + static_cast<unsigned>(i), steps = 0;
        for (; x != 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        return steps;
    };
    return prepared(collatz, {n / 256, 256}, out, expected, 0, 1u, out);
}

/// Points of a part of the plane, with the number of iterations until they leave the circle.
__global__ void mandelbrot(unsigned cols, unsigned most, unsigned* out) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    // Coordinates with few bits, so that host and device round alike as long as few iterations follow.
    const float re0 = -2 + static_cast<float>(col) * (1.0f / 256), im0 = -1.5f + static_cast<float>(row) * (1.0f / 256);
    float re = 0, im = 0;
    unsigned count = 0;
    while (count < most && re * re + im * im <= 4) {
        const float next = __fadd_rn(__fsub_rn(__fmul_rn(re, re), __fmul_rn(im, im)), re0);
        im = __fadd_rn(__fmul_rn(2 * re, im), im0);
        re = next;
        ++count;
    }
    out[row * cols + col] = count;
}

Prepared mandelbrot_set(unsigned rows, unsigned cols, unsigned most, dim3 block) {
    // Where the radius is close to 2, the device may contract re * re + im * im differently: one iteration more or
    // less.
    const Array<unsigned> out = output<unsigned>(std::size_t{rows} * cols);
    std::vector<unsigned> counts(std::size_t{rows} * cols);
    warpwise::parallel_for(counts.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float re0 = -2 + static_cast<float>(i % cols) * (1.0f / 256);
            const float im0 = -1.5f + static_cast<float>(i / cols) * (1.0f / 256);
            volatile float re = 0, im = 0;  // volatile: the host rounds after every operation, too
            unsigned count = 0;
            while (count < most && re * re + im * im <= 4) {
                const volatile float re2 = re * re, im2 = im * im, difference = re2 - im2, product = 2 * re * im;
                re = difference + re0;
                im = product + im0;
                ++count;
            }
            counts[i] = count;
        }
    });
    const Shape shape{dim3(cols / block.x, rows / block.y), block};
    Prepared kernel;
    kernel.shape = shape;
    kernel.launch = launch_of(mandelbrot, shape, cols, most, out);
    kernel.check = [out, counts] {
        std::vector<unsigned> got(out.size);
        warpwise::check(cudaMemcpy(got.data(), out.data, out.size * sizeof(unsigned), cudaMemcpyDeviceToHost));
        std::size_t different = 0;
        for (std::size_t i = 0; i < got.size(); ++i) different += got[i] != counts[i];
        if (different > got.size() / 1000) {
            throw std::runtime_error(std::to_string(different) + " of " + std::to_string(got.size()) +
                                     " points differ");
        }
    };
    return kernel;
}

/// Only one lane of each `apart` works.
__global__ void some_lanes_work(unsigned apart, unsigned rounds, float* out) {
    const unsigned i = thread_in_grid();
    float x = static_cast<float>(i % 8);
    if (i % apart == 0) {
        for (unsigned r = 0; r < rounds; ++r) x = x * 0.99f + 0.01f;
    }
    out[i] = x;
}

Prepared some_lanes(unsigned apart, unsigned blocks, unsigned rounds) {
    std::vector<double> results(8);
    for (unsigned k = 0; k < 8; ++k) {
        results[k] = k;
        for (unsigned r = 0; r < rounds; ++r)
            results[k] = results[k] * static_cast<double>(0.99f) + static_cast<double>(0.01f);
    }
    const Array<float> out = output<float>(std::size_t{blocks} * 256);
    const auto expected = [results, apart](std::size_t i) {
        return i % apart == 0 ? results[i % 8] : static_cast<double>(i % 8);
    };
    return prepared(some_lanes_work, {blocks, 256}, out, expected, 1e-4, apart, rounds, out);
}

/// Threads whose number is not below `limit` return before they load anything.
__global__ void early_exit(const float* in, unsigned limit, float* out) {
    const unsigned i = thread_in_grid();
    if (i % 256 >= limit) return;
    out[i] = in[i] * in[i];
}

Prepared early_exits(unsigned n, unsigned limit) {
    const Array<float> in = input<float>(n);
    const Array<float> out = output<float>(n);
    const auto expected = [limit](std::size_t i) {
        return i % 256 < limit ? element<float>(i) * element<float>(i) : std::numeric_limits<float>::quiet_NaN();
    };
    return prepared(early_exit, {n / 256, 256}, out, expected, 0, in, limit, out);
}

/// Binary search in a sorted table: the branch and the address depend on the data.
__global__ void binary_search(const unsigned* keys, const unsigned* table, unsigned size, unsigned* out) {
    const unsigned i = thread_in_grid();
    const unsigned key = keys[i];
    unsigned low = 0, high = size;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (table[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out[i] = low;
}

/// The table has every third number.
Prepared searches(unsigned n, unsigned size) {
    const auto key_of = [size](std::size_t i) { return hash(i) % (3 * size); };
    const Array<unsigned> keys = input_of<unsigned>(n, key_of);
    const Array<unsigned> table = input_of<unsigned>(size, [](std::size_t i) { return static_cast<unsigned>(3 * i); });
    const Array<unsigned> out = output<unsigned>(n);
    return prepared(
        binary_search, {n / 256, 256}, out, [key_of](std::size_t i) { return (key_of(i) + 2) / 3; }, 0, keys, table,
        size, out);
}

std::vector<Case> divergence() {
    return {
        {"diverge_1_way", [] { return branches(true, 1, 1056, 256); }},
        {"diverge_2_ways", [] { return branches(true, 2, 1056, 128); }},
        {"diverge_3_ways", [] { return branches(true, 3, 1056, 128); }},
        {"diverge_4_ways", [] { return branches(true, 4, 1056, 128); }},
        {"diverge_8_ways", [] { return branches(true, 8, 1056, 128); }},
        {"diverge_16_ways", [] { return branches(true, 16, 528, 128); }},
        {"diverge_32_ways", [] { return branches(true, 32, 528, 64); }},
        {"diverge_32_ways_few_warps", [] { return branches(true, 32, 33, 64); }},
        {"diverge_8_ways_by_warp", [] { return branches(false, 8, 1056, 128); }},
        {"diverge_4_functions", [] { return functions(kMi, false); }},
        {"diverge_4_functions_by_warp", [] { return functions(kMi, true); }},
        {"diverge_rounds_by_lane",
         [] { return loops(kMi / 4, 256, [](std::size_t i) { return static_cast<unsigned>(i % 32 * 8); }); }},
        {"diverge_rounds_by_warp",
         [] { return loops(kMi / 4, 256, [](std::size_t i) { return static_cast<unsigned>(i / 32 % 32 * 8); }); }},
        {"diverge_rounds_random", [] { return loops(kMi / 4, 255, [](std::size_t i) { return hash(i) % 256; }); }},
        {"diverge_rounds_one_long_lane",
         [] { return loops(kMi / 4, 512, [](std::size_t i) { return i % 32 == 7 ? 512u : 16u; }); }},
        {"diverge_collatz", [] { return collatz_steps(kMi / 8); }},
        {"diverge_mandelbrot_32x8", [] { return mandelbrot_set(768, 768, 64, dim3(32, 8)); }},
        {"diverge_mandelbrot_8x4", [] { return mandelbrot_set(768, 768, 64, dim3(8, 4)); }},
        {"diverge_every_2nd_lane", [] { return some_lanes(2, 528, 256); }},
        {"diverge_every_32nd_lane", [] { return some_lanes(32, 1056, 256); }},
        {"diverge_every_64th_lane", [] { return some_lanes(64, 1056, 256); }},
        {"diverge_exit_half_of_each_block", [] { return early_exits(4 * kMi, 128); }},
        {"diverge_exit_all_but_20", [] { return early_exits(4 * kMi, 20); }},
        {"diverge_search_small_table", [] { return searches(kMi / 2, 4 * kKi); }},
        {"diverge_search_large_table", [] { return searches(kMi / 2, 4 * kMi); }},
    };
}

}  // namespace divergence_kernels

std::vector<Family> divergence_families() { return {{"divergence", divergence_kernels::divergence()}}; }

}  // namespace model_kernels
