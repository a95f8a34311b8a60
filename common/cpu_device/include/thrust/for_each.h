#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/for_each.h>): build this program with nvcc"
