#error "The CPU device does not support the image library NPP (<npps.h>): build this program with nvcc"
