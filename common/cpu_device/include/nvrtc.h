#error "The CPU device does not support run-time compilation (<nvrtc.h>): build this program with nvcc"
