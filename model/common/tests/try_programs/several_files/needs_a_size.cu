// A program that wants an argument.
#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

int main(int argc, char** argv) {
    if (argc < 2) {
        printf("usage: %s SIZE\n", "needs_a_size");
        return 3;
    }
    nothing<<<atoi(argv[1]), 32>>>();
    cudaDeviceSynchronize();
}
