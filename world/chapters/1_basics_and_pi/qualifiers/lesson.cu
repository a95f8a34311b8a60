// Problem: one file contains functions for the host and functions for the device, variables
// of one and variables of the other. Qualifiers say which is which: where a function runs
// and who may call it, where a variable is stored, who sees it, and for how long. The
// execution configuration <<<grid, block, shared bytes, stream>>> says how a kernel is
// launched.
//
// Each kernel shows one qualifier. All of them compute with integers, so that every result
// has to be exactly right.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "chapters/1_basics_and_pi/qualifiers/kernels.cuh"
#include "common/helpers/check.h"
#include "common/helpers/device_buffer.h"
#include "common/helpers/inputs.h"
#include "common/helpers/launch_shape.h"
#include "common/lesson/lesson.h"

namespace basics_and_pi {
namespace {

using warpwise::blocks_for;
using warpwise::check;
using warpwise::check_finished;
using warpwise::check_launch;
using warpwise::DeviceBuffer;

/// The inputs of most demonstrations: small enough that cubes and polynomials stay inside
/// an int.
std::vector<int> inputs(unsigned count) {
    return warpwise::uniform_integers(count, 1, -100, 100);
}

/// Collects one row per demonstration.
struct Demonstrations {
    warpwise::Lesson& lesson;
    std::vector<std::vector<std::string>> rows;

    void add(const std::string& kernel, const std::string& shows, const std::string& seen,
             bool right) {
        lesson.expect(right, kernel + ": " + shows);
        rows.push_back({kernel, shows, seen, right ? "right" : "WRONG"});
    }

    /// Runs `launch(d_in, d_out)` for several sizes; `expected(in, i)` is what must be in
    /// element i.
    template <class Launch, class Expected>
    void add_elementwise(const std::string& kernel, const std::string& shows, Launch launch,
                         Expected expected) {
        std::size_t compared = 0, wrong = 0;
        for (const unsigned count : {0u, 1u, 31u, 32u, 33u, 1009u}) {
            const std::vector<int> in = inputs(count);
            DeviceBuffer<int> d_in(in), d_out(count);
            d_out.fill_bytes(0x7F);
            launch(d_in.data(), d_out.data(), count);
            check_finished();
            const std::vector<int> out = d_out.download();
            for (unsigned i = 0; i < count; ++i, ++compared)
                wrong += out[i] != expected(in, i);
        }
        add(kernel, shows,
            std::to_string(compared - wrong) + " of " + std::to_string(compared) +
                " elements",
            wrong == 0);
    }
};

void functions(Demonstrations& demo) {
    demo.add_elementwise(
        "square_plus_cube", "__device__ functions",
        [](const int* in, int* out, unsigned count) {
            square_plus_cube<<<blocks_for(count, kBlock), kBlock>>>(in, out, count);
            check_launch();
        },
        [](const std::vector<int>& in, unsigned i) {
            return in[i] * in[i] + in[i] * in[i] * in[i];
        });
    demo.add_elementwise(
        "collatz", "__host__ __device__",
        [](const int*, int* out, unsigned count) {
            collatz<<<blocks_for(count, kBlock), kBlock>>>(out, count);
            check_launch();
        },
        [](const std::vector<int>&, unsigned i) { return collatz_steps(i); });
    demo.add_elementwise(
        "bounded_square", "__launch_bounds__, __restrict__",
        [](const int* in, int* out, unsigned count) {
            bounded_square<<<blocks_for(count, kBlock), kBlock>>>(in, out, count);
            check_launch();
        },
        [](const std::vector<int>& in, unsigned i) { return in[i] * in[i]; });
}

void variables(Demonstrations& demo) {
    for (const std::vector<int>& values :
         {std::vector<int>{1, 2, 3, 4}, std::vector<int>{-7, 0, 5, 1}}) {
        check(cudaMemcpyToSymbol(coefficients, values.data(), sizeof coefficients));
        demo.add_elementwise(
            "polynomial", "__constant__, first coefficient " + std::to_string(values[0]),
            [](const int* in, int* out, unsigned count) {
                polynomial<<<blocks_for(count, kBlock), kBlock>>>(in, out, count);
                check_launch();
            },
            [&](const std::vector<int>& in, unsigned i) {
                const int x = in[i];
                return values[0] + values[1] * x + values[2] * x * x +
                       values[3] * x * x * x;
            });
    }

    unsigned before = 0, after = 0;
    check(cudaMemcpyFromSymbol(&before, threads_so_far, sizeof before));
    count_threads<<<3, 40>>>();
    check_launch();
    count_threads<<<5, 100>>>();
    check_launch();
    // This copy waits for both launches.
    check(cudaMemcpyFromSymbol(&after, threads_so_far, sizeof after));
    demo.add("count_threads", "__device__ variable, two launches",
             std::to_string(before) + " before, " + std::to_string(after) + " after",
             after - before == 3 * 40 + 5 * 100);

    managed_threads = 0;
    count_threads_managed<<<3, 40>>>();
    check_launch();
    check_finished();  // before the host may look
    demo.add("count_threads_managed", "__managed__ variable",
             std::to_string(managed_threads) + " threads", managed_threads == 3 * 40);
}

void shared_memory_and_launch(Demonstrations& demo) {
    const auto reversed = [](const std::vector<int>& in, unsigned i) {
        const unsigned first = i / kBlock * kBlock;
        const unsigned last =
            std::min<unsigned>(first + kBlock, static_cast<unsigned>(in.size())) - 1;
        return in[last - (i - first)];
    };
    demo.add_elementwise(
        "reverse_blocks_static", "__shared__, size in the code",
        [](const int* in, int* out, unsigned count) {
            reverse_blocks_static<<<blocks_for(count, kBlock), kBlock>>>(in, out, count);
            check_launch();
        },
        reversed);

    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    demo.add_elementwise(
        "reverse_blocks_dynamic", "extern __shared__, four launch arguments",
        [stream](const int* in, int* out, unsigned count) {
            const std::size_t shared_bytes = kBlock * sizeof(int);
            reverse_blocks_dynamic<<<blocks_for(count, kBlock), kBlock, shared_bytes,
                                     stream>>>(in, out, count);
            check_launch();
            check(cudaStreamSynchronize(stream));  // waits for this stream only
        },
        reversed);
    check(cudaStreamDestroy(stream));
}

void built_in(Demonstrations& demo) {
    const dim3 grid(5, 3, 2), block(8, 4, 2);
    DeviceBuffer<Seen> d_seen(1);
    d_seen.fill_bytes(0xFF);
    built_in_variables<<<grid, block>>>(d_seen.data());
    check_launch();
    check_finished();
    const Seen seen = d_seen.download()[0];
    const auto text = [](auto v) {
        return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " +
               std::to_string(v.z) + ")";
    };
    const auto equal = [](auto a, auto b) {
        return a.x == b.x && a.y == b.y && a.z == b.z;
    };
    const bool right =
        equal(seen.grid, grid) && equal(seen.block, block) && seen.warp_size == 32 &&
        equal(seen.block_index, dim3(grid.x - 1, grid.y - 1, grid.z - 1)) &&
        equal(seen.thread_index, dim3(block.x - 1, block.y - 1, block.z - 1));
    demo.add("built_in_variables", "what the last thread sees", "see the table above",
             right);
    demo.lesson.table(
        {"built_in",
         "Built-in variables, seen by the last thread of <<<dim3(5, 3, 2), dim3(8, 4, "
         "2)>>>"},
        {"variable", "type", "value", "meaning"},
        {{"gridDim", "dim3", text(seen.grid), "blocks of the grid, in x, y, z"},
         {"blockDim", "dim3", text(seen.block), "threads of a block"},
         {"blockIdx", "uint3", text(seen.block_index), "my block, from 0 to gridDim - 1"},
         {"threadIdx", "uint3", text(seen.thread_index),
          "my place in it, from 0 to blockDim - 1"},
         {"warpSize", "int", std::to_string(seen.warp_size), "threads of a warp"}});
}

/// What the compiler made of the kernels. On a GPU only: the CPU device has no registers to
/// count.
void resources(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& name, auto kernel) {
        cudaFuncAttributes attributes{};
        check(cudaFuncGetAttributes(&attributes, kernel));
        rows.push_back({name, std::to_string(attributes.numRegs),
                        std::to_string(attributes.sharedSizeBytes),
                        std::to_string(attributes.maxThreadsPerBlock)});
    };
    add("square_plus_cube", square_plus_cube);
    add("bounded_square", bounded_square);
    add("reverse_blocks_static", reverse_blocks_static);
    add("reverse_blocks_dynamic", reverse_blocks_dynamic);
    lesson.table(
        {"attributes", "What the runtime knows of the kernels (cudaFuncGetAttributes)"},
        {"kernel", "registers per thread", "__shared__ bytes in the code",
         "most threads per block"},
        rows);
}

}  // namespace

void qualifiers(warpwise::Lesson& lesson) {
    lesson.question(
        R"(A `.cu` file is compiled for two processors at once. Qualifiers say where a
function runs, in which memory a variable is stored, who may use it, and how long it
exists. The four arguments of a launch say how many threads run the kernel, and with
what.)");
    lesson.predict(
        {.question = R"(A function without any qualifier computes a square. May a kernel
call it?)",
         .answer =
             warpwise::Choice{{"yes, any function", "yes, if it is inlined", "no"}, 2},
         .because = R"(A function without a qualifier is compiled for the host only. With
`__host__ __device__` it is compiled for both.)"});
    lesson.predict(
        {.question = R"(Two blocks of the same launch write to a `__shared__` variable with
the same name. Do they write to the same memory?)",
         .answer = warpwise::Choice{{"yes", "only if they run on the same SM", "no"}, 2},
         .because = R"(Each block has its own copy, also when two blocks run on the same
SM.)"});
    lesson.table({"functions", "Functions"},
                 {"qualifier", "runs on", "called from", "remember"},
                 {{"__global__", "device", "host, by <<< >>>",
                   "a kernel; returns void; the call does not wait"},
                  {"__device__", "device", "device", "inlined as a rule"},
                  {"__host__ or none", "host", "host", "a kernel cannot call it"},
                  {"__host__ __device__", "both", "both", "compiled twice, once for each"},
                  {"__launch_bounds__(t, b)", "", "",
                   "on a kernel: at most t threads per block, room for b blocks per SM"},
                  {"__forceinline__, __noinline__", "", "",
                   "always, or never, copied into the caller"}});
    lesson.table(
        {"variables", "Variables"}, {"qualifier", "lives in", "visible to", "lifetime"},
        {{"none, inside a kernel", "registers, else device memory", "one thread",
          "the thread"},
         {"__shared__", "shared memory of the SM", "the threads of one block", "the block"},
         {"__device__", "global memory", "all threads; the host by copies", "the program"},
         {"__constant__", "constant memory (64 KiB)", "all threads, to read; host as above",
          "the program"},
         {"__managed__", "wherever it is used", "all threads and the host, by name",
          "the program"}});
    lesson.conclusion(
        R"(The qualifier of a function says for which processor it is compiled. The
qualifier of a variable says in which memory it lies, who sees it, and how long it
exists.)");

    lesson.question(R"(What do the four arguments of a launch mean?)");
    lesson.predict(
        {.question =
             R"(`kernel<<<8, 256, 1024>>>()` asks for 1024 bytes of shared memory. How
many bytes do all blocks of this launch get, added up?)",
         .answer = warpwise::Number{.value = 8192, .unit = "bytes"},
         .because = R"(The third argument counts for each block: 8 * 1024.)"});
    lesson.table({"launch", "<<<grid, block, shared_bytes, stream>>>"},
                 {"argument", "type", "left out", "meaning"},
                 {{"grid", "dim3 or integer", "never", "blocks in x, y, z"},
                  {"block", "dim3 or integer", "never",
                   "threads of a block in x, y, z; product at most 1024"},
                  {"shared_bytes", "size_t", "0",
                   "bytes for the `extern __shared__` array, for each block"},
                  {"stream", "cudaStream_t", "0", "the queue; 0 is the default stream"}});

    lesson.conclusion(
        R"(The first two arguments say how many threads run. The third is the size of an
array in shared memory for each block, and the fourth names the stream.)");

    lesson.question(R"(What do these variables contain while kernels run?)");
    lesson.predict(
        {.question = R"(A `__device__` variable begins with 1000. Two launches, of 3
blocks of 40 threads and of 5 blocks of 100, add 1 to it in each thread, by an operation
that loses no addition. What does the host find in it afterwards?)",
         .answer = warpwise::Number{.value = 1620},
         .because = R"(It keeps its value from launch to launch: 1000 + 3 * 40 + 5
* 100.)"});
    Demonstrations demo{lesson, {}};
    functions(demo);
    variables(demo);
    shared_memory_and_launch(demo);
    built_in(demo);
    lesson.table({"at_work", "Each qualifier at work"},
                 {"kernel", "shows", "seen", "result"}, demo.rows);
    if (warpwise::Lesson::on_gpu())
        resources(lesson);
    else
        lesson.show_recorded("attributes");

    lesson.conclusion(
        R"(The host finds 1620: a `__device__` variable keeps its value from launch to
launch, until the program ends. The kernel adds by atomicAdd, which lets no other thread
come in between; with ++ counts would be lost. The two rows of `polynomial` are the same
compiled kernel. Between the launches the host wrote other coefficients into constant
memory, by cudaMemcpyToSymbol.)");
}

}  // namespace basics_and_pi
