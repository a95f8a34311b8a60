// Integer dot products of four bytes, or of two halfwords and two bytes, in all of their forms.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void products(int* out) {
    const char4 a = make_char4(1, -2, 3, -4), b = make_char4(5, 6, -7, 8);
    const uchar4 c = make_uchar4(255, 2, 3, 4), d = make_uchar4(255, 1, 1, 1);
    out[0] = __dp4a(a, b, 10);
    out[1] = (int)__dp4a(c, d, 7u);
    out[2] = __dp4a(*(const int*)&a, *(const int*)&b, 10);
    out[3] = (int)__dp4a(*(const unsigned int*)&c, *(const unsigned int*)&d, 7u);
    const short2 e = make_short2(1000, -3);
    const char4 f = make_char4(2, 5, 7, -9);
    out[4] = __dp2a_lo(e, f, 1);
    out[5] = __dp2a_hi(e, f, 1);
    const ushort2 g = make_ushort2(60000, 2);
    const uchar4 h = make_uchar4(250, 1, 3, 4);
    out[6] = (int)__dp2a_lo(g, h, 5u);
    out[7] = (int)__dp2a_hi(g, h, 5u);
}

int main() {
    int* d_out;
    int out[8];
    cudaMalloc(&d_out, sizeof out);
    products<<<1, 1>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(d_out);
    printf("bytes: %d %d %d %d\n", out[0], out[1], out[2], out[3]);
    printf("halfwords: %d %d %d %d\n", out[4], out[5], out[6], out[7]);
}
