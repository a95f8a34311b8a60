#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/device_free.h>): build this program with nvcc"
