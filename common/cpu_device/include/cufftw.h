#error "The CPU device does not support the Fourier transform library cuFFT (<cufftw.h>): build this program with nvcc"
