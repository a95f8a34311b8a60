#error "The CPU device does not support the solver library cuSOLVER (<cusolverDn.h>): build this program with nvcc"
