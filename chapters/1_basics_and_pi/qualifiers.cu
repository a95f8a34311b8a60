// Problem: in one file live functions for the host and functions for the device, variables of one and variables of the
// other. Qualifiers say which is which: where a function runs and who may call it, where a variable lives, who sees it
// and for how long. The execution configuration <<<grid, block, shared bytes, stream>>> says how a kernel is started.
//
// Each kernel shows one qualifier. All of them compute with integers, so that every result must be exactly right.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

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

constexpr unsigned kBlock = 64;

// 1. __global__ and __device__. A kernel (__global__) runs on the device, is started by the host and returns void. A
//    __device__ function runs on the device and is called from there, like any function. The compiler inlines it where
//    it sees fit; __forceinline__ insists, and __noinline__ asks for a real call, which costs some instructions and
//    registers.
__device__ __forceinline__ int square(int value) { return value * value; }
__device__ __noinline__ int cube(int value) { return value * value * value; }

__global__ void square_plus_cube(const int* in, int* out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = square(in[i]) + cube(in[i]);
}

// 2. __host__ __device__. The function is compiled twice, once for each side. What changed: the host can check the
//    kernel with the very same code. Without a qualifier a function is __host__, and a kernel that calls it does not
//    compile.
//    Notice: lanes of a warp whose loops are shorter wait for the longest one.
__host__ __device__ int collatz_steps(unsigned value) {
    int steps = 0;
    for (; value > 1; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    return steps;
}

__global__ void collatz(int* steps, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) steps[i] = collatz_steps(i);
}

// 3. __constant__. A variable in device memory that kernels may only read; the host writes it with cudaMemcpyToSymbol,
//    also between launches. It has a cache of its own that serves one address to a whole warp at a time.
//    Notice: all lanes read coefficients[k] with the same k. Lanes with different k would be served one after the
//    other.
__constant__ int coefficients[4];

__global__ void polynomial(const int* in, int* out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int sum = 0;
    for (int k = 3; k >= 0; --k) sum = sum * in[i] + coefficients[k];
    out[i] = sum;
}

// 4. A __device__ variable. It lives in global memory as long as the program, every thread of every launch sees the
//    same one, and it keeps its value from launch to launch. The host copies it with cudaMemcpyFromSymbol.
//    Notice: `++threads_so_far` would lose counts, because all threads add to one variable: hence atomicAdd.
__device__ unsigned threads_so_far = 1000;

__global__ void count_threads() { atomicAdd(&threads_so_far, 1u); }

// 5. A __managed__ variable. What changed: the host uses it by name, without a copy; pages move to whoever touches
//    them.
//    Notice: the host has to wait for the kernel first, nothing else makes the value arrive.
__managed__ unsigned managed_threads = 0;

__global__ void count_threads_managed() { atomicAdd(&managed_threads, 1u); }

// 6. __shared__. One tile for each block, on the SM, gone when the block ends. The block turns its part of the array
//    around: each thread writes one element and reads another one's, so all must have written before any reads.
//    Notice: every thread reaches __syncthreads(), also those of the last block that have no element.
__global__ void reverse_blocks_static(const int* in, int* out, unsigned count) {
    __shared__ int tile[kBlock];
    const unsigned first = blockIdx.x * blockDim.x;
    const unsigned elements = first < count ? min(blockDim.x, count - first) : 0;
    if (threadIdx.x < elements) tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < elements) out[first + threadIdx.x] = tile[elements - 1 - threadIdx.x];
}

// 7. All four launch arguments. What changed: the tile has no size in the code, the third argument of the launch
//    gives its bytes; the fourth names the stream, a queue of the device. Kernels of one stream run in order, those
//    of different streams may overlap. There is one dynamic tile: who needs two arrays cuts it up.
__global__ void reverse_blocks_dynamic(const int* in, int* out, unsigned count) {
    extern __shared__ int dynamic_tile[];
    const unsigned first = blockIdx.x * blockDim.x;
    const unsigned elements = first < count ? min(blockDim.x, count - first) : 0;
    if (threadIdx.x < elements) dynamic_tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < elements) out[first + threadIdx.x] = dynamic_tile[elements - 1 - threadIdx.x];
}

// 8. Built-in variables. They are declared everywhere in device code and cannot be assigned to. The last thread of the
//    last block writes down what it sees of them.
struct Seen {
    dim3 grid, block;
    uint3 block_index, thread_index;
    int warp_size;
};

__global__ void built_in_variables(Seen* seen) {
    const bool last_block = blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1;
    const bool last_thread =
        threadIdx.x == blockDim.x - 1 && threadIdx.y == blockDim.y - 1 && threadIdx.z == blockDim.z - 1;
    if (last_block && last_thread) *seen = {gridDim, blockDim, blockIdx, threadIdx, warpSize};
}

// 9. __launch_bounds__(threads, blocks) promises that no block has more threads, and asks for registers so few that
//    this many blocks fit on an SM. __restrict__ promises that no other pointer reaches the same memory, so that the
//    compiler may keep what it has read. Notice: both are promises; a launch with more threads is refused, a broken
//    __restrict__ gives wrong results.
__global__ void __launch_bounds__(kBlock, 8)
    bounded_square(const int* __restrict__ in, int* __restrict__ out, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = square(in[i]);
}

/// The inputs of most demonstrations: small enough that cubes and polynomials stay inside an int.
std::vector<int> inputs(unsigned count) { return warpwise::uniform_integers(count, 1, -100, 100); }

/// Collects one row for each demonstration.
struct Demonstrations {
    warpwise::Lesson& lesson;
    std::vector<std::vector<std::string>> rows;

    void add(const std::string& kernel, const std::string& shows, const std::string& seen, bool right) {
        lesson.expect(right, kernel + ": " + shows);
        rows.push_back({kernel, shows, seen, right ? "right" : "WRONG"});
    }

    /// Runs `launch(d_in, d_out)` for several sizes; `expected(in, i)` is what must be in element i.
    template <class Launch, class Expected>
    void add_elementwise(const std::string& kernel, const std::string& shows, Launch launch, Expected expected) {
        std::size_t compared = 0, wrong = 0;
        for (const unsigned count : {0u, 1u, 31u, 32u, 33u, 1009u}) {
            const std::vector<int> in = inputs(count);
            DeviceBuffer<int> d_in(in), d_out(count);
            d_out.fill_bytes(0x7F);
            launch(d_in.data(), d_out.data(), count);
            check_finished();
            const std::vector<int> out = d_out.download();
            for (unsigned i = 0; i < count; ++i, ++compared) wrong += out[i] != expected(in, i);
        }
        add(kernel, shows, std::to_string(compared - wrong) + " of " + std::to_string(compared) + " elements",
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
        [](const std::vector<int>& in, unsigned i) { return in[i] * in[i] + in[i] * in[i] * in[i]; });
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
    for (const std::vector<int>& values : {std::vector<int>{1, 2, 3, 4}, std::vector<int>{-7, 0, 5, 1}}) {
        check(cudaMemcpyToSymbol(coefficients, values.data(), sizeof coefficients));
        demo.add_elementwise(
            "polynomial", "__constant__, first coefficient " + std::to_string(values[0]),
            [](const int* in, int* out, unsigned count) {
                polynomial<<<blocks_for(count, kBlock), kBlock>>>(in, out, count);
                check_launch();
            },
            [&](const std::vector<int>& in, unsigned i) {
                const int x = in[i];
                return values[0] + values[1] * x + values[2] * x * x + values[3] * x * x * x;
            });
    }

    unsigned before = 0, after = 0;
    check(cudaMemcpyFromSymbol(&before, threads_so_far, sizeof before));
    count_threads<<<3, 40>>>();
    check_launch();
    count_threads<<<5, 100>>>();
    check_launch();
    check(cudaMemcpyFromSymbol(&after, threads_so_far, sizeof after));  // waits for both launches
    demo.add("count_threads", "__device__ variable, two launches",
             std::to_string(before) + " before, " + std::to_string(after) + " after",
             after - before == 3 * 40 + 5 * 100);

    managed_threads = 0;
    count_threads_managed<<<3, 40>>>();
    check_launch();
    check_finished();  // before the host may look
    demo.add("count_threads_managed", "__managed__ variable", std::to_string(managed_threads) + " threads",
             managed_threads == 3 * 40);
}

void shared_memory_and_launch(Demonstrations& demo) {
    const auto reversed = [](const std::vector<int>& in, unsigned i) {
        const unsigned first = i / kBlock * kBlock;
        const unsigned last = std::min<unsigned>(first + kBlock, static_cast<unsigned>(in.size())) - 1;
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
            reverse_blocks_dynamic<<<blocks_for(count, kBlock), kBlock, shared_bytes, stream>>>(in, out, count);
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
        return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
    };
    const auto equal = [](auto a, auto b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
    const bool right = equal(seen.grid, grid) && equal(seen.block, block) && seen.warp_size == 32 &&
                       equal(seen.block_index, dim3(grid.x - 1, grid.y - 1, grid.z - 1)) &&
                       equal(seen.thread_index, dim3(block.x - 1, block.y - 1, block.z - 1));
    demo.add("built_in_variables", "what the last thread sees", "see below", right);
    demo.lesson.table("Built-in variables, seen by the last thread of <<<dim3(5, 3, 2), dim3(8, 4, 2)>>>",
                      {"variable", "type", "value", "meaning"},
                      {{"gridDim", "dim3", text(seen.grid), "blocks of the grid, in x, y, z"},
                       {"blockDim", "dim3", text(seen.block), "threads of a block"},
                       {"blockIdx", "uint3", text(seen.block_index), "my block, from 0 to gridDim - 1"},
                       {"threadIdx", "uint3", text(seen.thread_index), "my place in it, from 0 to blockDim - 1"},
                       {"warpSize", "int", std::to_string(seen.warp_size), "threads of a warp"}});
}

/// What the compiler made of the kernels. On a GPU only: the CPU device has no registers to count.
void resources(warpwise::Lesson& lesson) {
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& name, auto kernel) {
        cudaFuncAttributes attributes{};
        check(cudaFuncGetAttributes(&attributes, kernel));
        rows.push_back({name, std::to_string(attributes.numRegs), std::to_string(attributes.sharedSizeBytes),
                        std::to_string(attributes.maxThreadsPerBlock)});
    };
    add("square_plus_cube", square_plus_cube);
    add("bounded_square", bounded_square);
    add("reverse_blocks_static", reverse_blocks_static);
    add("reverse_blocks_dynamic", reverse_blocks_dynamic);
    lesson.table("What the runtime knows of the kernels (cudaFuncGetAttributes)",
                 {"kernel", "registers a thread", "__shared__ bytes in the code", "most threads a block"}, rows);
}

}  // namespace

void qualifiers(warpwise::Lesson& lesson) {
    lesson.text(
        R"(A `.cu` file is compiled for two processors at once. Qualifiers in front of functions say on which
of them they run; qualifiers in front of variables say in which memory they live.)");
    lesson.table("Functions", {"qualifier", "runs on", "called from", "remember"},
                 {{"__global__", "device", "host, by <<< >>>", "a kernel; returns void; the call does not wait"},
                  {"__device__", "device", "device", "inlined as a rule"},
                  {"__host__ or none", "host", "host", "a kernel cannot call it"},
                  {"__host__ __device__", "both", "both", "compiled twice; the same test data for both"},
                  {"__launch_bounds__(t, b)", "", "", "on a kernel: at most t threads a block, b blocks an SM"},
                  {"__forceinline__, __noinline__", "", "", "always, or never, copied into the caller"}});
    lesson.table("Variables", {"qualifier", "lives in", "visible to", "lifetime"},
                 {{"none, inside a kernel", "registers, else local memory", "one thread", "the thread"},
                  {"__shared__", "shared memory of the SM", "the threads of one block", "the block"},
                  {"__device__", "global memory", "all threads; host by cudaMemcpy..Symbol", "the program"},
                  {"__constant__", "constant memory (64 KiB)", "all threads, to read; host as above", "the program"},
                  {"__managed__", "wherever it is used", "all threads and the host, by name", "the program"}});
    lesson.table("<<<grid, block, shared_bytes, stream>>>", {"argument", "type", "left out", "meaning"},
                 {{"grid", "dim3 or integer", "never", "blocks in x, y, z"},
                  {"block", "dim3 or integer", "never", "threads of a block in x, y, z; product at most 1024"},
                  {"shared_bytes", "size_t", "0", "bytes for the `extern __shared__` array, for each block"},
                  {"stream", "cudaStream_t", "0", "the queue; 0 is the default stream"}});

    Demonstrations demo{lesson, {}};
    functions(demo);
    variables(demo);
    shared_memory_and_launch(demo);
    built_in(demo);
    lesson.table("Each qualifier at work", {"kernel", "shows", "seen", "check"}, demo.rows);
    if (warpwise::Lesson::on_gpu()) resources(lesson);

    lesson.text(
        R"(Read the counts first: the `__device__` variable kept its value between two launches, and so it
does until the program ends. The two polynomial rows are the same compiled kernel; only the constant memory was
written anew between them.

Mistakes to avoid: passing `&threads_so_far` or `coefficients` to cudaMemcpy (on the host the name is only a label:
use the Symbol functions, or cudaGetSymbolAddress); forgetting the third launch argument when the kernel has an
`extern __shared__` array, which gives it no memory at all; expecting `__shared__` data to survive to the next
launch; leaving a kernel before `__syncthreads()` while other threads of the block wait there; a `__device__`
counter added to without an atomic.

Try next: ask for 32 blocks an SM in the `__launch_bounds__` of `bounded_square`, build again, and compare its
registers in the table that a GPU adds to this lesson; take the atomicAdd out of `count_threads`, and, on a GPU, see
what is counted. Then put all of it to work.

    basics_and_pi qualifiers
    basics_and_pi vector_add)");
}

}  // namespace basics_and_pi
