// constant_memory.md: why is a kernel slower that reads its charges from constant memory?
#include "experiment.cuh"

constexpr unsigned kThreads = 256;
constexpr unsigned kMost = 4096 - 32;  // charges that fit into 64 KB, a little left free
constexpr unsigned kTotal = 16384;     // charges that each point adds up, whatever the batch
constexpr std::size_t kPoints = std::size_t{1} << 20;
__constant__ float4 constant_charges[kMost];

__device__ float term(float4 c, float x) {
    const float dx = x - c.x;
    return c.w * rsqrtf(dx * dx + c.y * c.y + c.z * c.z);
}
__device__ float4 charge_in_four_loads(const float4* charges, unsigned k) {
    float4 c;  // volatile: nvcc must not join the four
    const float* p = reinterpret_cast<const float*>(charges + k);
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(c.x) : "l"(p));
    asm volatile("ld.global.f32 %0, [%1+4];" : "=f"(c.y) : "l"(p));
    asm volatile("ld.global.f32 %0, [%1+8];" : "=f"(c.z) : "l"(p));
    asm volatile("ld.global.f32 %0, [%1+12];" : "=f"(c.w) : "l"(p));
    return c;
}
__device__ float4 charge_in_one_load(const float4* charges, unsigned k) {
    float4 c;  // volatile as above, so that the two differ in the width alone
    asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(charges + k));
    return c;
}

// P points per thread; the batch is gone through `rounds` times. Point number i stands at i % 1000 / 1024.
#define KERNEL(NAME, CHARGE)                                                                                 \
    template <int P>                                                                                         \
    __global__ void NAME(const float4* charges, float* potential, unsigned batch, unsigned rounds) {         \
        const std::size_t i = std::size_t{blockIdx.x} * kThreads * P + threadIdx.x;                          \
        float x[P], sum[P];                                                                                  \
        for (int p = 0; p < P; ++p) x[p] = static_cast<float>((i + p * kThreads) % 1000) / 1024, sum[p] = 0; \
        for (unsigned round = 0; round < rounds; ++round) {                                                  \
            for (unsigned k = 0; k < batch; ++k) {                                                           \
                const float4 c = CHARGE;                                                                     \
                for (int p = 0; p < P; ++p) sum[p] += term(c, x[p]);                                         \
            }                                                                                                \
        }                                                                                                    \
        for (int p = 0; p < P; ++p) potential[i + p * kThreads] = sum[p];                                    \
    }
KERNEL(x_from_constant, constant_charges[k])
KERNEL(x_from_global, charges[k])
KERNEL(x_global_one_load, charge_in_one_load(charges, k))
KERNEL(x_global_four_loads, charge_in_four_loads(charges, k))

struct Expect {
    const double* sums;  // of the 1000 places
    __device__ bool operator()(std::size_t i, float v) const {
        return fabs(v - sums[i % 1000]) < 2e-3 * fabs(sums[i % 1000]);
    }
};
__global__ void exact(const float4* charges, double* sums, unsigned batch, unsigned rounds) {
    const unsigned place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= 1000) return;
    double sum = 0;
    for (unsigned k = 0; k < batch; ++k) {
        const double dx = place / 1024.0 - charges[k].x, y = charges[k].y, z = charges[k].z;
        sum += charges[k].w / sqrt(dx * dx + y * y + z * z);
    }
    sums[place] = sum * rounds;
}

int main(int argc, char** argv) {
    start(argc, argv, "constant_batches: 2^20 points, 16384 charges each, a batch of them over and over");
    std::vector<float4> charges(kMost);
    unsigned state = 1;
    const auto random = [&] { return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f; };
    for (float4& c : charges) c = make_float4(random(), random(), random() + 2, random());
    float4* d_charges = device_array<float4>(kMost);
    CHECK(cudaMemcpy(d_charges, charges.data(), kMost * sizeof(float4), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(constant_charges, charges.data(), kMost * sizeof(float4)));
    float* potential = device_array<float>(kPoints);
    double* sums = device_array<double>(1000);
    std::vector<Variant> variants;
    const auto add = [&](std::string name, auto kernel, int points_per_thread, unsigned batch) {
        const unsigned rounds = kTotal / batch;
        const unsigned blocks = static_cast<unsigned>(kPoints / kThreads) / points_per_thread;
        variants.push_back({name, [=] { kernel<<<blocks, kThreads>>>(d_charges, potential, batch, rounds); },
                            1.0 * kPoints * batch * rounds,
                            [=] {
                                exact<<<4, 256>>>(d_charges, sums, batch, rounds);
                                return is_right(potential, kPoints, Expect{sums});
                            },
                            resources(kernel, kThreads), [=] { CHECK(cudaMemset(potential, 0xFF, kPoints * 4)); }});
    };
    if (counters_only) {
        add("", x_from_constant<1>, 1, 64);
        add("", x_from_constant<1>, 1, 4000);
        add("", x_from_global<1>, 1, 64);
        add("", x_from_global<1>, 1, 4000);
        add("", x_global_four_loads<1>, 1, 64);
        measure("", variants);
        return finish();
    }
    for (const unsigned batch : {64u, 128u, 256u, 512u, 1024u, 2048u, 4000u}) {
        add("constant, batch of " + std::to_string(batch * 16) + " B", x_from_constant<1>, 1, batch);
    }
    for (const unsigned batch : {64u, 512u, 4000u}) {
        add("global, batch of " + std::to_string(batch * 16) + " B", x_from_global<1>, 1, batch);
    }
    measure("Candidate: the constant cache is too small (rate: charges x points, 1e9/s)", variants, "G terms/s");
    variants.clear();
    add("global, one load of 16 B (asm)", x_global_one_load<1>, 1, 64);
    add("global, four loads of 4 B (asm)", x_global_four_loads<1>, 1, 64);
    add("constant", x_from_constant<1>, 1, 64);
    measure("Candidate: one instruction brings 16 bytes (batch of 1 KB)", variants, "G terms/s");
    variants.clear();
    add("constant, 1 point per thread", x_from_constant<1>, 1, 64);
    add("constant, 2 points per thread", x_from_constant<2>, 2, 64);
    add("constant, 4 points per thread", x_from_constant<4>, 4, 64);
    add("global, 1 point per thread", x_from_global<1>, 1, 64);
    add("global, 2 points per thread", x_from_global<2>, 2, 64);
    add("global, 4 points per thread", x_from_global<4>, 4, 64);
    measure("Candidate: loads from constant memory take the SM's time (batch of 1 KB; each load serves 1, 2, 4 points)",
            variants, "G terms/s");
    return finish();
}
