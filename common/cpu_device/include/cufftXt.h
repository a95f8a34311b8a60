#error "The CPU device does not support the Fourier transform library cuFFT (<cufftXt.h>): build this program with nvcc"
