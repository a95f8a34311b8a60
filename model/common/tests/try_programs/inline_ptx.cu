// Inline PTX as programs write it: special registers, loads with cache hints, cp.async, barriers, predicates, arithmetic.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

__device__ __forceinline__ unsigned int lane_id() {
    unsigned int id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__device__ __forceinline__ float4 load_streaming(const float4* p) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
    return v;
}
__device__ __forceinline__ void store_streaming(float* p, float v) {
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

#define CP_ASYNC(dst, src, bytes) \
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(bytes))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

// 16 bytes where the guard holds, else zeros.
__device__ __forceinline__ void copy_or_zero(uint32_t to, const void* from, bool guard) {
    asm volatile(
        "{\n"
        "  .reg .pred p;\n"
        "  setp.ne.b32 p, %0, 0;\n"
        "  @p cp.async.ca.shared.global [%1], [%2], 16;\n"
        "  @!p st.shared.v4.u32 [%1], {%3, %3, %3, %3};  // nothing to read\n"
        "}\n" ::"r"((int)guard),
        "r"(to), "l"(from), "r"(0));
}

__global__ void reverse_blocks(const float* in, float* out, int n) {
    __shared__ __align__(16) float tile[256];
    const int first = blockIdx.x * 256;
    const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    const bool inside = first + (threadIdx.x + 1) * 4 <= n;
    copy_or_zero(shared + threadIdx.x * 16, in + first + threadIdx.x * 4, inside);
    CP_ASYNC_COMMIT_GROUP();
    CP_ASYNC_WAIT_GROUP(0);
    asm volatile("bar.sync 0;" ::: "memory");
    for (int i = 0; i < 4; ++i) {
        const int at = threadIdx.x + 64 * i;
        if (first + at < n) store_streaming(out + first + at, tile[255 - at]);
    }
}

__global__ void copy_by_macro(const float4* in, float4* out) {
    __shared__ float4 tile[32];
    const unsigned int to = (unsigned int)__cvta_generic_to_shared(&tile[threadIdx.x]);
    CP_ASYNC(to, in + threadIdx.x, 16);
    CP_ASYNC_COMMIT_GROUP();
    CP_ASYNC_WAIT_GROUP(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void registers(unsigned int* out) {
    unsigned int tid, ntid, mask, warp;
    asm("mov.u32 %0, %tid.x;" : "=r"(tid));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(ntid));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    if (tid == 37) {
        out[0] = lane_id();
        out[1] = ntid;
        out[2] = mask;
        out[3] = warp;
    }
}

__global__ void arithmetic(unsigned int a, unsigned int b, float x, unsigned int* out, float* floats) {
    unsigned int r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(4), "r"(8));
    out[0] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(0xffffu));
    out[1] = r;
    asm("{ .reg .u32 t; add.u32 t, %1, %2; mul.lo.u32 %0, t, 3; }" : "=r"(r) : "r"(a), "r"(b));
    out[2] = r;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(a), "r"(b));
    out[3] = r;
    unsigned long long product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    out[4] = (unsigned int)(product >> 32);
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(36));
    out[5] = r;
    asm("max.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    out[6] = r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(floats[0]) : "f"(x));
    asm("fma.rn.f32 %0, %1, %1, 0f3F800000;" : "=f"(floats[1]) : "f"(x));
    float y = x;
    asm("mul.f32 %0, %0, %1;" : "+f"(y) : "f"(2.0f));
    floats[2] = y;
}

int main() {
    const int n = 600;
    std::vector<float> in(768), out(n);
    for (int i = 0; i < 768; ++i) in[i] = i < n ? (float)i : -1.0f;
    float *d_in, *d_out;
    cudaMalloc(&d_in, 768 * sizeof(float));
    cudaMalloc(&d_out, 768 * sizeof(float));
    cudaMemcpy(d_in, in.data(), 768 * sizeof(float), cudaMemcpyHostToDevice);
    reverse_blocks<<<3, 64>>>(d_in, d_out, n);
    cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const int source = i / 256 * 256 + 255 - i % 256;
        wrong += out[i] != (source < n ? (float)source : 0.0f);
    }
    printf("reversed blocks: %d wrong\n", wrong);

    copy_by_macro<<<1, 32>>>((const float4*)d_in, (float4*)d_out);
    cudaMemcpy(out.data(), d_out, 128 * sizeof(float), cudaMemcpyDeviceToHost);
    wrong = 0;
    for (int i = 0; i < 128; ++i) wrong += out[i] != (float)(i ^ 4);
    printf("copied by macro: %d wrong\n", wrong);

    unsigned int* d_words;
    float* d_floats;
    cudaMalloc(&d_words, 8 * sizeof(unsigned int));
    cudaMalloc(&d_floats, 3 * sizeof(float));
    unsigned int words[7];
    float floats[3];
    registers<<<1, 64>>>(d_words);
    cudaMemcpy(words, d_words, 4 * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    printf("lane %u of warp %u, %u threads, lanes below: %x\n", words[0], words[3], words[1], words[2]);
    arithmetic<<<1, 1>>>(0x12345678u, 0x9abcdef0u, 1.5f, d_words, d_floats);
    cudaMemcpy(words, d_words, sizeof words, cudaMemcpyDeviceToHost);
    cudaMemcpy(floats, d_floats, sizeof floats, cudaMemcpyDeviceToHost);
    printf("%x %x %x %x %x %x %x\n", words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
    printf("%.5f %.2f %.1f\n", floats[0], floats[1], floats[2]);
    for (void* p : {(void*)d_in, (void*)d_out, (void*)d_words, (void*)d_floats}) cudaFree(p);
}
