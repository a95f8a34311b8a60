// Random numbers of cuRAND, in kernels and for whole arrays. The numbers that are expected were made by the host
// generators of NVIDIA's libcurand 10.4 (CUDA 13.0) from the same seeds; they are those that a GPU gets, too.
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        cudaError_t error = call;                                                              \
        if (error != cudaSuccess) {                                                            \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));              \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)
#define CHECK_CURAND(call)                                                                     \
    do {                                                                                       \
        curandStatus_t status = call;                                                          \
        if (status != CURAND_STATUS_SUCCESS) {                                                 \
            printf("%s:%d: curand status %d\n", __FILE__, __LINE__, (int)status);              \
            return 1;                                                                          \
        }                                                                                      \
    } while (0)

template <class State>
__global__ void numbers(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        unsigned int* out, int count) {
    State state;
    curand_init(seed, sequence, offset, &state);
    for (int i = 0; i < count; ++i) out[i] = curand(&state);
}

__global__ void normal_values(unsigned long long seed, unsigned long long sequence, float* out, int count) {
    curandState state;
    curand_init(seed, sequence, 0, &state);
    for (int i = 0; i < count; ++i) out[i] = curand_normal(&state);
}

// As programs do it: states in memory, seeded by one kernel and used by another.
__global__ void setup(curandState* states, unsigned long long seed) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    curand_init(seed, id, 0, &states[id]);
}
__global__ void draw(curandState* states, float* out, int per_thread) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    curandState mine = states[id];
    float sum = 0;
    for (int i = 0; i < per_thread; ++i) sum += curand_uniform(&mine);
    states[id] = mine;
    out[id] = sum;
}

__global__ void four_at_a_time(unsigned long long seed, unsigned int* out) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, 65535, 0, &state);
    out[0] = curand(&state);
    uint4 x = curand4(&state);
    out[1] = x.x;
    out[2] = x.y;
    out[3] = x.z;
    out[4] = x.w;
    skipahead(2, &state);
    out[5] = curand(&state);
}

const unsigned long long seed = 0x123456789ABCDEF0;
unsigned int* d_numbers;

template <class State>
bool matches(const char* what, unsigned long long sequence, unsigned long long offset,
             const std::vector<unsigned int>& expected) {
    std::vector<unsigned int> found(expected.size());
    numbers<State><<<1, 1>>>(seed, sequence, offset, d_numbers, (int)expected.size());
    cudaMemcpy(found.data(), d_numbers, found.size() * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    printf("%s: %s\n", what, found == expected ? "as expected" : "DIFFERENT");
    return found == expected;
}

struct Expected {
    size_t index;
    double value;
};

template <class T>
void compare(const char* what, const std::vector<T>& found, const std::vector<Expected>& expected, double tolerance) {
    bool same = true;
    for (const Expected& e : expected) same = same && std::fabs(found[e.index] - e.value) <= tolerance;
    printf("%s: %s\n", what, same ? "as expected" : "DIFFERENT");
}

int main() {
    CHECK(cudaMalloc(&d_numbers, 1024));

    // In kernels.
    matches<curandState>("XORWOW, sequence 4095", 4095, 0, {110682207u, 782182137u, 2276811232u, 2193562829u});
    matches<curandState>("XORWOW, offset 1000003", 0, 1000003, {2940874998u});
    matches<curandState>("XORWOW, sequence 77, offset 987654321", 77, 987654321, {3107092529u});
    matches<curandStatePhilox4_32_10_t>("Philox, sequence 65535", 65535, 0,
                                        {29143757u, 3601326409u, 1442131068u, 4047711015u, 4141008074u, 3683870220u,
                                         1836637414u, 1759276805u});
    matches<curandStatePhilox4_32_10_t>("Philox, sequence 9, offset 4000012", 9, 4000012,
                                        {2155453295u, 1118847670u, 566761236u, 3589868574u});
    unsigned int four[6];
    four_at_a_time<<<1, 1>>>(seed, d_numbers);
    CHECK(cudaMemcpy(four, d_numbers, sizeof four, cudaMemcpyDeviceToHost));
    printf("Philox, four at a time: %s\n",
           four[0] == 29143757u && four[1] == 3601326409u && four[4] == 4141008074u && four[5] == 1759276805u
               ? "as expected"
               : "DIFFERENT");

    float normal[4];
    float* d_normal;
    CHECK(cudaMalloc(&d_normal, sizeof normal));
    normal_values<<<1, 1>>>(seed, 5, d_normal, 4);
    CHECK(cudaMemcpy(normal, d_normal, sizeof normal, cudaMemcpyDeviceToHost));
    compare("XORWOW, normal values", std::vector<float>(normal, normal + 4),
            {{0, 0.1555653}, {1, 0.5968606}, {2, 1.3881995}, {3, -2.2034257}}, 2e-6);

    const int threads = 256, blocks = 4, per_thread = 100;
    curandState* d_states;
    float* d_sums;
    CHECK(cudaMalloc(&d_states, threads * blocks * sizeof(curandState)));
    CHECK(cudaMalloc(&d_sums, threads * blocks * sizeof(float)));
    setup<<<blocks, threads>>>(d_states, 1234);
    draw<<<blocks, threads>>>(d_states, d_sums, per_thread);
    CHECK(cudaGetLastError());
    std::vector<float> sums(threads * blocks);
    CHECK(cudaMemcpy(sums.data(), d_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double mean = 0;
    for (float sum : sums) mean += sum / (double)(threads * blocks * per_thread);
    printf("mean of %d values: %.2f\n", threads * blocks * per_thread, mean);

    // For whole arrays.
    const size_t n = 600000;
    void* d_values;
    CHECK(cudaMalloc(&d_values, n * sizeof(double)));
    for (int philox = 0; philox < 2; ++philox) {
        std::vector<unsigned int> integers(n);
        std::vector<float> floats(n);
        std::vector<double> doubles(n);
        curandGenerator_t generator;
        auto begin = [&]() -> int {
            CHECK_CURAND(curandCreateGenerator(
                &generator, philox ? CURAND_RNG_PSEUDO_PHILOX4_32_10 : CURAND_RNG_PSEUDO_DEFAULT));
            CHECK_CURAND(curandSetPseudoRandomGeneratorSeed(generator, 1234ULL));
            return 0;
        };
        const char* name = philox ? "Philox" : "XORWOW";
        char what[64];

        if (begin()) return 1;
        CHECK_CURAND(curandGenerate(generator, (unsigned int*)d_values, 6));  // in two parts
        CHECK_CURAND(curandGenerate(generator, (unsigned int*)d_values + 6, n - 6));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(integers.data(), d_values, n * sizeof(unsigned int), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, array of integers", name);
        if (philox) {
            compare(what, integers,
                    {{0, 546353992}, {1, 3665621163}, {5, 1392278645}, {262143, 2385104922}, {262144, 2666454581},
                     {262147, 343858512}, {524290, 3424062247}}, 0);
        } else {
            compare(what, integers,
                    {{0, 624778773}, {1, 3522650202}, {4095, 3856448218}, {4096, 1867875844}, {8193, 2198015705},
                     {12287, 3843993438}, {300001, 2673236156}}, 0);
        }

        if (begin()) return 1;
        CHECK_CURAND(curandGenerateUniform(generator, (float*)d_values, n));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(floats.data(), d_values, n * sizeof(float), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, uniform floats", name);
        if (philox) {
            compare(what, floats, {{0, 0.127207949757576}, {262143, 0.5553255081176758}, {524290, 0.79722660779953}},
                    1e-7);
        } else {
            compare(what, floats,
                    {{0, 0.1454676389694214}, {4096, 0.4348987340927124}, {300001, 0.62241131067276}}, 1e-7);
        }

        if (begin()) return 1;
        CHECK_CURAND(curandGenerateUniformDouble(generator, (double*)d_values, n));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(doubles.data(), d_values, n * sizeof(double), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, uniform doubles", name);
        if (philox) {
            compare(what, doubles,
                    {{0, 0.8534689954300143}, {1, 0.7960551488327052}, {5, 0.058917992888356474},
                     {262143, 0.4712686749563671}, {262147, 0.9081452359495019}, {524290, 0.20024014876349233}}, 1e-15);
        } else {
            compare(what, doubles,
                    {{0, 0.43489880438841294}, {4095, 0.988206611922432}, {12287, 0.8247562165588918},
                     {300001, 0.9382030969942043}}, 1e-15);
        }

        if (begin()) return 1;
        CHECK_CURAND(curandGenerateNormal(generator, (float*)d_values, n, 2, 3));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(floats.data(), d_values, n * sizeof(float), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, normal floats", name);
        if (philox) {
            compare(what, floats,
                    {{0, -2.8494715}, {1, 5.6874661}, {5, 1.1423109}, {262147, 2.5649517}, {524290, 1.5519652}}, 1e-5);
        } else {
            compare(what, floats,
                    {{0, 4.3429208}, {1, -3.4047346}, {4095, 5.8923178}, {8193, 0.4836078}, {300001, 1.9137719}}, 1e-5);
        }

        if (begin()) return 1;
        CHECK_CURAND(curandGenerateNormalDouble(generator, (double*)d_values, n, 2, 3));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(doubles.data(), d_values, n * sizeof(double), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, normal doubles", name);
        if (philox) {
            compare(what, doubles,
                    {{0, 0.3814199122780435}, {1, 2.4819000393260686}, {5, 6.1979599416818925},
                     {262147, 6.989780706102206}, {524290, -0.7683163149443288}}, 1e-12);
        } else {
            compare(what, doubles,
                    {{0, 3.076219395573365}, {1, -1.7187775096706561}, {4096, 6.331551038289403},
                     {12287, 1.3164320656811375}, {300001, 6.458973305579908}}, 1e-12);
        }

        if (begin()) return 1;
        CHECK_CURAND(curandGenerateLogNormal(generator, (float*)d_values, n, 0, 0.5));
        CHECK_CURAND(curandDestroyGenerator(generator));
        CHECK(cudaMemcpy(floats.data(), d_values, n * sizeof(float), cudaMemcpyDeviceToHost));
        snprintf(what, sizeof what, "%s, log-normal floats", name);
        if (philox) {
            compare(what, floats, {{0, 0.4456394}, {5, 0.8667990}, {262147, 1.0987340}, {524290, 0.9280474}}, 1e-5);
        } else {
            compare(what, floats, {{0, 1.4776999}, {4096, 2.6366613}, {300001, 0.9857314}}, 1e-5);
        }
    }

    CHECK(cudaFree(d_numbers));
    CHECK(cudaFree(d_normal));
    CHECK(cudaFree(d_states));
    CHECK(cudaFree(d_sums));
    CHECK(cudaFree(d_values));
}
