#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/transform_reduce.h>): build this program with nvcc"
