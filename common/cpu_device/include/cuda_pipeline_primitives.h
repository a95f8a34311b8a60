#error \
    "The CPU device does not support asynchronous copy pipelines (<cuda_pipeline_primitives.h>): build this program with nvcc"
