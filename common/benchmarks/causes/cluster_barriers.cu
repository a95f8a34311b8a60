// tensor_memory_accelerator: multicast is slower than a copy per block. Is it the copies, or the barrier of the cluster
// that keeps a part from being overwritten while another block still reads it?
#include "chapters/5_modern_cuda/tensor_memory_accelerator/multicast.cuh"
#include "experiment.cuh"

namespace modern_cuda {
namespace {

// distances_alone in a cluster: nothing is shared. With `of_cluster` the blocks wait for each other nevertheless.
template <bool of_cluster>
__global__ void x_alone_in_cluster(const float* table, unsigned count, const float* queries, unsigned query_count,
                                   float* out) {
    extern __shared__ __align__(128) unsigned char reader_memory[];
    Reader& shared = *reinterpret_cast<Reader*>(reader_memory);
    const auto cluster = warpwise::this_cluster();
    const auto load = [&](unsigned part) {
        const unsigned bytes = floats_of(part, count) * static_cast<unsigned>(sizeof(float));
        std::uint64_t* const filled = &shared.filled[part % kParts];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, filled, bytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared.parts[part % kParts], table + part * kPart,
                           bytes, filled);
    };
    if (threadIdx.x == 0) {
        for (std::uint64_t& filled : shared.filled) ptx::mbarrier_init(&filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (unsigned part = 0; part < kParts && part < parts_of(count); ++part) load(part);
    }
    __syncthreads();
    const bool has_query = blockIdx.x < query_count;
    const float query = has_query ? queries[blockIdx.x] : 0;
    float sum = 0;
    for (unsigned part = 0; part < parts_of(count); ++part) {
        const unsigned parity = part / kParts % 2;
        while (!ptx::mbarrier_try_wait_parity(&shared.filled[part % kParts], parity)) {
        }
        sum += add_up_part(shared.parts[part % kParts], part, count, query);
        if constexpr (of_cluster)
            cluster.sync();
        else
            __syncthreads();
        if (threadIdx.x == 0 && part + kParts < parts_of(count)) load(part + kParts);
    }
    finish(sum, shared.sums, has_query ? out + blockIdx.x : nullptr);
}

using Kernel = void (*)(const float*, unsigned, const float*, unsigned, float*);

void launch(Kernel kernel, unsigned blocks, unsigned cluster, const float* table, unsigned count, const float* queries,
            float* out) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int{sizeof(Reader)}));
    cudaLaunchAttribute of_cluster{};
    of_cluster.id = cudaLaunchAttributeClusterDimension;
    of_cluster.val.clusterDim = {cluster, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = kReaders;
    config.dynamicSmemBytes = sizeof(Reader);
    config.attrs = &of_cluster;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, table, count, queries, blocks, out));
}

// Values and queries are 0 or 1, so that all sums are exact.
struct Ones {
    float zeros, ones;
    const float* queries;
    __device__ bool operator()(std::size_t i, float value) const { return value == (queries[i] == 0 ? ones : zeros); }
};

}  // namespace
}  // namespace modern_cuda

int main(int argc, char** argv) {
    using namespace modern_cuda;
    start(argc, argv, "cluster_barriers: what each block reads, by copies of its own and by multicast");
    constexpr unsigned count = 1u << 22, blocks = 1056;
    std::vector<float> values(count), asked(blocks);
    for (unsigned i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761u >> 31);
    for (unsigned i = 0; i < blocks; ++i) asked[i] = static_cast<float>(i % 2);
    const auto ones = static_cast<float>(std::count(values.begin(), values.end(), 1.0f));
    float *table = device_array<float>(count), *queries = device_array<float>(blocks),
          *out = device_array<float>(blocks);
    CHECK(cudaMemcpy(table, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(queries, asked.data(), blocks * sizeof(float), cudaMemcpyHostToDevice));

    std::vector<Variant> variants;
    const auto add = [&](const std::string& name, Kernel kernel, unsigned cluster) {
        variants.push_back({name, [=] { launch(kernel, blocks, cluster, table, count, queries, out); },
                            static_cast<double>(blocks) * count * sizeof(float),
                            [=] {
                                return is_right(out, blocks, Ones{static_cast<float>(count) - ones, ones, queries});
                            },
                            "", [=] { CHECK(cudaMemset(out, 0xFF, blocks * sizeof(float))); }});
    };
    add("a block alone, __syncthreads", distances_alone, 1);
    for (const unsigned cluster : {2u, 4u, 8u}) {
        const std::string of = ", clusters of " + std::to_string(cluster);
        add("own copies, __syncthreads" + of, x_alone_in_cluster<false>, cluster);
        add("own copies, cluster.sync" + of, x_alone_in_cluster<true>, cluster);
        add("multicast, cluster.sync" + of,
            cluster == 2   ? distances_multicast<2>
            : cluster == 4 ? distances_multicast<4>
                           : distances_multicast<8>,
            cluster);
    }
    measure("1056 blocks, each reads 16 MiB", variants, "GB/s");
    return finish();
}
