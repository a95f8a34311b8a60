#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/unique.h>): build this program with nvcc"
