/*
 * All-pairs gravity of N bodies.
 *
 * Positions are float4 (x, y, z, mass), so that one load of 16 bytes fetches a body. A block reads the bodies tile by
 * tile into shared memory; each thread sums up the acceleration of one body. Leapfrog in time, two buffers of
 * positions.
 *
 *   nbody [-bodies=N] [-iterations=N] [-block=64|128|256] [-benchmark]
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#define CUDA_CALL(x)                                                                                       \
    do {                                                                                                   \
        if ((x) != cudaSuccess) {                                                                          \
            printf("Error at %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(cudaPeekAtLastError())); \
            exit(EXIT_FAILURE);                                                                            \
        }                                                                                                  \
    } while (0)

class StopWatch {
public:
    void start() { begin_ = std::chrono::steady_clock::now(); }
    float milliseconds() const {
        return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_;
};

__constant__ float softeningSquared;

inline __host__ __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
inline __host__ __device__ void operator+=(float3& a, float3 b) { a = a + b; }
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__host__ __device__ __forceinline__ float reciprocalSquareRoot(float x) {
#ifdef __CUDA_ARCH__
    return rsqrtf(x);
#else
    return 1.0f / sqrtf(x);
#endif
}

/// What body j adds to the acceleration of body i: m_j * r_ij / (|r_ij|^2 + eps^2)^(3/2). Zero for i = j.
__host__ __device__ inline float3 bodyBodyInteraction(float3 ai, const float4& bi, const float4& bj, float eps2) {
    float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
    float invDist = reciprocalSquareRoot(dot(r, r) + eps2);
    float s = bj.w * invDist * invDist * invDist;
    ai += r * s;
    return ai;
}

template <int BLOCK>
__device__ float3 computeBodyAccel(float4 bodyPos, const float4* positions, int numBodies) {
    __shared__ float4 sharedPos[BLOCK];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile < numBodies; tile += BLOCK) {
        int index = tile + threadIdx.x;
        // Bodies that fill up the last tile have no mass.
        sharedPos[threadIdx.x] = index < numBodies ? positions[index] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 8
        for (int counter = 0; counter < BLOCK; counter++)
            acc = bodyBodyInteraction(acc, bodyPos, sharedPos[counter], softeningSquared);
        __syncthreads();
    }
    return acc;
}

template <int BLOCK>
__global__ __launch_bounds__(BLOCK) void integrateBodies(float4* __restrict__ newPos, const float4* __restrict__ oldPos,
                                                         float4* vel, float deltaTime, int numBodies) {
    int index = blockIdx.x * BLOCK + threadIdx.x;
    bool hasBody = index < numBodies;
    float4 position = oldPos[hasBody ? index : 0];
    float3 accel = computeBodyAccel<BLOCK>(position, oldPos, numBodies);
    if (!hasBody) return;

    float4 velocity = vel[index];
    velocity.x += accel.x * deltaTime;
    velocity.y += accel.y * deltaTime;
    velocity.z += accel.z * deltaTime;
    position.x += velocity.x * deltaTime;
    position.y += velocity.y * deltaTime;
    position.z += velocity.z * deltaTime;
    newPos[index] = position;
    vel[index] = velocity;
}

class BodySystem {
public:
    BodySystem(std::vector<float4> pos, std::vector<float4> vel, float softening)
        : count((int)pos.size()), hostPos(std::move(pos)), hostVel(std::move(vel)), eps2(softening * softening) {
        for (auto& buffer : devPos) CUDA_CALL(cudaMalloc(&buffer, bytes()));
        CUDA_CALL(cudaMalloc(&devVel, bytes()));
        CUDA_CALL(cudaMemcpy(devPos[0], hostPos.data(), bytes(), cudaMemcpyHostToDevice));
        CUDA_CALL(cudaMemcpy(devVel, hostVel.data(), bytes(), cudaMemcpyHostToDevice));
        CUDA_CALL(cudaMemcpyToSymbol(softeningSquared, &eps2, sizeof(float), 0, cudaMemcpyHostToDevice));
    }
    ~BodySystem() {
        for (auto buffer : devPos) cudaFree(buffer);
        cudaFree(devVel);
    }
    BodySystem(const BodySystem&) = delete;
    BodySystem& operator=(const BodySystem&) = delete;

    void update(float dt, int block) {
        int blocks = (count + block - 1) / block;
        switch (block) {
            case 64:
                integrateBodies<64><<<blocks, 64>>>(devPos[1 - now], devPos[now], devVel, dt, count);
                break;
            case 128:
                integrateBodies<128><<<blocks, 128>>>(devPos[1 - now], devPos[now], devVel, dt, count);
                break;
            default:
                integrateBodies<256><<<blocks, 256>>>(devPos[1 - now], devPos[now], devVel, dt, count);
        }
        CUDA_CALL(cudaGetLastError());
        now = 1 - now;
    }

    void updateOnHost(float dt) {
        std::vector<float4> next(hostPos);
        for (int i = 0; i < count; i++) {
            float3 a = make_float3(0, 0, 0);
            for (int j = 0; j < count; j++) a = bodyBodyInteraction(a, hostPos[i], hostPos[j], eps2);
            float4& v = hostVel[i];
            v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
            next[i].x += v.x * dt, next[i].y += v.y * dt, next[i].z += v.z * dt;
        }
        hostPos.swap(next);
    }

    /// Largest distance in one coordinate between the device's bodies and the host's; also checks the masses.
    float difference() const {
        std::vector<float4> pos(count);
        CUDA_CALL(cudaMemcpy(pos.data(), devPos[now], bytes(), cudaMemcpyDeviceToHost));
        float worst = 0;
        for (int i = 0; i < count; i++) {
            worst = std::max({worst, std::fabs(pos[i].x - hostPos[i].x), std::fabs(pos[i].y - hostPos[i].y),
                              std::fabs(pos[i].z - hostPos[i].z), pos[i].w == hostPos[i].w ? 0.0f : INFINITY});
            if (std::isnan(pos[i].x + pos[i].y + pos[i].z)) return INFINITY;
        }
        return worst;
    }

    const int count;

private:
    size_t bytes() const { return count * sizeof(float4); }

    std::vector<float4> hostPos, hostVel;
    float eps2;
    float4 *devPos[2] = {nullptr, nullptr}, *devVel = nullptr;
    int now = 0;
};

int main(int argc, char** argv) {
    int numBodies = 300, iterations = 3, block = 128;
    bool benchmark = false;
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "-bodies=%d", &numBodies) == 1 || sscanf(argv[i], "-iterations=%d", &iterations) == 1 ||
            sscanf(argv[i], "-block=%d", &block) == 1)
            continue;
        benchmark = benchmark || !strcmp(argv[i], "-benchmark");
    }

    std::mt19937 random(1687);
    const auto unit = [&] { return (random() >> 8) * (1.0f / (1 << 24)); };
    std::vector<float4> pos(numBodies), vel(numBodies);
    for (int i = 0; i < numBodies; i++) {
        pos[i] = make_float4(2 * unit() - 1, 2 * unit() - 1, 2 * unit() - 1, (0.5f + unit()) / numBodies);
        vel[i] = make_float4(0.1f * pos[i].y, -0.1f * pos[i].x, 0.0f, 0.0f);
    }

    BodySystem system(pos, vel, 0.1f);
    StopWatch watch;
    watch.start();
    for (int i = 0; i < iterations; i++) system.update(0.016f, block);
    CUDA_CALL(cudaDeviceSynchronize());
    if (benchmark) fprintf(stderr, "%d iterations: %.3f ms\n", iterations, watch.milliseconds());
    for (int i = 0; i < iterations; i++) system.updateOnHost(0.016f);

    const bool good = system.difference() <= 1e-5f;
    printf("%d bodies, %d iterations, blocks of %d threads\n", system.count, iterations, block);
    printf("positions %s the CPU's\n%s\n", good ? "agree with" : "differ from", good ? "Test passed" : "Test failed");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
