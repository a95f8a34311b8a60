#error "The CPU device does not support the neural network library cuDNN (<cudnn.h>): build this program with nvcc"
