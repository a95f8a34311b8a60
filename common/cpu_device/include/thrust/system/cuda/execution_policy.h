#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/system/cuda/execution_policy.h>): build this program with nvcc"
