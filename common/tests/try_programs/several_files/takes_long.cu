// A kernel that takes a second, by the clock.
#include <cstdio>

__global__ void work(long long nanoseconds) {
    const long long begin = clock64();
    while (clock64() - begin < nanoseconds) {
    }
}

int main() {
    work<<<2, 1>>>(1000000000LL);
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
