// Stands in front of libcu++'s own header of this name, which comes from CCCL or the CUDA Toolkit: no compiler for CUDA
// reads it, and so it takes the code for the host. It does without CUDA's narrow types, which are other ones here.
#pragma once

#pragma push_macro("__CUDACC__")
#undef __CUDACC__
#ifndef CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_FP16_SUPPORT
#endif
#include_next <cuda/std/__cccl/compiler.h>
#pragma pop_macro("__CUDACC__")
