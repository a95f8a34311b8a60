#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/swap.h>): build this program with nvcc"
