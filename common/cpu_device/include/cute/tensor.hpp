#error "The CPU device does not support the template library CUTLASS (<cute/tensor.hpp>): build this program with nvcc"
