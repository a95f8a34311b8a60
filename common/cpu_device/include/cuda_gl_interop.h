#error "The CPU device does not support OpenGL interoperability (<cuda_gl_interop.h>): build this program with nvcc"
