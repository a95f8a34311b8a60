#error "The CPU device does not support the image library NPP (<nppi.h>): build this program with nvcc"
