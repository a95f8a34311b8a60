#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/scan.h>): build this program with nvcc"
