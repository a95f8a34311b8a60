#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/transform_scan.h>): build this program with nvcc"
