#error "The CPU device does not support the management library NVML (<nvml.h>): build this program with nvcc"
