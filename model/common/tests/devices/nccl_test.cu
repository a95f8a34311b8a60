// NCCL on several devices of one process, and between processes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "common/tests/devices/all_devices.h"
#include "nccl.h"

namespace {

using tests::device_count;
using tests::kSizes;
using tests::was_told;

/// A rank's number `i`. Small whole numbers: sums are exact in every type.
int number(int rank, int i) { return (i * 7 + rank * 3) % 5 - 1; }

/// One rank for each device.
struct Ranks {
    int count;
    std::vector<ncclComm_t> comms;
    std::vector<cudaStream_t> streams;

    Ranks() : count(device_count()), comms(static_cast<std::size_t>(count)), streams(comms.size()) {
        REQUIRE(ncclCommInitAll(comms.data(), count, nullptr) == ncclSuccess);
        for (int rank = 0; rank < count; ++rank) {
            (void)cudaSetDevice(rank);
            REQUIRE(cudaStreamCreate(&streams[static_cast<std::size_t>(rank)]) == cudaSuccess);
        }
    }
    ~Ranks() {
        for (int rank = 0; rank < count; ++rank) {
            (void)cudaSetDevice(rank);
            (void)cudaStreamDestroy(stream(rank));
            if (comm(rank) != nullptr) (void)ncclCommDestroy(comm(rank));
        }
        (void)cudaSetDevice(0);
        (void)cudaGetLastError();
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    ncclComm_t comm(int rank) const { return comms[static_cast<std::size_t>(rank)]; }
    cudaStream_t stream(int rank) const { return streams[static_cast<std::size_t>(rank)]; }
    void wait() const {
        for (int rank = 0; rank < count; ++rank) REQUIRE(cudaStreamSynchronize(stream(rank)) == cudaSuccess);
    }
};

/// An array on each device.
template <class Value>
struct Arrays {
    std::vector<Value*> all;

    explicit Arrays(std::size_t elements) : elements_(elements) {
        for (int device = 0; device < device_count(); ++device) {
            (void)cudaSetDevice(device);
            all.emplace_back();
            REQUIRE(cudaMalloc(&all.back(), (elements + 1) * sizeof(Value)) == cudaSuccess);
            REQUIRE(cudaMemset(all.back(), 0xFF, (elements + 1) * sizeof(Value)) == cudaSuccess);
        }
    }
    ~Arrays() {
        for (Value* one : all) (void)cudaFree(one);
    }
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;

    Value* operator[](int rank) const { return all[static_cast<std::size_t>(rank)]; }

    /// Element `i` of rank r: `value(r, i)`.
    template <class Function>
    void fill(const Function& value) const {
        std::vector<Value> host(elements_);
        for (int rank = 0; rank < device_count(); ++rank) {
            for (std::size_t i = 0; i < elements_; ++i) host[i] = static_cast<Value>(value(rank, static_cast<int>(i)));
            REQUIRE(cudaMemcpy((*this)[rank], host.data(), elements_ * sizeof(Value), cudaMemcpyDefault) ==
                    cudaSuccess);
        }
    }
    std::vector<Value> read(int rank) const {
        std::vector<Value> host(elements_);
        REQUIRE(cudaMemcpy(host.data(), (*this)[rank], elements_ * sizeof(Value), cudaMemcpyDefault) == cudaSuccess);
        return host;
    }

private:
    std::size_t elements_;
};

template <class Function>
void in_group(const Function& calls) {
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int rank = 0; rank < device_count(); ++rank) REQUIRE(calls(rank) == ncclSuccess);
    REQUIRE(ncclGroupEnd() == ncclSuccess);
}

double reduced(int i, ncclRedOp_t op, int count) {
    double result = number(0, i);
    for (int rank = 1; rank < count; ++rank) {
        const double value = number(rank, i);
        if (op == ncclProd) result *= value;
        if (op == ncclMax) result = std::max(result, value);
        if (op == ncclMin) result = std::min(result, value);
        if (op == ncclSum || op == ncclAvg) result += value;
    }
    return op == ncclAvg ? result / count : result;
}

template <class Value>
void check_all_reduce(const Ranks& ranks, int n, ncclDataType_t type, ncclRedOp_t op, bool in_place) {
    const auto elements = static_cast<std::size_t>(n);
    const Arrays<Value> in(elements), out(elements);
    in.fill(number);
    in_group([&](int rank) {
        return ncclAllReduce(in[rank], in_place ? in[rank] : out[rank], elements, type, op, ranks.comm(rank),
                             ranks.stream(rank));
    });
    ranks.wait();
    for (int rank = 0; rank < ranks.count; ++rank) {
        const std::vector<Value> found = (in_place ? in : out).read(rank);
        for (int i = 0; i < n; ++i) {
            const double expected = reduced(i, op, ranks.count);
            const auto value = static_cast<double>(found[static_cast<std::size_t>(i)]);
            if (std::is_integral_v<Value>) {
                REQUIRE(value == static_cast<double>(static_cast<Value>(static_cast<std::int64_t>(expected))));
            } else {
                REQUIRE(std::abs(value - expected) <= 0.01 * std::abs(expected));
            }
        }
    }
}

}  // namespace

TEST_CASE("ncclAllReduce of all sizes") {
    const Ranks ranks;
    for (const int n : kSizes) {
        check_all_reduce<float>(ranks, n, ncclFloat, ncclSum, false);
        check_all_reduce<float>(ranks, n, ncclFloat, ncclSum, true);
    }
    check_all_reduce<float>(ranks, 200'003, ncclFloat, ncclSum, true);  // in several pieces
}

TEST_CASE("ncclAllReduce of all types and operations") {
    const Ranks ranks;
    for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
        check_all_reduce<std::int8_t>(ranks, 100, ncclInt8, op, false);
        check_all_reduce<int>(ranks, 100, ncclInt, op, false);
        check_all_reduce<std::int64_t>(ranks, 100, ncclInt64, op, false);
        check_all_reduce<float>(ranks, 100, ncclFloat, op, false);
        check_all_reduce<double>(ranks, 100, ncclDouble, op, false);
        if (op == ncclAvg) continue;
        // Numbers of 0 and above.
        const Arrays<std::uint8_t> bytes(100);
        bytes.fill([](int rank, int i) { return number(rank, i) + 1; });
        in_group([&](int rank) {
            return ncclAllReduce(bytes[rank], bytes[rank], 100, ncclUint8, ncclMax, ranks.comm(rank),
                                 ranks.stream(rank));
        });
        ranks.wait();
        for (int i = 0; i < 100; ++i) {
            REQUIRE(bytes.read(0)[static_cast<std::size_t>(i)] == reduced(i, ncclMax, ranks.count) + 1);
        }
    }
}

TEST_CASE("half precision") {
    const Ranks ranks;
    const Arrays<__half> half(33);
    const Arrays<__nv_bfloat16> brain(33);
    half.fill([](int rank, int i) { return static_cast<float>(number(rank, i)); });
    brain.fill([](int rank, int i) { return static_cast<float>(number(rank, i)); });
    in_group([&](int rank) {
        (void)ncclAllReduce(half[rank], half[rank], 33, ncclHalf, ncclSum, ranks.comm(rank), ranks.stream(rank));
        return ncclAllReduce(brain[rank], brain[rank], 33, ncclBfloat16, ncclSum, ranks.comm(rank), ranks.stream(rank));
    });
    ranks.wait();
    for (int rank = 0; rank < ranks.count; ++rank) {
        for (int i = 0; i < 33; ++i) {
            const auto at = static_cast<std::size_t>(i);
            CHECK(__half2float(half.read(rank)[at]) == static_cast<float>(reduced(i, ncclSum, ranks.count)));
            CHECK(__bfloat162float(brain.read(rank)[at]) == static_cast<float>(reduced(i, ncclSum, ranks.count)));
        }
    }
}

TEST_CASE("broadcast, reduce, all-gather, reduce-scatter") {
    const Ranks ranks;
    const int count = ranks.count;
    for (const int n : {0, 1, 33, 1009, 70'001}) {
        const auto elements = static_cast<std::size_t>(n);
        const auto all = elements * static_cast<std::size_t>(count);
        const int root = count - 1;
        const Arrays<float> in(elements), out(elements), wide(all);
        in.fill(number);
        in_group([&](int rank) {
            return ncclBroadcast(in[rank], out[rank], elements, ncclFloat, root, ranks.comm(rank), ranks.stream(rank));
        });
        in_group([&](int rank) {
            return ncclAllGather(in[rank], wide[rank], elements, ncclFloat, ranks.comm(rank), ranks.stream(rank));
        });
        ranks.wait();
        for (int rank = 0; rank < count; ++rank) {
            const std::vector<float> one = out.read(rank), gathered = wide.read(rank);
            for (int i = 0; i < n; ++i)
                REQUIRE(one[static_cast<std::size_t>(i)] == static_cast<float>(number(root, i)));
            for (std::size_t i = 0; i < all; ++i) {
                const int from = static_cast<int>(i / elements), at = static_cast<int>(i % elements);
                REQUIRE(gathered[i] == static_cast<float>(number(from, at)));
            }
        }
        in_group([&](int rank) {
            return ncclReduce(in[rank], out[rank], elements, ncclFloat, ncclSum, root, ranks.comm(rank),
                              ranks.stream(rank));
        });
        wide.fill(number);
        in_group([&](int rank) {
            return ncclReduceScatter(wide[rank], in[rank], elements, ncclFloat, ncclSum, ranks.comm(rank),
                                     ranks.stream(rank));
        });
        ranks.wait();
        const std::vector<float> sum = out.read(root);
        for (int i = 0; i < n; ++i) {
            REQUIRE(sum[static_cast<std::size_t>(i)] == static_cast<float>(reduced(i, ncclSum, count)));
        }
        for (int rank = 0; rank < count; ++rank) {
            const std::vector<float> part = in.read(rank);
            for (int i = 0; i < n; ++i) {
                REQUIRE(part[static_cast<std::size_t>(i)] == static_cast<float>(reduced(rank * n + i, ncclSum, count)));
            }
        }
    }
}

TEST_CASE("sends and receives in a group go on at the same time") {
    const Ranks ranks;
    const int count = ranks.count;
    for (const int n : {0, 1, 1009, 50'000}) {
        const auto elements = static_cast<std::size_t>(n);
        const Arrays<int> mine(elements), left(elements), right(elements);
        mine.fill([](int rank, int i) { return 1000 * rank + i; });
        in_group([&](int rank) {
            const int next = (rank + 1) % count, previous = (rank + count - 1) % count;
            const auto comm = ranks.comm(rank);
            const auto stream = ranks.stream(rank);
            (void)ncclSend(mine[rank], elements, ncclInt, next, comm, stream);
            (void)ncclSend(mine[rank], elements, ncclInt, previous, comm, stream);
            (void)ncclRecv(left[rank], elements, ncclInt, previous, comm, stream);
            return ncclRecv(right[rank], elements, ncclInt, next, comm, stream);
        });
        ranks.wait();
        for (int rank = 0; rank < count; ++rank) {
            const std::vector<int> l = left.read(rank), r = right.read(rank);
            for (int i = 0; i < n; ++i) {
                REQUIRE(l[static_cast<std::size_t>(i)] == 1000 * ((rank + count - 1) % count) + i);
                REQUIRE(r[static_cast<std::size_t>(i)] == 1000 * ((rank + 1) % count) + i);
            }
        }
    }
}

namespace {

__global__ void fill_with(float* data, int n, float value) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) data[i] = value;
}

}  // namespace

TEST_CASE("an operation comes after what its stream was given, and before what follows") {
    const Ranks ranks;
    const Arrays<float> data(1009);
    // One thread for each rank, without groups.
    std::vector<std::thread> threads;
    std::vector<float> found(static_cast<std::size_t>(ranks.count), -1.0f);
    for (int rank = 0; rank < ranks.count; ++rank) {
        threads.emplace_back([&, rank] {
            (void)cudaSetDevice(rank);
            for (int round = 0; round < 5; ++round) {
                fill_with<<<1, 128, 0, ranks.stream(rank)>>>(data[rank], 1009, static_cast<float>(rank + round));
                (void)ncclAllReduce(data[rank], data[rank], 1009, ncclFloat, ncclSum, ranks.comm(rank),
                                    ranks.stream(rank));
            }
            (void)cudaMemcpyAsync(&found[static_cast<std::size_t>(rank)], data[rank] + 1008, sizeof(float),
                                  cudaMemcpyDeviceToHost, ranks.stream(rank));
            (void)cudaStreamSynchronize(ranks.stream(rank));
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const float value : found) {
        CHECK(value == static_cast<float>(ranks.count * (ranks.count - 1) / 2 + 4 * ranks.count));
    }
}

TEST_CASE("what NCCL tells of a communicator") {
    const Ranks ranks;
    int value = -1;
    CHECK(ncclCommCount(ranks.comm(0), &value) == ncclSuccess);
    CHECK(value == ranks.count);
    CHECK(ncclCommUserRank(ranks.comm(ranks.count - 1), &value) == ncclSuccess);
    CHECK(value == ranks.count - 1);
    CHECK(ncclCommCuDevice(ranks.comm(ranks.count - 1), &value) == ncclSuccess);
    CHECK(value == ranks.count - 1);
    ncclResult_t error = ncclInternalError;
    CHECK(ncclCommGetAsyncError(ranks.comm(0), &error) == ncclSuccess);
    CHECK(error == ncclSuccess);
    CHECK(ncclGetVersion(&value) == ncclSuccess);
    CHECK(value == NCCL_VERSION_CODE);
    CHECK(ncclCommCount(nullptr, &value) == ncclInvalidArgument);
}

// ---- mistakes --------------------------------------------------------------------------------------------------

TEST_CASE("ranks that do not ask for the same end with an error") {
    if (device_count() == 1) return;
    const Ranks ranks;
    const Arrays<float> data(100);
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int rank = 0; rank < ranks.count; ++rank) {
        if (rank == 1) {
            (void)ncclAllReduce(data[rank], data[rank], 100, ncclFloat, ncclSum, ranks.comm(rank), ranks.stream(rank));
        } else {
            (void)ncclBroadcast(data[rank], data[rank], 100, ncclFloat, 0, ranks.comm(rank), ranks.stream(rank));
        }
    }
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    for (int rank = 0; rank < ranks.count; ++rank) {
        CHECK(cudaStreamSynchronize(ranks.stream(rank)) != cudaSuccess);
        ncclResult_t error = ncclSuccess;
        CHECK(ncclCommGetAsyncError(ranks.comm(rank), &error) == ncclSuccess);
        CHECK(error == ncclInvalidUsage);
    }
    CHECK(was_told("rank 1 waits in ncclAllReduce of 100 floats (ncclSum)"));
    const std::string text = ncclGetLastError(ranks.comm(0));
    CHECK(text.find("rank 0 waits in ncclBroadcast of 100 floats (root 0)") != std::string::npos);
    CHECK(text.find("rank 1 waits in ncclAllReduce of 100 floats (ncclSum)") != std::string::npos);
}

TEST_CASE("a missing group is told at the second call") {
    if (device_count() == 1) return;
    const Ranks ranks;
    const Arrays<float> data(100);
    CHECK(ncclAllReduce(data[0], data[0], 100, ncclFloat, ncclSum, ranks.comm(0), ranks.stream(0)) == ncclSuccess);
    CHECK(ncclAllReduce(data[1], data[1], 100, ncclFloat, ncclSum, ranks.comm(1), ranks.stream(1)) == ncclInvalidUsage);
    CHECK(cudaStreamSynchronize(ranks.stream(0)) != cudaSuccess);
    CHECK(was_told("whose call for rank 0 still waits, and the two are in no group"));
}

TEST_CASE("a rank that never comes ends the others") {
    if (device_count() == 1) return;
    const Ranks ranks;
    const Arrays<float> data(100);
    REQUIRE(ncclAllReduce(data[0], data[0], 100, ncclFloat, ncclSum, ranks.comm(0), ranks.stream(0)) == ncclSuccess);
    CHECK(cudaStreamQuery(ranks.stream(0)) == cudaErrorNotReady);
    CHECK(cudaStreamSynchronize(ranks.stream(0)) != cudaSuccess);  // after CPU_DEVICE_TIMEOUT
    ncclResult_t error = ncclSuccess;
    CHECK(ncclCommGetAsyncError(ranks.comm(0), &error) == ncclSuccess);
    CHECK(error == ncclRemoteError);
    CHECK(was_told("rank 1 waits in nothing"));
    CHECK(std::string(ncclGetLastError(ranks.comm(0))).find("rank 0 waits in ncclAllReduce of 100 floats") !=
          std::string::npos);
}

TEST_CASE("an aborted communicator lets its stream go on") {
    if (device_count() == 1) return;
    Ranks ranks;
    const Arrays<float> data(100);
    REQUIRE(ncclAllReduce(data[0], data[0], 100, ncclFloat, ncclSum, ranks.comm(0), ranks.stream(0)) == ncclSuccess);
    CHECK(cudaStreamQuery(ranks.stream(0)) == cudaErrorNotReady);
    CHECK(ncclCommAbort(ranks.comm(0)) == ncclSuccess);
    ranks.comms[0] = nullptr;
    CHECK(cudaStreamSynchronize(ranks.stream(0)) == cudaSuccess);
}

TEST_CASE("wrong arguments") {
    const Ranks ranks;
    const Arrays<float> data(100);
    std::vector<float> host(100);
    const auto comm = ranks.comm(0);
    const auto stream = ranks.stream(0);
    CHECK(ncclAllReduce(host.data(), data[0], 100, ncclFloat, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclAllReduce(data[0], data[0], 1000, ncclFloat, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclBroadcast(data[0], data[0], 100, ncclFloat, ranks.count, comm, stream) == ncclInvalidArgument);
    CHECK(ncclAllReduce(data[0], data[0], 100, ncclFloat, ncclSum, nullptr, stream) == ncclInvalidArgument);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    ncclComm_t other = nullptr;
    ncclUniqueId id{};
    CHECK(ncclCommInitRank(&other, 1, id, 0) == ncclInvalidArgument);
    CHECK(was_told("was given host memory"));
    if (ranks.count == 1) return;
    CHECK(ncclAllReduce(data[1], data[1], 100, ncclFloat, ncclSum, comm, stream) == ncclInvalidArgument);
    CHECK(ncclAllReduce(data[0], data[0], 100, ncclFloat, ncclSum, comm, ranks.stream(1)) == ncclInvalidArgument);
    const int twice[] = {0, 0};
    ncclComm_t pair[2] = {};
    CHECK(ncclCommInitAll(pair, 2, twice) == ncclInvalidUsage);
    CHECK(was_told("was given device 0 twice"));
}

// ---- processes -------------------------------------------------------------------------------------------------

namespace {

/// Runs `body(rank)` in a process for each rank, and returns what the processes ended with; -1: by a signal.
template <class Body>
std::vector<int> in_processes(int ranks, const Body& body) {
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(60);
            _exit(body(rank));
        }
        children.push_back(child);
    }
    std::vector<int> ends;
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        ends.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    return ends;
}

/// 0: the rank has the sum of all.
int sum_in_process(const ncclUniqueId& id, int ranks, int rank, int n) {
    (void)cudaSetDevice(rank % device_count());
    ncclComm_t comm = nullptr;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess) return 1;
    std::vector<float> host(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(number(rank, i));
    float* data = nullptr;
    const std::size_t bytes = host.size() * sizeof(float);
    if (cudaMalloc(&data, bytes) != cudaSuccess) return 2;
    (void)cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice);
    for (int round = 0; round < 3; ++round) {
        (void)cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice);
        if (ncclAllReduce(data, data, host.size(), ncclFloat, ncclSum, comm, nullptr) != ncclSuccess) return 3;
        if (cudaDeviceSynchronize() != cudaSuccess) return 4;
    }
    (void)cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) {
        if (host[static_cast<std::size_t>(i)] != static_cast<float>(reduced(i, ncclSum, ranks))) return 5;
    }
    return ncclCommDestroy(comm) == ncclSuccess ? 0 : 6;
}

// The parent starts no thread before it has started the processes: these tests run in processes of their own.
int processes_test() {
    const int count = device_count() == 1 ? 3 : device_count();
    ncclUniqueId id{};
    (void)ncclGetUniqueId(&id);
    for (const int end : in_processes(count, [&](int rank) { return sum_in_process(id, count, rank, 100'003); })) {
        if (end != 0) return 10 + end;
    }
    // One dies between two operations.
    (void)ncclGetUniqueId(&id);
    const std::vector<int> ends = in_processes(count, [&](int rank) {
        (void)cudaSetDevice(rank % device_count());
        ncclComm_t comm = nullptr;
        if (ncclCommInitRank(&comm, count, id, rank) != ncclSuccess) return 1;
        if (rank == count - 1) raise(SIGKILL);
        float* data = nullptr;
        (void)cudaMalloc(&data, 400);
        (void)ncclAllReduce(data, data, 100, ncclFloat, ncclSum, comm, nullptr);
        if (cudaDeviceSynchronize() == cudaSuccess) return 2;
        ncclResult_t error = ncclSuccess;
        (void)ncclCommGetAsyncError(comm, &error);
        return error == ncclRemoteError ? 0 : 3;
    });
    for (int rank = 0; rank + 1 < count; ++rank) {
        if (ends[static_cast<std::size_t>(rank)] != 0) return 20 + ends[static_cast<std::size_t>(rank)];
    }
    // One never comes; and one was told of another number of ranks.
    (void)ncclGetUniqueId(&id);
    for (const int end : in_processes(count - 1, [&](int rank) {
             (void)cudaSetDevice(rank % device_count());
             ncclComm_t comm = nullptr;
             return ncclCommInitRank(&comm, count, id, rank) == ncclRemoteError ? 0 : 1;
         })) {
        if (end != 0) return 30 + end;
    }
    (void)ncclGetUniqueId(&id);
    for (const int end : in_processes(count, [&](int rank) {
             (void)cudaSetDevice(rank % device_count());
             ncclComm_t comm = nullptr;
             return ncclCommInitRank(&comm, rank == 0 ? count + 1 : count, id, rank) != ncclSuccess ? 0 : 1;
         })) {
        if (end != 0) return 40 + end;
    }
    return 0;
}

}  // namespace

TEST_CASE("ranks that are processes") {
    CHECK(in_processes(1, [](int) { return processes_test(); })[0] == 0);
}
