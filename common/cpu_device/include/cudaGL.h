#error "The CPU device does not support OpenGL interoperability (<cudaGL.h>): build this program with nvcc"
