#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/binary_search.h>): build this program with nvcc"
