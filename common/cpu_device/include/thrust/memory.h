#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/memory.h>): build this program with nvcc"
