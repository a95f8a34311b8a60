#error "The CPU device does not support the image library NPP (<npp.h>): build this program with nvcc"
