// coalescing.md: does the L2 cache fetch 64 bytes where a kernel asks for 32? And what does an offset cost?
// l2_granularity [32|64|128] [counters]: the number is cudaLimitMaxL2FetchGranularity; without it, what is set.
#include "experiment.cuh"

constexpr std::size_t kCount = std::size_t{1} << 26;  // floats of the output: 256 MiB; the input is up to 32 times that
constexpr unsigned kThreads = 256;

struct Strided {
    std::size_t stride, offset;
    __device__ std::size_t operator()(std::size_t i) const { return i * stride + offset; }
};
// `group` lanes read `group` neighboring sectors; then a gap of as many sectors. Always 64 bytes of footprint per lane.
struct Grouped {
    unsigned shift;      // log2 of the group
    std::size_t offset;  // floats
    __device__ std::size_t operator()(std::size_t i) const {
        return (i >> shift << (shift + 4)) + (i & ((1u << shift) - 1)) * 8 + offset;
    }
};

#define KERNEL(NAME, PLACE)                                                             \
    __global__ void NAME(const float* in, float* out, std::size_t count, PLACE place) { \
        const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;       \
        if (i < count) out[i] = in[place(i)];                                           \
    }
KERNEL(x_stride_1, Strided)
KERNEL(x_stride_8, Strided)
KERNEL(x_stride_16, Strided)
KERNEL(x_stride_32, Strided)
KERNEL(x_pairs_in_64, Grouped)
KERNEL(x_pairs_across_64, Grouped)
KERNEL(x_fours_in_128, Grouped)
KERNEL(copy_shifted, Strided)

template <class Place>
struct Expect {
    Place place;
    __device__ bool operator()(std::size_t i, float value) const { return value == value_at(place(i)); }
};

int main(int argc, char** argv) {
    const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
    if (wanted > 0) CHECK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, static_cast<std::size_t>(wanted)));
    start(argc, argv, "l2_granularity: out[i] = in[place(i)], 4 bytes per lane");
    std::size_t granularity = 0;
    CHECK(cudaDeviceGetLimit(&granularity, cudaLimitMaxL2FetchGranularity));
    std::printf("cudaLimitMaxL2FetchGranularity: %s %d, the runtime says %zu\n",
                wanted ? "asked for" : "left as it was", wanted, granularity);
    float* in = device_array<float>(kCount * 32 + 1024);
    float* out = device_array<float>(kCount);
    fill_numbers(in, kCount * 32 + 1024);
    const unsigned blocks = static_cast<unsigned>(kCount / kThreads);

    std::vector<Variant> variants;
    const auto add = [&](const char* name, auto kernel, auto place, const char* note) {
        variants.push_back({name, [=] { kernel<<<blocks, kThreads>>>(in, out, kCount, place); }, 8.0 * kCount,
                            [=] { return is_right(out, kCount, Expect<decltype(place)>{place}); }, note,
                            [=] { CHECK(cudaMemset(out, 0xFF, kCount * 4)); }});
    };
    add("stride 1", x_stride_1, Strided{1, 0}, "every byte is used");
    add("stride 8", x_stride_8, Strided{8, 0}, "every sector, 4 bytes of each");
    add("stride 16", x_stride_16, Strided{16, 0}, "one sector of each 64 bytes");
    add("pairs inside 64 B", x_pairs_in_64, Grouped{1, 0},
        "footprint of stride 16, but whole 64 bytes: sectors 0 1 of 0 1 2 3");
    add("pairs across 64 B", x_pairs_across_64, Grouped{1, 8},
        "footprint of stride 16, halves of 64 bytes: sectors 1 2 of 0 1 2 3");
    add("fours inside 128 B", x_fours_in_128, Grouped{2, 0},
        "footprint of stride 16, whole 128 bytes: sectors 0-3 of 0-7");
    add("stride 32", x_stride_32, Strided{32, 0}, "one sector of each 128 bytes");
    measure("Strides: useful GB/s (4 bytes read, 4 written per lane)", variants, "GB/s", 25);
    if (counters_only) return finish();

    variants.clear();
    for (const std::size_t offset : {0, 1, 4, 8, 16, 24, 31, 32, 33, 40, 64, 96, 128, 256}) {
        static char names[16][32];
        static int next = 0;
        char* name = names[next++ % 16];
        std::snprintf(name, 32, "offset %zu floats", offset);
        add(name, copy_shifted, Strided{1, offset},
            offset % 32 == 0  ? "whole 128 bytes"
            : offset % 8 == 0 ? "whole sectors, 2 lines per request"
                              : "5 sectors, 2 lines per request");
    }
    measure("Offsets: out[i] = in[i + offset]", variants, "GB/s", 25);
    return finish();
}
