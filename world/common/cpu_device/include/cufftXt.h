// Plans and calls of cuFFT that are told the types of the data. Transforms on several GPUs, callbacks, and half
// precision are not declared.
#pragma once

#include "cufft.h"

extern "C" {

/// CUFFT_NOT_SUPPORTED for types other than those of cufftType.
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, cudaDataType inputtype,
                                long long int* onembed, long long int ostride, long long int odist,
                                cudaDataType outputtype, long long int batch, size_t* workSize,
                                cudaDataType executiontype);
cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction);
}
