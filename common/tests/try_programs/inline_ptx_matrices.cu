// Tensor cores by inline PTX in macros, as hand-written products of matrices have it.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>

#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                             \
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
                 : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                             \
                 : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr)                                                 \
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" \
                 : "=r"(R0), "=r"(R1)                                               \
                 : "r"(addr))
#define HMMA16816(RD0, RD1, RA0, RA1, RA2, RA3, RB0, RB1, RC0, RC1)                                              \
    asm volatile(                                                                                                \
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n"    \
        : "=r"(RD0), "=r"(RD1)                                                                                   \
        : "r"(RA0), "r"(RA1), "r"(RA2), "r"(RA3), "r"(RB0), "r"(RB1), "r"(RC0), "r"(RC1))
// Nobody uses this one, and the CPU device does not have it.
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;\n" ::)

__global__ void multiply(const half* a, const half* b, half* c, float* d) {
    __shared__ __align__(16) half tile_a[16][16];
    __shared__ __align__(16) half tile_b[16][8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) tile_a[i / 16][i % 16] = a[i];
    for (int i = lane; i < 128; i += 32) tile_b[i / 8][i % 8] = b[i];
    __syncthreads();

    unsigned ra[4], rb[2], rc[2] = {0, 0};
    const unsigned at_a = static_cast<unsigned>(__cvta_generic_to_shared(&tile_a[lane % 16][lane / 16 * 8]));
    const unsigned at_b = static_cast<unsigned>(__cvta_generic_to_shared(&tile_b[lane % 16][0]));
    LDMATRIX_X4(ra[0], ra[1], ra[2], ra[3], at_a);
    LDMATRIX_X2_T(rb[0], rb[1], at_b);
    HMMA16816(rc[0], rc[1], ra[0], ra[1], ra[2], ra[3], rb[0], rb[1], rc[0], rc[1]);
    const int row = lane / 4, col = lane % 4 * 2;
    *reinterpret_cast<unsigned*>(&c[row * 8 + col]) = rc[0];
    *reinterpret_cast<unsigned*>(&c[(row + 8) * 8 + col]) = rc[1];

    float sums[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    d[row * 8 + col] = sums[0];
    d[row * 8 + col + 1] = sums[1];
    d[(row + 8) * 8 + col] = sums[2];
    d[(row + 8) * 8 + col + 1] = sums[3];
}

__global__ void highest_bits(const unsigned* in, unsigned* out) {
    unsigned place;
    asm volatile("bfind.u32 %0, %1;" : "=r"(place) : "r"(in[threadIdx.x]));
    out[threadIdx.x] = place;
}

int main() {
    half *a, *b, *c;
    float* d;
    cudaMallocManaged(&a, 256 * sizeof(half));
    cudaMallocManaged(&b, 128 * sizeof(half));
    cudaMallocManaged(&c, 128 * sizeof(half));
    cudaMallocManaged(&d, 128 * sizeof(float));
    for (int i = 0; i < 256; ++i) a[i] = __float2half(static_cast<float>(i % 7 - 3));
    for (int i = 0; i < 128; ++i) b[i] = __float2half(static_cast<float>(i % 5 - 2));
    multiply<<<1, 32>>>(a, b, c, d);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
            float sum = 0;
            for (int k = 0; k < 16; ++k) sum += __half2float(a[i * 16 + k]) * __half2float(b[k * 8 + j]);
            wrong += __half2float(c[i * 8 + j]) != sum || d[i * 8 + j] != sum + 1;
        }
    }
    printf("%d wrong sums\n", wrong);

    unsigned *in, *out;
    cudaMallocManaged(&in, 4 * sizeof(unsigned));
    cudaMallocManaged(&out, 4 * sizeof(unsigned));
    in[0] = 1, in[1] = 0x80000000u, in[2] = 100, in[3] = 0;
    highest_bits<<<1, 4>>>(in, out);
    cudaDeviceSynchronize();
    printf("%u %u %u %x\n", out[0], out[1], out[2], out[3]);
    for (void* memory : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(d),
                         static_cast<void*>(in), static_cast<void*>(out)})
        cudaFree(memory);
    return wrong;
}
