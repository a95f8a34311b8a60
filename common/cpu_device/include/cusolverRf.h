#error "The CPU device does not support the solver library cuSOLVER (<cusolverRf.h>): build this program with nvcc"
