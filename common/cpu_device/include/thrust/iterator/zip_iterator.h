#error \
    "The CPU device does not support the parallel algorithms of Thrust (<thrust/iterator/zip_iterator.h>): build this program with nvcc"
