#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/inner_product.h>): build this program with nvcc"
