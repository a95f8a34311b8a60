#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/version.h>): build this program with nvcc"
