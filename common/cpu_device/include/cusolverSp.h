#error "The CPU device does not support the solver library cuSOLVER (<cusolverSp.h>): build this program with nvcc"
