#error "The CPU device does not support the Fourier transform library cuFFT (<cufft.h>): build this program with nvcc"
