// Chapter 4: whole problems, from the first kernel that is right to one that competes with a library.
#include "chapters/4_examples/lessons.h"
#include "common/lesson/chapter.h"

int main(int argc, char** argv) {
    using namespace examples;
    return warpwise::run_chapter(
        argc, argv,
        {.number = 4,
         .title = "Examples",
         .folder = "4_examples",
         .lessons = {
             {"vector_distance", "one reduction for float, double and int", vector_distance},
             {"matrix_vector", "y = A x for every shape: whose rows are whose work", matrix_vector},
             {"matrix_multiply", "C = A B, from a row a block to tensor cores", matrix_multiply},
             {"linear_solver", "A x = b by elimination with pivoting: few launches, then few bytes", linear_solver},
             {"nearest_neighbour", "for each point the closest other one: every pair, as fast as instructions go",
              nearest_neighbour},
         }});
}
