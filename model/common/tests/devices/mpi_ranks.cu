// One rank of NCCL for each rank of MPI, on the device of its local rank. `mpi_ranks FAULT`: sum, dies, other, late.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "nccl.h"

namespace {

__global__ void set(float* data, int n, float value) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] = value + static_cast<float>(i % 7);
}

int fail(int rank, const char* what) {
    std::printf("rank %d: %s failed\n", rank, what);
    return 1;
}

/// 0: right, or the error that the fault has to lead to.
int run(const std::string& fault, int ranks, int rank, int local_rank) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return fail(rank, "cudaGetDeviceCount");
    if (cudaSetDevice(local_rank % devices) != cudaSuccess) return fail(rank, "cudaSetDevice");
    ncclUniqueId id{};
    if (rank == 0) (void)ncclGetUniqueId(&id);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    ncclComm_t comm = nullptr;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess) return fail(rank, "ncclCommInitRank");

    constexpr int n = 100'003;
    float* data = nullptr;
    if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return fail(rank, "cudaMalloc");
    cudaStream_t stream = nullptr;
    if (cudaStreamCreate(&stream) != cudaSuccess) return fail(rank, "cudaStreamCreate");
    set<<<(n + 255) / 256, 256, 0, stream>>>(data, n, static_cast<float>(rank));
    if (fault == "dies" && rank == ranks - 1) raise(SIGKILL);
    if (fault == "other" && rank == ranks - 1) {
        (void)ncclBroadcast(data, data, n, ncclFloat, 0, comm, stream);
    } else if (fault != "late" || rank != ranks - 1) {
        (void)ncclAllReduce(data, data, n, ncclFloat, ncclSum, comm, stream);
    }
    if (fault == "late" && rank == ranks - 1) sleep(8);
    const cudaError_t waited = cudaStreamSynchronize(stream);
    ncclResult_t error = ncclSuccess;
    (void)ncclCommGetAsyncError(comm, &error);
    if (fault != "sum") {
        std::printf("rank %d: %s, %s: %s\n", rank, cudaGetErrorName(waited), ncclGetErrorString(error),
                    ncclGetLastError(comm));
        std::fflush(stdout);
        // mpirun ends all ranks as soon as one has ended: they wait until each has said it.
        if (fault == "other") MPI_Barrier(MPI_COMM_WORLD);
        const bool is_right = error == (fault == "other" ? ncclInvalidUsage : ncclRemoteError);
        return is_right || (fault == "late" && rank == ranks - 1) ? 0 : 1;
    }
    if (waited != cudaSuccess || error != ncclSuccess) return fail(rank, "ncclAllReduce");
    std::vector<float> found(n);
    (void)cudaMemcpy(found.data(), data, n * sizeof(float), cudaMemcpyDefault);
    const int sum = ranks * (ranks - 1) / 2;
    for (int i = 0; i < n; ++i) {
        const auto expected = static_cast<float>(sum + ranks * (i % 7));
        if (found[static_cast<std::size_t>(i)] != expected) return fail(rank, "the sum");
    }
    (void)cudaFree(data);
    (void)cudaStreamDestroy(stream);
    if (ncclCommDestroy(comm) != ncclSuccess) return fail(rank, "ncclCommDestroy");
    std::printf("rank %d of %d: right\n", rank, ranks);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    const std::string fault = count > 1 ? arguments[1] : "sum";
    int ranks = 0, rank = 0, local_rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm local{};
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &local_rank);
    const int status = run(fault, ranks, rank, local_rank);
    std::fflush(stdout);
    // After a fault not all ranks come to MPI_Finalize.
    if (fault != "sum") _exit(status);
    MPI_Finalize();
    return status;
}
