// What lanes and threads of a block do together.
#include "common/tests/api_corpus/evaluate.cuh"

namespace {

using namespace api_corpus;

constexpr unsigned all = 0xffffffffu;

/// What `call(lane)` returns for the lanes of a warp.
template <class Call, class R>
__global__ void call_in_a_warp(Call call, R* out) {
    out[threadIdx.x] = call(static_cast<int>(threadIdx.x));
}
template <class R, class Call>
Results warp(Call call, int threads = 32) {
    const OnDevice<R> d_out{std::vector<R>(static_cast<std::size_t>(threads))};
    call_in_a_warp<Call, R><<<1, threads>>>(call, d_out.data());
    return results_of(d_out.values());
}

#define WARP(name, label, R, ...)                                                        \
    struct Warp_##name {                                                                 \
        __device__ R operator()([[maybe_unused]] int lane) const { return __VA_ARGS__; } \
    };                                                                                   \
    const Case warp_##name(label, [] { return warp<R>(Warp_##name{}); });

// Shuffles: what lies outside of a segment keeps the lane's own value.
WARP(shfl, "__shfl_sync", int, __shfl_sync(all, lane * 10, 5))
WARP(shfl_beyond, "__shfl_sync from lane 37", int, __shfl_sync(all, lane * 10, 37))
WARP(shfl_negative, "__shfl_sync from lane -1", int, __shfl_sync(all, lane * 10, -1))
WARP(shfl_width, "__shfl_sync, width 8", int, __shfl_sync(all, lane * 10, lane / 2, 8))
WARP(shfl_up, "__shfl_up_sync", int, __shfl_up_sync(all, lane * 10, 3))
WARP(shfl_up_width, "__shfl_up_sync, width 8", int, __shfl_up_sync(all, lane * 10, 3, 8))
WARP(shfl_up_far, "__shfl_up_sync by 40", int, __shfl_up_sync(all, lane * 10, 40))
WARP(shfl_down, "__shfl_down_sync", int, __shfl_down_sync(all, lane * 10, 3))
WARP(shfl_down_width, "__shfl_down_sync, width 4", int, __shfl_down_sync(all, lane * 10, 3, 4))
WARP(shfl_down_far, "__shfl_down_sync by 32", int, __shfl_down_sync(all, lane * 10, 32))
WARP(shfl_xor, "__shfl_xor_sync", int, __shfl_xor_sync(all, lane * 10, 5))
WARP(shfl_xor_width, "__shfl_xor_sync, width 4", int, __shfl_xor_sync(all, lane * 10, 6, 4))
WARP(shfl_xor_far, "__shfl_xor_sync by 33", int, __shfl_xor_sync(all, lane * 10, 33))
WARP(shfl_float, "__shfl_sync of float", float, __shfl_sync(all, lane * 0.5f, 7))
WARP(shfl_double, "__shfl_down_sync of double", double, __shfl_down_sync(all, lane * 0.25, 2))
WARP(shfl_long, "__shfl_xor_sync of long long", long long, __shfl_xor_sync(all, static_cast<long long>(lane) << 40, 1))
WARP(shfl_half, "__shfl_up_sync of half", __half, __shfl_up_sync(all, __float2half(lane * 0.5f), 1))

WARP(ballot, "__ballot_sync", unsigned, __ballot_sync(all, lane % 3 == 0))
WARP(any, "__any_sync", int, __any_sync(all, lane == 7) * 10 + __any_sync(all, lane == 70))
WARP(every, "__all_sync", int, __all_sync(all, lane < 32) * 10 + __all_sync(all, lane != 3))
WARP(activemask, "__activemask", unsigned, __activemask())
WARP(match_any, "__match_any_sync", unsigned, __match_any_sync(all, lane % 5))
WARP(match_any_long, "__match_any_sync of long long", unsigned,
     __match_any_sync(all, static_cast<long long>(lane % 3) << 40))
struct MatchAll {
    __device__ unsigned operator()(int lane) const {
        int same = 7, differ = 7;
        const unsigned first = __match_all_sync(all, lane / 32, &same);
        const unsigned second = __match_all_sync(all, lane / 16, &differ);
        return (first & 0xff00u) | (second & 0xff0000u) | static_cast<unsigned>(same * 10 + differ);
    }
};
const Case match_all("__match_all_sync", [] { return warp<unsigned>(MatchAll{}); });
WARP(reduce_add, "__reduce_add_sync", int, __reduce_add_sync(all, lane - 40))
WARP(reduce_add_unsigned, "__reduce_add_sync of unsigned", unsigned,
     __reduce_add_sync(all, 0xf0000000u + static_cast<unsigned>(lane)))
WARP(reduce_min, "__reduce_min_sync", int, __reduce_min_sync(all, lane - 5))
WARP(reduce_min_unsigned, "__reduce_min_sync of unsigned", unsigned,
     __reduce_min_sync(all, static_cast<unsigned>(lane - 5)))
WARP(reduce_max, "__reduce_max_sync", int, __reduce_max_sync(all, lane - 5))
WARP(reduce_max_unsigned, "__reduce_max_sync of unsigned", unsigned,
     __reduce_max_sync(all, static_cast<unsigned>(lane - 5)))
WARP(reduce_and, "__reduce_and_sync", unsigned, __reduce_and_sync(all, 0xff00u | static_cast<unsigned>(lane)))
WARP(reduce_or, "__reduce_or_sync", unsigned, __reduce_or_sync(all, static_cast<unsigned>(lane)))
WARP(reduce_xor, "__reduce_xor_sync", unsigned, __reduce_xor_sync(all, static_cast<unsigned>(lane) * 77u))

struct HalfOfAWarp {
    __device__ int operator()(int lane) const {
        if (lane >= 16) return -1;
        const int sum = __reduce_add_sync(0xffffu, lane);
        __syncwarp(0xffffu);
        return sum * 100 + __shfl_sync(0xffffu, lane, 15);
    }
};
const Case half_of_a_warp("masks of half a warp", [] { return warp<int>(HalfOfAWarp{}); });

// ---- the block -------------------------------------------------------------------------------------------------

struct Barriers {
    __device__ int operator()(int thread) const {
        __shared__ int values[96];
        values[thread] = thread;
        __syncthreads();
        const int neighbor = values[(thread + 1) % 96];
        const int count = __syncthreads_count(thread % 3 == 0);
        const int both = __syncthreads_and(thread < 96) * 2 + __syncthreads_and(thread != 95);
        const int either = __syncthreads_or(thread == 50) * 2 + __syncthreads_or(thread > 100);
        return neighbor * 10000 + count * 100 + both * 10 + either;
    }
};
const Case barriers("__syncthreads, __syncthreads_count, __syncthreads_and, __syncthreads_or",
                    [] { return warp<int>(Barriers{}, 96); });

struct Fences {
    __device__ int operator()(int lane) const {
        __threadfence_block();
        __threadfence();
        __threadfence_system();
        __nanosleep(10);
        __prof_trigger(0);
        const long long before = clock64();
        return clock64() >= before ? lane : -1;
    }
};
const Case fences("__threadfence, __threadfence_block, __threadfence_system, __nanosleep, clock64",
                  [] { return warp<int>(Fences{}); });

__constant__ int constant_value = 5;
__device__ int device_value = 6;
struct Spaces {
    __device__ int operator()(int) const {
        __shared__ int shared_value;
        int local_value = 7;
        const auto kind = [](const void* address) {
            return static_cast<int>((__isGlobal(address) != 0) * 8 + (__isShared(address) != 0) * 4 +
                                    (__isConstant(address) != 0) * 2 + (__isLocal(address) != 0));
        };
        return kind(&constant_value) * 1000 + kind(&device_value) * 100 + kind(&shared_value) * 10 + kind(&local_value);
    }
};
const Case spaces("__isGlobal, __isShared, __isLocal, __isConstant", [] { return warp<int>(Spaces{}); });

// ---- loads and stores --------------------------------------------------------------------------------------------

__global__ void load_and_store(const int* in, const float4* vectors, int* out, float4* vectors_out) {
    const unsigned i = threadIdx.x;
    out[i] = __ldg(in + i) + __ldca(in + i) + __ldcg(in + i) + __ldcs(in + i) + __ldlu(in + i) + __ldcv(in + i);
    __stwb(out + 32 + i, static_cast<int>(i));
    __stcg(out + 64 + i, static_cast<int>(i) + 1);
    __stcs(out + 96 + i, static_cast<int>(i) + 2);
    __stwt(out + 128 + i, static_cast<int>(i) + 3);
    __stcs(vectors_out + i, __ldg(vectors + i));
}
const Case loads_and_stores("__ldg, __ldca, __ldcg, __ldcs, __ldlu, __ldcv, __stwb, __stcg, __stcs, __stwt", [] {
    std::vector<int> in(32);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i);
    const OnDevice<int> d_in(in), d_out{std::vector<int>(160)};
    const OnDevice<float4> d_vectors{std::vector<float4>(32, float4{1, 2, 3, 4})},
        d_vectors_out{std::vector<float4>(32)};
    load_and_store<<<1, 32>>>(d_in.data(), d_vectors.data(), d_out.data(), d_vectors_out.data());
    Results results = results_of(d_out.values());
    for (const std::string& text : results_of(d_vectors_out.values()).values) results.values.push_back(text);
    return results;
});

}  // namespace
