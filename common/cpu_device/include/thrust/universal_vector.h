#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/universal_vector.h>): build this program with nvcc"
