// Chapter 1: how a GPU program is put together, from asking what the device is to a first real computation.
#include "chapters/1_basics_and_pi/lessons.h"
#include "common/lesson/chapter.h"

int main(int argc, char** argv) {
    using namespace basics_and_pi;
    return warpwise::run_chapter(
        argc, argv,
        {.number = 1,
         .title = "Basics and pi",
         .folder = "1_basics_and_pi",
         .lessons = {
             {"device_query", "what this machine has, and what each number means for a program", device_query},
             {"hello_threads", "grids, blocks, threads, warps and lanes: who computes which element", hello_threads},
             {"fork_join", "one loop as serial code, as OpenMP threads and as a kernel launch", fork_join},
             {"qualifiers", "where functions run, where variables live, and the four launch arguments", qualifiers},
             {"vector_add", "the five moves of every GPU program, then the memory's full speed", vector_add},
             {"matrix_add", "how the mapping of threads to elements decides the speed", matrix_add},
             {"pi", "an integral by many threads: adding up fast, and adding up right", pi},
         }});
}
