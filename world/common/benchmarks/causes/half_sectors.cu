// transpose.md: are stores of half a sector expensive because the memory has to read the sector first?
#include "experiment.cuh"

constexpr std::size_t kFours = std::size_t{1} << 26;  // float4s that each kernel stores: 1 GiB
constexpr unsigned kThreads = 256;

__device__ float4 mark(std::size_t i) { return make_float4(value_at(i), 1, 2, 3); }

__global__ void x_store_whole(float4* out) {  // everything, side by side
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    out[t] = mark(t);
}
__global__ void x_store_whole_with_gaps(float4* out) {  // a whole sector, then a gap of one
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    out[t / 2 * 4 + t % 2] = mark(t / 2 * 4 + t % 2);
}
__global__ void x_store_whole_64_with_gaps(float4* out) {  // 64 bytes, then a gap of 64
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    out[t / 4 * 8 + t % 4] = mark(t / 4 * 8 + t % 4);
}
__global__ void x_store_halves(float4* out) {  // the first half of each sector
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    out[2 * t] = mark(2 * t);
}
// Both halves of each sector: in each stretch of `sectors` first all the first halves, then all the second ones. The
// second half comes when 16 * sectors bytes have been stored since.
__device__ void store_two_halves(float4* out, unsigned log2_sectors) {
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const std::size_t sectors = std::size_t{1} << log2_sectors, stretch = t >> (log2_sectors + 1);
    const std::size_t i = 2 * (stretch * sectors + (t & (sectors - 1))) + (t >> log2_sectors & 1);
    out[i] = mark(i);
}
__global__ void x_both_halves_soon(float4* out, unsigned log2_sectors) { store_two_halves(out, log2_sectors); }
__global__ void x_both_halves_late(float4* out, unsigned log2_sectors) { store_two_halves(out, log2_sectors); }
__global__ void both_halves(float4* out, unsigned log2_sectors) { store_two_halves(out, log2_sectors); }

__global__ void x_load_whole(const float4* in, float* sink) {
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const float4 v = in[t];
    if (v.x + v.y + v.z + v.w == -1) *sink = 1;
}
__global__ void x_load_halves(const float4* in, float* sink) {
    const std::size_t t = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
    const float4 v = in[2 * t];
    if (v.x + v.y + v.z + v.w == -1) *sink = 1;
}

struct Expect {  // float4 number i: written, if bit i % period of `mask` is set; else as it was poisoned (0)
    unsigned period, mask;
    __device__ bool operator()(std::size_t i, float4 v) const {
        if (mask >> (i % period) & 1) return v.x == value_at(i) && v.y == 1 && v.z == 2 && v.w == 3;
        return v.x == 0 && v.y == 0 && v.z == 0 && v.w == 0;
    }
};

int main(int argc, char** argv) {
    start(argc, argv, "half_sectors: kernels that only store (1 GiB each), 16 bytes per lane");
    float4* out = device_array<float4>(2 * kFours);
    float* sink = device_array<float>(1);
    const unsigned blocks = static_cast<unsigned>(kFours / kThreads);
    const double bytes = 16.0 * kFours;
    const auto poison = [=] { CHECK(cudaMemset(out, 0, 32 * kFours)); };
    std::vector<Variant> variants;
    const auto add = [&](std::string name, auto run, std::size_t footprint, Expect expect, std::string note) {
        variants.push_back({name, run, bytes, [=] { return is_right(out, footprint, expect); }, note, poison});
    };
    add(
        "whole, side by side", [=] { x_store_whole<<<blocks, kThreads>>>(out); }, kFours, {1, 1}, "");
    add(
        "whole sector, gap of 32 B", [=] { x_store_whole_with_gaps<<<blocks, kThreads>>>(out); }, 2 * kFours, {4, 3},
        "footprint 2 GiB");
    add(
        "64 bytes, gap of 64 B", [=] { x_store_whole_64_with_gaps<<<blocks, kThreads>>>(out); }, 2 * kFours, {8, 15},
        "footprint 2 GiB");
    add(
        "first half of each sector", [=] { x_store_halves<<<blocks, kThreads>>>(out); }, 2 * kFours, {2, 1},
        "footprint 2 GiB");
    measure("Stores, useful GB/s", variants, "GB/s", 21);
    variants.clear();
    if (counters_only) {
        x_both_halves_soon<<<blocks, kThreads>>>(out, 10);
        x_both_halves_late<<<blocks, kThreads>>>(out, 25);
        CHECK(cudaGetLastError());
    }
    for (std::size_t kib = 16; kib <= 512 * 1024 && !counters_only; kib *= kib == 256 ? 16 : 4 - 2 * (kib >= 4096)) {
        unsigned sectors = 0;
        while ((std::size_t{1} << sectors) < kib * 1024 / 16) ++sectors;
        add(
            "second half after " + std::to_string(kib) + " KiB",
            [=] { both_halves<<<blocks, kThreads>>>(out, sectors); }, kFours, {1, 1}, "footprint 1 GiB");
    }
    if (!counters_only)
        measure("Both halves of each sector: how much later may the second one come?", variants, "GB/s", 21);
    variants.clear();
    variants.push_back(
        {"load whole, side by side", [=] { x_load_whole<<<blocks, kThreads>>>(out, sink); }, bytes, {}, ""});
    variants.push_back({"load first half of each sector",
                        [=] { x_load_halves<<<blocks, kThreads>>>(out, sink); },
                        bytes,
                        {},
                        "footprint 2 GiB"});
    measure("Loads of as many bytes, for comparison", variants, "GB/s", 21);
    return finish();
}
