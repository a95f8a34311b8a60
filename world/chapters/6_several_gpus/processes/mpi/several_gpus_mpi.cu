// One process per GPU, on one machine or on many:
//
//     mpirun -np 4 build/bin/cuda/several_gpus_mpi
//
// Each rank takes one GPU of its machine. The ranks find the dot product of two vectors
// that are split among them, and add up arrays in three ways: through the memory of the
// hosts with MPI, with an MPI that takes device pointers, and with NCCL.
//
//     --numbers N      of the dot product (2^24 per rank)
//     --largest N      bytes of the largest array (64 MiB)
//     --ranks N        refuses to run with another number of ranks
//     --patience S     seconds that a rank may stay in one place (15)
//     --rows           prints rows for programs: cells with tabs between them
//     --fault NAME     makes a rank fail: see below
//     --fault-rank R   which one (the last)
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "chapters/6_several_gpus/numbers.cuh"
#include "chapters/6_several_gpus/processes/mpi/watchdog.h"
#include "chapters/6_several_gpus/split_reduction/kernels.cuh"

namespace several_gpus {
namespace {

struct Options {
    std::size_t numbers = 0, largest = std::size_t{64} << 20;
    int ranks = 0, fault_rank = -1;
    double patience = 15;
    bool rows = false;
    std::string fault;
};

int rank = 0, ranks = 1;
Options options;

// No exceptions: on the way out of a scope, a destructor could wait for a device or for
// NCCL, and these would wait for the other ranks.
void require(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    end_all(rank, std::string(what) + ": " + cudaGetErrorName(status) + ", " +
                      cudaGetErrorString(status));
}
void require(ncclResult_t status, const char* what) {
    if (status == ncclSuccess || status == ncclInProgress) return;
    end_all(rank, std::string(what) + ": " + ncclGetErrorString(status));
}

template <class T>
T* device_memory(std::size_t count, const char* what) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T)), what);
    return static_cast<T*>(memory);
}

bool fails_by(const char* name) {
    return options.fault == name && rank == options.fault_rank;
}

// Everybody says which collective operation comes next. Ranks that do not agree would wait
// for each other forever, or add up what does not belong together.
void agree(Watchdog& watchdog, const std::string& operation) {
    watchdog.now_in("agree on " + operation);
    std::array<char, 96> mine{};
    std::snprintf(mine.data(), mine.size(), "%s", operation.c_str());
    std::vector<char> all(mine.size() * std::size_t(ranks));
    MPI_Allgather(mine.data(), int(mine.size()), MPI_CHAR, all.data(), int(mine.size()),
                  MPI_CHAR, MPI_COMM_WORLD);
    for (int other = 0; other < ranks; ++other) {
        const char* const theirs = all.data() + std::size_t(other) * mine.size();
        if (std::strcmp(theirs, all.data()) == 0) continue;
        if (rank == 0)
            end_all(rank, "the ranks do not call the same operation: rank 0 " + operation +
                              ", rank " + std::to_string(other) + " " + theirs);
        std::this_thread::sleep_for(std::chrono::seconds(10));  // rank 0 ends it
    }
    watchdog.now_in(operation);
}

// ---- faults -----------------------------------------------------------------------------

__global__ void write_to(float* place) { *place = 1; }

void maybe_die() {
    if (fails_by("die")) std::raise(SIGKILL);
    if (fails_by("hang")) std::this_thread::sleep_for(std::chrono::hours(1));
}

void maybe_use_up_memory() {
    if (!fails_by("out_of_memory")) return;
    for (std::size_t bytes = std::size_t{1} << 36;; bytes *= 2)
        (void)device_memory<char>(bytes, "memory for the vectors");
}

void maybe_write_to_a_wrong_address(cudaStream_t stream) {
    if (!fails_by("wrong_address")) return;
    write_to<<<1, 1, 0, stream>>>(reinterpret_cast<float*>(std::uintptr_t{64}));
    require(cudaGetLastError(), "the launch of write_to");
    require(cudaStreamSynchronize(stream), "the kernel write_to");
}

// ---- the device of this rank ------------------------------------------------------------

// The ranks of one machine share its memory: their number there is the device's.
int take_device() {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                        &machine);
    int place = 0, on_machine = 1;
    MPI_Comm_rank(machine, &place);
    MPI_Comm_size(machine, &on_machine);
    MPI_Comm_free(&machine);
    int devices = 0;
    require(cudaGetDeviceCount(&devices), "looking for devices");
    // A launcher may show each rank a device of its own (Slurm: --gpus-per-task=1).
    const int device = devices == 1 && std::getenv("SLURM_LOCALID") ? 0 : place;
    if (device >= devices)
        end_all(rank, "is number " + std::to_string(place + 1) +
                          " on its machine, which has " + std::to_string(devices) +
                          " device(s): start at most as many ranks as there are devices");
    require(cudaSetDevice(device), "cudaSetDevice");
    return device;
}

void print_row(const std::vector<std::string>& cells) {
    if (rank != 0) return;
    for (std::size_t i = 0; i < cells.size(); ++i)
        std::printf("%s%s", i == 0 ? "" : options.rows ? "\t" : "  ", cells[i].c_str());
    std::printf("\n");
    std::fflush(stdout);
}

void show_ranks(int device) {
    cudaDeviceProp about{};
    require(cudaGetDeviceProperties(&about, device), "cudaGetDeviceProperties");
    std::array<char, 640> line{};
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    std::snprintf(line.data(), line.size(), "%s\t%d\t%s", host.data(), device, about.name);
    std::vector<char> all(line.size() * std::size_t(ranks));
    MPI_Gather(line.data(), int(line.size()), MPI_CHAR, all.data(), int(line.size()),
               MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < ranks; ++other)
        print_row({"rank", std::to_string(other),
                   std::string(all.data() + std::size_t(other) * line.size())});
}

// ---- the dot product --------------------------------------------------------------------

void dot_product(Watchdog& watchdog, ncclComm_t communicator, cudaStream_t stream) {
    const std::size_t all =
        options.numbers ? options.numbers : (std::size_t{1} << 24) * std::size_t(ranks);
    const Part part = part_of(all, ranks, rank);
    watchdog.now_in("the vectors");
    float* const d_a = device_memory<float>(part.size(), "the first vector");
    float* const d_b = device_memory<float>(part.size(), "the second vector");
    maybe_use_up_memory();
    if (part.size() > 0) {
        make_numbers<<<1024, 256, 0, stream>>>(1, part.begin, part.size(), d_a);
        make_numbers<<<1024, 256, 0, stream>>>(2, part.begin, part.size(), d_b);
    }
    constexpr unsigned blocks = 264;
    double* const d_block_sums = device_memory<double>(blocks, "the sums of blocks");
    double* const d_sum = device_memory<double>(1, "the sum");
    unsigned* const d_done = device_memory<unsigned>(1, "a counter");
    require(cudaMemsetAsync(d_done, 0, sizeof *d_done, stream), "cudaMemsetAsync");
    maybe_write_to_a_wrong_address(stream);
    maybe_die();
    agree(watchdog,
          fails_by("mismatch") ? "ncclBroadcast of 1 double" : "ncclAllReduce of 1 double");
    dot_of_part<<<blocks, kDotThreads, 0, stream>>>(
        {d_a, d_b, part.size(), d_block_sums, d_done}, d_sum);
    require(cudaGetLastError(), "the launch of dot_of_part");
    require(ncclAllReduce(d_sum, d_sum, 1, ncclDouble, ncclSum, communicator, stream),
            "ncclAllReduce");
    double sum = std::nan("");
    require(cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, stream),
            "the copy of the sum");
    require(cudaStreamSynchronize(stream), "the dot product");

    // Every rank adds up its part in double, and MPI the parts.
    double mine[2] = {0, 0}, expected[2] = {0, 0};
    for (std::size_t i = part.begin; i < part.end; ++i) {
        const double product = double{number_at(1, i)} * double{number_at(2, i)};
        mine[0] += product;
        mine[1] += std::fabs(product);
    }
    watchdog.now_in("MPI_Allreduce of the reference");
    MPI_Allreduce(mine, expected, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double allowed =
        4 * std::sqrt(static_cast<double>(all)) * 6e-8 * expected[1] + 1e-30;
    if (!(std::fabs(sum - expected[0]) <= allowed))
        end_all(rank, "the dot product is " + std::to_string(sum) + " instead of " +
                          std::to_string(expected[0]));
    print_row(
        {"dot", std::to_string(all), "right on " + std::to_string(ranks) + " rank(s)"});
    for (void* const memory :
         {(void*)d_a, (void*)d_b, (void*)d_block_sums, (void*)d_sum, (void*)d_done})
        require(cudaFree(memory), "cudaFree");
}

// ---- sums of arrays, in three ways ------------------------------------------------------

bool mpi_takes_device_pointers() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

struct Arrays {
    std::size_t count;
    float *d_in, *d_out, *on_host, *sum_on_host;
    ncclComm_t communicator;
    cudaStream_t stream;
};

void staged(Arrays& x) {
    require(cudaMemcpyAsync(x.on_host, x.d_in, x.count * sizeof(float),
                            cudaMemcpyDeviceToHost, x.stream),
            "the copy to the host");
    require(cudaStreamSynchronize(x.stream), "the copy to the host");
    MPI_Allreduce(x.on_host, x.sum_on_host, int(x.count), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    require(cudaMemcpyAsync(x.d_out, x.sum_on_host, x.count * sizeof(float),
                            cudaMemcpyHostToDevice, x.stream),
            "the copy from the host");
    require(cudaStreamSynchronize(x.stream), "the copy from the host");
}

void cuda_aware(Arrays& x) {
    MPI_Allreduce(x.d_in, x.d_out, int(x.count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void by_nccl(Arrays& x) {
    require(ncclAllReduce(x.d_in, x.d_out, x.count, ncclFloat, ncclSum, x.communicator,
                          x.stream),
            "ncclAllReduce");
    require(cudaStreamSynchronize(x.stream), "ncclAllReduce");
}

void require_right_sum(Arrays& x, const char* way) {
    std::vector<float> got(x.count);
    require(
        cudaMemcpy(got.data(), x.d_out, x.count * sizeof(float), cudaMemcpyDeviceToHost),
        "the copy of the sum");
    for (std::size_t i = 0; i < x.count; ++i) {
        double sum = 0;
        for (int other = 0; other < ranks; ++other)
            sum += double{number_at(std::uint64_t(other) + 1, i)};
        if (!(std::fabs(double{got[i]} - sum) <= 6e-8 * ranks * ranks))
            end_all(rank, std::string(way) + ": number " + std::to_string(i) + " is " +
                              std::to_string(got[i]) + " instead of " +
                              std::to_string(sum));
    }
}

// Microseconds of the slowest rank, the median of several runs.
double microseconds(Arrays& x, void (*way)(Arrays&), Watchdog& watchdog,
                    const std::string& operation) {
    std::vector<double> times;
    for (int run = -2; run < 9; ++run) {
        watchdog.now_in(operation);  // its patience begins anew
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        way(x);
        double took = MPI_Wtime() - begin, slowest = 0;
        MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (run >= 0) times.push_back(slowest);
    }
    std::sort(times.begin(), times.end());
    return 1e6 * times[times.size() / 2];
}

void all_reduces(Watchdog& watchdog, ncclComm_t communicator, cudaStream_t stream) {
    struct Way {
        const char* name;
        void (*run)(Arrays&);
        bool is_there;
    };
    const std::array<Way, 3> ways = {
        {{"staged", staged, true},
         {"CUDA-aware MPI", cuda_aware, mpi_takes_device_pointers()},
         {"NCCL", by_nccl, true}}};
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{4} << 10, std::size_t{256} << 10,
          std::size_t{4} << 20, std::size_t{64} << 20, std::size_t{256} << 20}) {
        if (bytes > options.largest) break;
        Arrays x{.count = bytes / sizeof(float),
                 .d_in = device_memory<float>(bytes / sizeof(float), "an array"),
                 .d_out = device_memory<float>(bytes / sizeof(float), "the sum of arrays"),
                 .on_host = nullptr,
                 .sum_on_host = nullptr,
                 .communicator = communicator,
                 .stream = stream};
        require(cudaMallocHost(&x.on_host, bytes), "pinned memory");
        require(cudaMallocHost(&x.sum_on_host, bytes), "pinned memory");
        make_numbers<<<1024, 256, 0, stream>>>(std::uint64_t(rank) + 1, 0, x.count, x.d_in);
        require(cudaStreamSynchronize(stream), "make_numbers");
        std::vector<std::string> row = {"size", std::to_string(bytes)};
        for (const Way& way : ways) {
            if (!way.is_there) {
                row.push_back("-");
                continue;
            }
            const std::string operation =
                std::string(way.name) + " of " + std::to_string(x.count) + " floats";
            agree(watchdog, operation);
            require(cudaMemset(x.d_out, 0xFF, bytes), "cudaMemset");
            way.run(x);
            require_right_sum(x, way.name);
            std::array<char, 32> text{};
            std::snprintf(text.data(), text.size(), "%.1f",
                          microseconds(x, way.run, watchdog, operation));
            row.push_back(text.data());
        }
        print_row(row);
        require(cudaFree(x.d_in), "cudaFree");
        require(cudaFree(x.d_out), "cudaFree");
        require(cudaFreeHost(x.on_host), "cudaFreeHost");
        require(cudaFreeHost(x.sum_on_host), "cudaFreeHost");
    }
}

// ---- the program ------------------------------------------------------------------------

bool read_options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--rows") {
            options.rows = true;
            continue;
        }
        if (i + 1 == argc) return false;
        const std::string value = argv[++i];
        if (name == "--numbers")
            options.numbers = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--largest")
            options.largest = std::strtoull(value.c_str(), nullptr, 10);
        else if (name == "--ranks")
            options.ranks = std::atoi(value.c_str());
        else if (name == "--patience")
            options.patience = std::atof(value.c_str());
        else if (name == "--fault")
            options.fault = value;
        else if (name == "--fault-rank")
            options.fault_rank = std::atoi(value.c_str());
        else
            return false;
    }
    return true;
}

int run(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!read_options(argc, argv)) end_all(rank, "unknown option; the source lists them");
    if (provided < MPI_THREAD_MULTIPLE)
        end_all(rank, "this MPI does not allow calls from several threads");
    if (options.fault_rank < 0) options.fault_rank = ranks - 1;
    if (options.ranks != 0 && options.ranks != ranks) {
        if (rank == 0)
            end_all(rank, "there are " + std::to_string(ranks) +
                              " ranks, and --ranks asks "
                              "for " +
                              std::to_string(options.ranks) +
                              ": check -np, or --ntasks of Slurm");
        std::this_thread::sleep_for(std::chrono::seconds(10));
    }

    Watchdog watchdog(rank, ranks, options.patience);
    watchdog.now_in("taking a device");
    const int device = take_device();
    show_ranks(device);
    ncclUniqueId id{};
    watchdog.now_in("ncclCommInitRank");
    if (rank == 0) require(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    ncclComm_t communicator = nullptr;
    require(ncclCommInitRank(&communicator, ranks, id, rank), "ncclCommInitRank");
    watchdog.watch(communicator);
    cudaStream_t stream = nullptr;
    require(cudaStreamCreate(&stream), "cudaStreamCreate");

    dot_product(watchdog, communicator, stream);
    all_reduces(watchdog, communicator, stream);

    watchdog.now_in("the end");
    require(cudaStreamSynchronize(stream), "the end");
    MPI_Barrier(MPI_COMM_WORLD);
    watchdog.watch(nullptr);
    watchdog.stop();
    require(ncclCommDestroy(communicator), "ncclCommDestroy");
    require(cudaStreamDestroy(stream), "cudaStreamDestroy");
    if (rank == 0) std::printf("all ranks are done\n");
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
}

}  // namespace
}  // namespace several_gpus

int main(int argc, char** argv) { return several_gpus::run(argc, argv); }
