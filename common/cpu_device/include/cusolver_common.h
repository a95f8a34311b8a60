#error "The CPU device does not support the solver library cuSOLVER (<cusolver_common.h>): build this program with nvcc"
