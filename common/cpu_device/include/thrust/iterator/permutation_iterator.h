#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/iterator/permutation_iterator.h>): build this program with nvcc"
