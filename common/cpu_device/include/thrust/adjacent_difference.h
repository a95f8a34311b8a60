#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/adjacent_difference.h>): build this program with nvcc"
