// Copies by the tensor memory accelerator: tiles that are used before they have arrived or still after they were given
// away, bytes that are counted wrong, stores without a fence, and addresses that it does not take.
#include "common/helpers/ptx.cuh"
#include "common/helpers/tensor_map.h"
#include "common/helpers/this_cluster.cuh"
#include "common/tests/corpus/mistakes/mistakes.h"

namespace {

using namespace corpus;
namespace ptx = warpwise::ptx;
using warpwise::launch_in_clusters;
using warpwise::this_cluster;

using Map = CUtensorMap;
using Bar = std::uint64_t;

constexpr unsigned kBoxBytes = 32 * 32 * sizeof(float);
constexpr ptx::space_cluster_t kCluster{};
constexpr ptx::space_global_t kGlobal{};
constexpr ptx::space_shared_t kShared{};

/// The matrix has 64 rows of 32 floats, and boxes have 32 rows. Blocks of 64 threads.
Map map_of(const DeviceBuffer<float>& matrix) {
    return warpwise::tensor_map(
        {.data = matrix.data(), .rows = 64, .cols = 32, .pitch = 128, .box_rows = 32, .box_cols = 32});
}

template <class Kernel>
void run(Kernel kernel, unsigned blocks = 1) {
    DeviceBuffer<float> d_in(std::vector<float>(64 * 32, 1.0f)), d_out(std::vector<float>(64 * 32, 0.0f));
    check(launch_in_clusters(kernel, {.blocks = blocks, .cluster = blocks, .threads = 64}, map_of(d_in), map_of(d_out),
                             static_cast<const float*>(d_in.data()), d_out.data()));
    check_finished();
}

__device__ void begin(Bar* filled) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(filled, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
}
__device__ void expect(Bar* filled, unsigned bytes) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, filled, bytes);
}

__global__ void no_wait(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // OTHER: begins
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 32][0];  // MISTAKE(data_race): nobody has waited for the box
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void tile_read_before_its_box() {
    // HINT: wait first for the phase
    run(no_wait);
}

__global__ void parity_one(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // OTHER: begins
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 1)) {
    }
    out[threadIdx.x] = tile[threadIdx.x % 32][0];  // MISTAKE(data_race): the first phase has parity 0
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void box_waited_for_by_the_wrong_parity() { run(parity_one); }

__global__ void same_parity_twice(const __grid_constant__ Map in, const __grid_constant__ Map, const float*,
                                  float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x == 0) {
            expect(&filled, kBoxBytes);
            const std::int32_t at[2] = {0, 0};
            ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // OTHER: it
        }
        __syncthreads();
        while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
        }
        out[64 * round + threadIdx.x] = tile[threadIdx.x % 32][0];  // MISTAKE(data_race): that was the first phase
        __syncthreads();
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 1)) {
    }
}

void second_round_waits_for_the_first_phase() { run(same_parity_twice); }

__global__ void counts_elements(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 32 * 32);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // MISTAKE(barrier_misuse): 4 KiB
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    out[threadIdx.x] = tile[threadIdx.x % 32][0];
}

void bytes_counted_in_elements() { run(counts_elements); }

__global__ void counts_twice(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 2 * kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {  // MISTAKE(missing_arrival): half of the bytes never come
    }
    out[threadIdx.x] = tile[threadIdx.x % 32][0];
}

void bytes_announced_twice() {
    // HINT: the sum of the sizes of its copies
    run(counts_twice);
}

__global__ void no_fence(const __grid_constant__ Map, const __grid_constant__ Map to, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned i = threadIdx.x; i < 32 * 32; i += 64) tile[i / 32][i % 32] = 2;  // OTHER: by the threads
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // MISTAKE(data_race): stale
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

void store_without_a_proxy_fence() {
    // HINT: fence_proxy_async(space_shared)
    run(no_fence);
}

__global__ void fence_by_one(const __grid_constant__ Map, const __grid_constant__ Map to, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned i = threadIdx.x; i < 32 * 32; i += 64) tile[i / 32][i % 32] = 2;  // OTHER: by the threads
    if (threadIdx.x == 0) ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // MISTAKE(data_race): stale
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

void fence_of_one_thread_before_the_barrier() { run(fence_by_one); }

__global__ void overwrites(const __grid_constant__ Map, const __grid_constant__ Map to, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (int round = 0; round < 2; ++round) {
        for (unsigned i = threadIdx.x; i < 32 * 32; i += 64)
            tile[i / 32][i % 32] = static_cast<float>(round);  // MISTAKE(data_race): of the second round
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            const std::int32_t at[2] = {0, 32 * round};
            ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // OTHER: it
            ptx::cp_async_bulk_commit_group();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

void buffer_written_while_it_is_stored() { run(overwrites); }

__global__ void waits_for_one_too_few(const __grid_constant__ Map, const __grid_constant__ Map to, const float*,
                                      float*) {
    __shared__ alignas(128) float tile[32][32];
    for (int round = 0; round < 2; ++round) {
        for (unsigned i = threadIdx.x; i < 32 * 32; i += 64)
            tile[i / 32][i % 32] = static_cast<float>(round);  // MISTAKE(data_race): of the second round
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            const std::int32_t at[2] = {0, 32 * round};
            ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // OTHER: it
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

void wait_that_leaves_the_last_store() { run(waits_for_one_too_few); }

__global__ void never_waits(const __grid_constant__ Map, const __grid_constant__ Map to, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned i = threadIdx.x; i < 32 * 32; i += 64) tile[i / 32][i % 32] = 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // MISTAKE(use_after_free): -
        ptx::cp_async_bulk_commit_group();
    }
}

void store_that_nobody_waits_for() { run(never_waits); }

__global__ void never_committed(const __grid_constant__ Map, const __grid_constant__ Map to, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned i = threadIdx.x; i < 32 * 32; i += 64) tile[i / 32][i % 32] = 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // MISTAKE(use_after_free): -
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

void store_without_a_commit() { run(never_committed); }

__global__ void box_at_64(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float*) {
    __shared__ alignas(128) float tile[33][32];
    __shared__ Bar filled;
    float* const between = &tile[0][16];
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, between, &in, at, &filled);  // MISTAKE(misaligned_access): 64
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void box_between_two_multiples() { run(box_at_64); }

__global__ void copies_100_bytes(const __grid_constant__ Map, const __grid_constant__ Map, const float* from, float*) {
    __shared__ alignas(16) float tile[32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 100);
        ptx::cp_async_bulk(kCluster, kGlobal, tile, from, 100, &filled);  // MISTAKE(misaligned_access): 100
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void bulk_copy_of_100_bytes() { run(copies_100_bytes); }

__global__ void source_at_a_float(const __grid_constant__ Map, const __grid_constant__ Map, const float* from, float*) {
    __shared__ alignas(16) float tile[32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, 64);
        ptx::cp_async_bulk(kCluster, kGlobal, tile, from + 1, 64, &filled);  // MISTAKE(misaligned_access): 4 bytes off
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void bulk_copy_from_the_second_float() { run(source_at_a_float); }

__global__ void at_the_second_column(const __grid_constant__ Map in, const __grid_constant__ Map, const float*,
                                     float*) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {1, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // MISTAKE(misaligned_access): 4 bytes
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void box_at_the_second_column() { run(at_the_second_column); }

__global__ void stored_before_the_row(const __grid_constant__ Map, const __grid_constant__ Map to, const float*,
                                      float*) {
    __shared__ alignas(128) float tile[32][32];
    for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i / 32][i % 32] = 1;
    ptx::fence_proxy_async(kShared);
    __syncthreads();
    if (threadIdx.x > 0) return;
    const std::int32_t at[2] = {-2, 0};
    ptx::cp_async_bulk_tensor(kGlobal, kShared, &to, at, tile);  // MISTAKE(misaligned_access): 8 bytes before the row
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

void box_stored_two_columns_before_the_first() { run(stored_before_the_row); }

__global__ void too_early(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled[2];
    begin(&filled[0]);
    begin(&filled[1]);
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x == 0) {
            expect(&filled[round], kBoxBytes);
            const std::int32_t at[2] = {0, 32 * round};
            ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled[round]);  // OTHER: -
        }
        while (!ptx::mbarrier_try_wait_parity(&filled[round], 0)) {
        }
        out[64 * round + threadIdx.x] = tile[threadIdx.x % 32][0];  // MISTAKE(data_race): no barrier after this
    }
}

void next_box_over_a_tile_in_use() { run(too_early); }

__global__ void unused_box(const __grid_constant__ Map in, const __grid_constant__ Map, const float*, float* out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &in, at, &filled);  // MISTAKE(use_after_free): lands
    }
    out[threadIdx.x] = 0;
}

void box_that_nobody_waits_for() { run(unused_box); }

__global__ void multicast_in_use(const __grid_constant__ Map, const __grid_constant__ Map, const float* from,
                                 float* out) {
    __shared__ alignas(128) float tile[32];
    __shared__ Bar filled[2];
    begin(&filled[0]);
    begin(&filled[1]);
    if (threadIdx.x < 2) expect(&filled[threadIdx.x], sizeof tile);
    this_cluster().sync();
    for (int round = 0; round < 2; ++round) {
#if defined(__CPU_DEVICE__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
        constexpr std::uint16_t both = 3;
        if (threadIdx.x == 0 && this_cluster().block_rank() == 0)
            ptx::cp_async_bulk(kCluster, kGlobal, tile, from, 128, &filled[round], both);  // OTHER: over the first one
#endif
        while (!ptx::mbarrier_try_wait_parity(&filled[round], 0)) {
        }
        out[128 * round + 64 * blockIdx.x + threadIdx.x] = tile[threadIdx.x % 32];  // MISTAKE(data_race): both
        __syncthreads();
    }
    this_cluster().sync();
}

void multicast_over_a_tile_in_use() { run(multicast_in_use, 2); }

__global__ void multicast_too_early(const __grid_constant__ Map, const __grid_constant__ Map, const float* from,
                                    float* out) {
    __shared__ alignas(128) float tile[32];
    __shared__ Bar filled;
    begin(&filled);
    if (threadIdx.x == 0) expect(&filled, 128);
#if defined(__CPU_DEVICE__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr std::uint16_t both = 3;
    if (threadIdx.x == 0 && this_cluster().block_rank() == 0) {
        ptx::cp_async_bulk(kCluster, kGlobal, tile, from, 128, &filled, both);  // MISTAKE(barrier_misuse): no init
    }
#endif
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
    out[64 * blockIdx.x + threadIdx.x] = tile[threadIdx.x % 32];
}

void multicast_before_all_barriers_are_initialized() { run(multicast_too_early, 2); }

__global__ void map_by_value(const __grid_constant__ Map, const __grid_constant__ Map, const float*, float*) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ Bar filled;
    begin(&filled);
    const Map empty{};
    if (threadIdx.x == 0) {
        expect(&filled, kBoxBytes);
        const std::int32_t at[2] = {0, 0};
        ptx::cp_async_bulk_tensor(kCluster, kGlobal, tile, &empty, at, &filled);  // MISTAKE(illegal_access): empty
    }
    while (!ptx::mbarrier_try_wait_parity(&filled, 0)) {
    }
}

void box_of_an_empty_map() { run(map_by_value); }

}  // namespace

namespace corpus {

CaseList bulk_copies() {
    return {__FILE__,
            {{"tile_read_before_its_box", "__syncthreads() where a wait belongs", tile_read_before_its_box},
             {"box_waited_for_by_the_wrong_parity", "parity 1 at first", box_waited_for_by_the_wrong_parity},
             {"second_round_waits_for_the_first_phase", "parity 0 twice", second_round_waits_for_the_first_phase},
             {"bytes_counted_in_elements", "1024 of 4096 bytes", bytes_counted_in_elements, true},
             {"bytes_announced_twice", "8192 of 4096 bytes", bytes_announced_twice, true},
             {"store_without_a_proxy_fence", "threads write, TMA stores", store_without_a_proxy_fence},
             {"fence_of_one_thread_before_the_barrier", "others write, too", fence_of_one_thread_before_the_barrier},
             {"buffer_written_while_it_is_stored", "no wait for the store", buffer_written_while_it_is_stored},
             {"wait_that_leaves_the_last_store", "wait_group_read<1>", wait_that_leaves_the_last_store},
             {"store_that_nobody_waits_for", "the block ends", store_that_nobody_waits_for},
             {"store_without_a_commit", "the wait is for no group", store_without_a_commit},
             {"box_between_two_multiples", "64 bytes off", box_between_two_multiples},
             {"bulk_copy_of_100_bytes", "size", bulk_copy_of_100_bytes},
             {"bulk_copy_from_the_second_float", "source", bulk_copy_from_the_second_float},
             {"box_at_the_second_column", "coordinate", box_at_the_second_column},
             {"box_stored_two_columns_before_the_first", "coordinate", box_stored_two_columns_before_the_first},
             {"next_box_over_a_tile_in_use", "no barrier between rounds", next_box_over_a_tile_in_use},
             {"box_that_nobody_waits_for", "the block ends", box_that_nobody_waits_for},
             {"multicast_over_a_tile_in_use", "no cluster.sync() between rounds", multicast_over_a_tile_in_use},
             {"multicast_before_all_barriers_are_initialized", "no cluster.sync() after init",
              multicast_before_all_barriers_are_initialized, true},
             {"box_of_an_empty_map", "not encoded", box_of_an_empty_map}}};
}

}  // namespace corpus
