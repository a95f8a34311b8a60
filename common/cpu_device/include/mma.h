#error "The CPU device does not support tensor core fragments (<mma.h>): build this program with nvcc"
