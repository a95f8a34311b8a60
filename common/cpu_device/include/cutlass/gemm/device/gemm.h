#error \
    "The CPU device does not support the template library CUTLASS (<cutlass/gemm/device/gemm.h>): build this program with nvcc"
