// host_memory_and_streams.md: how fast are copies in both directions at the same time, how many streams are enough, and
// how fast does the processor copy to pinned memory?
#include "experiment.cuh"

constexpr std::size_t kCount = std::size_t{1} << 28;  // floats, 1 GiB in each direction
constexpr std::size_t kChunks = 64;
constexpr unsigned kThreads = 256;
constexpr int kMostStreams = 8;

// The kernel of the lesson.
__global__ void x_square_roots(const float* in, float* out, std::size_t count, int rounds) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = in[i];
    float root = 0.5f * (x + 1);
    for (int round = 0; round < rounds; ++round) root = 0.5f * (root + x / root);
    out[i] = root;
}

struct AlwaysTwo {
    __device__ bool operator()(std::size_t, float value) const { return value == 2.0f; }
};

struct Problem {
    float *host_in, *host_out, *d_in, *d_out;
    cudaStream_t streams[kMostStreams];
    int rounds = 64;

    void copy_in(std::size_t first, std::size_t count, cudaStream_t stream) const {
        CHECK(cudaMemcpyAsync(d_in + first, host_in + first, count * sizeof(float), cudaMemcpyHostToDevice, stream));
    }
    void copy_out(std::size_t first, std::size_t count, cudaStream_t stream) const {
        CHECK(cudaMemcpyAsync(host_out + first, d_out + first, count * sizeof(float), cudaMemcpyDeviceToHost, stream));
    }
    void compute(std::size_t first, std::size_t count, cudaStream_t stream) const {
        x_square_roots<<<static_cast<unsigned>(count / kThreads), kThreads, 0, stream>>>(d_in + first, d_out + first,
                                                                                         count, rounds);
    }
    // All three parts of each chunk, in streams that take turns.
    void pipeline(std::size_t streams_used) const {
        constexpr std::size_t count = kCount / kChunks;
        for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
            const cudaStream_t stream = streams[chunk % streams_used];
            copy_in(chunk * count, count, stream);
            compute(chunk * count, count, stream);
            copy_out(chunk * count, count, stream);
        }
    }
    bool result_is_two() const { return is_right(d_out, kCount, AlwaysTwo{}); }
};

// GB/s of one thread of the processor that copies pageable memory to pinned memory.
void copy_by_the_processor(const Problem& problem) {
    std::vector<float> pageable(kCount, 4.0f);
    std::vector<double> rates;
    for (int round = 0; round < 11; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(problem.host_in, pageable.data(), kCount * sizeof(float));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        rates.push_back(kCount * sizeof(float) * 1e-9 / took.count());
    }
    std::sort(rates.begin(), rates.end());
    std::printf(
        "\nthe processor copies pageable to pinned memory, one thread: %.1f GB/s (median of 11, %.1f to %.1f)\n",
        rates[5], rates.front(), rates.back());
}

int main(int argc, char** argv) {
    start(argc, argv, "streams_causes");
    Problem p;
    CHECK(cudaMallocHost(&p.host_in, kCount * sizeof(float)));
    CHECK(cudaMallocHost(&p.host_out, kCount * sizeof(float)));
    std::fill(p.host_in, p.host_in + kCount, 4.0f);
    p.d_in = device_array<float>(kCount);
    p.d_out = device_array<float>(kCount);
    for (cudaStream_t& stream : p.streams) CHECK(cudaStreamCreate(&stream));
    copy_by_the_processor(p);

    const double bytes = kCount * sizeof(float);
    const std::vector<double> parts =
        measure("one part alone, the whole array",
                {{"copy in", [&] { p.copy_in(0, kCount, nullptr); }, bytes, {}, ""},
                 {"compute, 64 rounds", [&] { p.compute(0, kCount, nullptr); }, 2 * bytes, {}, ""},
                 {"copy out", [&] { p.copy_out(0, kCount, nullptr); }, bytes, {}, ""}},
                "GB/s", 11);
    // As in the lesson: the kernel takes three quarters of the time of a copy.
    if (!parts.empty()) p.rounds = static_cast<int>(64 * 0.75 * parts[0] / parts[1]);
    std::printf("%d rounds from now on\n", p.rounds);

    const auto right = [&] { return p.result_is_two(); };
    const auto poison = [&] { CHECK(cudaMemset(p.d_out, 0xFF, kCount * sizeof(float))); };
    std::vector<Variant> variants = {{"copy in", [&] { p.copy_in(0, kCount, nullptr); }, bytes, {}, ""},
                                     {"copy out", [&] { p.copy_out(0, kCount, nullptr); }, bytes, {}, ""},
                                     {"both copies, two streams",
                                      [&] {
                                          p.copy_in(0, kCount, p.streams[0]);
                                          p.copy_out(0, kCount, p.streams[1]);
                                      },
                                      2 * bytes,
                                      {},
                                      "bytes of both directions"},
                                     {"both copies, 64 chunks, two streams",
                                      [&] {
                                          constexpr std::size_t count = kCount / kChunks;
                                          for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
                                              p.copy_in(chunk * count, count, p.streams[0]);
                                              p.copy_out(chunk * count, count, p.streams[1]);
                                          }
                                      },
                                      2 * bytes,
                                      {},
                                      "bytes of both directions"}};
    for (const std::size_t streams : {1, 2, 3, 4, 8}) {
        variants.push_back({"copy, compute, copy: " + std::to_string(streams) + " streams",
                            [&p, streams] { p.pipeline(streams); }, 2 * bytes, right, "64 chunks", poison});
    }
    measure("copies in both directions, and the pipeline", variants, "GB/s", 11);
    return finish();
}
