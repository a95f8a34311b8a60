#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/host_vector.h>): build this program with nvcc"
