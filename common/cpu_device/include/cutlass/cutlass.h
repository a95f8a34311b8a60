#error \
    "The CPU device does not support the template library CUTLASS (<cutlass/cutlass.h>): build this program with nvcc"
