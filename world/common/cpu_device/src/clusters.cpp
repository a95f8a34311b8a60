// Thread block clusters: how they are launched, the barrier of their threads, and the way into the shared memory of the
// other blocks. All blocks of a cluster run on one host thread, one until it waits, then the next.
#include "clusters.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <vector>

#include "api_call.h"
#include "cpu_device/clusters.h"
#include "cpu_device/device_model.h"
#include "cpu_device/diagnostics.h"
#include "cpu_device/runtime_api.h"
#include "device_properties.h"
#include "fiber.h"
#include "function_attributes.h"
#include "instrumented_code.h"

namespace cpu_device {
namespace {

constexpr unsigned kPortableBlocks = 8;  // of a cluster, that every GPU with clusters takes

// ---- what can be launched --------------------------------------------------------------------------------

/// A cluster's blocks are on SMs of one GPC. That of the model has up to 16 of them.
int active_clusters(const void* kernel, const dim3& block, std::size_t shared_bytes, std::uint64_t blocks) {
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > model::max_threads_per_block || blocks == 0) return 0;
    const int resident = resident_blocks(kernel, static_cast<int>(threads), shared_bytes);
    std::uint64_t clusters = 0;
    for (int left = multiprocessor_count(); left > 0; left -= model::multiprocessors_per_gpc) {
        const int processors = std::min(left, model::multiprocessors_per_gpc);
        clusters += static_cast<std::uint64_t>(resident) * static_cast<unsigned>(processors) / blocks;
    }
    return static_cast<int>(clusters);
}

unsigned most_blocks(const FunctionSettings& settings) {
    return settings.larger_clusters ? kMostBlocksOfCluster : kPortableBlocks;
}

/// The shape that the kernel requires; all 0 if it requires none.
dim3 required_shape(const FunctionSettings& settings) {
    return {static_cast<unsigned>(settings.cluster[0]), static_cast<unsigned>(settings.cluster[1]),
            static_cast<unsigned>(settings.cluster[2])};
}

std::uint64_t blocks_of(const dim3& shape) { return std::uint64_t{shape.x} * shape.y * shape.z; }

bool same_shape(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

cudaError_t shape_of(const LaunchConfig& config, dim3& cluster, std::string& why) {
    const FunctionSettings settings = function_settings(config.kernel);
    const dim3 required = required_shape(settings);
    cluster = blocks_of(config.cluster) > 0 ? config.cluster : required;
    const std::uint64_t blocks = blocks_of(cluster);
    if (blocks == 0) {
        cluster = {1, 1, 1};
        if (!settings.needs_cluster) return cudaSuccess;
        why = "the kernel must be launched with clusters, and the launch does not say of how many blocks";
        return cudaErrorInvalidClusterSize;
    }
    const std::string named = "a cluster of " + text_of(cluster) + " blocks";
    if (blocks_of(required) > 0 && !same_shape(cluster, required)) {
        why = named + ": the kernel was declared for clusters of " + text_of(required);
    } else if (blocks > most_blocks(settings)) {
        why = named + ": " +
              (blocks > kMostBlocksOfCluster
                   ? "at most 8, or 16 after cudaFuncSetAttribute"
                   : "more than 8 take cudaFuncSetAttribute with cudaFuncAttributeNonPortableClusterSizeAllowed");
    } else if (config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 || config.grid.z % cluster.z != 0) {
        why = named + ": the grid of " + text_of(config.grid) + " blocks is not a multiple of it";
    } else if (active_clusters(config.kernel, config.block, config.shared_bytes, blocks) == 0) {
        why = named + ": the device cannot hold all of them at a time";
    } else {
        return cudaSuccess;
    }
    return cudaErrorInvalidClusterSize;
}

// ---- how clusters run ------------------------------------------------------------------------------------

/// What a host thread needs for clusters.
class ClusterWorker {
public:
    explicit ClusterWorker(FiberPool& fibers) {
        void* memory = mmap(nullptr, Cluster::memory_bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        cluster_.arenas = static_cast<std::byte*>(memory);
        std::byte* const meetings = cluster_.arenas + kMostBlocksOfCluster * kArenaBytes;
        for (unsigned rank = 0; rank < kMostBlocksOfCluster; ++rank) {
            blocks_.push_back(std::make_unique<Block>(fibers, cluster_.arenas + rank * kArenaBytes,
                                                      meetings + rank * Block::meeting_bytes()));
            cluster_.blocks[rank] = blocks_.back().get();
        }
    }
    ~ClusterWorker() { munmap(cluster_.arenas, Cluster::memory_bytes()); }
    ClusterWorker(const ClusterWorker&) = delete;
    ClusterWorker& operator=(const ClusterWorker&) = delete;

    void run(Launch& launch, Tally& tally) {
        const std::uint64_t clusters = launch.blocks / launch.cluster_blocks;
        while (!failed(launch)) {
            const std::uint64_t i = launch.next_block.fetch_add(1, std::memory_order_relaxed);
            if (i >= clusters) break;
            // Backwards with every second seed: a cluster that comes first may hide that it must not wait for another.
            begin(launch, launch.seed % 2 == 0 ? i : clusters - 1 - i, tally);
            run_blocks(launch);
            cluster_.diagnoser.reset();
        }
    }

private:
    static bool is_parked(Block::State state) {
        return state == Block::State::at_cluster_barrier || state == Block::State::awaits_arrivals;
    }
    /// No block can go on, and one of them waits at a barrier of its own.
    void report_stalled_block(const std::array<Block::State, kMostBlocksOfCluster>& states) const {
        for (unsigned rank = 0; rank < cluster_.count; ++rank) {
            if (states[rank] == Block::State::awaits_arrivals) return cluster_.blocks[rank]->report_stall();
        }
    }
    static bool failed(const Launch& launch) { return launch.failure.load(std::memory_order_relaxed) != cudaSuccess; }

    void begin(Launch& launch, std::uint64_t index, Tally& tally) {
        const dim3& shape = launch.cluster;
        cluster_.shape = shape;
        cluster_.count = launch.cluster_blocks;
        cluster_.phase = 0;
        cluster_.arrived = 0;
        const std::uint64_t across = launch.grid.x / shape.x, down = launch.grid.y / shape.y;
        const std::uint64_t x = index % across * shape.x;
        const std::uint64_t y = index / across % down * shape.y;
        const std::uint64_t z = index / across / down * shape.z;
        std::vector<std::uint64_t> blocks;
        for (unsigned rank = 0; rank < cluster_.count; ++rank) {
            const std::uint64_t row = y + rank / shape.x % shape.y, plane = z + rank / shape.x / shape.y;
            blocks.push_back(x + rank % shape.x + launch.grid.x * (row + launch.grid.y * plane));
        }
        if (launch.diagnoser) {
            cluster_.diagnoser = std::make_unique<ClusterDiagnoser>(cluster_.arenas, kArenaBytes, blocks);
        }
        for (unsigned rank = 0; rank < cluster_.count; ++rank) {
            cluster_.blocks[rank]->join(cluster_, rank);
            cluster_.blocks[rank]->begin(launch, blocks[rank], tally);
        }
    }

    void run_blocks(Launch& launch) {
        std::array<Block::State, kMostBlocksOfCluster> states;
        states.fill(Block::State::running);
        const auto first = static_cast<unsigned>(launch.seed % cluster_.count);
        unsigned done = 0;
        while (done < cluster_.count) {
            unsigned waiting = 0;  // blocks at the cluster's barrier
            unsigned stalled = 0;  // at one of their own
            bool woken = false;
            for (unsigned k = 0; k < cluster_.count; ++k) {
                const unsigned rank = (first + k) % cluster_.count;
                Block& block = *cluster_.blocks[rank];
                Block::State& state = states[rank];
                if (state == Block::State::done) continue;
                if (!is_parked(state) || block.has_ready_threads() || failed(launch)) state = block.run();
                if (state == Block::State::done) {
                    ++done;
                    launch.finished_blocks.fetch_add(1, std::memory_order_relaxed);
                }
                waiting += state == Block::State::at_cluster_barrier;
                stalled += state == Block::State::awaits_arrivals;
            }
            // A block that came earlier may have got what it waits for.
            for (unsigned rank = 0; rank < cluster_.count; ++rank) {
                woken |= is_parked(states[rank]) && cluster_.blocks[rank]->has_ready_threads();
            }
            if (waiting + stalled == 0 || woken || failed(launch)) continue;
            const bool all_arrived = waiting > 0 && cluster_.arrived == cluster_.count * launch.threads;
            if (!all_arrived && waiting + stalled + done < cluster_.count) continue;  // another block may still come
            const auto lacks_arrivals = [&](unsigned rank) {
                return states[rank] != Block::State::done && cluster_.blocks[rank]->lacks_arrivals();
            };
            bool complete = waiting > 0;
            for (unsigned rank = 0; !all_arrived && rank < cluster_.count; ++rank) complete &= !lacks_arrivals(rank);
            if (!complete) {
                if (stalled > 0) {
                    report_stalled_block(states);
                } else {
                    Block::report_missing_blocks(cluster_);
                }
                launch.fail(cudaErrorLaunchTimeout);  // a GPU would wait for ever
                continue;
            }
            complete_phase(states);
        }
    }

    /// All threads of the cluster that still run have arrived.
    void complete_phase(std::array<Block::State, kMostBlocksOfCluster>& states) {
        if (cluster_.diagnoser) {
            std::vector<std::vector<bool>> still_run(cluster_.count, std::vector<bool>(kMaxThreadsPerBlock));
            for (unsigned rank = 0; rank < cluster_.count; ++rank) {
                if (states[rank] != Block::State::done) still_run[rank] = cluster_.blocks[rank]->waiting_threads();
            }
            cluster_.diagnoser->complete_phase(still_run);
        }
        ++cluster_.phase;
        cluster_.arrived = 0;
        for (unsigned rank = 0; rank < cluster_.count; ++rank) {
            if (states[rank] == Block::State::done) continue;
            cluster_.blocks[rank]->leave_cluster_barrier(cluster_.phase);
            states[rank] = Block::State::running;
        }
    }

    Cluster cluster_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

void run_clusters(Launch& launch, FiberPool& fibers, Tally& tally) {
    thread_local ClusterWorker worker(fibers);  // the pool is this host thread's, too
    worker.run(launch, tally);
}

constexpr ClusterSupport kSupport = {shape_of, run_clusters};

}  // namespace

void know_clusters() { cluster_support = &kSupport; }

bool register_cluster(const void* kernel, unsigned x, unsigned y, unsigned z) {
    know_clusters();
    require_cluster(kernel, x, y, z);
    return true;
}

// ---- a block of a cluster ------------------------------------------------------------------------------------

void Block::join(Cluster& cluster, unsigned rank) {
    cluster_ = &cluster;
    rank_ = rank;
    cluster_arrivals_.assign(kMaxThreadsPerBlock, 0);
    cluster_waits_.assign(kMaxThreadsPerBlock, 0);
}

void Block::arrive_at_cluster(Site site) {
    if (cluster_ == nullptr) return;  // alone: its threads meet when they wait
    const Uninstrumented now;
    const unsigned thread = current_thread.linear_thread;
    if (cluster_arrivals_[thread] != cluster_waits_[thread]) {
        end_for_barrier(site,
                        "a thread arrives at the cluster's barrier, and has not waited since it last arrived there",
                        "after barrier_arrive(), the thread's next operation on the cluster's barrier has to be "
                        "barrier_wait(); sync() does both");
    }
    if (cluster_->arrived++ == 0) cluster_->site = site;
    ++cluster_arrivals_[thread];
    if (diagnoser_) diagnoser_->arrive_at_cluster(thread);
}

void Block::wait_for_cluster(Site site) {
    if (cluster_ == nullptr) {
        block_barrier(0, site);
        return;
    }
    const unsigned thread = current_thread.linear_thread;
    if (cluster_arrivals_[thread] == cluster_waits_[thread]) {
        const Uninstrumented now;
        end_for_barrier(site, "a thread waits at the cluster's barrier without having arrived there",
                        "call barrier_arrive() before barrier_wait(), or sync(), which does both");
    }
    ++cluster_waits_[thread];
    if (cluster_->phase < cluster_waits_[thread]) park_for_cluster(site);
    const Uninstrumented now;
    if (diagnoser_) diagnoser_->wait_for_cluster(thread, cluster_waits_[thread]);
}

void Block::leave_cluster_barrier(std::uint32_t phase) {
    if (recording_) recorder_->flush();
    std::uint32_t warps = 0;
    Site site;
    for (Fiber* fiber : fibers_) {
        if (fiber->wait != Wait::cluster || cluster_waits_[fiber->linear_thread] > phase) continue;
        warps |= 1u << fiber->linear_thread / kWarpSize;
        site = fiber->site;
    }
    if (warps == 0) return;
    ++barriers_passed_;
    if (recording_) recorder_->count_barrier(site, static_cast<unsigned>(std::popcount(warps)));
    for (Fiber* fiber : fibers_) {
        if (fiber->wait != Wait::cluster || cluster_waits_[fiber->linear_thread] > phase) continue;
        fiber->wait = Wait::nothing;
        if (recording_) recorder_->release(fiber->linear_thread);
        make_ready(fiber);
    }
}

std::vector<bool> Block::waiting_threads() const {
    std::vector<bool> waiting(kMaxThreadsPerBlock);
    for_each_waiting([&](const Fiber& fiber) { waiting[fiber.linear_thread] = true; });
    return waiting;
}

bool Block::lacks_arrivals() const {
    bool lacks = false;
    for_each_waiting([&](const Fiber& fiber) { lacks |= cluster_arrivals_[fiber.linear_thread] <= cluster_->phase; });
    return lacks;
}

void Block::report_missing_blocks(const Cluster& cluster) {
    const Block* there = nullptr;  // with threads that wait for the cluster
    const Block* missing = nullptr;
    WaitingGroup group_there, group_missing;
    for (unsigned rank = 0; rank < cluster.count; ++rank) {
        const Block& block = *cluster.blocks[rank];
        if (block.state_ == State::done) continue;
        for (const WaitingGroup& group : block.waiting_groups()) {
            const bool has_arrived = block.cluster_arrivals_[group.threads.front()] > cluster.phase;
            if (group.wait == Wait::cluster && there == nullptr) {
                there = &block;
                group_there = group;
            } else if (!has_arrived && missing == nullptr) {
                missing = &block;
                group_missing = group;
            }
        }
    }
    if (there == nullptr || missing == nullptr) return;
    if (!there->launch_->is_first_diagnostic(DiagnosticKind::divergent_barrier, group_there.site.line)) return;
    threadIdx = there->thread_index(group_there.threads.front());
    Diagnostic found = there->diagnostic(DiagnosticKind::divergent_barrier, group_there.site);
    found.action = "waits here";
    found.other = OtherSide{group_missing.site, missing->index_, missing->thread_index(group_missing.threads.front()),
                            "waits here"};
    found.message = "the cluster's barrier waits for threads that still run and never arrive: in the block of rank " +
                    std::to_string(missing->rank_) + ", " + missing->text_of({group_missing});
    found.hint =
        "all threads of all blocks of the cluster that still run have to reach cluster.sync(): move it out of the "
        "branch that only some of them enter";
    report(std::move(found));
}

// ---- what device code calls ------------------------------------------------------------------------------

dim3 cluster_shape() {
    const Cluster* const cluster = running_block("a cluster is asked for").cluster();
    return cluster == nullptr ? dim3(1, 1, 1) : cluster->shape;
}

unsigned block_rank_in_cluster() { return running_block("a cluster is asked for").rank_in_cluster(); }

dim3 block_index_in_cluster() {
    const dim3 shape = cluster_shape();
    const unsigned rank = block_rank_in_cluster();
    return {rank % shape.x, rank / shape.x % shape.y, rank / shape.x / shape.y};
}

void arrive_at_cluster(Site site) { running_block("a cluster's barrier").arrive_at_cluster(site); }
void wait_for_cluster(Site site) { running_block("a cluster's barrier").wait_for_cluster(site); }

namespace {

/// The kernel cannot go on with this address.
[[noreturn]] void end_for_address(Block& block, Site site, const std::string& message, const char* hint) {
    Diagnostic found = block.diagnostic(DiagnosticKind::illegal_access, site);
    found.message = message;
    found.hint = hint;
    if (block.launch().is_first_diagnostic(found.kind, site.line)) report(std::move(found));
    block.launch().fail(cudaErrorLaunchFailure);
    block.abandon();
}

/// Where the address is in the shared memory of the cluster's blocks, as if it were one array.
std::size_t place_in_cluster(Block& block, const void* address, const char* function, Site site) {
    const Cluster* const cluster = block.cluster();
    const std::byte* const begin = cluster == nullptr ? block.shared_memory() : cluster->arenas;
    const std::size_t place = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin);
    if (place < (cluster == nullptr ? 1 : cluster->count) * kArenaBytes) return place;
    const Uninstrumented now;  // also while the message is put together
    end_for_address(block, site, std::string(function) + " is given an address that is not in shared memory",
                    "only variables in shared memory have a counterpart in the other blocks of the cluster");
}

}  // namespace

void* map_shared_rank(const void* address, int rank, Site site) {
    Block& block = running_block("map_shared_rank");
    const std::size_t place = place_in_cluster(block, address, "map_shared_rank", site);
    const unsigned count = block.cluster() == nullptr ? 1 : block.cluster()->count;
    if (rank < 0 || static_cast<unsigned>(rank) >= count) {
        const Uninstrumented now;
        end_for_address(block, site,
                        "map_shared_rank is asked for the block of rank " + std::to_string(rank) + " in a cluster of " +
                            std::to_string(count) + (count == 1 ? " block" : " blocks"),
                        "ranks go from 0 to cluster.num_blocks() - 1: does the launch ask for clusters, and is the "
                        "rank of a neighbor taken modulo num_blocks()?");
    }
    std::byte* const begin = block.cluster() == nullptr ? block.shared_memory() : block.cluster()->arenas;
    return begin + static_cast<unsigned>(rank) * kArenaBytes + place % kArenaBytes;
}

unsigned query_shared_rank(const void* address, Site site) {
    Block& block = running_block("query_shared_rank");
    return static_cast<unsigned>(place_in_cluster(block, address, "query_shared_rank", site) / kArenaBytes);
}

}  // namespace cpu_device

using namespace cpu_device;

namespace {

/// The cluster's shape that the configuration names; all 0 if it names none.
dim3 shape_in(const cudaLaunchConfig_t& config) {
    dim3 shape = {0, 0, 0};
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config.attrs[i];
        if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
        shape = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
    }
    return shape;
}

}  // namespace

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        const FunctionSettings settings = function_settings(kernel);
        const dim3 required = required_shape(settings), asked = shape_in(*config);
        const dim3 shape = blocks_of(asked) > 0 ? asked : required;
        const std::uint64_t blocks = blocks_of(shape);
        if (blocks == 0) return cudaErrorInvalidValue;
        if (blocks_of(required) > 0 && !same_shape(shape, required)) return cudaErrorInvalidClusterSize;
        if (blocks > most_blocks(settings)) return cudaErrorInvalidClusterSize;
        *clusters = active_clusters(kernel, config->blockDim, config->dynamicSmemBytes, blocks);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* cluster_size, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
    return api_call(Waits::no, [&]() -> cudaError_t {
        if (cluster_size == nullptr || config == nullptr) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        const FunctionSettings settings = function_settings(kernel);
        const std::uint64_t required = blocks_of(required_shape(settings));
        unsigned size = required > 0 ? static_cast<unsigned>(required) : most_blocks(settings);
        while (required == 0 && size > 0 &&
               active_clusters(kernel, config->blockDim, config->dynamicSmemBytes, size) == 0) {
            size /= 2;
        }
        *cluster_size = static_cast<int>(size);
        return cudaSuccess;
    });
}
